// memwall compare: two experiments side by side, and where the time between them goes.

#include <fmt/format.h>

#include <cmath>
#include <optional>
#include <ostream>

#include "cli/json.hpp"
#include "cli/page.hpp"
#include "cli/text.hpp"
#include "cli/verb.hpp"
#include "sim/report.hpp"
#include "sim/time_steps.hpp"

namespace cli {
namespace {

using sim::i64;

std::string signed_text(double value, std::string (*format)(double)) {
    if (value == 0) return "same";
    return (value < 0 ? "-" : "+") + format(std::abs(value));
}

std::string ratio(double a, double b) { return a > 0 && b > 0 && a != b ? times(b / a) : ""; }

/// A quantity of both, its difference and its ratio; nothing of one that does not fit.
void row(Table& table, std::string name, std::optional<double> a, std::optional<double> b,
         std::string (*format)(double)) {
    if (a.value_or(0) == 0 && b.value_or(0) == 0) return;
    const bool both = a && b;
    table.row({std::move(name), a ? format(*a) : "-", b ? format(*b) : "-", both ? signed_text(*b - *a, format) : "",
               both ? ratio(*a, *b) : ""});
}

std::string side_by_side(const sim::Report& a, const sim::Report& b, const sim::Device& da, const sim::Device& db) {
    Table table("lrrrl");
    table.row({"", "A", "B", "B - A", "B / A"});
    row(table, "bound time", a.bound.time_us, b.bound.time_us, sim::format_us);
    const auto time_of = [](const sim::Report& r) {
        return r.predicted ? std::optional(r.predicted->time_us) : std::nullopt;
    };
    row(table, "predicted time", time_of(a), time_of(b), sim::format_us);
    if (a.predicted && b.predicted) {
        table.row(
            {"limited by", std::string(to_string(a.predicted->limiter)), std::string(to_string(b.predicted->limiter))});
    }
    row(table, "bound DRAM bytes", static_cast<double>(a.bound.dram_bytes), static_cast<double>(b.bound.dram_bytes),
        sim::format_bytes);
    const auto of_fitting = [](const sim::Report& r, i64 bytes) {
        return r.fit.ok() ? std::optional(static_cast<double>(bytes)) : std::nullopt;
    };
    const auto bytes_row = [&](std::string name, i64 of_a, i64 of_b) {
        row(table, std::move(name), of_fitting(a, of_a), of_fitting(b, of_b), sim::format_bytes);
    };
    for (const sim::Level level : {sim::Level::dram, sim::Level::l2, sim::Level::l1, sim::Level::sram}) {
        const sim::LevelTraffic &la = a.traffic.at(level), &lb = b.traffic.at(level);
        if (!la.present && !lb.present) continue;
        const std::string na = level_name(da, level), nb = level_name(db, level);
        const std::string name = na == nb ? na : fmt::format("{} / {}", na, nb);
        for (int i = 0; i < sim::operand_count; ++i) {
            const auto o = static_cast<sim::Operand>(i);
            bytes_row(fmt::format("{} {} read", name, to_string(o)), la.of(o).read_bytes, lb.of(o).read_bytes);
            bytes_row(fmt::format("{} {} {}", name, to_string(o), level == sim::Level::sram ? "filled" : "written"),
                      la.of(o).write_bytes, lb.of(o).write_bytes);
        }
        bytes_row(name + " in all", la.total().bytes(), lb.total().bytes());
    }
    return table.text(2);
}

/// The steps from A to B in one unit, rounded so that they add up as printed.
std::string steps_text(const sim::Report& a, const sim::Report& b, const std::vector<sim::TimeStep>& steps) {
    const double from = a.predicted->time_us, to = b.predicted->time_us;
    const bool ms = std::max(from, to) >= 1000;
    const double unit_us = ms ? 1 : 0.001;  // three decimals of what is printed
    const auto print = [&](double us, bool sign) {
        return ms ? fmt::format(fmt::runtime(sign ? "{:+.3f} ms" : "{:.3f} ms"), us / 1000)
                  : fmt::format(fmt::runtime(sign ? "{:+.3f} \u00b5s" : "{:.3f} \u00b5s"), us);
    };
    const double first = std::round(from / unit_us) * unit_us, last = std::round(to / unit_us) * unit_us;
    const std::vector<double> rounded = sim::rounded_to_sum(steps, last - first, unit_us);
    Table table("lr");
    table.row({"A", print(first, false)});
    for (std::size_t i = 0; i < steps.size(); ++i) table.row({"  " + steps[i].name, print(rounded[i], true)});
    table.row({"B", print(last, false)});
    return table.text(2);
}

int compare(const Arguments& arguments, Session& session) {
    const sim::Catalogue& devices = session.devices_for(arguments.words);
    const sim::Report a = sim::predict(sim::parse_scene(arguments.words[0], devices).experiment, devices);
    const sim::Report b = sim::predict(sim::parse_scene(arguments.words[1], devices).experiment, devices);
    const bool both = a.predicted && b.predicted;
    const std::vector<sim::TimeStep> steps =
        both ? sim::time_steps(*a.predicted, *b.predicted) : std::vector<sim::TimeStep>();
    const int exit = a.fit.ok() && b.fit.ok() ? done : does_not_fit;
    if (arguments.has("--json")) {
        session.out() << compare_document(a, b, steps, devices);
        return exit;
    }
    std::string page =
        "A  " + sim::to_string(a.experiment, devices) + "\nB  " + sim::to_string(b.experiment, devices) + "\n\n";
    for (const auto& [name, r] : {std::pair("A", &a), std::pair("B", &b)})
        if (!r->fit.ok()) page += wrap(fmt::format("{} does not fit: {}", name, r->fit.why), session.terminal().width);
    page += side_by_side(a, b, devices.at(a.experiment.device), devices.at(b.experiment.device));
    if (both) page += heading("Predicted time, step by step") + steps_text(a, b, steps);
    session.out() << page;
    return exit;
}

}  // namespace

const Verb compare_verb = {
    .name = "compare",
    .operands = "\"EXPERIMENT\" \"EXPERIMENT\"",
    .what = "two experiments side by side; the time between them in steps that add up",
    .least = 2,
    .most = 2,
    .options = {{"--json", "", "one JSON object: a, b, delta, steps"}},
    .run = compare,
};

}  // namespace cli
