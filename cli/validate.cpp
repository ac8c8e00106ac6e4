// memwall validate: predicted against measured, row by row and by group.

#include "sim/validate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ostream>
#include <utility>

#include "cli/json.hpp"
#include "cli/page.hpp"
#include "cli/text.hpp"
#include "cli/verb.hpp"
#include "sim/text.hpp"

namespace cli {
namespace {

std::string optional_percent(const std::optional<double>& value) { return value ? percent(*value, false) : "-"; }

std::string rows_text(const std::vector<sim::ValidatedRow>& rows) {
    std::vector<const sim::ValidatedRow*> predicted;
    for (const sim::ValidatedRow& r : rows)
        if (r.why_skipped.empty()) predicted.push_back(&r);
    std::stable_sort(predicted.begin(), predicted.end(),
                     [](const auto* a, const auto* b) { return std::abs(a->error) > std::abs(b->error); });
    if (predicted.empty()) return "";
    Table table("lrrrl");
    table.row({"id", "predicted", "measured", "error", ""});
    for (const sim::ValidatedRow* r : predicted)
        table.row({r->id, sim::format_us(r->predicted_us), sim::format_us(r->measured_us), percent(r->error),
                   r->beats_bound ? "faster than its bound: refused" : ""});
    return heading("Rows, the largest error first") + table.text(2);
}

std::string skipped_text(const std::vector<sim::ValidatedRow>& rows, int width) {
    std::vector<std::pair<std::string, long long>> reasons;
    for (const sim::ValidatedRow& r : rows) {
        if (r.why_skipped.empty()) continue;
        const auto at = std::find_if(reasons.begin(), reasons.end(),
                                     [&](const auto& known) { return known.first == r.why_skipped; });
        if (at == reasons.end()) {
            reasons.emplace_back(r.why_skipped, 1);
        } else {
            ++at->second;
        }
    }
    Table table("rl");
    for (const auto& [reason, count] : reasons) table.row({counted(count, "row"), reason});
    return reasons.empty() ? "" : heading("Not predicted") + table.text(2, width);
}

bool is_engine(std::string_view group) {
    for (const sim::Engine e : {sim::Engine::simt, sim::Engine::mma, sim::Engine::wgmma, sim::Engine::tcgen05,
                                sim::Engine::mxu, sim::Engine::cpu})
        if (to_string(e) == group) return true;
    return false;
}

std::string summary_text(const std::map<std::string, sim::Summary>& groups, const sim::Catalogue& devices, int width) {
    Table table("lrrrrrrr");
    table.row({"", "rows", "mean", "median", "p95", "bias", "rank", "DRAM bytes"});
    const auto kind_of = [&](const std::string& group) {
        return group == "all" ? 0 : group == "library" ? 1 : is_engine(group) ? 2 : devices.find(group) ? 3 : 4;
    };
    constexpr const char* titles[] = {"", "", "engine", "device", "source"};
    for (int kind = 0; kind < 5; ++kind) {
        bool first = true;
        for (const auto& [name, s] : groups) {
            if (kind_of(name) != kind) continue;
            if (std::exchange(first, false) && kind > 1) table.row({titles[kind]});
            const std::string shown = name.size() > 30 ? name.substr(0, 27) + "..." : name;
            table.row({(kind > 1 ? "  " : "") + shown, std::to_string(s.rows), percent(s.mape, false),
                       percent(s.median_ape, false), percent(s.p95_ape, false), percent(s.bias),
                       s.spearman ? fmt::format("{:.2f}", *s.spearman) : "-", optional_percent(s.dram_mape)});
        }
    }
    return heading("Absolute error of the predicted time") + table.text(2) +
           wrap(
               "all: rows with a tile; library: rows without one, for which the best tile of a menu is predicted. "
               "rank: correlation of "
               "predicted and measured over the tiles of a shape.",
               width, 2, 2);
}

/// The error with each term of the time model left out, and nothing fitted anew.
std::string ablation_text(const sim::MeasurementFile& file, const sim::Catalogue& devices, sim::ValidateOptions options,
                          const sim::Validation& whole) {
    const auto all = whole.summary.find("all");
    if (all == whole.summary.end()) return "";
    Table table("lrl");
    table.row({"without", "mean", ""});
    table.row({"(nothing)", percent(all->second.mape, false), ""});
    for (const sim::TimeTermInfo& term : sim::time_terms()) {
        options.without = {std::string(term.name)};
        table.row({std::string(term.name), percent(sim::validate(file, devices, options).summary.at("all").mape, false),
                   std::string(term.what)});
    }
    return heading("Rows with a tile, a term left out") + table.text(2, 80);
}

/// The error on sources that the engine constants were not fitted on.
std::string held_out_text(const sim::MeasurementFile& file, const sim::Catalogue& devices, int width) {
    Table table("lrrrrl");
    table.row({"engine", "rows", "sources", "fitted", "held out", "measured / predicted"});
    for (const sim::EngineError& e : sim::leave_one_source_out(file, devices))
        table.row({std::string(to_string(e.engine)), std::to_string(e.rows), std::to_string(e.sources),
                   percent(e.mape_fitted, false), percent(e.mape_held_out, false),
                   fmt::format("{:.2f} to {:.2f}", e.band.low, e.band.high)});
    return heading("Leave one source out") + table.text(2) +
           wrap(
               fmt::format("Each source is predicted with the {} engine constants fitted on all others; the numbers of "
                           "device files stay as they are.",
                           sim::engine_constant_table().size()),
               width, 2, 2);
}

int validate(const Arguments& arguments, Session& session) {
    const std::string& path = arguments.words[0];
    const sim::MeasurementFile file = sim::read_measurements(path);
    session.add_calibrated_cpu();
    sim::ValidateOptions options;
    options.strict = arguments.has("--strict");
    const sim::Validation v = sim::validate(file, session.devices(), options);
    const int width = session.terminal().width;
    if (arguments.has("--json")) {
        if (arguments.has("--ablate") || arguments.has("--loso"))
            throw sim::BadInput("--json with --ablate or --loso: expected one of them; those two are tables to read");
        session.out() << validate_document(v);
    } else {
        const std::string head = fmt::format("{}: {}\n", path, counted(static_cast<long long>(v.rows.size()), "row"));
        session.out() << head + rows_text(v.rows) + skipped_text(v.rows, width) +
                             summary_text(v.summary, session.devices(), width);
        if (arguments.has("--ablate")) session.out() << ablation_text(file, session.devices(), options, v);
        if (arguments.has("--loso")) session.out() << held_out_text(file, session.devices(), width);
    }
    std::string refused;
    for (const sim::ValidatedRow& r : v.rows)
        if (r.beats_bound) refused += (refused.empty() ? "" : ", ") + r.id;
    if (refused.empty()) return done;
    throw sim::BadInput(
        fmt::format("{}: rows faster than what their device can do: {}; expected none", sim::quote(path), refused));
}

}  // namespace

const Verb validate_verb = {
    .name = "validate",
    .operands = "FILE.csv",
    .what = "predicted against the measured rows of a file, by row and by group",
    .least = 1,
    .most = 1,
    .options = {{"--json", "", "one JSON object: rows, summary, coverage"},
                {"--strict", "", "drop the traits and columns that were inferred"},
                {"--ablate", "", "the error again with each term of the time model left out"},
                {"--loso", "", "the error on sources the constants were not fitted on"}},
    .run = validate,
};

}  // namespace cli
