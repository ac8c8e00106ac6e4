// Stream-K: how k-steps are shared out, and what that does to time.

#include <doctest/doctest.h>

#include <cmath>

#include "sim/count.hpp"
#include "sim/fit.hpp"
#include "sim/report.hpp"
#include "sim/stream_k.hpp"
#include "tests/random_experiment.hpp"

using namespace sim;

namespace {

Report report(const std::string& text) {
    return predict(parse_experiment(text, tests::catalogue()), tests::catalogue());
}
double time_of(const std::string& text) { return report(text).predicted->time_us; }

}  // namespace

TEST_CASE("stream-K: the slots' shares are even, in order, and cover every k-step once") {
    for (long long tiles : {1, 2, 7, 16, 100, 131, 133})
        for (long long steps : {1, 2, 5, 64})
            for (long long slots : {1, 3, 16, 132}) {
                const StreamK s{tiles, steps, slots};
                CHECK(s.begin(0) == 0);
                CHECK(s.begin(slots) == s.shared() * steps);
                CHECK((tiles - s.shared()) % slots == 0);
                CHECK(s.shared() < 2 * slots);
                for (long long j = 0; j < slots; ++j) {
                    CHECK(s.begin(j + 1) - s.begin(j) >= s.shared() * steps / slots);
                    CHECK(s.begin(j + 1) - s.begin(j) <= ceil_div(s.shared() * steps, slots));
                    if (s.begin(j) < s.begin(j + 1)) {
                        CHECK(s.slot_of(s.begin(j)) == j);
                        CHECK(s.slot_of(s.begin(j + 1) - 1) == j);
                    }
                }
            }
    // More k-steps than 32 bits hold: 2^31 of them a tile, 9,472 slots.
    const StreamK large{9473, i64{1} << 31, 9472};
    CHECK(large.begin(9472) == 9473 * (i64{1} << 31));
    CHECK(large.slot_of(large.begin(4711)) == 4711);
}

TEST_CASE("stream-K takes the time of a persistent kernel over whole waves, less where the last one is ragged") {
    const std::string whole =
        "a100-sxm4-40gb 1536x1152x4096 f16 forward fused tile 128x128x32 sms 108";  // 12 x 9 tiles
    CHECK(time_of(whole + " schedule stream_k") == doctest::Approx(time_of(whole + " schedule persistent")));
    // One tile more than slots: a whole second wave, or every slot 1/108 longer and a fix-up.
    const std::string ragged = "a100-sxm4-40gb 128x13952x4096 f16 forward fused tile 128x128x32 ctas 1";  // 109 tiles
    CHECK(time_of(ragged + " schedule stream_k") < 0.8 * time_of(ragged + " schedule persistent"));
    // Few tiles and a long reduction, in an L2 that holds them: the slots that had no tile help.
    const std::string few = "a100-sxm4-40gb 512x256x16384 f16 forward fused tile 128x128x32 ctas 1";  // 8 tiles
    CHECK(time_of(few + " schedule stream_k") < 0.3 * time_of(few + " schedule persistent"));
    // A reduction of a few steps does not pay for the fix-up.
    const std::string thin = "a100-sxm4-40gb 128x13696x64 f16 forward fused tile 128x128x32 ctas 1";  // 107 tiles
    CHECK(time_of(thin + " schedule stream_k") > time_of(thin + " schedule persistent"));
}

TEST_CASE("stream-K's partial sums: a slice a cut, read once, f32, and nothing else changes above DRAM") {
    const std::string text = "a100-sxm4-40gb 128x13952x4096 f16 forward fused tile 128x128x32 ctas 1 schedule ";
    const Report stream = report(text + "stream_k"), plain = report(text + "persistent");
    const Flow& partial = stream.traffic.at(Level::l2).of(Operand::partial);
    CHECK(partial.read_bytes == partial.write_bytes);
    CHECK(partial.write_bytes == 107 * 128 * 128 * 4);  // 109 tiles over 108 slots: every slot but the first is cut in
    for (Operand o : {Operand::x, Operand::w, Operand::y})
        for (Level l : {Level::l2, Level::sram}) {
            CHECK(stream.traffic.at(l).of(o).read_bytes == plain.traffic.at(l).of(o).read_bytes);
            CHECK(stream.traffic.at(l).of(o).write_bytes == plain.traffic.at(l).of(o).write_bytes);
        }
    CHECK(stream.flops == plain.flops);
    CHECK(plain.traffic.at(Level::l2).of(Operand::partial).write_bytes == 0);
}

TEST_CASE("the closed form of stream-K is near its replay, also where an L2 cannot hold its shared tiles") {
    tests::Draw draw(9, tests::catalogue());
    int seen = 0, near = 0;
    while (seen < 150) {
        const auto size = [&] { return std::to_string(64 * draw.integer(2, 40)); };
        const std::string text = draw.pick<std::string>({"h200-sxm", "a100-sxm4-40gb", "rtx-a6000", "t4"}) + " " +
                                 size() + "x" + size() + "x" + size() + " f16 forward fused tile " +
                                 draw.pick<const char*>({"128x128x32", "64x128x32", "64x64x64"}) + " raster " +
                                 draw.pick<const char*>({"along_n", "along_m", "grouped:4"}) + " schedule stream_k";
        const Experiment e = parse_experiment(text, tests::catalogue());
        Device d = tests::catalogue().at(e.device);
        const double smaller = std::pow(2.0, -static_cast<double>(draw.integer(0, 6)));
        d.l2.bytes.value *= smaller;
        d.l2.effective_bytes.value = d.l2.effective_bytes.or_else(d.l2.bytes.value / smaller) * smaller;
        const auto kernels = plan(e);
        if (!fit(e, d, kernels).ok()) continue;
        const Counts closed = count(e, d, kernels, Count::closed_form);
        if (closed.exact) continue;
        const double ratio = static_cast<double>(closed.dram_range.lockstep_bytes) /
                             static_cast<double>(count(e, d, kernels, Count::replay).dram_range.lockstep_bytes);
        ++seen;
        if (ratio > 0.75 && ratio < 1.33) ++near;
    }
    MESSAGE(near << " of " << seen << " within a third");
    CHECK(near > seen * 8 / 10);
}
