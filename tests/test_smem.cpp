// Shared-memory traffic of one k-step, engine by engine, from hand calculation: tile 128x64x32, one CTA, one k-step.

#include <doctest/doctest.h>

#include "sim/report.hpp"
#include "tests/random_experiment.hpp"

using namespace sim;

namespace {

const LevelTraffic smem(const std::string& text) {
    const Report r = predict(parse_experiment(text, tests::catalogue()), tests::catalogue());
    REQUIRE_MESSAGE(r.fit.ok(), r.fit.why);
    REQUIRE(r.traffic.at(Level::sram).present);
    return r.traffic.at(Level::sram);
}
constexpr i64 bm = 128, bn = 64, bk = 32;  // of the pass's own matmul

}  // namespace

TEST_CASE("SIMT: each warp reads the strips of its 4x8 thread tiles") {
    const LevelTraffic s = smem("rtx-a6000 128x64x32 f32 forward none tile 128x64x32 thread 8x8");  // warps of 32x64
    CHECK(s.of(Operand::x).write_bytes == bm * bk * 4);
    CHECK(s.of(Operand::x).read_bytes == 1 * bm * bk * 4);
    CHECK(s.of(Operand::w).read_bytes == 4 * bn * bk * 4);
    const LevelTraffic small = smem("rtx-a6000 128x64x32 f32 forward none tile 128x64x32 thread 8x4");  // 32x32
    CHECK(small.of(Operand::x).read_bytes == 2 * bm * bk * 4);
    CHECK(small.of(Operand::w).read_bytes == 4 * bn * bk * 4);
    // A thread an output: a warp is 32 columns of a row, or 16 of two.
    const LevelTraffic one = smem("rtx-a6000 32x32x32 f32 forward none tile 32x32x32 thread 1x1");
    CHECK(one.of(Operand::x).read_bytes == 1 * 32 * 32 * 4);
    CHECK(one.of(Operand::w).read_bytes == 32 * 32 * 32 * 4);
    const LevelTraffic sixteen = smem("rtx-a6000 16x16x32 f32 forward none tile 16x16x32 thread 1x1");
    CHECK(sixteen.of(Operand::x).read_bytes == 1 * 16 * 32 * 4);
    CHECK(sixteen.of(Operand::w).read_bytes == 8 * 16 * 32 * 4);
}

TEST_CASE("mma: each warp reads its strips; without swizzle a read takes as many wavefronts as rows share banks") {
    const std::string text = "a100-sxm4-40gb 128x64x32 bf16 forward none tile 128x64x32 warp 32x32";
    const LevelTraffic s = smem(text);
    CHECK(s.of(Operand::x).read_bytes == 2 * bm * bk * 2);
    CHECK(s.of(Operand::w).read_bytes == 4 * bn * bk * 2);
    CHECK(s.of(Operand::x).moved_read_bytes == s.of(Operand::x).read_bytes);
    const LevelTraffic plain = smem(text + " traits swizzle=0");  // rows of 64 bytes: four pieces of 16
    CHECK(plain.of(Operand::x).read_bytes == s.of(Operand::x).read_bytes);
    CHECK(plain.of(Operand::x).moved_read_bytes == 4 * s.of(Operand::x).read_bytes);
    CHECK(plain.of(Operand::x).moved_write_bytes == s.of(Operand::x).write_bytes);
    const LevelTraffic wide = smem("a100-sxm4-40gb 128x64x128 bf16 forward none tile 128x64x128 traits swizzle=0");
    CHECK(wide.of(Operand::x).moved_read_bytes == 8 * wide.of(Operand::x).read_bytes);  // eight rows at the most
}

TEST_CASE("wgmma reads the left tile once and the right one for every 64 rows") {
    const LevelTraffic s = smem("h100-sxm5 128x64x32 bf16 forward none tile 128x64x32");
    CHECK(s.of(Operand::x).read_bytes == bm * bk * 2);
    CHECK(s.of(Operand::w).read_bytes == 2 * bn * bk * 2);
    const LevelTraffic short_one = smem("h100-sxm5 64x64x32 bf16 forward none tile 64x64x32");
    CHECK(short_one.of(Operand::w).read_bytes == bn * bk * 2);
}

TEST_CASE("tcgen05 reads both tiles once; a pair of CTAs holds half of the right one each") {
    const LevelTraffic s = smem("b200-sxm 256x64x32 bf16 forward none tile 128x64x32");  // two CTAs
    CHECK(s.of(Operand::x).read_bytes == 2 * bm * bk * 2);
    CHECK(s.of(Operand::w).read_bytes == 2 * bn * bk * 2);
    CHECK(s.of(Operand::w).write_bytes == 2 * bn * bk * 2);
    const LevelTraffic pair = smem("b200-sxm 256x64x32 bf16 forward none tile 128x64x32 cluster 2x1");
    CHECK(pair.of(Operand::x).read_bytes == 2 * bm * bk * 2);
    CHECK(pair.of(Operand::w).read_bytes == bn * bk * 2);
    CHECK(pair.of(Operand::w).write_bytes == bn * bk * 2);
    // Side by side they share the left tile, by multicast: each holds all of both.
    const LevelTraffic beside = smem("b200-sxm 128x128x32 bf16 forward none tile 128x64x32 cluster 1x2");
    CHECK(beside.of(Operand::x).write_bytes == 2 * bm * bk * 2);
    CHECK(beside.of(Operand::w).write_bytes == 2 * bn * bk * 2);
}

TEST_CASE("padding: compute units read whole tiles, fills are clipped") {
    const LevelTraffic s = smem("h100-sxm5 100x60x40 bf16 forward none tile 128x64x32");  // two k-steps
    CHECK(s.of(Operand::x).write_bytes == 100 * 40 * 2);
    CHECK(s.of(Operand::x).read_bytes == 2 * bm * bk * 2);
    CHECK(s.of(Operand::w).read_bytes == 2 * 2 * bn * bk * 2);
}

TEST_CASE("masking on load: fills and reads of the residual, and a rewrite where SMEM feeds the matrix units") {
    // dgrad: dY (and what masks it) is the left operand, its tile bm x bk of (m, n).
    const std::string dgrad = " 128x32x64 bf16 dgrad fused tile 128x64x32 residual ";
    for (const char* residual : {"y", "mask"}) {
        const i64 bits = std::string(residual) == "y" ? 16 : 1;
        const Operand gate = std::string(residual) == "y" ? Operand::y : Operand::mask;
        const LevelTraffic registers = smem("a100-sxm4-40gb" + dgrad + residual + " warp 64x32");  // two warps across
        CHECK(registers.of(gate).write_bytes == bm * bk * bits / 8);
        CHECK(registers.of(gate).read_bytes == 2 * bm * bk * bits / 8);
        CHECK(registers.of(Operand::dy).read_bytes == 2 * bm * bk * 2);
        const LevelTraffic left = smem("h100-sxm5" + dgrad + residual);  // from registers after masking: read once
        CHECK(left.of(gate).read_bytes == bm * bk * bits / 8);
        CHECK(left.of(Operand::dy).read_bytes == bm * bk * 2);
        CHECK(left.of(Operand::dy).write_bytes == bm * bk * 2);
    }
    // wgrad: dY is the right operand, bk x bn of (m, n); wgmma and tcgen05 take it from SMEM only.
    const std::string wgrad = " 32x64x128 bf16 wgrad fused tile 128x64x32 residual mask";
    const LevelTraffic w = smem("h100-sxm5" + wgrad);
    CHECK(w.of(Operand::dy).write_bytes == 2 * bn * bk * 2);             // filled, and written back masked
    CHECK(w.of(Operand::dy).read_bytes == (1 + bm / 64) * bn * bk * 2);  // to mask it, then for every 64 rows
    CHECK(w.of(Operand::mask).write_bytes == bn * bk / 8);
    CHECK(w.of(Operand::mask).read_bytes == bn * bk / 8);  // only to mask
    CHECK(w.of(Operand::x).read_bytes == bm * bk * 2);
    const LevelTraffic t = smem("b200-sxm" + wgrad);
    CHECK(t.of(Operand::dy).write_bytes == 2 * bn * bk * 2);
    CHECK(t.of(Operand::dy).read_bytes == 2 * bn * bk * 2);
    const LevelTraffic m = smem("a100-sxm4-40gb" + wgrad + " warp 64x64");  // fragments are masked in registers
    CHECK(m.of(Operand::dy).write_bytes == bn * bk * 2);
    CHECK(m.of(Operand::dy).read_bytes == 2 * bn * bk * 2);
    CHECK(m.of(Operand::mask).read_bytes == 2 * bn * bk / 8);
}

TEST_CASE("an SM holds the CTAs that are said, or the reason is what runs out") {
    const auto why = [](const std::string& words) {
        const std::string text = "rtx-a6000 4096x4096x4096 f32 forward fused " + words;
        return predict(parse_experiment(text, tests::catalogue()), tests::catalogue()).fit.why;
    };
    // 256 threads of 1536; two stages of 8 KiB, 100 KiB an SM of which each CTA takes one more.
    CHECK(why("tile 128x128x8 ctas 5") == "");
    CHECK(why("tile 128x128x8 ctas 6").ends_with("such CTAs (shared memory)"));
    CHECK(why("tile 128x128x8 ctas 40").starts_with("ctas 40: an SM holds "));
    CHECK(why("tile 128x128x8 thread 4x4 ctas 2") == "ctas 2: an SM holds 1 such CTAs (warps)");
}

TEST_CASE("rung 03 has a thread an output, as its kernel has") {
    const auto time = [](const std::string& words) {
        const std::string text = "rtx-a6000 4096x4096x4096 f32 forward none tile 32x32x32 rung 03_shared_tile" + words;
        return predict(parse_experiment(text, tests::catalogue()), tests::catalogue()).predicted.value().time_us;
    };
    CHECK(time("") == time(" thread 1x1"));
    CHECK(time("") > 2 * time(" thread 4x4"));
}
