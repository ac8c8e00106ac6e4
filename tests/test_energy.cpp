// Energy as a range: a case worked out by hand, and laws over sizes, tiles and every device.

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>

#include "sim/energy.hpp"

namespace {

const sim::Catalogue& devices = sim::Catalogue::builtin();

sim::Report report(const std::string& line) { return sim::predict(sim::parse_experiment(line, devices), devices); }
sim::Energy of(const sim::Report& r) { return sim::energy(r, devices.at(r.experiment.device)); }
const sim::EnergyTerm& term(const sim::Energy& e, std::string_view name) {
    for (const sim::EnergyTerm& t : e.all.terms)
        if (t.name == name) return t;
    FAIL("no term " << name);
    return e.all.terms.front();
}

}  // namespace

TEST_CASE("energy: one tile on the scratchpad is what a pencil gives") {
    // 64³ f32 in one tile: X, W and Y cross DRAM once, 3 × 16384 B = 393216 bits at 20 to 5 × 20 pJ.
    const sim::Energy e = of(report("scratchpad 64x64x64 f32 forward fused tile 64x64x64"));
    const sim::Span dram = term(e, "dram").joules();
    CHECK(dram.low == doctest::Approx(393216 * 20e-12));
    CHECK(dram.high == doctest::Approx(393216 * 100e-12));
    // 2·64³ FLOP: a tenth of (3.7 + 0.9) / 2 pJ, to 1.6 pJ.
    const sim::Span math = term(e, "math").joules();
    CHECK(math.low == doctest::Approx(524288 * 0.23e-12));
    CHECK(math.high == doctest::Approx(524288 * 1.6e-12));
    double low = 0, high = 0;
    for (const sim::EnergyTerm& t : e.all.terms) {
        low += t.joules().low;
        high += t.joules().high;
    }
    CHECK(e.all.joules.low == doctest::Approx(low));
    CHECK(e.all.joules.high == doctest::Approx(high));
    CHECK_FALSE(e.all.capped);  // it has no power limit
}

TEST_CASE("energy: no range goes above the power limit over the longest expected time") {
    const sim::Report r = report("h100-sxm5 8192x8192x8192 bf16 forward fused tile 128x256x64");
    const sim::Energy e = of(r);
    CHECK(e.all.joules.high <= 700 * r.predicted->interval_us[1] * 1e-6 * (1 + 1e-12));
    CHECK(e.all.joules.low > 0);
    CHECK(e.all.joules.low < e.all.joules.high);
    CHECK(e.limit_watts == 700);
}

TEST_CASE("energy: more bytes at the same work never cost less") {
    double before = 0;
    for (const char* tile : {"1024x1024x64", "512x512x64", "256x256x64", "128x128x64", "64x64x64", "32x32x64"}) {
        CAPTURE(tile);
        const sim::Energy e = of(report(std::string("scratchpad 4096x4096x4096 f32 forward fused tile ") + tile));
        CHECK(term(e, "dram").joules().low > before);
        before = term(e, "dram").joules().low;
    }
    const auto all = [](const char* fusion) {
        return of(report(std::string("h200-sxm 8192x8192x512 bf16 forward ") + fusion + " tile 128x256x64")).all.joules;
    };
    CHECK(all("unfused").low > all("fused").low);
}

TEST_CASE("energy: kernels add up to the whole, and their bytes are those of the report") {
    const sim::Report r = report("h200-sxm 4096x4096x4096 bf16 train unfused tile 128x128x64");
    const sim::Energy e = of(r);
    REQUIRE(e.kernels.size() == r.predicted->kernels.size());
    double low = 0;
    for (const sim::EnergyPart& k : e.kernels) low += k.joules.low;
    CHECK(low == doctest::Approx(e.all.joules.low));
}

TEST_CASE("energy: a number on every device, from the smallest layer to 65536 cubed") {
    for (const sim::Device* d : devices.all())
        for (const char* size : {"1x1x1", "1x65536x65536", "65536x1x1", "4096x4096x4096", "65536x65536x65536"})
            for (const sim::Dtype t : {sim::Dtype::f32, sim::Dtype::bf16, sim::Dtype::e4m3}) {
                const std::string line =
                    fmt::format("{} {} {} forward unfused tile best", d->id, size, sim::to_string(t));
                CAPTURE(line);
                const sim::Report r = report(line);
                if (!r.predicted) continue;
                const sim::Energy e = of(r);
                CHECK(std::isfinite(e.all.joules.low));
                CHECK(std::isfinite(e.all.joules.high));
                CHECK(e.all.joules.low > 0);
                CHECK(e.all.joules.low <= e.all.joules.high);
                for (const sim::EnergyTerm& one : e.all.terms) {
                    CHECK(one.each.low > 0);
                    CHECK(one.each.low <= one.each.high);
                    CHECK_FALSE(one.source.empty());
                }
                CHECK(sim::format_joules(e.all.joules).find('e') == std::string::npos);
            }
}

TEST_CASE("energy: written with the prefix that reads best") {
    CHECK(sim::format_joules(0.0123) == "12.3 mJ");
    CHECK(sim::format_joules(0.9999) == "1 J");
    CHECK(sim::format_joules(412.3) == "412 J");
    CHECK(sim::format_joules({0.1, 0.42}) == "100 to 420 mJ");
    CHECK(sim::format_joules({0.1, 1.42}) == "100 mJ to 1.42 J");
    CHECK(sim::format_joules(0.0) == "0 pJ");
}
