// Byte counts: the golden tables, and the engines against each other wherever a closed form says it is exact.

#include <doctest/doctest.h>

#include "sim/count.hpp"
#include "sim/replay.hpp"
#include "tests/random_experiment.hpp"
#include "tests/table.hpp"

using namespace sim;

namespace {

Operand operand_of(const std::string& name) {
    for (int i = 0; i < operand_count; ++i)
        if (to_string(static_cast<Operand>(i)) == name) return static_cast<Operand>(i);
    FAIL("no operand " << name);
    return Operand::x;
}

Traffic total(const Counts& c) {
    Traffic t;
    for (const Traffic& k : c.kernels) t += k;
    return t;
}

void check_same(const Traffic& a, const Traffic& b, bool moved_too = true) {
    for (int l = 0; l < level_count; ++l)
        for (int o = 0; o < operand_count; ++o) {
            const Flow &x = a.levels[l].operands[o], &y = b.levels[l].operands[o];
            CAPTURE(to_string(static_cast<Level>(l)));
            CAPTURE(to_string(static_cast<Operand>(o)));
            REQUIRE(x.read_bytes == y.read_bytes);
            REQUIRE(x.write_bytes == y.write_bytes);
            if (moved_too) REQUIRE(x.moved_read_bytes == y.moved_read_bytes);
            REQUIRE(x.moved_write_bytes == y.moved_write_bytes);
            REQUIRE(x.causes.compulsory == y.causes.compulsory);
            REQUIRE(x.causes.order == y.causes.order);
        }
}

}  // namespace

TEST_CASE("sequential bytes equal the golden walk, by walk and by formula") {
    const auto rows = tables::read("sequential.tsv");
    std::string text;
    Experiment e;
    Traffic walked;
    for (const auto& row : rows) {
        if (row.at("experiment") != text) {
            text = row.at("experiment");
            e = parse_experiment(text, tests::catalogue());
            const Device& d = tests::catalogue().at(e.device);
            const auto kernels = plan(e);
            REQUIRE(fit(e, d, kernels).ok());
            walked = total(walk_sequential(e, d, kernels));
            check_same(walked, total(closed_sequential(e, d, kernels)));
        }
        const Flow& f = walked.at(Level::dram).of(operand_of(row.at("operand")));
        CAPTURE(text);
        CAPTURE(row.at("operand"));
        REQUIRE(f.read_bytes == std::stoll(row.at("read_bytes")));
        REQUIRE(f.write_bytes == std::stoll(row.at("write_bytes")));
    }
}

TEST_CASE("GPU bytes equal the golden replay, lockstep and staggered") {
    for (const auto& row : tables::read("gpu.tsv")) {
        const auto number = [&](const std::string& column) { return std::stoll(row.at(column)); };
        std::string text = "a100-sxm4-40gb batch " + row.at("batch") + " " + row.at("m") + "x" + row.at("n") + "x" +
                           row.at("k") + " " + row.at("dtype") + " out " + row.at("out") + " " + row.at("pass") + " " +
                           row.at("fusion");
        if (row.at("residual") != "-") text += " residual " + row.at("residual");
        if (row.at("fusion") == "upstream" && row.at("pass") != "wgrad") text += " drelu " + row.at("drelu");
        const std::string tile = row.at("bm") + "x" + row.at("bn") + "x" + row.at("bk");
        text += " tile " + tile;
        if (row.at("pass") == "train") text += " tile.dgrad " + tile + " tile.wgrad " + tile;
        text += " raster " + row.at("raster");
        if (row.at("elementwise") == "reverse") text += " traits relu=reverse";
        CAPTURE(text);
        const Experiment e = parse_experiment(text, tests::catalogue());
        Device d = tests::catalogue().at(e.device);
        d.l2.bytes.value = static_cast<double>(number("l2_bytes"));
        d.l2.effective_bytes.value = static_cast<double>(number("l2_effective"));
        const auto kernels = plan(e);
        const Slots slots(kernels.size(), number("slots"));
        const Counts c = replay_gpu(e, d, kernels, slots);
        const Traffic t = total(c);
        i64 rounding = 0;  // a mask's bits are rounded up once a kernel here, once in all there
        for (int i = 0; i < operand_count; ++i) {
            const auto o = static_cast<Operand>(i);
            const std::string name(to_string(o));
            if (name == "bias" || name == "partial") continue;
            CAPTURE(name);
            const i64 slack = name == "mask" ? 1 : 0;
            rounding += slack;
            REQUIRE(std::abs(t.at(Level::dram).of(o).read_bytes - number(name + "_read")) <= slack);
            REQUIRE(t.at(Level::dram).of(o).write_bytes == number(name + "_write"));
            REQUIRE(std::abs(t.at(Level::l2).of(o).read_bytes - number(name + "_l2_read")) <= slack);
        }
        REQUIRE(c.kernels.back().at(Level::dram).dirty_at_end_bytes == number("dirty_at_end"));
        REQUIRE(std::abs(c.dram_range.staggered_bytes - number("staggered_read") - number("staggered_write")) <=
                rounding);
    }
}

TEST_CASE("stream-K bytes equal the golden replay, lockstep and staggered") {
    int shared = 0, read_from_dram = 0;
    for (const auto& row : tables::read("stream_k.tsv")) {
        const auto number = [&](const std::string& column) { return std::stoll(row.at(column)); };
        std::string text = "a100-sxm4-40gb batch " + row.at("batch") + " " + row.at("m") + "x" + row.at("n") + "x" +
                           row.at("k") + " bf16 " + row.at("pass") + " " + row.at("fusion");
        if (row.at("residual") != "-") text += " residual " + row.at("residual");
        if (row.at("drelu") == "yes") text += " drelu yes";
        text += " tile " + row.at("bm") + "x" + row.at("bn") + "x" + row.at("bk") + " raster " + row.at("raster") +
                " schedule stream_k";
        CAPTURE(text);
        CAPTURE(row.at("slots"));
        const Experiment e = parse_experiment(text, tests::catalogue());
        Device d = tests::catalogue().at(e.device);
        d.l2.bytes.value = d.l2.effective_bytes.value = static_cast<double>(number("l2"));
        const auto kernels = plan(e);
        const Counts c = replay_gpu(e, d, kernels, {number("slots")});
        const Traffic t = total(c);
        for (int i = 0; i < operand_count; ++i) {
            const auto o = static_cast<Operand>(i);
            const std::string name(to_string(o));
            if (name == "bias") continue;
            CAPTURE(name);
            REQUIRE(t.at(Level::dram).of(o).read_bytes == number(name + "_read"));
            REQUIRE(t.at(Level::dram).of(o).write_bytes == number(name + "_write"));
            REQUIRE(t.at(Level::l2).of(o).read_bytes == number(name + "_l2_read"));
        }
        REQUIRE(c.kernels.back().at(Level::dram).dirty_at_end_bytes == number("dirty_at_end"));
        REQUIRE(c.dram_range.staggered_bytes == number("staggered_read") + number("staggered_write"));
        if (number("partial_write") > 0) ++shared;
        if (number("partial_read") > 0) ++read_from_dram;
    }
    CHECK(shared > 30);
    CHECK(read_from_dram > 10);
}

TEST_CASE("stream-K over whole waves is persistent, by replay and by formula") {
    for (const char* shape : {"2112x2048x512", "1056x4096x300"})  // 33 x 16 and 17 x 32 tiles: see the slots
        for (const char* raster : {"along_n", "grouped:4", "hilbert"})
            for (i64 slots : {i64{1}, i64{4}, i64{16}}) {
                const std::string text =
                    std::string("h100-sxm5 ") + shape + " bf16 forward fused tile 64x128x64 raster " + raster;
                const Device& d = tests::catalogue().at("h100-sxm5");
                const Experiment a = parse_experiment(text + " schedule persistent", tests::catalogue()),
                                 b = parse_experiment(text + " schedule stream_k", tests::catalogue());
                const auto kernels = plan(b);
                REQUIRE(kernels[0].row_tiles() * kernels[0].col_tiles() % slots == 0);
                for (const auto engine : {replay_gpu, closed_gpu}) {
                    const Counts x = engine(a, d, plan(a), {slots}), y = engine(b, d, kernels, {slots});
                    check_same(total(x), total(y));
                    CHECK(x.dram_range.staggered_bytes == y.dram_range.staggered_bytes);
                    CHECK(x.exact == y.exact);
                }
            }
}

TEST_CASE("a sequential closed form equals the walk: six orders, trip counts 1 to 3") {
    for (const char* device : {"scratchpad", "tpu-v5e", "cpu"})
        for (const char* order : {"mnk", "nmk", "kmn", "mkn", "knm", "nkm"})
            for (const char* what : {"f32 forward fused bias yes", "bf16 out f32 dgrad fused residual mask",
                                     "bf16 wgrad unfused accumulate yes", "f32 dgrad upstream drelu yes"})
                for (int m = 1; m <= 3; ++m)
                    for (int n = 1; n <= 3; ++n)
                        for (int k = 1; k <= 3; ++k) {
                            const auto size = [](int trips) { return std::to_string(128 * trips - 5); };
                            const std::string text = std::string(device) + " batch 2 " + size(m) + "x" + size(n) + "x" +
                                                     size(k) + " " + what + " tile 128x128x128 order " + order;
                            CAPTURE(text);
                            const Experiment e = parse_experiment(text, tests::catalogue());
                            const Device& d = tests::catalogue().at(device);
                            check_same(total(walk_sequential(e, d, plan(e))), total(closed_sequential(e, d, plan(e))));
                        }
}

TEST_CASE("an elementwise pass in place leaves its bytes dirty once, by replay and by formula") {
    for (const auto& [words, dirty] :
         {std::pair("", 2 * 1024 * 1024 * 2), std::pair(" in_place yes", 1024 * 1024 * 2)}) {
        const Experiment e = parse_experiment(
            "b200-sxm 1024x1024x1024 bf16 forward unfused tile 128x128x64" + std::string(words), tests::catalogue());
        for (const Count how : {Count::replay, Count::closed_form})
            CHECK(count(e, tests::catalogue().at(e.device), plan(e), how)
                      .kernels.back()
                      .at(Level::dram)
                      .dirty_at_end_bytes == dirty);
    }
}

TEST_CASE("a GPU closed form equals the replay wherever it says exact") {
    tests::Draw draw(42, tests::catalogue());
    int exact = 0, exact_beyond_compulsory = 0, within = 0, estimates = 0;
    for (int i = 0; i < 1500; ++i) {
        Experiment e = draw.experiment(i % 2 ? 700 : 3000, i % 3 ? 0 : 25);
        Device d = tests::catalogue().at(e.device);
        if (d.kind != DeviceKind::gpu || !fit(e, d, plan(e)).ok()) continue;
        const double scale = std::pow(2.0, -static_cast<double>(draw.integer(0, 9)));
        d.l2.bytes.value = std::floor(d.l2.bytes.value * scale);
        d.l2.effective_bytes.value = std::floor(d.l2.effective_bytes.or_else(d.l2.bytes.value) * scale);
        const auto kernels = plan(e);
        const Slots slots(kernels.size(), draw.integer(1, 150));
        const Counts closed = closed_gpu(e, d, kernels, slots);
        if (closed.requests > 60000) continue;
        const Counts walked = replay_gpu(e, d, kernels, slots);
        CAPTURE(to_string(e, tests::catalogue()));
        CAPTURE(slots[0]);
        CAPTURE(d.l2.effective_bytes.value);
        if (closed.exact) {
            ++exact;
            const Compulsory least = compulsory(e);
            if (walked.dram_range.lockstep_bytes > least.read_bytes + least.write_bytes) ++exact_beyond_compulsory;
            REQUIRE(closed.dram_range.lockstep_bytes == walked.dram_range.lockstep_bytes);
            check_same(total(closed), total(walked), false);  // sectors of a ragged pitch are averaged
        } else {
            ++estimates;
            const double ratio = static_cast<double>(closed.dram_range.lockstep_bytes) /
                                 static_cast<double>(walked.dram_range.lockstep_bytes);
            if (ratio > 0.8 && ratio < 1.25) ++within;
        }
    }
    MESSAGE("exact " << exact << " (beyond compulsory " << exact_beyond_compulsory << "), estimates " << estimates
                     << ", within 25 % " << within);
    CHECK(exact > 100);
    CHECK(exact_beyond_compulsory > 20);
    CHECK(within > estimates * 6 / 10);
}
