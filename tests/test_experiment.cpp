// The text form: one line means one experiment and back again; what it refuses, it names.

#include <doctest/doctest.h>

#include "sim/experiment.hpp"
#include "tests/random_experiment.hpp"

using namespace sim;

namespace {

Experiment parse(const std::string& text) { return parse_experiment(text, tests::catalogue()); }
std::string canonical(const std::string& text) { return to_string(parse(text), tests::catalogue()); }

std::string refusal(const std::string& text) {
    try {
        parse_scene(text, tests::catalogue());
    } catch (const BadInput& bad) {
        return bad.what();
    }
    return "";
}

}  // namespace

TEST_CASE("the design's lines are canonical") {
    for (const char* line : {
             "h200-sxm 8192x8192x8192 bf16 forward fused tile 128x256x64 raster grouped:8",
             "h100-sxm5 4096x4096x4096 bf16 train unfused residual mask tile 128x128x64 tile.wgrad 128x256x64 rung "
             "07_tensor_core",
             "tpu-v5e 8192x8192x8192 f32 forward fused tile 128x128x8192 buffers 1",
             "cpu 2048x2048x2048 f32 forward unfused tile 384x1536x256 threads 2",
             "scratchpad 512x512x512 f32 forward unfused tile 64x64x64 order kmn",
         })
        CHECK(canonical(line) == line);
}

TEST_CASE("a word with its usual value is left out, the tile never") {
    CHECK(canonical("h200-sxm 8x8x8 bf16 forward fused tile 128x256x64 stages 4") ==
          "h200-sxm 8x8x8 bf16 forward fused tile 128x256x64");
    CHECK(canonical("tpu-v5e 8x8x8 f32 forward fused order mnk") == "tpu-v5e 8x8x8 f32 forward fused tile 512x512x512");
    CHECK(canonical("cpu 8x8x8 f32 forward fused order nkm") == "cpu 8x8x8 f32 forward fused tile 384x1536x256");
    CHECK(canonical("h200-sxm 8x8x8 e4m3 forward fused out bf16 tile best") ==
          "h200-sxm 8x8x8 e4m3 forward fused tile best");
}

TEST_CASE("word order is free") {
    CHECK(parse("raster grouped:4 fused forward 64x32x16 tile 16x16x8 f32 t4") ==
          parse("t4 64x32x16 f32 forward fused tile 16x16x8 raster grouped:4"));
}

TEST_CASE("a rung implies its engine and pipeline") {
    const Experiment e = parse("h100-sxm5 64x64x64 bf16 forward fused rung 07_tensor_core");
    CHECK(e.engine == Engine::mma);
    CHECK(e.pipeline == Pipeline::multistage);
    CHECK(parse("h100-sxm5 64x64x64 bf16 forward fused rung 07_tensor_core engine mma") == e);
}

TEST_CASE("random experiments survive the round trip") {
    tests::Draw draw(20261130, tests::catalogue());
    for (int i = 0; i < 5000; ++i) {
        const std::string text = draw.text(100000, i % 100);
        const Experiment e = parse(text);
        const std::string line = to_string(e, tests::catalogue());
        CAPTURE(text);
        CAPTURE(line);
        REQUIRE(parse(line) == e);
        REQUIRE(to_string(parse(line), tests::catalogue()) == line);
    }
}

TEST_CASE("scenes survive the round trip") {
    tests::Draw draw(7, tests::catalogue());
    for (int i = 0; i < 500; ++i) {
        Scene s;
        s.experiment = draw.experiment(5000, 30);
        if (draw.one_in(2)) s.step = draw.integer(0, 1'000'000);
        if (draw.one_in(2))
            s.select = {draw.pick<const char*>({"x", "w", "y", "dz"}), draw.integer(0, 99), draw.integer(0, 99)};
        if (draw.one_in(2)) s.view = draw.pick<const char*>({"learn", "explore", "measure"});
        if (draw.one_in(2)) s.baseline = draw.experiment(5000, 30);
        const std::string text = to_string(s, tests::catalogue());
        CAPTURE(text);
        REQUIRE(parse_scene(text, tests::catalogue()) == s);
    }
    CHECK(parse("t4 8x8x8 f32 forward fused | step 12 whatever else") == parse("t4 8x8x8 f32 forward fused"));
}

TEST_CASE("bad input gets one line that names it") {
    struct Case {
        const char *text, *names, *expected;
    };
    for (const Case& c : {
             Case{"", "empty", "DEVICE"},
             {"h300 8x8x8 f32 forward fused", "h300", "memwall devices"},
             {"t4 0x8x8 f32 forward fused", "0x8x8", "1 to 2147483647"},
             {"t4 8x-8x8 f32 forward fused", "8x-8x8", "1 to 2147483647"},
             {"t4 8x8 f32 forward fused", "8x8", "AxBxC"},
             {"t4 8x8x2147483648 f32 forward fused", "8x8x2147483648", "2147483647"},
             {"t4 8x8x1e3 f32 forward fused", "8x8x1e3", "whole numbers"},
             {"t4 2147483647x2147483647x2147483647 f32 forward fused", "2147483647x", "2^63 operations"},
             {"t4 8x8x8 f64 forward fused", "f64", "bf16"},
             {"t4 8x8x8 f32 backward fused", "backward", "dgrad"},
             {"t4 8x8x8 f32 forward melted", "melted", "unfused"},
             {"t4 8x8x8 f32 forward upstream", "upstream", "fused on pass forward"},
             {"t4 8x8x8 f32 train none", "none", "pass train"},
             {"t4 8x8x8 f32 forward fused raster spiral", "spiral", "grouped:G"},
             {"t4 8x8x8 f32 forward fused raster grouped:0", "0", "from 1"},
             {"t4 8x8x8 f32 forward fused rung 99_magic", "99_magic", "04_register_tile"},
             {"h200-sxm 8x8x8 bf16 forward fused rung 07_tensor_core engine wgmma", "wgmma", "mma"},
             {"t4 8x8x8 f32 forward fused order mnk", "order", "no order on a gpu"},
             {"cpu 8x8x8 f32 forward fused raster along_n", "raster", "no raster on a cpu"},
             {"tpu-v5e 8x8x8 f32 forward fused stages 3", "stages", "no stages on a tpu"},
             {"scratchpad 8x8x8 f32 forward fused rung 01_naive", "rung", "no rung on a scratchpad"},
             {"t4 8x8x8 f32 dgrad fused bias yes", "bias", "only for pass forward"},
             {"t4 8x8x8 f32 forward fused tile.dgrad 8x8x8", "tile.dgrad", "only for pass train"},
             {"t4 8x8x8 f32 forward unfused residual mask", "residual", "fused"},
             {"t4 8x8x8 f32 forward fused drelu yes", "drelu", "upstream"},
             {"t4 8x8x8 f32 forward fused in_place yes", "in_place", "unfused"},
             {"t4 8x8x8 f32 forward fused tile", "tile", "a value"},
             {"t4 8x8x8 f32 forward fused tile 8x8x8 tile 4x4x4", "tile", "once"},
             {"t4 8x8x8 f32 forward fused schedule split_k:1", "1", "from 2"},
             {"tpu-v5e 8x8x8 f32 forward fused vmem 16MB", "16MB", "16MiB"},
             {"t4 8x8x8 f32 forward fused traits a", "a", "key=value"},
             {"t4 8x8x8 f32 forward fused banana", "banana", "tile"},
             {"t4 8x8x8 f32 forward fused | jump 3", "jump", "step N"},
             {"t4 8x8x8 f32 forward fused | step -1", "-1", "from 0"},
             {"t4 8x8x8 f32 forward fused | select q 1 1", "q", "operand"},
             {"t4 8x8x8 f32 forward fused | view nowhere", "nowhere", "explore"},
             {"t4 8x8x8 f32 forward fused | vs t4 8x8x8", "vs", "vs (EXPERIMENT)"},
         }) {
        const std::string why = refusal(c.text);
        CAPTURE(c.text);
        CHECK_MESSAGE(why.find(c.names) != std::string::npos, why);
        CHECK_MESSAGE(why.find(c.expected) != std::string::npos, why);
        CHECK(why.find('\n') == std::string::npos);
    }
}
