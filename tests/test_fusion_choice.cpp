// Which way of fusing wins, and that the ways compared are the same work.

#include <doctest/doctest.h>

#include <algorithm>

#include "sim/fusion_choice.hpp"
#include "tests/random_experiment.hpp"

using namespace sim;

namespace {

std::vector<FusionChoice> of(const char* text) {
    return fusion_choices(parse_experiment(text, tests::catalogue()), tests::catalogue());
}
const FusionChoice& named(const std::vector<FusionChoice>& all, const char* words) {
    return *std::find_if(all.begin(), all.end(), [&](const FusionChoice& c) { return c.words == words; });
}

}  // namespace

TEST_CASE("forward: unfused and fused, and fusing wins where the reduction is short") {
    const auto all = of("h200-sxm 4096x4096x256 bf16 forward unfused tile 128x128x64");
    REQUIRE(all.size() == 2);
    CHECK(all[0].words == "unfused");
    CHECK(all[0].asked);
    CHECK(all[1].wins);
    CHECK(all[0].report.predicted->time_us > 1.3 * all[1].report.predicted->time_us);
    CHECK(of("h200-sxm 4096x4096x256 bf16 forward none tile 128x128x64").empty());
}

TEST_CASE("a mask applied on load with y as residual doubles the L2 stream of dY, and loses") {
    const auto all = of("h200-sxm 4096x4096x4096 bf16 wgrad fused tile 128x128x64");
    REQUIRE(all.size() == 5);
    const FusionChoice &unfused = named(all, "unfused residual y"), &fused = named(all, "fused residual y"),
                       &upstream = named(all, "upstream");
    CHECK(fused.asked);
    CHECK(fused.report.predicted->time_us > 1.2 * unfused.report.predicted->time_us);
    CHECK_FALSE(fused.wins);
    CHECK_FALSE(upstream.wins);  // dZ comes masked: it does less
    CHECK_FALSE(upstream.same_work);
    // dY and y: 32 columns of tiles each, where one of them was read before.
    const i64 stream = i64{4096} * 4096 * 2 * 32;
    const auto reads = [](const FusionChoice& c, Operand o) { return c.report.traffic.at(Level::l2).of(o).read_bytes; };
    CHECK(reads(fused, Operand::dy) == stream);
    CHECK(reads(fused, Operand::y) == stream);
    CHECK(reads(unfused, Operand::dz) == stream);
    CHECK(reads(unfused, Operand::y) == i64{4096} * 4096 * 2);  // the mask kernel, once
}

TEST_CASE("a train step: every way does all of the work, and one of them wins") {
    const auto all = of("a100-sxm4-80gb 4096x4096x4096 bf16 train fused tile 128x128x32");
    REQUIRE(all.size() == 5);
    CHECK(std::count_if(all.begin(), all.end(), [](const FusionChoice& c) { return c.wins; }) == 1);
    for (const FusionChoice& c : all) {
        CHECK(c.same_work);
        if (!c.wins && c.report.predicted)
            for (const FusionChoice& w : all)
                if (w.wins) CHECK(w.report.predicted->time_us <= c.report.predicted->time_us);
    }
}

TEST_CASE("each choice can be said and asked for again") {
    for (const char* text : {"h200-sxm 512x512x512 bf16 wgrad fused residual mask tile 128x128x64",
                             "h200-sxm 512x512x512 bf16 dgrad upstream drelu yes tile 128x128x64",
                             "h200-sxm 512x512x512 bf16 forward fused residual mask tile 128x128x64",
                             "cpu 256x256x256 f32 train upstream drelu no"})
        for (const FusionChoice& c : of(text)) {
            const std::string line = to_string(c.report.experiment, tests::catalogue());
            CAPTURE(line);
            CHECK(parse_experiment(line, tests::catalogue()) == c.report.experiment);
            if (c.asked) CHECK(c.report.experiment.fusion == parse_experiment(text, tests::catalogue()).fusion);
        }
}
