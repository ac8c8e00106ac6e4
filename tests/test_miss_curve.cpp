// One pass of stack distances against a replay at each capacity.

#include <doctest/doctest.h>

#include <algorithm>

#include "sim/miss_curve.hpp"
#include "tests/random_experiment.hpp"

using namespace sim;

TEST_CASE("the miss curve equals the replay at every capacity that holds a tile") {
    tests::Draw draw(11, tests::catalogue());
    int seen = 0;
    while (seen < 60) {
        const Experiment e = draw.experiment(1200, 10);
        Device d = tests::catalogue().at(e.device);
        const auto kernels = plan(e);
        if (d.kind != DeviceKind::gpu || kernels.size() != 1 || e.dense.batch != 1 || e.l2 == L2Start::warm ||
            !fit(e, d, kernels).ok())
            continue;
        const Tile& t = kernels[0].tile;
        if (kernels[0].row_tiles() * kernels[0].col_tiles() * kernels[0].k_steps() > 20000) continue;
        ++seen;
        const i64 slots = draw.integer(1, 150);
        const MissCurve curve = miss_curve(e, d, kernels[0], slots);
        CAPTURE(to_string(e, tests::catalogue()));
        CAPTURE(slots);
        for (i64 capacity = 4 * std::max({t.bm * t.bn, t.bm * t.bk, t.bk * t.bn}); capacity < 40'000'000;
             capacity = capacity * 3 / 2 + 7) {
            d.l2.bytes.value = d.l2.effective_bytes.value = static_cast<double>(capacity);
            CAPTURE(capacity);
            REQUIRE(curve.dram_bytes(capacity) == replay_gpu(e, d, kernels, {slots}).dram_range.lockstep_bytes);
        }
    }
}
