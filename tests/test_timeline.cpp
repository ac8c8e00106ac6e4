// A timeline says what the report says, only in order: every lane covers its kernel and nothing is left over.

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "sim/timeline.hpp"

namespace {

const sim::Catalogue& devices() { return sim::Catalogue::builtin(); }

sim::Report report(const char* line) { return sim::predict(sim::parse_experiment(line, devices()), devices()); }

constexpr const char* lines[] = {
    "tpu-v5e 8192x8192x8192 f32 forward fused tile 128x128x8192",
    "tpu-v5e 8192x8192x8192 f32 forward fused tile 1024x1024x256",
    "tpu-v5e 1000x900x700 f32 train unfused tile 256x256x256 tile.dgrad 256x256x256 tile.wgrad 256x256x256",
    "scratchpad 500x700x300 f32 forward unfused tile 128x128x64 order kmn",
    "h100-sxm5 8192x8192x8192 bf16 forward fused tile 128x256x64 raster grouped:8",
    "h100-sxm5 4096x4096x4096 bf16 train unfused tile 128x128x64 tile.dgrad 128x128x64 tile.wgrad 128x128x64",
    "a100-sxm4-80gb 1000x1000x64 bf16 forward unfused tile 128x128x32 stages 3",
    "a100-sxm4-80gb 2048x2048x2048 f32 forward fused tile 64x64x16 engine simt pipeline none",
    "h100-sxm5 4096x4096x512 bf16 forward fused tile 128x128x64 schedule stream_k",
    "h100-sxm5 300x300x4096 bf16 forward fused tile 128x128x64 schedule split_k:4",
};

void covers(const sim::Lane& lane, double from, double to) {
    REQUIRE_FALSE(lane.spans.empty());
    const double least = 1e-9 * (to - from) + 1e-9;
    CHECK(lane.spans.front().begin_us == doctest::Approx(from));
    CHECK(lane.spans.back().end_us == doctest::Approx(to).epsilon(1e-6));
    for (std::size_t i = 0; i < lane.spans.size(); ++i) {
        CHECK(lane.spans[i].us() > 1e-13 * lane.spans[i].end_us);  // what rounding leaves over is no span
        CHECK(lane.spans[i].busy >= 0);
        CHECK(lane.spans[i].busy <= 1);
        if (i > 0) CHECK(std::abs(lane.spans[i].begin_us - lane.spans[i - 1].end_us) <= least);
    }
}

}  // namespace

TEST_CASE("kernels follow each other and sum to the predicted time; each lane covers its kernel") {
    for (const char* line : lines) {
        CAPTURE(line);
        const sim::Report r = report(line);
        REQUIRE(r.predicted);
        const sim::Device& d = devices().at(r.experiment.device);
        const sim::Timeline t = sim::timeline(r, d);
        CHECK(t.time_us == r.predicted->time_us);
        REQUIRE(t.kernels.size() == r.predicted->kernels.size());
        double now = 0;
        for (std::size_t i = 0; i < t.kernels.size(); ++i) {
            const sim::KernelTimeline& k = t.kernels[i];
            CAPTURE(k.name);
            CHECK(k.begin_us == doctest::Approx(now));
            CHECK(k.us() == doctest::Approx(r.predicted->kernels[i].time_us));
            for (const sim::Lane& lane : k.lanes) covers(lane, 0, k.us());
            now = k.end_us;
        }
        CHECK(now == doctest::Approx(t.time_us).epsilon(1e-9));
    }
}

TEST_CASE("the close-up's lanes are alike long and no buffer is loaded while it is read") {
    for (const char* line : lines) {
        CAPTURE(line);
        const sim::Report r = report(line);
        for (const sim::KernelTimeline& k : sim::timeline(r, devices().at(r.experiment.device)).kernels) {
            CAPTURE(k.name);
            if (k.close_up.empty()) continue;
            CHECK(k.close_up_steps > 0);
            CHECK(k.close_up_begins.size() == static_cast<std::size_t>(k.close_up_steps));
            CHECK(std::is_sorted(k.close_up_begins.begin(), k.close_up_begins.end()));
            for (const sim::Lane& lane : k.close_up) covers(lane, 0, k.close_up.front().spans.back().end_us);
        }
    }
}

TEST_CASE("every SM has work in every wave but the last, and there as many as there are tiles left") {
    const sim::Report r = report("h100-sxm5 8192x8192x8192 bf16 forward fused tile 128x256x64");
    const sim::Timeline t = sim::timeline(r, devices().at("h100-sxm5"));
    const sim::KernelTimeline& k = t.kernels.front();
    REQUIRE(k.lanes.size() == 2);
    const sim::i64 tiles = 64 * 32, slots = *r.predicted->slots;
    CHECK(k.units_per_wave == slots);
    CHECK(k.lanes[0].units + k.lanes[1].units == 132);
    CHECK(k.lanes[0].units == tiles % slots);  // one CTA an SM
    CHECK(k.lanes[0].spans.back().doing == sim::Doing::work);
    CHECK(k.lanes[1].spans.back().doing == sim::Doing::idle);
    sim::i64 waves = 0;
    for (const sim::TimeSpan& s : k.lanes[1].spans)
        if (s.doing == sim::Doing::work) waves += s.count;
    CHECK(waves == tiles / slots);
    CHECK(k.lanes[0].busy_us() > k.lanes[1].busy_us());
}

TEST_CASE("a grid that can't hold two copies takes turns; one that can overlaps") {
    const auto idle_of_compute = [](const char* line) {
        const sim::Report r = report(line);
        const sim::KernelTimeline k = sim::timeline(r, devices().at("tpu-v5e")).kernels.front();
        return 1 - k.lanes[1].busy_us() / k.us();
    };
    CHECK(idle_of_compute("tpu-v5e 8192x8192x8192 f32 forward fused tile 128x128x8192") > 0.3);
    CHECK(idle_of_compute("tpu-v5e 8192x8192x8192 f32 forward fused tile 1024x1024x256") < 0.2);
}

TEST_CASE("a close-up starts at the step that is asked for and stays within the grid") {
    const sim::Report r = report("scratchpad 512x512x512 f32 forward fused tile 128x128x64");
    const sim::Device& d = devices().at("scratchpad");
    CHECK(sim::timeline(r, d, 40).kernels.front().close_up_first == 40);
    CHECK(sim::timeline(r, d, 127).kernels.front().close_up_first == 128 - 16);
    CHECK(sim::timeline(r, d, 100'000).kernels.front().close_up_first == 128 - 16);
}

TEST_CASE("what does not fit has no timeline") {
    const sim::Report r = report("tpu-v5e 8192x8192x8192 f32 forward fused tile 8192x8192x8192 buffers 2");
    CHECK(sim::timeline(r, devices().at("tpu-v5e")).kernels.empty());
}
