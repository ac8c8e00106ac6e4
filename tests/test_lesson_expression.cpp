// The little language in which lessons ask the model: units, names, words in brackets, and what it refuses.

#include <doctest/doctest.h>

#include "lessons/edit.hpp"
#include "lessons/model.hpp"
#include "sim/error.hpp"

using namespace lessons;

namespace {

Model& model() {
    static Model m(sim::Catalogue::builtin());
    return m;
}
const std::string scene = "scratchpad 2048x2048x2048 f32 forward fused tile 64x64x64";

std::string value(std::string_view text, const std::string& in = scene) {
    return to_text(model().value(Expression::parse(text), in));
}

/// The error of an expression, or "" where there is none.
std::string refused(std::string_view text) {
    try {
        value(text);
        return "";
    } catch (const sim::BadInput& e) {
        return e.what();
    }
}

}  // namespace

TEST_CASE("lessons: an expression computes with units") {
    struct {
        const char *text, *value;
    } const cases[] = {
        {"1 + 2 * 3", "7"},
        {"(1 + 2) * 3", "9"},
        {"7 - 2 - 1", "4"},
        {"8 / 2 / 2", "2"},
        {"-3 + 5", "2"},
        {"600MB", "600 MB"},
        {"48KiB / 1KiB", "48"},
        {"ceil(2.1)", "3"},
        {"max(1ms, 2ms)", "2.00 ms"},
        {"1 < 2 and not 3 < 2", "yes"},
        {"1 < 3 < 2", "no"},
        {"1 == 2 or 2 == 2", "yes"},
        {"\"dram\" == \"dram\"", "yes"},
        {"dram == dram.x + dram.w + dram.y", "yes"},
        {"dram.x.read / (m * k * element)", "32"},
        {"dram[tile 128x64x64] == dram[tile 64x128x64]", "yes"},
        {"dram[k 1024] < dram and k[k 1024] == 1024 and m[k 1024] == m", "yes"},
        {"fits and tiles == tm * tn", "yes"},
    };
    for (const auto& c : cases) {
        CAPTURE(c.text);
        CHECK(value(c.text) == c.value);
    }
}

TEST_CASE("lessons: an expression that makes no sense is refused with its place") {
    struct {
        const char *text, *says;
    } const cases[] = {
        {"1 +", "its end"},
        {"(1", "closing )"},
        {"dram[tile 64x64x64", "closing ]"},
        {"1 ? 2", "operator or the end"},
        {"12qq", "a unit such as"},
        {"sin(1)", "a function"},
        {"min(1)", "arguments"},
        {"drum", "no quantity"},
        {"dram.q", "no quantity"},
        {"l2.read", "has no l2"},
        {"1MB + 1", "different units"},
        {"dram < 1ms", "different units"},
        {"ceil(1MB)", "without a unit"},
        {"1 / 0", "divides by 0"},
        {"not 1", "neither true nor false"},
        {"\"a\" < \"b\"", "cannot be compared"},
        {"dram[tile 64]", "AxBxC"},
        {"dram[@nowhere]", "scene named"},
        {"dram[tile]", "a value after it"},
        {"occupancy", "only a GPU"},
        {"measured.time[nobody]", "no row"},
        {"impossible.time[3]", "no row"},
        {"counted.wavefronts", "not counted here"},
    };
    for (const auto& c : cases) {
        CAPTURE(c.text);
        const std::string why = refused(c.text);
        CAPTURE(why);
        CHECK(why.find(c.says) != std::string::npos);
        CHECK(why.find('\n') == std::string::npos);
    }
}

TEST_CASE("lessons: what somebody types is read with its unit or the question's") {
    CHECK(parse_number("553.6 MB", "MB").number() == doctest::Approx(553.6e6));
    CHECK(parse_number("553.6", "MB").number() == doctest::Approx(553.6e6));
    CHECK(parse_number("0.5536GB", "MB").number() == doctest::Approx(553.6e6));
    CHECK(parse_number("1/2", "").number() == doctest::Approx(0.5));
    CHECK(parse_number("50 %", "x").number() == doctest::Approx(0.5));
    CHECK(parse_number("1,024", "").number() == doctest::Approx(1024));
    for (const char* bad : {"", "many", "5 ms", "5 MB MB", "1/0", "nan"}) {
        CAPTURE(bad);
        CHECK_THROWS_AS(parse_number(bad, "MB"), sim::BadInput);
    }
    CHECK(to_text({17.2e9, in_bytes}, "MB") == "17200 MB");
    CHECK(to_text({0.0315, plain}, "%") == "3.15 %");
    CHECK_THROWS_AS(to_text({1.0, in_bytes}, "ms"), sim::BadInput);
}

TEST_CASE("lessons: words put into a scene take the place of their like") {
    const auto& devices = sim::Catalogue::builtin();
    CHECK(edited(scene, "tile 128x64x32", devices) == "scratchpad 2048x2048x2048 f32 forward fused tile 128x64x32");
    CHECK(edited(scene, "unfused k 64 order kmn", devices) ==
          "scratchpad 2048x2048x64 f32 forward unfused tile 64x64x64 order kmn");
    CHECK(edited(scene, "tpu-v5e bf16", devices) == "tpu-v5e 2048x2048x2048 bf16 forward fused tile 64x64x64");
    CHECK(edited(scene, "h100-sxm5 64x64x64 bf16 dgrad none", devices) == "h100-sxm5 64x64x64 bf16 dgrad none");
    CHECK(edited(scene, "", devices) == scene);
}

TEST_CASE("lessons: counted numbers come from whoever can count") {
    const Counted count = [](const sim::Experiment& e, std::string_view name,
                             std::string_view fault) -> std::optional<double> {
        if (!fault.empty()) return fault == "lost" ? std::optional(7.0) : std::nullopt;
        return name == "wavefronts" ? std::optional<double>(static_cast<double>(e.tile.bm)) : std::nullopt;
    };
    Model counting(sim::Catalogue::builtin(), count);
    const Expression known = Expression::parse("counted.wavefronts[tile 128x64x64] / counted.wavefronts");
    const Expression unknown = Expression::parse("counted.races + 1");
    CHECK(counting.value(known, scene).number() == 2);
    CHECK(counting.has_counts(known, scene));
    CHECK_FALSE(counting.has_counts(unknown, scene));
    CHECK(counting.value(Expression::parse("faulty.wavefronts[lost] - counted.wavefronts"), scene).number() == 7 - 64);
    CHECK_FALSE(counting.has_counts(Expression::parse("faulty.wavefronts[found]"), scene));
    CHECK_FALSE(model().has_counts(known, scene));
    CHECK(model().has_counts(Expression::parse("dram"), scene));
}
