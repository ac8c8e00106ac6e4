// memwall validate: predicted against measured, row by row and by group.

#include "sim/validate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ostream>
#include <utility>

#include "cli/accuracy.hpp"
#include "cli/json.hpp"
#include "cli/page.hpp"
#include "cli/text.hpp"
#include "cli/verb.hpp"
#include "sim/text.hpp"

namespace cli {
namespace {

std::string optional_percent(const std::optional<double>& value) { return value ? percent(*value, false) : "-"; }
std::string optional_rank(const std::optional<double>& value) { return value ? fmt::format("{:.2f}", *value) : "-"; }

std::string rows_text(const std::vector<sim::ValidatedRow>& rows, std::size_t most) {
    std::vector<const sim::ValidatedRow*> predicted;
    for (const sim::ValidatedRow& r : rows)
        if (r.why_skipped.empty()) predicted.push_back(&r);
    std::stable_sort(predicted.begin(), predicted.end(),
                     [](const auto* a, const auto* b) { return std::abs(a->error) > std::abs(b->error); });
    if (predicted.empty()) return "";
    Table table("lrrrr");
    table.row({"id", "predicted", "measured", "error", "constants"});
    for (std::size_t i = 0; i < std::min(most, predicted.size()); ++i) {
        const sim::ValidatedRow* r = predicted[i];
        const bool timed = r->measured_us > 0;
        table.row({r->id, sim::format_us(r->predicted_us), timed ? sim::format_us(r->measured_us) : "-",
                   timed ? percent(r->error) : "-", std::to_string(r->constants.size())});
    }
    std::string out = heading("Rows, the largest error first") + table.text(2);
    if (predicted.size() > most) out += fmt::format("  {} more; --rows shows them.\n", predicted.size() - most);
    return out;
}

/// Under a title, each text that `texts_of` gives for a row, with the number of rows, in the order they are met.
template <class TextsOf>
std::string tally(std::string_view title, const std::vector<sim::ValidatedRow>& rows, int width, TextsOf texts_of) {
    std::vector<std::pair<std::string, long long>> counts;
    for (const sim::ValidatedRow& r : rows)
        for (const std::string& text : texts_of(r)) {
            const auto at = std::find_if(counts.begin(), counts.end(), [&](const auto& c) { return c.first == text; });
            if (at == counts.end())
                counts.emplace_back(text, 1);
            else
                ++at->second;
        }
    Table table("rl");
    for (const auto& [text, count] : counts) table.row({counted(count, "row"), text});
    return counts.empty() ? "" : heading(title) + table.text(2, width);
}
std::string skipped_text(const std::vector<sim::ValidatedRow>& rows, int width) {
    return tally("Not predicted", rows, width, [](const sim::ValidatedRow& r) {
        return r.why_skipped.empty() ? std::vector<std::string>() : std::vector{r.why_skipped};
    });
}
std::string unread_text(const std::vector<sim::ValidatedRow>& rows, int width) {
    return tally("Words of the rows that the model does not read", rows, width,
                 [](const sim::ValidatedRow& r) { return r.unread; });
}

/// What a group's name stands for, in the order the groups are shown.
enum class Group { all, library, engine, device, source };
Group group_of(const std::string& name, const sim::Catalogue& devices) {
    if (name == "all") return Group::all;
    if (name == "library") return Group::library;
    for (const sim::Engine e : {sim::Engine::simt, sim::Engine::mma, sim::Engine::wgmma, sim::Engine::tcgen05,
                                sim::Engine::mxu, sim::Engine::cpu})
        if (to_string(e) == name) return Group::engine;
    return devices.find(name) ? Group::device : Group::source;
}

/// Calls row(shown name, summary) for each group, kind by kind, and title(text) before each kind that has one.
template <class Title, class Row>
void each_group(const std::map<std::string, sim::Summary>& groups, const sim::Catalogue& devices, Title title,
                Row row) {
    constexpr std::string_view titles[] = {"", "", "engine", "device", "source"};
    for (int kind = 0; kind < 5; ++kind) {
        bool first = true;
        for (const auto& [name, s] : groups) {
            if (static_cast<int>(group_of(name, devices)) != kind) continue;
            if (std::exchange(first, false) && kind > 1) title(std::string(titles[kind]));
            const std::string shown = name.size() > 30 ? name.substr(0, 27) + "..." : name;
            row((kind > 1 ? "  " : "") + shown, s);
        }
    }
}

std::string summary_text(const std::map<std::string, sim::Summary>& groups, const sim::Catalogue& devices, int width) {
    if (groups.empty())
        return heading("Absolute error of the predicted time") + wrap(std::string(nothing_predicted), width, 2, 2);
    Table table("lrrrrrr");
    table.row({"", "rows", "mean", "median", "p95", "bias", "roofline"});
    each_group(
        groups, devices, [&](const std::string& title) { table.row({title}); },
        [&](const std::string& name, const sim::Summary& s) {
            table.row({name, std::to_string(s.time.rows), percent(s.time.mape, false),
                       percent(s.time.median_ape, false), percent(s.time.p95_ape, false), percent(s.time.bias),
                       percent(s.roofline.mape, false)});
        });
    return heading("Absolute error of the predicted time") + table.text(2) +
           wrap(
               "all: rows with a tile; library: rows without one, for which the best tile of a menu is predicted. "
               "roofline: the mean error of the bound alone, which knows no tile.",
               width, 2, 2);
}

std::string bytes_text(const std::map<std::string, sim::Summary>& groups, const sim::Catalogue& devices, int width) {
    Table table("lrrrrr");
    table.row({"", "rows", "mean", "median", "of the excess", "compulsory alone"});
    bool any = false;
    each_group(
        groups, devices, [](const std::string&) {},
        [&](const std::string& name, const sim::Summary& s) {
            if (!s.dram) return;
            any = true;
            table.row({name, std::to_string(s.dram->rows), percent(s.dram->mape, false),
                       percent(s.dram->median_ape, false), optional_percent(s.dram_excess_error),
                       percent(s.dram_compulsory->mape, false)});
        });
    if (!any) return "";
    return heading("Absolute error of the predicted DRAM bytes") + table.text(2) +
           wrap(
               "of the excess: as a share of the bytes beyond compulsory; compulsory alone: the mean error of "
               "counting each operand once.",
               width, 2, 2);
}

std::string choice_text(const std::map<std::string, sim::Summary>& groups, const sim::Catalogue& devices, int width) {
    Table table("lrrlrrrr");
    table.row({"", "shapes", "tiles", "chosen by", "mean", "worst", "Spearman", "Kendall"});
    bool any = false;
    each_group(
        groups, devices, [](const std::string&) {},
        [&](const std::string& name, const sim::Summary& s) {
            if (!s.choice) return;
            any = true;
            const auto line = [&](std::vector<std::string> head, const char* rule, const sim::Chooser& c) {
                head.insert(head.end(), {rule, nearly(c.mean), nearly(c.worst), optional_rank(c.spearman),
                                         optional_rank(c.kendall)});
                table.row(std::move(head));
            };
            line({name, std::to_string(s.choice->shapes), std::to_string(s.choice->tiles)}, "the model",
                 s.choice->model);
            if (group_of(name, devices) > Group::engine) return;
            line({"", "", ""}, "waves x tile", s.choice->null);
            if (s.choice->fixed) line({"", "", ""}, "best fixed tile", *s.choice->fixed);
            line({"", "", ""}, "chance", s.choice->random);
        });
    if (!any) return "";
    return heading("Choice of a tile, where a shape was run with several") + table.text(2) +
           wrap(
               "mean, worst: speed of the tile chosen as a share of the best one's. waves x tile: waves times the "
               "larger of a tile's area and its traffic. best fixed tile: the one that would have done best "
               "everywhere. Spearman, Kendall: rank correlation with the clock, in shapes of three tiles or more.",
               width, 2, 2);
}

std::string coverage_text(const std::vector<sim::CoverageRow>& coverage, int width) {
    if (coverage.empty()) return "";
    Table table("llllrr");
    table.row({"pass", "fusion", "engine", "device", "times", "bytes"});
    for (const sim::CoverageRow& c : coverage)
        table.row({c.corner.pass, c.corner.fusion, c.corner.engine, c.corner.device, std::to_string(c.rows_time),
                   c.rows_bytes ? std::to_string(c.rows_bytes) : "-"});
    return heading("Coverage") + table.text(2) +
           wrap("A prediction in any other corner is called unvalidated.", width, 2, 2);
}

/// What no datasheet says and the predictions read all the same.
std::string constants_text(const std::vector<sim::ValidatedRow>& rows, int width) {
    std::map<std::string, std::pair<sim::ReadConstant, int>> fitted;  // by key, value and source, and its readers
    std::vector<double> counts;
    for (const sim::ValidatedRow& r : rows) {
        if (!r.why_skipped.empty() || r.groups.front() != "all") continue;  // those with a tile
        counts.push_back(static_cast<double>(r.constants.size()));
        for (const sim::ReadConstant& c : r.constants)
            if (c.is_fitted()) ++fitted.try_emplace(c.key + c.source, c, 0).first->second.second;
    }
    if (counts.empty()) return "";
    std::string out = heading("Constants that no datasheet gives");
    out +=
        wrap(fmt::format("A prediction of a row with a tile read {:.0f} of them (median; {:.0f} to {:.0f}), measured "
                         "by somebody or assumed; the files of sim/devices give each its source. {} in all were "
                         "fitted to measured rows, none to one kernel or shape:",
                         sim::quantile(counts, 0.5), sim::quantile(counts, 0), sim::quantile(counts, 1), fitted.size()),
             width, 2, 2);
    for (const auto& [key, entry] : fitted)
        out += wrap(fmt::format("{} = {:.3g} {}, read by {}: {}", entry.first.key, entry.first.value, entry.first.unit,
                                counted(entry.second, "row"), entry.first.source),
                    width, 2, 6);
    return out;
}

/// The error with each term of the time model left out, and nothing fitted anew.
std::string ablation_text(const std::vector<sim::Trial>& trials, int width) {
    constexpr std::string_view title = "Rows with a tile, a term left out";
    const double whole = sim::tile_mape(trials, {});
    if (std::isnan(whole)) return heading(title) + wrap(std::string(no_tiled_row), width, 2, 2);
    Table table("lrl");
    table.row({"without", "mean", ""});
    table.row({"(nothing)", percent(whole, false), ""});
    for (const sim::TimeTermInfo& term : sim::time_terms())
        table.row({std::string(term.name),
                   percent(sim::tile_mape(trials, sim::TimeModel::without({std::string(term.name)})), false),
                   std::string(term.what)});
    return heading(title) + table.text(2, width);
}

/// The error on sources or devices that the engine constants were not fitted on.
std::string held_out_text(const std::vector<sim::Trial>& trials, int width) {
    if (sim::leave_one_out(trials, sim::HeldOut::source).empty())
        return heading("Leave one source or device out") + wrap(std::string(no_tiled_row), width, 2, 2);
    std::string out;
    for (const sim::HeldOut what : {sim::HeldOut::source, sim::HeldOut::device}) {
        const std::string_view part = what == sim::HeldOut::source ? "source" : "device";
        Table table("lrrrrl");
        table.row({"engine", "rows", fmt::format("{}s", part), "fitted", "held out", "measured / predicted"});
        double rows = 0, fitted = 0, held_out = 0;
        for (const sim::EngineError& e : sim::leave_one_out(trials, what)) {
            table.row({std::string(to_string(e.engine)), std::to_string(e.rows), std::to_string(e.parts),
                       percent(e.mape_fitted, false), percent(e.mape_held_out, false),
                       fmt::format("{:.2f} to {:.2f}", e.band.low, e.band.high)});
            if (e.engine == sim::Engine::mxu || e.engine == sim::Engine::cpu) continue;
            rows += e.rows;
            fitted += e.rows * e.mape_fitted;
            held_out += e.rows * e.mape_held_out;
        }
        if (rows > 0)
            table.row({"all GPU rows", fmt::format("{:.0f}", rows), "", percent(fitted / rows, false),
                       percent(held_out / rows, false), ""});
        out += heading(fmt::format("Leave one {} out", part)) + table.text(2);
    }
    return out + wrap(fmt::format("Each source or device is predicted with the {} engine constants fitted on all "
                                  "others; the numbers of device files stay as they are.",
                                  sim::engine_constant_table().size()),
                      width, 2, 2);
}

int validate(const Arguments& arguments, Session& session) {
    const std::string& path = arguments.words[0];
    const bool json = arguments.has("--json");
    for (const char* table : {"--rows", "--markdown"})
        if (json && arguments.has(table))
            throw sim::BadInput(fmt::format("--json with {}: expected one of them; {} is to be read", table, table));
    const sim::MeasurementFile file = sim::read_measurements(path);
    session.add_calibrated_cpu();
    const std::vector<sim::Trial> trials = sim::trials_of(file, session.devices(), arguments.has("--strict"));
    const sim::Validation v = sim::validate(trials);
    const int width = session.terminal().width;
    constexpr std::size_t few_rows = 20;
    if (arguments.has("--markdown")) {
        session.out() << accuracy_markdown(trials, v);
    } else if (json) {
        session.out() << validate_document(v, trials, arguments.has("--ablate"), arguments.has("--loso"));
    } else {
        session.out() << fmt::format("{}: {}\n", path, counted(static_cast<long long>(v.rows.size()), "row"))
                      << summary_text(v.summary, session.devices(), width)
                      << choice_text(v.summary, session.devices(), width)
                      << bytes_text(v.summary, session.devices(), width);
        if (arguments.has("--ablate")) session.out() << ablation_text(trials, width);
        if (arguments.has("--loso")) session.out() << held_out_text(trials, width);
        session.out() << constants_text(v.rows, width) << coverage_text(v.coverage, width)
                      << rows_text(v.rows, arguments.has("--rows") ? v.rows.size() : few_rows)
                      << skipped_text(v.rows, width) << unread_text(v.rows, width);
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
                {"--loso", "", "the error on sources and devices the constants were not fitted on"},
                {"--rows", "", "every row, not only the largest errors"},
                {"--markdown", "", "the tables of the README"}},
    .run = validate,
};

}  // namespace cli
