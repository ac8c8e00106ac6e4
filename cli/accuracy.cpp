#include "cli/accuracy.hpp"

#include <fmt/format.h>

#include <set>

#include "cli/text.hpp"

namespace cli {

namespace {

std::string share(double fraction) { return percent(fraction, false); }

/// "a100-sxm4-40gb, rtx-5090": where the rows of an engine come from.
std::string machines(const std::vector<sim::Trial>& trials, sim::Engine engine) {
    std::set<std::string> names;
    for (const sim::Trial& t : trials)
        if (t.predictable() && t.row.has_tile() && t.row.time_us && t.experiment->engine == engine)
            names.insert(t.row.device);
    std::string out;
    for (const std::string& name : names) out += (out.empty() ? "" : ", ") + name;
    return out;
}

}  // namespace

std::string accuracy_markdown(const std::vector<sim::Trial>& trials, const sim::Validation& v) {
    const auto by_source = sim::leave_one_out(trials, sim::HeldOut::source);
    const auto by_device = sim::leave_one_out(trials, sim::HeldOut::device);
    if (v.summary.empty()) return std::string(nothing_predicted) + '\n';
    const auto all_of_it = v.summary.find("all");
    const bool tiled = all_of_it != v.summary.end();
    const sim::Summary all = tiled ? all_of_it->second : sim::Summary{};

    std::string out =
        "| rows with a tile | rows | mean | median | p95 | source held out | device held out | roofline alone |\n"
        "|---|---|---|---|---|---|---|---|\n";
    const auto line = [&](const std::string& name, const sim::Summary& s, const std::string& source,
                          const std::string& device) {
        out += fmt::format("| {} | {} | {} | {} | {} | {} | {} | {} |\n", name, s.time.rows, share(s.time.mape),
                           share(s.time.median_ape), share(s.time.p95_ape), source, device, share(s.roofline.mape));
    };
    if (tiled) line("all", all, "", "");
    for (std::size_t i = 0; i < by_source.size(); ++i) {
        const sim::EngineError& e = by_source[i];
        line(fmt::format("{} ({})", to_string(e.engine), machines(trials, e.engine)),
             v.summary.at(std::string(to_string(e.engine))), share(e.mape_held_out), share(by_device[i].mape_held_out));
    }
    if (const auto library = v.summary.find("library"); library != v.summary.end())
        out += fmt::format("| (rows without a tile) | {} | {} | {} | {} | | | {} |\n", library->second.time.rows,
                           share(library->second.time.mape), share(library->second.time.median_ape),
                           share(library->second.time.p95_ape), share(library->second.roofline.mape));
    if (!tiled) out += fmt::format("\n{}\n", no_tiled_row);
    if (all.choice) {
        const sim::ChoiceSummary& c = *all.choice;
        out += fmt::format(
            "\nChoosing a tile in {} shapes that were run with several: the model's choice reaches {} of the best "
            "measured speed (worst {}), the best fixed tile {} ({}), the rule waves x tile {} ({}), chance {}.\n",
            c.shapes, nearly(c.model.mean), nearly(c.model.worst), c.fixed ? nearly(c.fixed->mean) : "-",
            c.fixed ? nearly(c.fixed->worst) : "-", nearly(c.null.mean), nearly(c.null.worst), nearly(c.random.mean));
    }
    if (all.dram)
        out += fmt::format(
            "\nDRAM bytes against {} published counters: median error {}, mean {} (each operand once: {} and {}).\n",
            all.dram->rows, share(all.dram->median_ape), share(all.dram->mape), share(all.dram_compulsory->median_ape),
            share(all.dram_compulsory->mape));
    return out;
}

}  // namespace cli
