// Findings that others measured and published, on bytes or on what decides time: the model says the same.

#include <doctest/doctest.h>

#include <cmath>

#include "sim/report.hpp"
#include "tests/random_experiment.hpp"

using namespace sim;

namespace {

Report report(const std::string& text) {
    Report r = predict(parse_experiment(text, tests::catalogue()), tests::catalogue());
    REQUIRE_MESSAGE(r.fit.ok(), r.fit.why);
    return r;
}
const KernelReport& kernel(const Report& r, std::string_view name) {
    for (const KernelReport& k : r.predicted->kernels)
        if (k.name == name) return k;
    FAIL("no kernel " << name);
    return r.predicted->kernels[0];
}
double per_flop(const Report& r) {
    return static_cast<double>(r.dram_range.expected_bytes) / static_cast<double>(r.flops);
}
i64 read_bytes(const KernelReport& k, Level level) { return k.traffic.at(level).total().read_bytes; }

}  // namespace

// github.com/XAheli/Kernel-Profiling, ncu dram bytes, H200, a naive 16x16x16 tile, CTAs along n. W of 4 MiB fits the
// L2: 4.565 GB move, the compulsory ones. W of 256 MiB does not: it streams once for every 16 rows, 17,620 GB.
TEST_CASE("published: DRAM bytes jump when W outgrows the L2, time per flop hardly moves") {
    const std::string device = "h200-sxm ", rest = " f32 forward none tile 16x16x16 thread 1x1 pipeline none";
    const Report fits = report(device + "batch 64 8192x1024x1024" + rest);
    const Report streams = report(device + "batch 8 131072x8192x8192" + rest);
    CHECK(static_cast<double>(fits.dram_range.expected_bytes) == doctest::Approx(4.565e9).epsilon(0.01));
    CHECK(static_cast<double>(streams.dram_range.expected_bytes) == doctest::Approx(1.76204e13).epsilon(0.02));
    CHECK(per_flop(streams) > 25 * per_flop(fits));
    const auto time_per_flop = [](const Report& r) { return r.predicted->time_us / static_cast<double>(r.flops); };
    CHECK(time_per_flop(streams) < 1.1 * time_per_flop(fits));
    CHECK(streams.predicted->limiter == Limiter::sram);
}

// github.com/sgl-project/sglang, pull request 22271, B200, fp8 to bf16: a pass over the GEMM's output in place costs
// 23.5 µs where that is 59 MB and 111 µs where it is 117 MB: the L2 still holds much of the one and nothing of the
// other. (Counted: a third, as matmul tiles have half of the 126 MB.)
TEST_CASE("published: a pass over 59 MB finds them in a B200's L2, one over 117 MB does not") {
    const std::string rest = "x7168x7168 e4m3 forward unfused in_place yes tile 128x256x128 raster grouped:8";
    const KernelReport held = kernel(report("b200-sxm 4096" + rest), "relu"),
                       lost = kernel(report("b200-sxm 8192" + rest), "relu");
    CHECK(read_bytes(held, Level::l2) == i64{2} * 4096 * 7168);
    const auto missed = [](const KernelReport& k) {
        return static_cast<double>(read_bytes(k, Level::dram)) / static_cast<double>(read_bytes(k, Level::l2));
    };
    CHECK(missed(held) < 0.7);
    CHECK(missed(lost) > 0.9);
    CHECK(lost.time_us > 2 * held.time_us);
}

// The rule behind cuBLASLt's DRELU (it masks once, in an epilogue): a mask applied on load comes with every load of a
// dY tile. With a y residual that is the whole of another matrix, as often as dY: its stream from the L2 doubles, and
// the one pass that masks apart is cheaper; with a bit mask it is a sixteenth.
TEST_CASE("published: masking on load with a y residual doubles that operand's L2 stream, and loses") {
    const std::string shape = "h100-sxm5 8192x8192x8192 bf16 ", rest = " tile 128x128x64 stages 3";
    const Operand dy = Operand::dy, y = Operand::y, mask = Operand::mask;
    for (const char* pass : {"dgrad", "wgrad"}) {
        const Report fused = report(shape + pass + " fused residual y" + rest),
                     bits = report(shape + pass + " fused residual mask" + rest),
                     apart = report(shape + pass + " unfused residual y" + rest);
        const LevelTraffic& l2 = fused.traffic.at(Level::l2);
        CHECK(l2.of(y).read_bytes == l2.of(dy).read_bytes);
        CHECK(16 * bits.traffic.at(Level::l2).of(mask).read_bytes == bits.traffic.at(Level::l2).of(dy).read_bytes);
        CHECK(l2.of(dy).read_bytes + l2.of(y).read_bytes ==
              2 * kernel(apart, pass).traffic.at(Level::l2).of(Operand::dz).read_bytes);
        CHECK(fused.predicted->time_us > 1.1 * apart.predicted->time_us);
        CHECK(bits.predicted->time_us < fused.predicted->time_us);
    }
}

// github.com/gau-nernst/learn-cuda, A100 40 GB, bf16, 128x128x64, two stages: only the raster differs. 8192: 4891 µs
// along n, 4580 µs grouped (1.07x); 4096: 622.5 and 622.9 µs.
TEST_CASE("published: a grouped raster gains at 8192 on an A100, next to nothing at 4096") {
    const auto along_over_grouped = [](const char* n, bool bytes) {
        const std::string size = std::string(n) + "x" + n + "x" + n;
        const std::string text = "a100-sxm4-40gb " + size + " bf16 forward none tile 128x128x64 stages 2 raster ";
        const Report along = report(text + "along_n"), grouped = report(text + "grouped:8");
        return bytes ? static_cast<double>(along.dram_range.lockstep_bytes) /
                           static_cast<double>(grouped.dram_range.lockstep_bytes)
                     : along.predicted->time_us / grouped.predicted->time_us;
    };
    CHECK(along_over_grouped("8192", true) > 1.5);
    CHECK(along_over_grouped("4096", true) < 1.05);
    CHECK(along_over_grouped("8192", false) > 1.03);
    CHECK(along_over_grouped("4096", false) < along_over_grouped("8192", false));
}

// "Bullet" (ASPLOS 2026), A100 80 GB, 128x256 tiles: 1024 rows make 128 tiles for 108 SMs, two waves of which the
// second is nearly empty: 40.7 % idle, so 59 % at the most; 2048 rows 79 %. (Measured: 49 and 70 %.)
TEST_CASE("published: 128 tiles on 108 SMs can use 59 % of an A100") {
    const auto used = [](const char* m) {
        const Report r = report(std::string("a100-sxm4-80gb ") + m + "x4096x4096 f16 forward none tile 128x256x32");
        CHECK(*r.predicted->slots == 108);
        return *r.predicted->waves / std::ceil(*r.predicted->waves);
    };
    CHECK(used("1024") == doctest::Approx(0.593).epsilon(0.001));
    CHECK(used("2048") == doctest::Approx(0.790).epsilon(0.001));
    // And the time of the matmul is bound by it.
    const Report r = report("a100-sxm4-80gb 1024x4096x4096 f16 forward none tile 128x256x32");
    const double peak = tests::catalogue().at("a100-sxm4-80gb").peak_flops(Dtype::f16);
    CHECK(1e6 * static_cast<double>(r.flops) / peak / r.predicted->time_us < 0.593);
    CHECK(1e6 * static_cast<double>(r.flops) / peak / r.predicted->time_us > 0.4);
}

// JAX's Pallas guide (docs/pallas/tpu/matmul), TPU v5e, bf16, 8192^3: 128^3 tiles take 0.350 µs a grid step of which
// the MXU needs 0.021 and the copies 0.081; 512x1024x1024 is bound by the MXU.
TEST_CASE("published: 128^3 tiles of a Pallas matmul are bound by the step, not by bandwidth") {
    const Report small = report("tpu-v5e 8192x8192x8192 bf16 forward none tile 128x128x128"),
                 large = report("tpu-v5e 8192x8192x8192 bf16 forward none tile 512x1024x1024");
    CHECK(small.predicted->limiter == Limiter::step_overhead);
    CHECK(large.predicted->limiter == Limiter::math);
    CHECK(small.predicted->time_us == doctest::Approx(91836).epsilon(0.05));
    CHECK(large.predicted->time_us == doctest::Approx(6099).epsilon(0.05));
    // Bytes alone would say a quarter of it.
    const double by_bytes = 1e6 * static_cast<double>(small.dram_range.lockstep_bytes) /
                            tests::catalogue().at("tpu-v5e").dram.bandwidth.value;
    CHECK(by_bytes < small.predicted->time_us / 3);
}
