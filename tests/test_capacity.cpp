// DRAM bytes by L2 size: the curve of the capacity page against replays, its bound, and the published points.

#include <doctest/doctest.h>

#include <algorithm>

#include "sim/bound.hpp"
#include "sim/capacity.hpp"
#include "tests/random_experiment.hpp"

using namespace sim;

namespace {

Experiment parse(const char* text) { return parse_experiment(text, tests::catalogue()); }

}  // namespace

TEST_CASE("every raster's curve at a device's L2 is what a replay with that L2 counts") {
    const Experiment e = parse("rtx-a6000 1536x1024x768 f32 forward none tile 128x64x8");
    const auto c = capacity(e, tests::catalogue());
    REQUIRE(c);
    CHECK(c->kernel == "matmul");
    CHECK(c->rasters.size() == 4);
    CHECK(c->rasters.front().raster == e.raster);
    REQUIRE(c->devices.size() == c->bounds.size());
    const auto kernels = plan(e);
    const Slots slots = slots_of(e, tests::catalogue().at(e.device), kernels);
    for (std::size_t i = 0; i < c->devices.size(); ++i) {
        Device d = tests::catalogue().at(e.device);
        d.l2.bytes.value = d.l2.effective_bytes.value = static_cast<double>(c->devices[i].bytes);
        for (const RasterCurve& r : c->rasters) {
            Experiment one = e;
            one.raster = r.raster;
            CAPTURE(to_string(r.raster));
            CAPTURE(c->devices[i].bytes);
            CHECK(r.curve.dram_bytes(c->devices[i].bytes) ==
                  replay_gpu(one, d, kernels, slots).dram_range.lockstep_bytes);
            CHECK(r.curve.dram_bytes(c->devices[i].bytes) >= c->bounds[i]);
        }
        if (i > 0) {
            CHECK(c->devices[i].bytes > c->devices[i - 1].bytes);
            CHECK(c->bounds[i] <= c->bounds[i - 1]);
        }
    }
}

TEST_CASE("each GPU of the catalogue has its place on the axis") {
    const auto c = capacity(parse("h200-sxm 1024x1024x1024 bf16 forward unfused tile 128x128x64"), tests::catalogue());
    REQUIRE(c);
    for (const Device* d : tests::catalogue().all()) {
        if (d->kind != DeviceKind::gpu) continue;
        CAPTURE(d->id);
        CHECK(std::any_of(c->devices.begin(), c->devices.end(), [&](const DeviceL2& l2) {
            return std::find(l2.devices.begin(), l2.devices.end(), d->id) != l2.devices.end();
        }));
    }
}

TEST_CASE("no curve where there is no L2, several problems, or too long a pass") {
    CHECK_FALSE(capacity(parse("tpu-v5e 512x512x512 bf16 forward fused tile 128x128x128"), tests::catalogue()));
    CHECK_FALSE(capacity(parse("h200-sxm batch 2 512x512x512 bf16 forward fused tile 128x128x64"), tests::catalogue()));
    CHECK_FALSE(capacity(parse("h200-sxm 512x512x512 bf16 forward fused tile 128x128x64"), tests::catalogue(), 10));
}

TEST_CASE("published bytes by L2 size belong to their shape only") {
    CHECK(measured_capacity(parse("a100-sxm4-40gb 4096x4096x4096 f32 forward none tile 128x128x8")).size() == 8);
    CHECK(measured_capacity(parse("a100-sxm4-40gb 4096x4096x4096 bf16 forward none tile 128x128x32")).empty());
    CHECK(measured_capacity(parse("a100-sxm4-40gb 4096x4096x2048 f32 forward none tile 128x128x8")).empty());
    const auto points = measured_capacity(parse("a100-sxm4-40gb 4096x4096x4096 f32 forward none tile 128x128x8"));
    CHECK(points.front().l2_bytes == 2 << 20);
    CHECK(points.front().dram_bytes == 2888365507);
}
