// memwall sweep: every tile of the space, or of the words asked for, ranked.

#include "sim/sweep.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <ostream>

#include "cli/interrupt.hpp"
#include "cli/json.hpp"
#include "cli/page.hpp"
#include "cli/text.hpp"
#include "cli/verb.hpp"
#include "sim/text.hpp"

namespace cli {
namespace {

using Words = std::vector<sim::SweepWord>;

/// The words of "bm,stages"; all three of the tile where none are said.
Words words_of(const std::string* said) {
    if (!said) return sim::SweepOptions{}.over;
    std::vector<std::string_view> names;
    for (const sim::SweepWord w : sim::all_sweep_words) names.push_back(to_string(w));
    Words out;
    for (std::size_t at = 0; at <= said->size();) {
        const std::size_t end = std::min(said->find(',', at), said->size());
        const std::string word = said->substr(at, end - at);
        const auto known = std::find(names.begin(), names.end(), word);
        if (known == names.end())
            throw sim::BadInput(fmt::format("--over {} is no word that a sweep can vary; expected one or more of {}{}",
                                            sim::quote(word), sim::listed(names), sim::did_you_mean(word, names)));
        const sim::SweepWord w = sim::all_sweep_words[static_cast<std::size_t>(known - names.begin())];
        if (std::find(out.begin(), out.end(), w) != out.end())
            throw sim::BadInput(fmt::format("--over {}: said twice", sim::quote(word)));
        out.push_back(w);
        at = end + 1;
    }
    return out;
}

/// "128x256x64", with the other words that were varied: "128x256x64 stages 4".
std::string place_text(const sim::Experiment& e, const Words& over) {
    std::string out = to_string(e.tile);
    for (const sim::SweepWord w : over)
        if (w == sim::SweepWord::stages || w == sim::SweepWord::raster)
            out += fmt::format(" {} {}", to_string(w), sim::value_text(w, sim::value_of(e, w)));
    return out;
}

/// Two words as a table of predicted times: '#' the best, '=' a tie with it, '-' what was rejected.
std::string grid_text(const std::vector<sim::SweepRow>& rows, const Words& over, const sim::TileSpace& space) {
    const std::vector<sim::i64>&down = space.of(over[0]), &across = space.of(over[1]);
    Table table("r" + std::string(across.size(), 'r'));
    std::vector<std::string> head = {fmt::format("{} \\ {}", to_string(over[0]), to_string(over[1]))};
    for (const sim::i64 v : across) head.push_back(sim::value_text(over[1], v) + "  ");
    table.row(std::move(head));
    for (const sim::i64 r : down) {
        std::vector<std::string> line = {sim::value_text(over[0], r)};
        for (const sim::i64 c : across) {
            const auto at = std::find_if(rows.begin(), rows.end(), [&](const sim::SweepRow& x) {
                return sim::value_of(x.experiment, over[0]) == r && sim::value_of(x.experiment, over[1]) == c;
            });
            if (at == rows.end() || !at->fit.ok()) {
                line.push_back("-  ");
            } else {
                line.push_back(sim::format_us(at->time_us) + (at->rank == 1 ? " #" : at->tie ? " =" : "  "));
            }
        }
        table.row(std::move(line));
    }
    return '\n' + table.text(0);
}

std::string csv_cell(const std::string& text) {
    if (text.find_first_of(",\"\n") == std::string::npos) return text;
    std::string out = "\"";
    for (const char c : text) out += c == '"' ? "\"\"" : std::string(1, c);
    return out + '"';
}

std::string csv(const std::vector<sim::SweepRow>& rows, const sim::Catalogue& devices) {
    std::string out =
        "rank,tie,bm,bn,bk,predicted_us,low_us,high_us,dram_bytes,sram_bytes,experiment,reason,pareto,stages,raster\n";
    for (const sim::SweepRow& r : rows) {
        const sim::Tile& t = r.experiment.tile;
        const bool ok = r.fit.ok(), gpu = devices.at(r.experiment.device).kind == sim::DeviceKind::gpu;
        out += fmt::format("{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}\n", ok ? std::to_string(r.rank) : "",
                           ok ? (r.tie ? "1" : "0") : "", t.bm, t.bn, t.bk, ok ? plain(r.time_us) : "",
                           ok ? plain(r.interval_us[0]) : "", ok ? plain(r.interval_us[1]) : "",
                           ok ? std::to_string(r.dram_bytes) : "", ok ? std::to_string(r.sram_bytes) : "",
                           csv_cell(sim::to_string(r.experiment, devices)), csv_cell(r.fit.why),
                           ok ? (r.pareto ? "1" : "0") : "", gpu ? std::to_string(r.experiment.stages) : "",
                           gpu ? to_string(r.experiment.raster) : "");
    }
    return out;
}

std::vector<RankedReport> reports(const std::vector<sim::SweepRow>& rows, const sim::Catalogue& devices) {
    std::vector<RankedReport> out;
    for (const sim::SweepRow& r : rows)
        out.push_back(
            {sim::predict(r.experiment, devices,
                          {.count = r.replayed ? sim::Count::automatic : sim::Count::closed_form, .without = {}}),
             r.rank, r.tie, r.pareto, r.fit.why});
    return out;
}

/// "needs 260 KiB of shared memory" and "needs 300 KiB …" are one rule: their text with each number as '#'.
std::string rule_of(const std::string& why) {
    std::string rule;
    for (const char c : why)
        if (!std::isdigit(static_cast<unsigned char>(c))) {
            rule += c;
        } else if (rule.empty() || rule.back() != '#') {
            rule += '#';
        }
    return rule;
}

std::string rejected_text(const std::vector<sim::SweepRow>& rows, const Words& over, std::string_view noun, int width) {
    struct Rule {
        std::string rule;
        long long tiles;
        const sim::SweepRow* example;
    };
    std::vector<Rule> rules;
    for (const sim::SweepRow& r : rows) {
        if (r.fit.ok()) continue;
        const std::string rule = rule_of(r.fit.why);
        const auto at = std::find_if(rules.begin(), rules.end(), [&](const Rule& known) { return known.rule == rule; });
        if (at == rules.end()) {
            rules.push_back({rule, 1, &r});
        } else {
            ++at->tiles;
        }
    }
    if (rules.empty()) return "";
    std::sort(rules.begin(), rules.end(), [](const Rule& a, const Rule& b) { return a.tiles > b.tiles; });
    Table table("rll");
    for (const Rule& rule : rules)
        table.row({counted(rule.tiles, noun), place_text(rule.example->experiment, over), rule.example->fit.why});
    return heading("Rejected, with an example of each rule") + table.text(2, width);
}

std::string row_text(const sim::SweepRow& r) {
    return fmt::format("{} ({} to {})", sim::format_us(r.time_us), sim::format_us(r.interval_us[0]),
                       sim::format_us(r.interval_us[1]));
}

/// What follows from the ranking: the cost of not choosing, other words to change, what a clock should decide.
std::string advice_text(const std::vector<sim::SweepRow>& rows, const sim::Catalogue& devices, int width) {
    const sim::SweepRow& best = rows.front();
    const sim::Device& device = devices.at(best.experiment.device);
    const sim::SweepAdvice advice =
        sim::advise(rows, devices, [&](const sim::Experiment& e) { return no_kernel(e, device).empty(); });
    std::string out;
    if (advice.usual) {
        const std::string tile = to_string(advice.usual->experiment.tile);
        out += heading("The usual tile") +
               wrap(advice.regret > 0.01
                        ? fmt::format("{} takes {}: {} longer than the best.", tile, row_text(*advice.usual),
                                      percent(advice.regret, false))
                        : fmt::format("{} takes {}: as good as the best within 1 %.", tile, row_text(*advice.usual)),
                    width, 2, 2);
    }
    out += variations_text("The best tile with one other word changed (predicted)", best.experiment, devices);
    if (advice.measure.size() > 1) {
        out += heading("Worth measuring: the best, and those near it that differ most from it");
        for (const std::size_t i : advice.measure) {
            out += fmt::format("  {}\n", sim::to_string(rows[i].experiment, devices));
            const std::string why = no_kernel(rows[i].experiment, device);
            if (!why.empty()) out += wrap("model only, no kernel of ours: " + why, width, 6, 6);
        }
    }
    return out;
}

std::string page(const std::vector<sim::SweepRow>& rows, const sim::Experiment& asked, const Words& over, int top,
                 const sim::Catalogue& devices, int width) {
    const sim::Device& d = devices.at(asked.device);
    const auto fits = std::count_if(rows.begin(), rows.end(), [](const sim::SweepRow& r) { return r.fit.ok(); });
    const auto ties = std::count_if(rows.begin(), rows.end(), [](const sim::SweepRow& r) { return r.tie; });
    const auto replays = std::count_if(rows.begin(), rows.end(), [](const sim::SweepRow& r) { return r.replayed; });
    const bool tiles = over == words_of(nullptr);
    const std::string_view noun = tiles ? "tile" : "choice";
    sim::Experiment any = asked;
    if (tiles) any.tile = {};
    std::string out = sim::to_string(any, devices) + '\n';
    if (tiles) out.erase(out.find(" tile best"), std::string_view(" tile best").size());
    out += wrap(fmt::format("{} fit and {} are rejected. Times are predicted, {}.", counted(fits, noun),
                            grouped(static_cast<long long>(rows.size()) - fits),
                            replays == 0 ? "by closed form"
                            : replays == fits
                                ? "by replay"
                                : fmt::format("the best {} by replay and the rest by closed form", grouped(replays))),
                width);
    if (fits > 0 && over.size() == 2) {
        out += grid_text(rows, over, sim::tile_space(asked, d));
        out += "# the best, = a tie with it, - rejected.\n";
    }
    if (fits > 0) {
        Table table("rlrlrrl");
        table.row({"rank", "tile", "predicted", "expect", d.dram.display, d.sram.display, ""});
        for (const sim::SweepRow& r : rows) {
            if (!r.fit.ok() || r.rank > top) break;
            table.row({std::to_string(r.rank), place_text(r.experiment, over), sim::format_us(r.time_us),
                       fmt::format("{} to {}", sim::format_us(r.interval_us[0]), sim::format_us(r.interval_us[1])),
                       sim::format_bytes(static_cast<double>(r.dram_bytes)),
                       sim::format_kib(static_cast<double>(r.sram_bytes)),
                       r.tie && r.pareto ? "tie *"
                       : r.tie           ? "tie"
                       : r.pareto        ? "*"
                                         : ""});
        }
        out += '\n' + table.text(0);
        if (fits > top) out += fmt::format("{} more; --top N shows them.\n", grouped(fits - top));
        if (ties > 0)
            out +=
                wrap(fmt::format(
                         "{} with the best: the expected ranges overlap, so rank alone does not choose among them.",
                         ties == 1 ? fmt::format("One {} ties", noun) : fmt::format("{} {}s tie", grouped(ties), noun)),
                     width);
        out += wrap(fmt::format("* no {} is faster with as little {}.", noun, d.sram.display), width);
        if (tiles) out += advice_text(rows, devices, width);
    }
    return out + rejected_text(rows, over, noun, width);
}

int sweep(const Arguments& arguments, Session& session) {
    const bool json = arguments.has("--json"), as_csv = arguments.has("--csv");
    if (json && as_csv) throw sim::BadInput("--json and --csv were both said; expected one of them");
    const std::optional<int> top = arguments.count("--top");
    const sim::Catalogue& devices = session.devices_for({arguments.words.data(), 1});
    const sim::Experiment asked = sim::parse_scene(arguments.words[0], devices).experiment;
    const sim::TileSpace space = sim::tile_space(asked, devices.at(asked.device));
    for (const sim::SweepWord w : words_of(arguments.value("--over")))
        if (space.of(w).empty())
            throw sim::BadInput(
                fmt::format("--over {}: {} has no choice of {} here", to_string(w), asked.device, to_string(w)));
    Interrupt interrupt(session.terminal().interactive);
    sim::SweepOptions options;
    options.stop = interrupt.token();
    constexpr int usual_replays = 64;
    options.replay_best = arguments.count("--replay").value_or(usual_replays);
    options.over = words_of(arguments.value("--over"));
    options.progress = [&](double done) { session.progress("sweep", done); };
    std::vector<sim::SweepRow> rows = sim::sweep(asked, devices, options);
    session.progress("sweep", 1);
    if (interrupt.stopped()) return stopped(session, "the sweep was stopped; nothing is printed of it");
    if (json || as_csv) {
        if (top && rows.size() > static_cast<std::size_t>(*top)) rows.resize(static_cast<std::size_t>(*top));
        session.out() << (json ? sweep_document(reports(rows, devices), devices) : csv(rows, devices));
    } else {
        session.out() << page(rows, asked, options.over, top.value_or(10), devices, session.terminal().width);
    }
    return !rows.empty() && rows.front().fit.ok() ? done : does_not_fit;
}

}  // namespace

const Verb sweep_verb = {
    .name = "sweep",
    .operands = "\"EXPERIMENT\"",
    .what = "every tile of the space, ranked by predicted time; ties shown, rejected tiles with the rule",
    .least = 1,
    .most = 1,
    .joins = true,
    .options = {{"--over", "WORD[,WORD]",
                 "vary these of bm, bn, bk, stages and raster alone; two make a table (bm,bn,bk where not said)"},
                {"--top", "N", "the N best only (as text: 10 where not said)"},
                {"--replay", "N", "count the N best again by replay (64 where not said)"},
                {"--json", "", "a list of predict objects with rank, tie and pareto"},
                {"--csv", "", "one line a tile"}},
    .run = sweep,
};

}  // namespace cli
