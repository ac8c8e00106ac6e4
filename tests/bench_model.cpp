// How fast the model answers. Aims: a replayed 8192^3 GPU prediction < 50 ms, its closed form < 5 ms, 100,000
// closed-form experiments a second and 100 million lockstep tile requests a second, each on one core.

#include <benchmark/benchmark.h>

#include "sim/bound.hpp"
#include "sim/count.hpp"
#include "sim/replay.hpp"
#include "sim/report.hpp"
#include "sim/sweep.hpp"
#include "sim/time.hpp"

using namespace sim;

namespace {

const Catalogue& devices() { return Catalogue::builtin(); }

Experiment square() {
    return parse_experiment("h200-sxm 8192x8192x8192 bf16 forward fused tile 128x256x64", devices());
}

void predict_8192_replay(benchmark::State& state) {
    const Experiment e = square();
    for (auto _ : state) benchmark::DoNotOptimize(predict(e, devices(), {Count::replay, {}}));
}
BENCHMARK(predict_8192_replay)->Unit(benchmark::kMillisecond);

void predict_8192_closed_form(benchmark::State& state) {
    const Experiment e = square();
    for (auto _ : state) benchmark::DoNotOptimize(predict(e, devices(), {Count::closed_form, {}}));
}
BENCHMARK(predict_8192_closed_form)->Unit(benchmark::kMillisecond);

/// One experiment of a sweep: plan, fit, count and time by closed form.
void sweep_8192(benchmark::State& state) {
    const Experiment e = square();
    double experiments = 0;
    for (auto _ : state) experiments += static_cast<double>(sweep(e, devices()).size());
    state.counters["experiments/s"] = benchmark::Counter(experiments, benchmark::Counter::kIsRate);
}
BENCHMARK(sweep_8192)->Unit(benchmark::kMillisecond);

void replay(benchmark::State& state, bool staggered) {
    const Experiment e = square();
    const Device& d = devices().at(e.device);
    const auto kernels = plan(e);
    const Slots slots = slots_of(e, d, kernels);
    double requests = 0;
    for (auto _ : state) {
        Replay<> walk(effective_bits(d), whole_bits(d), moved_unit(d, e));
        benchmark::DoNotOptimize(walk.run(kernels[0], e.raster, e.cluster, slots[0], staggered));
        requests += static_cast<double>(2 * kernels[0].row_tiles() * kernels[0].col_tiles() * kernels[0].k_steps());
    }
    state.counters["requests/s"] = benchmark::Counter(requests, benchmark::Counter::kIsRate);
}
BENCHMARK_CAPTURE(replay, lockstep, false)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(replay, staggered, true)->Unit(benchmark::kMillisecond);

void parse_and_print(benchmark::State& state) {
    const std::string line =
        "h100-sxm5 4096x4096x4096 bf16 train unfused residual mask tile 128x128x64 tile.wgrad 128x256x64 rung "
        "07_tensor_core";
    for (auto _ : state) benchmark::DoNotOptimize(to_string(parse_experiment(line, devices()), devices()));
}
BENCHMARK(parse_and_print)->Unit(benchmark::kMicrosecond);

}  // namespace
