// The JSON documents key by key: the contract's keys, all of them and no other.

#include <doctest/doctest.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "cli/cli.hpp"
#include "sim/time_steps.hpp"

using nlohmann::json;

namespace {

struct Answer {
    int exit;
    json document;
};

Answer ask(const std::vector<std::string>& words) {
    std::ostringstream out, err;
    const int exit = cli::main(words, out, err);
    CAPTURE(err.str());
    REQUIRE(json::accept(out.str()));
    return {exit, json::parse(out.str())};
}

std::set<std::string> keys(const json& object) {
    REQUIRE(object.is_object());
    std::set<std::string> out;
    for (const auto& [key, value] : object.items()) out.insert(key);
    return out;
}

using Keys = std::set<std::string>;

const Keys flow_keys = {"read_bytes", "write_bytes", "causes"};
const Keys cause_keys = {"compulsory", "capacity", "order", "padding", "write"};
const Keys level_keys = {"read_bytes",        "write_bytes",        "moved_read_bytes",
                         "moved_write_bytes", "dirty_at_end_bytes", "operands"};
const Keys predict_keys = {"experiment", "fits",       "engine", "exact",     "flops",
                           "traffic",    "dram_range", "bound",  "predicted", "energy"};
const Keys predicted_keys = {"time_us",   "interval_us", "validated", "limiter",   "if_twice",
                             "occupancy", "slots",       "waves",     "pipelined", "kernels"};
const Keys operand_names = {"x", "w", "bias", "z", "y", "mask", "dy", "dz", "dx", "dw", "partial"};
const Keys limiters = {"math", "sram", "l2", "dram", "latency", "launch", "step_overhead", "power"};

void check_traffic(const json& traffic, const Keys& levels) {
    CHECK(keys(traffic) == levels);
    for (const auto& [name, level] : traffic.items()) {
        CHECK(keys(level) == level_keys);
        sim::i64 read = 0, written = 0;
        for (const auto& [operand, flow] : level.at("operands").items()) {
            CHECK(operand_names.count(operand) == 1);
            CHECK(keys(flow) == flow_keys);
            CHECK(keys(flow.at("causes")) == cause_keys);
            CHECK(flow.at("read_bytes").get<sim::i64>() + flow.at("write_bytes").get<sim::i64>() > 0);
            read += flow.at("read_bytes").get<sim::i64>();
            written += flow.at("write_bytes").get<sim::i64>();
        }
        CHECK(level.at("read_bytes") == read);
        CHECK(level.at("write_bytes") == written);
    }
}

void check_energy(const json& energy, const Keys& levels, std::size_t kernels) {
    CHECK(keys(energy) == Keys{"joules", "capped", "terms", "limit_watts", "sources", "kernels"});
    Keys terms = levels;
    terms.insert("math");
    CHECK(keys(energy.at("terms")) == terms);
    CHECK(keys(energy.at("sources")) == terms);
    for (const auto& [name, of] : energy.at("sources").items()) {
        CHECK(keys(of) == Keys{name == "math" ? "pj_per_flop" : "pj_per_bit", "kind", "source"});
        CHECK(of.at("kind") == "assumed");
    }
    CHECK(energy.at("joules")[0] <= energy.at("joules")[1]);
    CHECK(energy.at("kernels").size() == kernels);
    for (const json& k : energy.at("kernels")) CHECK(keys(k) == Keys{"name", "joules", "capped", "terms"});
}

/// The object of predict, whichever verb printed it, with `more` keys of that verb's own.
void check_report(const json& r, const Keys& levels, const Keys& more = {}) {
    Keys expected = predict_keys;
    expected.insert(more.begin(), more.end());
    CHECK(keys(r) == expected);
    CHECK(keys(r.at("fits")) == Keys{"ok", "why"});
    CHECK((r.at("engine") == "replay" || r.at("engine") == "closed_form"));
    CHECK(r.at("exact").is_boolean());
    CHECK(keys(r.at("dram_range")) == Keys{"lockstep_bytes", "staggered_bytes", "expected_bytes"});
    CHECK(keys(r.at("bound")) == Keys{"dram_bytes", "time_us", "ceiling"});
    CHECK(Keys{"math", "dram", "l2"}.count(r.at("bound").at("ceiling")) == 1);
    const json& p = r.at("predicted");
    REQUIRE(keys(p) == predicted_keys);
    CHECK(p.at("interval_us").size() == 2);
    CHECK(p.at("interval_us")[0] <= p.at("time_us"));
    CHECK(p.at("time_us") <= p.at("interval_us")[1]);
    CHECK(limiters.count(p.at("limiter")) == 1);
    for (const auto& [what, time] : p.at("if_twice").items()) {
        CHECK(limiters.count(what) == 1);
        CHECK(time <= p.at("time_us"));
    }
    REQUIRE(p.at("kernels").size() >= 1);
    for (const json& k : p.at("kernels")) {
        CHECK(keys(k) == Keys{"name", "time_us", "flops", "traffic"});
        CHECK(Keys{"matmul", "relu", "mask", "dgrad", "wgrad", "reduce"}.count(k.at("name")) == 1);
    }
    check_traffic(r.at("traffic"), levels);
    check_energy(r.at("energy"), levels, p.at("kernels").size());
}

constexpr const char* seed = "tpu-v5e 8192x8192x8192 f32 forward fused tile 128x128x8192 order mnk";

}  // namespace

TEST_CASE("json: predict prints the contract's object for each kind of device") {
    const Answer tpu = ask({"predict", seed, "--json"});
    CHECK(tpu.exit == cli::done);
    check_report(tpu.document, {"dram", "sram"});
    CHECK(tpu.document.at("experiment") == "tpu-v5e 8192x8192x8192 f32 forward fused tile 128x128x8192");
    CHECK(tpu.document.at("flops") == 2 * sim::i64{8192} * 8192 * 8192);
    const json& dram = tpu.document.at("traffic").at("dram").at("operands");
    CHECK(keys(dram) == Keys{"x", "w", "y"});
    CHECK(dram.at("x").at("read_bytes") == 268435456);
    CHECK(dram.at("w").at("read_bytes") == 64 * sim::i64{268435456});
    CHECK(dram.at("w").at("causes").at("compulsory") == 268435456);
    CHECK(dram.at("w").at("causes").at("order") == 63 * sim::i64{268435456});
    CHECK(dram.at("y").at("write_bytes") == 268435456);
    for (const char* none : {"occupancy", "slots", "waves"}) CHECK(tpu.document.at("predicted").at(none).is_null());
    CHECK(tpu.document.at("predicted").at("pipelined") == false);

    const Answer gpu = ask({"predict", "--json", "h200-sxm 2048x2048x2048 bf16 forward unfused tile 128x256x64"});
    check_report(gpu.document, {"dram", "l2", "sram"});
    CHECK(gpu.document.at("predicted").at("occupancy").is_number_integer());
    CHECK(gpu.document.at("predicted").at("slots").is_number_integer());
    CHECK(gpu.document.at("predicted").at("waves").is_number());
    CHECK(gpu.document.at("predicted").at("kernels").size() == 2);
    CHECK(keys(gpu.document.at("traffic").at("dram").at("operands")) == Keys{"x", "w", "z", "y"});

    check_report(
        ask({"predict", "scratchpad 512x512x512 f32 forward unfused tile 64x64x64 order kmn", "--json"}).document,
        {"dram", "sram"});
}

TEST_CASE("json: what does not fit still prints, with predicted null, and exits 3") {
    const Answer a = ask({"predict", "tpu-v5e 8192x8192x8192 f32 forward fused tile 8192x8192x8192", "--json"});
    CHECK(a.exit == cli::does_not_fit);
    CHECK(keys(a.document) == predict_keys);
    CHECK(a.document.at("fits").at("ok") == false);
    CHECK(a.document.at("fits").at("why").get<std::string>().find("VMEM") != std::string::npos);
    CHECK(a.document.at("predicted").is_null());
    CHECK(a.document.at("bound").at("time_us") > 0);
}

TEST_CASE("json: --engine chooses who counts") {
    const char* e = "scratchpad 300x200x100 f32 dgrad fused residual mask tile 64x64x64 order knm";
    const json replay = ask({"predict", e, "--json", "--engine", "replay"}).document;
    const json closed = ask({"predict", e, "--json", "--engine", "closed_form"}).document;
    CHECK(replay.at("engine") == "replay");
    CHECK(closed.at("engine") == "closed_form");
    CHECK(replay.at("traffic") == closed.at("traffic"));
    CHECK(keys(replay.at("traffic").at("dram").at("operands")) == Keys{"w", "mask", "dy", "dx"});
}

TEST_CASE("json: compare prints both, their difference and steps that sum to it exactly") {
    const char* pairs[][2] = {{seed, "tpu-v5e 8192x8192x8192 f32 forward unfused tile 1024x1024x512"},
                              {"a100-sxm4-80gb 4096x4096x4096 bf16 forward fused tile 128x128x32",
                               "h100-sxm5 4096x4096x4096 bf16 forward unfused tile 128x256x64"},
                              {seed, seed}};
    for (const auto& [a, b] : pairs) {
        CAPTURE(a);
        CAPTURE(b);
        const json c = ask({"compare", a, b, "--json"}).document;
        CHECK(keys(c) == Keys{"a", "b", "delta", "steps"});
        CHECK(keys(c.at("a")) == predict_keys);
        CHECK(keys(c.at("b")) == predict_keys);
        const double from = c.at("a").at("predicted").at("time_us"), to = c.at("b").at("predicted").at("time_us");
        CHECK(c.at("delta").at("predicted").at("time_us") == to - from);
        const auto read = [](const json& r) { return r.at("traffic").at("dram").at("read_bytes").get<sim::i64>(); };
        CHECK(c.at("delta").at("traffic").at("dram").at("read_bytes") == read(c.at("b")) - read(c.at("a")));
        double sum = 0;
        for (const json& step : c.at("steps")) {
            CHECK(keys(step) == Keys{"name", "time_us"});
            sum += step.at("time_us").get<double>();
        }
        CHECK(sum == to - from);
    }
}

TEST_CASE("json: the steps between two times, rounded for print, still add up") {
    const std::vector<sim::TimeStep> steps = {{"a", 0.4}, {"b", 0.4}, {"c", 0.4}, {"d", -7.3}};
    const std::vector<double> rounded = sim::rounded_to_sum(steps, -6.0, 1);
    REQUIRE(rounded.size() == 4);
    CHECK(rounded[0] + rounded[1] + rounded[2] + rounded[3] == -6.0);
    CHECK(rounded[0] == 0);
    CHECK(rounded[3] == -6);
}

TEST_CASE("json: sweep is a list of predict objects with rank and tie, rejected ones with a reason") {
    const Answer a = ask({"sweep", "tpu-v5e 1024x1024x1024 bf16 forward fused", "--json"});
    CHECK(a.exit == cli::done);
    REQUIRE(a.document.is_array());
    REQUIRE(a.document.size() > 10);
    int last = 0, rejected = 0;
    double slowest = 0;
    for (const json& row : a.document) {
        if (row.at("rank").is_null()) {
            ++rejected;
            CHECK(row.at("reason").get<std::string>() != "");
            CHECK(row.at("predicted").is_null());
            CHECK(row.at("tie") == false);
            continue;
        }
        CHECK(rejected == 0);  // these come last
        check_report(row, {"dram", "sram"}, {"rank", "tie", "pareto"});
        CHECK(row.at("rank") == ++last);
        CHECK(row.at("predicted").at("time_us") >= slowest);
        slowest = row.at("predicted").at("time_us");
    }
    CHECK(last > 0);
    CHECK(ask({"sweep", "tpu-v5e 1024x1024x1024 bf16 forward fused", "--json", "--top", "3"}).document.size() == 3);
}

TEST_CASE("json: devices lists every device with the contract's keys, and calibrates nothing") {
    const json devices = ask({"devices", "--json"}).document;
    Keys ids;
    for (const json& d : devices) {
        CHECK(keys(d) == Keys{"id", "name", "kind", "sm_count", "clock_mhz", "levels", "peak_tflops"});
        CHECK(keys(d.at("levels")) == Keys{"dram", "l2", "sram"});
        CHECK(keys(d.at("levels").at("dram")) == Keys{"display", "bytes", "gbps", "gbps_spec"});
        CHECK(keys(d.at("levels").at("l2")) == Keys{"display", "bytes", "effective_bytes", "gbps"});
        CHECK(keys(d.at("levels").at("sram")) == Keys{"display", "bytes_per_sm", "bytes_per_cta"});
        CHECK(Keys{"gpu", "tpu", "cpu", "scratchpad"}.count(d.at("kind")) == 1);
        ids.insert(d.at("id"));
    }
    for (const std::string id : {"t4",        "v100-sxm2-32gb", "a100-sxm4-40gb", "a100-sxm4-80gb",
                                 "rtx-a6000", "rtx-3090",       "rtx-4090",       "rtx-5090",
                                 "l4",        "l40s",           "h100-pcie",      "h100-sxm5",
                                 "h200-sxm",  "b200-sxm",       "tpu-v4",         "tpu-v5e",
                                 "tpu-v5p",   "tpu-v6e",        "tpu-v7x",        "scratchpad"})
        CHECK_MESSAGE(ids.count(id) == 1, id);
    for (const json& d : devices)
        if (d.at("id") == "h200-sxm") {
            CHECK(d.at("sm_count") == 132);
            CHECK(d.at("levels").at("dram").at("gbps") == 3889);
            CHECK(d.at("peak_tflops").at("bf16").get<double>() == doctest::Approx(989).epsilon(0.01));
        }
}

TEST_CASE("json: kernels lists the rungs that run here") {
    const json kernels = ask({"kernels", "--json"}).document;
    REQUIRE(kernels.size() >= 4);
    for (const json& k : kernels) {
        CHECK(keys(k) ==
              Keys{"rung", "idea", "engine", "pipeline", "passes", "fusions", "dtypes", "arch_min", "available"});
        CHECK(keys(k.at("available")) == Keys{"ok", "why"});
        CHECK(k.at("available").at("ok") == k.at("available").at("why").get<std::string>().empty());
    }
    CHECK(kernels[0].at("rung") == "01_naive");
    CHECK(kernels[0].at("arch_min").is_null());
}

TEST_CASE("json: validate gives rows, summary by group, and coverage") {
    const Answer a = ask({"validate", MEMWALL_SOURCE_DIR "/kernels/measured/published.csv", "--json"});
    CHECK(a.exit == cli::done);
    CHECK(keys(a.document) == Keys{"rows", "summary", "coverage"});
    REQUIRE(a.document.at("rows").size() > 300);
    for (const json& r : a.document.at("rows")) {
        CHECK(keys(r) == Keys{"id", "measured_us", "predicted_us", "error", "constants", "unread", "why_skipped"});
        if (r.at("why_skipped") != "") {
            CHECK(r.at("predicted_us").is_null());
            continue;
        }
        const double measured = r.at("measured_us"), predicted = r.at("predicted_us");
        CHECK(r.at("constants") > 0);
        CHECK(r.at("error").get<double>() == doctest::Approx((predicted - measured) / measured));
    }
    const json& summary = a.document.at("summary");
    for (const std::string group : {"all", "library", "mxu", "wgmma", "tpu-v5e"})
        REQUIRE_MESSAGE(summary.contains(group), group);
    for (const auto& [group, s] : summary.items())
        CHECK(keys(s) == Keys{"rows", "mape", "median_ape", "p95_ape", "bias", "spearman", "kendall", "top1_efficiency",
                              "worst_efficiency", "fixed_tile_efficiency", "dram_mape", "dram_median_ape",
                              "dram_excess_error", "null"});
    CHECK(keys(summary.at("all").at("null")) ==
          Keys{"roofline", "compulsory_bytes", "waves_x_tile", "fixed_tile", "random_tile"});
    REQUIRE(!a.document.at("coverage").empty());
    for (const json& c : a.document.at("coverage"))
        CHECK(keys(c) == Keys{"pass", "fusion", "engine", "device", "rows_time", "rows_bytes"});
}

TEST_CASE("json: a run under glass adds what was counted, level by level and line by line") {
    const Answer a = ask({"run", "rtx-a6000 130x70x33 f32 forward fused tile 32x32x8 rung 03_shared_tile", "--backend",
                          "glass", "--json"});
    CHECK(a.exit == cli::done);
    check_report(a.document, {"dram", "l2", "sram"}, {"counted"});
    const json& c = a.document.at("counted");
    CHECK(keys(c) == Keys{"max_error", "dram", "l2", "sram", "sectors", "wavefronts", "ideal_wavefronts",
                          "bank_conflicts", "lines", "races", "sampled"});
    CHECK(c.at("races").empty());
    CHECK(c.at("sampled") == false);
    CHECK(c.at("bank_conflicts") == c.at("wavefronts").get<sim::i64>() - c.at("ideal_wavefronts").get<sim::i64>());
    for (const char* level : {"l2", "sram"})
        for (const char* way : {"read_bytes", "write_bytes"})
            CHECK(c.at(level).at(way) == a.document.at("traffic").at(level).at(way));
    REQUIRE_FALSE(c.at("lines").empty());
    for (const json& l : c.at("lines"))
        CHECK(keys(l) == Keys{"file", "line", "instructions", "active_lanes", "bytes", "sectors", "ideal_sectors",
                              "wavefronts", "ideal_wavefronts"});
}
