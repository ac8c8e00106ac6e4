// Stepping: state n is a function of n, and after the last step it is the count.

#include <doctest/doctest.h>

#include <array>
#include <map>

#include "sim/count.hpp"
#include "sim/report.hpp"
#include "sim/step.hpp"
#include "sim/sweep.hpp"
#include "tests/random_experiment.hpp"

using namespace sim;

TEST_CASE("the steps add up to the counts") {
    tests::Draw draw(5, tests::catalogue());
    int seen = 0;
    for (int i = 0; i < 600; ++i) {
        const Experiment e = draw.experiment(500, i % 2 ? 20 : 0);
        const Device& d = tests::catalogue().at(e.device);
        if (d.kind == DeviceKind::cpu || e.l2 == L2Start::warm)
            continue;  // a CPU's cache filters what its SRAM fetches
        const auto kernels = plan(e);
        if (!fit(e, d, kernels).ok() || step_count(kernels) > 20000 || e.residual == Residual::mask) continue;
        ++seen;
        CAPTURE(to_string(e, tests::catalogue()));
        const Counts c = count(e, d, kernels, Count::replay);
        const StepState s = step_at(e, d, kernels, step_count(kernels));
        REQUIRE(s.dram_read_bytes + s.dram_write_bytes == c.dram_range.lockstep_bytes);
        const StepState beyond = step_at(e, d, kernels, step_count(kernels) + 5);
        REQUIRE(beyond.dram_read_bytes == s.dram_read_bytes);
    }
    CHECK(seen > 100);
}

TEST_CASE("each step's touches are the difference to the step before") {
    for (const char* text : {"scratchpad 70x50x90 f32 forward unfused tile 16x16x32 order kmn",
                             "tpu-v5e 300x256x384 f32 dgrad fused tile 128x128x128 order knm",
                             "t4 200x150x64 f32 forward fused tile 32x32x8 ctas 1"}) {
        const Experiment e = parse_experiment(text, tests::catalogue());
        const Device& d = tests::catalogue().at(e.device);
        const auto kernels = plan(e);
        REQUIRE(fit(e, d, kernels).ok());
        i64 read = 0, written = 0;
        for (i64 n = 1; n <= step_count(kernels); ++n) {
            const StepState s = step_at(e, d, kernels, n);
            for (const Touch& t : s.touches) {
                if (t.outcome == Touch::fetched || t.outcome == Touch::read_back) read += t.bytes;
                if (t.outcome == Touch::written) written += t.bytes;
            }
            CAPTURE(text);
            CAPTURE(n);
            REQUIRE(s.step == n);
            REQUIRE(s.dram_read_bytes == read);
            REQUIRE(s.dram_write_bytes == written);
        }
    }
}

TEST_CASE("the first step of an output tile is the first that works on it") {
    for (const char* text : {"scratchpad 70x50x90 f32 forward unfused tile 16x16x32 order kmn",
                             "tpu-v5e 300x256x384 f32 dgrad fused tile 128x128x128 order knm",
                             "h100-sxm5 900x700x200 bf16 forward fused tile 128x128x64 raster grouped:2 sms 5",
                             "h100-sxm5 900x700x200 bf16 wgrad unfused tile 64x64x64 cluster 2x1 sms 6",
                             "h100-sxm5 500x500x512 bf16 forward fused tile 128x128x64 schedule split_k:2 sms 3",
                             "t4 200x150x64 f32 forward fused tile 32x32x8 ctas 1"}) {
        CAPTURE(text);
        const Experiment e = parse_experiment(text, tests::catalogue());
        const Device& d = tests::catalogue().at(e.device);
        const auto kernels = plan(e);
        REQUIRE_MESSAGE(fit(e, d, kernels).ok(), fit(e, d, kernels).why);
        std::map<std::array<i64, 3>, i64> first;  // kernel, row, column
        for (i64 n = 1; n <= step_count(kernels); ++n) {
            const StepState s = step_at(e, d, kernels, n);
            first.try_emplace({s.kernel, s.tile.row, s.tile.col}, n);
        }
        for (const auto& [tile, n] : first)
            if (kernels[static_cast<std::size_t>(tile[0])].matmul)
                CHECK(first_step(e, d, kernels, static_cast<int>(tile[0]), {tile[1], tile[2]}) == n);
        CHECK(first.size() > 8);
    }
}

TEST_CASE("nothing has happened at step 0") {
    const Experiment e = parse_experiment("t4 64x64x64 f32 forward fused", tests::catalogue());
    const StepState s = step_at(e, tests::catalogue().at("t4"), plan(e), 0);
    CHECK(s.dram_read_bytes == 0);
    CHECK(s.touches.empty());
    CHECK(s.steps == 8);
}

TEST_CASE("no kernels are planned while a tile of a pass is not found") {
    for (const char* text : {"rtx-a6000 127x127x512 e4m3 train upstream", "tpu-v5e 64x31x100 e4m3 train unfused",
                             "h200-sxm 64x64x64 bf16 train fused ctas 40",
                             "tpu-v5e 64x100x512 f16 train fused tile 64x256x256 buffers 2"}) {
        CAPTURE(text);
        Experiment e = parse_experiment(text, tests::catalogue());
        const Device& d = tests::catalogue().at(e.device);
        CHECK_FALSE(resolve_best(e, d).ok());
        CHECK(plan(e).empty());
        CHECK(step_at(e, d, plan(e), 3).steps == 0);
        const auto rows = sweep(e, tests::catalogue(), {});
        REQUIRE(rows.size() == 1);
        CHECK_FALSE(rows[0].fit.ok());
    }
}
