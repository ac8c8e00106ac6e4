#include "cli/published.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "cli/text.hpp"
#include "lessons/phrases.hpp"

namespace cli {
namespace {

/// Whether two experiments ask for the same work of the same machine; how it is done may differ.
bool same_layer(const sim::Experiment& a, const sim::Measurement& row) {
    return a.device == row.device && a.pass == row.pass && a.dense.m == row.m && a.dense.n == row.n &&
           a.dense.k == row.k && a.dense.batch == row.batch && a.dense.dtype == row.dtype;
}

/// How it is done, without the layer that all these rows share: "fused tile 128x128x8192".
std::string words_after_pass(const sim::Experiment& e, const sim::Catalogue& devices) {
    const std::string line = sim::to_string(e, devices), pass = fmt::format(" {} ", to_string(e.pass));
    return line.substr(line.find(pass) + pass.size());
}

std::string library_name(const sim::Measurement& row, lessons::Language l) {
    using lessons::Phrase, lessons::say;
    const auto extra = row.traits.find("extra_pass");
    std::string name = phrase(Phrase::page_library, l);
    if (!row.epilogue.empty() && row.epilogue != "none") name += say(Phrase::page_library_fused, l, row.epilogue);
    if (extra != row.traits.end()) name += say(Phrase::page_library_pass, l, extra->second);
    return name;
}

}  // namespace

std::vector<MeasuredGroup> published(const sim::Experiment& e, const sim::Catalogue& devices, lessons::Language l) {
    std::vector<MeasuredGroup> groups;
    for (const sim::Measurement& row : sim::committed_rows()) {
        if (!row.time_us || !same_layer(e, row)) continue;
        MeasuredGroup found;
        found.source = row.source;
        found.address = row.address;
        if (row.has_tile()) {
            std::string why;
            std::optional<sim::Experiment> theirs = sim::experiment_of(row, devices, why);
            if (!theirs) continue;
            found.same = sim::same_experiment(*theirs, e);
            theirs->traits.clear();
            found.what = words_after_pass(*theirs, devices);
        } else {
            found.library = true;
            found.what = library_name(row, l);
        }
        auto at = std::find_if(groups.begin(), groups.end(),
                               [&](const MeasuredGroup& g) { return g.what == found.what && g.same == found.same; });
        if (at == groups.end()) at = groups.insert(groups.end(), std::move(found));
        at->times_us.push_back(*row.time_us);
    }
    for (MeasuredGroup& g : groups) std::sort(g.times_us.begin(), g.times_us.end());
    std::stable_sort(groups.begin(), groups.end(), [](const MeasuredGroup& a, const MeasuredGroup& b) {
        return a.same != b.same ? a.same : a.best_us() < b.best_us();
    });
    return groups;
}

std::vector<MeasuredLine> measured_lines(const std::vector<MeasuredGroup>& groups, lessons::Language l) {
    std::vector<MeasuredLine> lines;
    for (const MeasuredGroup& g : groups)
        if (g.same)
            lines.push_back(
                {sim::format_us(g.median_us()), g.source + phrase(lessons::Phrase::colon, l) + times_text(g, l)});
    return lines;
}

std::string times_text(const MeasuredGroup& g, lessons::Language l) {
    using lessons::Phrase, lessons::say;
    const std::string low = sim::format_us(g.times_us.front()), high = sim::format_us(g.times_us.back());
    if (g.times_us.size() == 1) return low;
    return say(Phrase::page_rows, l, low == high ? low : say(Phrase::page_to, l, low, high), g.times_us.size());
}

}  // namespace cli
