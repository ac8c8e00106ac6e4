// The cost of a frame of the lab: its widgets (what a person waits for) and its pixels on the CPU (what a picture
// costs).

#if MEMWALL_HAS_GUI
#include <benchmark/benchmark.h>

#include <memory>

#include "gui/headless.hpp"
#include "gui/lab.hpp"
#include "gui/run.hpp"
#include "gui/views.hpp"

namespace {

struct Desk {
    std::unique_ptr<gui::Lab> lab;
    gui::Headless screen{1600, 1000, {}, [this] { lab->draw(); }};

    explicit Desk(std::string_view scene) {
        const auto devices = std::make_shared<const sim::Catalogue>(sim::Catalogue::builtin());
        lab =
            std::make_unique<gui::Lab>(gui::Lab::Setup{devices, sim::parse_scene(scene, *devices), {}, {}, [] {}, {}});
        screen.frames(2);
        lab->finish_work();
        screen.settle();
    }
};

constexpr std::string_view gpu =
    "h100-sxm5 8192x8192x8192 bf16 forward fused tile 128x256x64 raster grouped:8 | step 20000";

void lab_frame_1600x1000(benchmark::State& state) {  // goal: below 2 ms
    Desk desk(state.range(0) ? gpu : gui::first_scene);
    for (auto _ : state) desk.screen.frames();
}
BENCHMARK(lab_frame_1600x1000)->Arg(0)->Arg(1)->Unit(benchmark::kMillisecond);

void lab_view_alone(benchmark::State& state) {  // goal: below 3 ms
    Desk desk(gpu);
    const auto row = static_cast<std::size_t>(state.range(0));
    desk.lab->alone = row;
    for (int i = 0; i < 2; ++i) {
        desk.screen.frames(2);
        desk.lab->finish_work();
    }
    state.SetLabel(std::string(gui::name_of(gui::views()[row])));
    for (auto _ : state) desk.screen.frames();
}
BENCHMARK(lab_view_alone)->DenseRange(0, static_cast<int>(gui::views().size()) - 1)->Unit(benchmark::kMillisecond);

void lab_raster_1600x1000(benchmark::State& state) {  // goal: below 100 ms
    Desk desk(gui::first_scene);
    for (auto _ : state) benchmark::DoNotOptimize(desk.screen.image());
}
BENCHMARK(lab_raster_1600x1000)->Unit(benchmark::kMillisecond);

void lab_first_frame(benchmark::State& state) {  // goal: below 1 s
    for (auto _ : state) Desk desk(gui::first_scene);
}
BENCHMARK(lab_first_frame)->Unit(benchmark::kMillisecond);

}  // namespace
#endif
