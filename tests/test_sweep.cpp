// A sweep's order, its front, what it advises, and tiles of odd shapes.

#include <doctest/doctest.h>

#include <algorithm>

#include "sim/report.hpp"
#include "sim/sweep.hpp"
#include "tests/random_experiment.hpp"

using namespace sim;

namespace {

std::vector<SweepRow> of(const char* text, i64 replays = 0) {
    return sweep(parse_experiment(text, tests::catalogue()), tests::catalogue(),
                 {.replay_best = replays, .stop = {}, .progress = {}});
}
/// Points into `rows`.
std::vector<const SweepRow*> fitting(const std::vector<SweepRow>& rows) {
    std::vector<const SweepRow*> out;
    for (const SweepRow& r : rows)
        if (r.fit.ok()) out.push_back(&r);
    return out;
}

constexpr const char* square = "h200-sxm 4096x4096x4096 bf16 forward fused tile best";

}  // namespace

TEST_CASE("a tile is on the front where no other is as fast with as little on chip") {
    const auto rows = of(square);
    for (const SweepRow* a : fitting(rows)) {
        CAPTURE(to_string(a->experiment, tests::catalogue()));
        const bool beaten = std::any_of(rows.begin(), rows.end(), [&](const SweepRow& b) {
            return b.fit.ok() && &b != a && b.sram_bytes <= a->sram_bytes &&
                   (b.time_us < a->time_us || (b.time_us == a->time_us && b.rank < a->rank));
        });
        CHECK(a->pareto == !beaten);
    }
    for (const SweepRow& r : rows) CHECK((r.fit.ok() || !r.pareto));
}

TEST_CASE("replays on every core give what one replay at a time gives") {
    const auto rows = of(square, 16);
    CHECK(std::count_if(rows.begin(), rows.end(), [](const SweepRow& r) { return r.replayed; }) == 16);
    for (const SweepRow* r : fitting(rows)) {
        if (!r->replayed) continue;
        const Report alone = predict(r->experiment, tests::catalogue(), {Count::replay, {}});
        CHECK(r->time_us == doctest::Approx(alone.predicted->time_us));
        CHECK(r->dram_bytes == alone.dram_range.expected_bytes);
    }
    const auto few = sweep(parse_experiment(square, tests::catalogue()), tests::catalogue(),
                           {.replay_best = 64, .most_requests = 1, .stop = {}, .progress = {}});
    CHECK(std::none_of(few.begin(), few.end(), [](const SweepRow& r) { return r.replayed; }));
}

TEST_CASE("four to eight tiles are worth a clock: the best, then ties unlike those taken") {
    for (const char* text : {square, "rtx-a6000 4096x64x4096 f32 forward fused tile best",
                             "tpu-v5e 8192x8192x8192 f32 forward fused tile best",
                             "a100-sxm4-80gb 16x4096x4096 bf16 forward fused tile best"}) {
        CAPTURE(text);
        const auto rows = of(text);
        const SweepAdvice a = advise(rows, tests::catalogue());
        CHECK(a.measure.size() >= 4);
        CHECK(a.measure.size() <= 8);
        CHECK(a.measure.front() == 0);
        CHECK(std::is_sorted(a.measure.begin(), a.measure.end()));
        CHECK(std::adjacent_find(a.measure.begin(), a.measure.end()) == a.measure.end());
        const auto ties = std::count_if(rows.begin(), rows.end(), [](const SweepRow& r) { return r.tie; });
        for (const std::size_t i : a.measure) {
            CHECK(rows[i].fit.ok());
            if (ties >= 3) CHECK((i == 0 || rows[i].tie));
        }
    }
}

TEST_CASE("what is worth a clock is what a kernel at hand runs, where one does") {
    const auto rows = of(square);
    const auto even = [](const Experiment& e) { return e.tile.bk != 64; };
    const SweepAdvice some = advise(rows, tests::catalogue(), even);
    REQUIRE_FALSE(some.measure.empty());
    for (const std::size_t i : some.measure) CHECK(even(rows[i].experiment));
    const auto first = std::find_if(rows.begin(), rows.end(), [&](const SweepRow& r) { return even(r.experiment); });
    CHECK(some.measure.front() == static_cast<std::size_t>(first - rows.begin()));
    const auto none = [](const Experiment&) { return false; };
    CHECK(advise(rows, tests::catalogue(), none).measure == advise(rows, tests::catalogue()).measure);
}

TEST_CASE("the regret of the usual tile is what it takes beyond the best") {
    const auto rows = of("tpu-v5e 8192x8192x8192 f32 forward fused tile best");
    const SweepAdvice a = advise(rows, tests::catalogue());
    REQUIRE(a.usual);
    const Report usual =
        predict(parse_experiment("tpu-v5e 8192x8192x8192 f32 forward fused tile 512x512x512", tests::catalogue()),
                tests::catalogue());
    CHECK(a.usual->experiment.tile == usual.experiment.tile);
    CHECK(a.regret == doctest::Approx(usual.predicted->time_us / rows.front().time_us - 1));
}

TEST_CASE("other words that would help are predicted with the best tile, best first") {
    const auto rows = of("h200-sxm 16x4096x16384 bf16 forward fused tile best");
    const auto others = variations(rows.front().experiment, tests::catalogue());
    REQUIRE_FALSE(others.empty());  // 1 x 16 tiles on 132 SMs: cutting the reduction must help
    CHECK(others.front().experiment.schedule.kind != Schedule::data_parallel);
    double before = 0;
    for (const SweepRow& v : others) {
        CHECK(v.experiment.tile == rows.front().experiment.tile);
        CHECK(v.time_us < 0.99 * rows.front().time_us);
        CHECK(v.gain > 1 / 0.99);
        CHECK(v.time_us >= before);
        before = v.time_us;
    }
    // The seed's tile: with room for two copies, they load while the MXU computes.
    const auto seed =
        variations(parse_experiment("tpu-v5e 8192x8192x8192 f32 forward fused tile 128x128x8192", tests::catalogue()),
                   tests::catalogue());
    REQUIRE_FALSE(seed.empty());
    CHECK(seed.front().experiment.vmem == i64{32} << 20);
    CHECK(seed.front().time_us < 26e3);
}

TEST_CASE("skinny, deep and tiny layers, and a part of the SMs, are swept like any other") {
    for (const char* text :
         {"h200-sxm 1x4096x4096 bf16 forward fused tile best", "h200-sxm 4096x1x4096 bf16 forward fused tile best",
          "a100-sxm4-80gb 128x128x65536 f16 forward fused tile best", "rtx-a6000 64x64x64 f32 forward fused tile best",
          "b200-sxm 1x1x1 bf16 forward none tile best", "h200-sxm 4096x4096x4096 bf16 forward fused tile best sms 20",
          "tpu-v5e 8x128x128 bf16 forward fused tile best", "cpu 1x1x1 f32 forward fused tile best"}) {
        CAPTURE(text);
        const auto all = of(text, 8);
        const auto rows = fitting(all);
        REQUIRE(rows.size() >= 4);
        for (const SweepRow* r : rows) {
            CHECK(std::isfinite(r->time_us));
            CHECK(r->time_us > 0);
        }
    }
    const double all = of(square).front().time_us;
    CHECK(of("h200-sxm 4096x4096x4096 bf16 forward fused tile best sms 20").front().time_us > 5 * all);
    // One row of outputs: a tile of few rows is not slower than one of many, most of which are padding.
    CHECK(of("a100-sxm4-80gb 1x4096x4096 f16 forward fused tile best").front().experiment.tile.bm <= 32);
}

TEST_CASE("stages and raster are swept like the tile, and every other word stays as it was said") {
    const Experiment e =
        parse_experiment("h200-sxm 4096x4096x4096 bf16 forward fused tile 128x256x64 stages 3", tests::catalogue());
    SweepOptions options;
    options.over = {SweepWord::stages, SweepWord::raster};
    const auto rows = sweep(e, tests::catalogue(), options);
    const TileSpace space = tile_space(e, tests::catalogue().at(e.device));
    CHECK(rows.size() == space.stages.size() * space.raster.size());
    for (const SweepRow& r : rows) {
        CHECK(r.experiment.tile == e.tile);
        if (!r.fit.ok()) continue;
        Experiment alone = e;
        set(alone, SweepWord::stages, r.experiment.stages);
        set(alone, SweepWord::raster, value_of(r.experiment, SweepWord::raster));
        CHECK(alone == r.experiment);
        CHECK(predict(alone, tests::catalogue(), {Count::closed_form, {}}).predicted->time_us ==
              doctest::Approx(r.time_us));
    }
    const SweepAdvice a = advise(rows, tests::catalogue());
    CHECK(std::adjacent_find(a.measure.begin(), a.measure.end()) == a.measure.end());
}

TEST_CASE("a swept word is read back as it was set, and its text is the experiment's own word") {
    Experiment e = parse_experiment("h200-sxm 4096x4096x4096 bf16 forward fused tile 128x256x64", tests::catalogue());
    const TileSpace space = tile_space(e, tests::catalogue().at(e.device));
    for (const SweepWord word : all_sweep_words) {
        CHECK(std::is_sorted(space.of(word).begin(), space.of(word).end()));
        for (const i64 value : space.of(word)) {
            set(e, word, value);
            CHECK(value_of(e, word) == value);
            if (word == SweepWord::raster) CHECK(value_text(word, value) == to_string(e.raster));
        }
    }
    const Experiment tpu = parse_experiment("tpu-v5e 1024x1024x1024 f32 forward fused tile best", tests::catalogue());
    CHECK(tile_space(tpu, tests::catalogue().at(tpu.device)).stages.empty());
}

TEST_CASE("a sweep of one word of a tile that cannot be resolved says why in its one row") {
    Experiment e = parse_experiment("h200-sxm 4096x4096x4096 bf16 forward fused tile best", tests::catalogue());
    SweepOptions options;
    options.over = {SweepWord::stages};
    const auto rows = sweep(e, tests::catalogue(), options);
    REQUIRE(rows.front().fit.ok());
    CHECK_FALSE(rows.front().experiment.tile.is_best());
}
