// Lower bounds: the golden table, and no count ever below them.

#include <doctest/doctest.h>

#include <cmath>

#include "sim/bound.hpp"
#include "sim/count.hpp"
#include "tests/random_experiment.hpp"
#include "tests/table.hpp"

using namespace sim;

TEST_CASE("the I/O bound is the golden table's formula") {
    for (const auto& row : tables::read("bounds.tsv")) {
        const auto number = [&](const char* c) { return std::stoll(row.at(c)); };
        const auto pass = parse_pass(row.at("pass"));
        REQUIRE(pass);
        Dense d;
        d.m = number("m");
        d.n = number("n");
        d.k = number("k");
        const auto in = parse_dtype(row.at("dtype")), out = parse_dtype(row.at("out"));
        REQUIRE((in && out));
        const double narrowest = static_cast<double>(std::min(storage_bytes(*in), storage_bytes(*out)));
        const double bytes = static_cast<double>(number("batch")) * narrowest *
                             io_bound_elements(extent(d, *pass), static_cast<double>(number("fast_elements")));
        CAPTURE(row.at("pass"));
        const double golden = std::stod(row.at("io_bytes"));  // written to three decimals
        CHECK(std::abs(bytes - golden) <= 1e-9 * golden + 0.0006);
    }
}

TEST_CASE("compulsory bytes of the golden cases are the bound's where the fast memory is large") {
    for (const auto& row : tables::read("bounds.tsv")) {
        std::string text = "scratchpad batch " + row.at("batch") + " " + row.at("m") + "x" + row.at("n") + "x" +
                           row.at("k") + " " + row.at("dtype") + " out " + row.at("out") + " " + row.at("pass") +
                           " fused";
        if (row.at("residual") != "-") text += " residual " + row.at("residual");
        const Experiment e = parse_experiment(text, tests::catalogue());
        Device d = tests::catalogue().at("scratchpad");
        d.sram.bytes_per_sm.value = 1e15;
        CAPTURE(text);
        CHECK(bound(e, d).dram_bytes == std::stoll(row.at("compulsory_bytes")));
        const Compulsory c = compulsory(e);
        CHECK(c.read_bytes + c.write_bytes == std::stoll(row.at("compulsory_bytes")));
    }
}

TEST_CASE("a short reduction is not bounded by more than can be reached") {
    // 16384x16384x512 on an H200: W stays in the L2, so the compulsory bytes are reached; the I/O formula would ask for
    // 7 % more.
    const Experiment e =
        parse_experiment("h200-sxm 16384x16384x512 bf16 forward fused tile 128x256x64", tests::catalogue());
    CHECK(bound(e, tests::catalogue().at("h200-sxm")).dram_bytes == 570425344);
}

TEST_CASE("no count is below its bound") {
    tests::Draw draw(99, tests::catalogue());
    int seen = 0;
    for (int i = 0; i < 3000; ++i) {
        const Experiment e = draw.experiment(i % 2 ? 300 : 2000, i % 3 ? 0 : 30);
        if (e.l2 == L2Start::warm) continue;  // bounds are of cold caches
        const Device& d = tests::catalogue().at(e.device);
        const auto kernels = plan(e);
        if (!fit(e, d, kernels).ok()) continue;
        double requests = 0;
        for (const Kernel& k : kernels)
            requests += static_cast<double>(k.row_tiles()) * static_cast<double>(k.col_tiles()) *
                        static_cast<double>(k.k_steps());
        if (requests > 20000) continue;
        ++seen;
        const Counts c = count(e, d, kernels, Count::replay);
        const Bound b = bound(e, d);
        CAPTURE(to_string(e, tests::catalogue()));
        REQUIRE(c.dram_range.lockstep_bytes >= b.dram_bytes);
        REQUIRE(c.dram_range.staggered_bytes >= b.dram_bytes);
    }
    CHECK(seen > 500);
}
