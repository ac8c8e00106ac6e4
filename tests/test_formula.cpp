// A formula's own numbers give the value it stands beside.

#include <doctest/doctest.h>

#include <algorithm>

#include "sim/formula.hpp"

namespace {

sim::Report report(const char* line) {
    const sim::Catalogue& devices = sim::Catalogue::builtin();
    return sim::predict(sim::parse_experiment(line, devices), devices);
}
std::vector<sim::Formula> of(const sim::Report& r) {
    return sim::formulas(r, sim::Catalogue::builtin().at(r.experiment.device));
}
const sim::Formula* find(const std::vector<sim::Formula>& all, sim::Formula::Number n) {
    const auto it = std::find_if(all.begin(), all.end(), [&](const sim::Formula& f) { return f.number == n; });
    return it == all.end() ? nullptr : &*it;
}

}  // namespace

TEST_CASE("every number says its value in its last line, and has a formula in letters") {
    for (const char* line : {"tpu-v5e 8192x8192x8192 f32 forward fused tile 128x128x8192",
                             "h100-sxm5 4096x4096x4096 bf16 train fused residual mask tile 128x256x64",
                             "scratchpad 500x700x300 f32 forward unfused tile 128x128x64 order kmn"}) {
        CAPTURE(line);
        for (const sim::Formula& f : of(report(line))) {
            CAPTURE(f.value);
            CHECK_FALSE(f.text.empty());
            REQUIRE_FALSE(f.lines.empty());
            const std::string number = f.value.substr(0, f.value.find(' '));
            const bool exact = f.number != sim::Formula::flops && f.number != sim::Formula::intensity;
            if (exact) CHECK(f.lines.back().find(number) != std::string::npos);
        }
    }
}

TEST_CASE("an operand read again shows how often, and the product is what the report counts") {
    const sim::Report r = report("tpu-v5e 8192x8192x8192 f32 forward fused tile 128x128x8192");
    const auto all = of(r);
    const sim::Formula* f = find(all, sim::Formula::dram_bytes);
    REQUIRE(f);
    CHECK(std::find(f->lines.begin(), f->lines.end(), "w read: 64 × 268 MB = 17.2 GB") != f->lines.end());
    CHECK(std::find(f->lines.begin(), f->lines.end(), "x read: 268 MB") != f->lines.end());
}

TEST_CASE("waves are tiles over slots on a GPU and unknown elsewhere") {
    const auto gpu = of(report("h100-sxm5 8192x8192x8192 bf16 forward fused tile 128x256x64"));
    REQUIRE(find(gpu, sim::Formula::waves));
    CHECK(find(gpu, sim::Formula::waves)->lines[0].starts_with("64·32 tiles / 132 CTAs at once (1 an SM) = 15.5"));
    CHECK_FALSE(find(of(report("scratchpad 512x512x512 f32 forward fused tile 128x128x64")), sim::Formula::waves));
}

TEST_CASE("what does not fit still has its bounds, and only those") {
    const auto all = of(report("tpu-v5e 8192x8192x8192 f32 forward fused tile 8192x8192x8192 buffers 2"));
    CHECK(all.size() == 2);
}
