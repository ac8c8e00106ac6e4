// memwall explain: one page on one experiment.

#include <fmt/format.h>

#include <algorithm>
#include <ostream>

#include "cli/capacity.hpp"
#include "cli/counted.hpp"
#include "cli/inside.hpp"
#include "cli/page.hpp"
#include "cli/published.hpp"
#include "cli/story.hpp"
#include "cli/text.hpp"
#include "cli/verb.hpp"
#include "kernels/glass/run.hpp"
#include "sim/report.hpp"
#include "sim/sweep.hpp"
#include "sim/text.hpp"

namespace cli {

const std::string_view default_experiment = "tpu-v5e 8192x8192x8192 f32 forward fused tile 128x128x8192 order mnk";

namespace {

std::string paragraphs(std::string_view title, const std::vector<std::string>& sentences, int width) {
    if (sentences.empty()) return "";
    std::string out = heading(title);
    for (const std::string& s : sentences) out += wrap(s, width, 2, 4);
    return out;
}

/// The best tile of the sweep beside the one asked about.
std::string better_tile(const sim::Report& r, const sim::Catalogue& devices, int width) {
    if (r.experiment.pass == sim::Pass::train) return "";
    const std::vector<sim::SweepRow> rows = sim::sweep(r.experiment, devices);
    if (rows.empty() || !rows.front().fit.ok())
        return paragraphs("A tile that should win", {"No tile of the sweep's space fits this device."}, width);
    const sim::Device& device = devices.at(r.experiment.device);
    const auto runs = [&](const sim::SweepRow& s) { return s.fit.ok() && no_kernel(s.experiment, device).empty(); };
    const auto first = std::find_if(rows.begin(), rows.end(), runs);  // proposed is what a kernel here can launch
    const sim::SweepRow& best = first == rows.end() ? rows.front() : *first;
    const auto ties = std::count_if(rows.begin(), rows.end(), [](const sim::SweepRow& s) { return s.tie; });
    if (r.predicted && best.time_us > 0.98 * r.predicted->time_us)
        return paragraphs("A tile that should win", {"None by more than 2 %: this one is as good as the sweep's best."},
                          width);
    std::string out = heading("A tile that should win") + "  " + sim::to_string(best.experiment, devices) + '\n';
    std::string line = fmt::format("{} predicted, unmeasured", sim::format_us(best.time_us));
    for (const MeasuredGroup& g : published(best.experiment, devices))
        if (g.same) line = fmt::format("{} predicted, {} measured", sim::format_us(best.time_us), times_text(g));
    if (r.predicted) line += fmt::format(": {} faster", times(r.predicted->time_us / best.time_us));
    line += fmt::format(", {} from DRAM.", sim::format_bytes(static_cast<double>(best.dram_bytes)));
    if (ties > 0)
        line += fmt::format(" {} with it within the model's error.",
                            ties == 1 ? "One other tile ties" : fmt::format("{} other tiles tie", ties));
    if (const std::string why = no_kernel(rows.front().experiment, device); !why.empty())
        line += first == rows.end()
                    ? fmt::format(" Model only, no kernel of ours launches it: {}.", why)
                    : fmt::format(" ({} is predicted to take {}; no kernel of ours launches it: {}.)",
                                  to_string(rows.front().experiment.tile), sim::format_us(rows.front().time_us), why);
    return out + wrap(line, width, 2, 2);
}

/// What was measured of this layer by other means: what a rival must be compared with.
std::string rivals(const std::vector<MeasuredGroup>& groups, int width) {
    constexpr std::size_t most = 5;
    Table table("rl");
    std::size_t shown = 0;
    for (const MeasuredGroup& g : groups) {
        if (g.same || shown == most) continue;
        table.row({times_text(g), fmt::format("{} ({})", g.what, g.source)});
        ++shown;
    }
    return shown ? heading("Measured of this layer in other ways") + table.text(2, width) : "";
}

/// The parts asked for by an option, alone; empty where none was.
std::string parts(const Arguments& arguments, const sim::Report& r, const sim::Catalogue& devices, int width) {
    const sim::Device& d = devices.at(r.experiment.device);
    const std::string* step = arguments.value("--step");
    std::string out;
    for (const char* part : {"--formulas", "--rows", "--timeline", "--tiles", "--step"})
        for (const char* page : {"--claim", "--backend"})
            if (arguments.has(part) && arguments.value(page))
                throw sim::BadInput(fmt::format("{} with {}: expected one of them", page, part));
    if (arguments.has("--formulas")) out += formulas_text(r, d, width);
    if (arguments.has("--rows")) out += onset_text(r.experiment, devices, width);
    const bool inside = arguments.has("--timeline") || arguments.has("--tiles") || step != nullptr;
    if (inside && !r.fit.ok()) return out + paragraphs("Does not fit", {r.fit.why}, width);
    if (arguments.has("--timeline")) out += timeline_text(r, d);
    if (arguments.has("--tiles")) out += tiles_text(r.experiment, d);
    if (step) out += step_text(r.experiment, d, *step);
    return out;
}

int explain(const Arguments& arguments, Session& session) {
    const std::string text = arguments.words.empty() ? std::string(default_experiment) : arguments.words[0];
    std::optional<double> claim;
    if (const std::string* said = arguments.value("--claim")) claim = parse_duration_us(*said);
    const sim::Catalogue& devices = session.devices_for({&text, 1});
    const sim::Experiment asked = sim::parse_scene(text, devices).experiment;
    const std::string* backend = arguments.value("--backend");
    if (backend && *backend != "glass")
        throw sim::BadInput(
            fmt::format("--backend {}: expected glass; memwall run has the others", sim::quote(*backend)));
    const bool under_glass = backend != nullptr;
    if (under_glass && devices.at(asked.device).kind != sim::DeviceKind::gpu)
        throw NotAvailable(fmt::format("{} is no GPU; glass runs the kernels of one", asked.device));
    const sim::Report r = sim::predict(asked, devices);
    const sim::Device& d = devices.at(r.experiment.device);
    const int width = session.terminal().width;

    std::string page = sim::to_string(r.experiment, devices) + '\n' + subject_text(r, d, width);
    if (const std::string asked_for = parts(arguments, r, devices, width); !asked_for.empty()) {
        session.out() << page + asked_for;
        return r.fit.ok() ? done : does_not_fit;
    }
    if (!r.fit.ok()) page += paragraphs("Does not fit", {r.fit.why}, width);

    const std::vector<MeasuredGroup> measured = published(r.experiment, devices);
    page += '\n' + verdict_text(r, measured_lines(measured), width);
    if (claim)
        page += paragraphs(fmt::format("The claim of {}", sim::format_us(*claim)), judge_claim(r, d, *claim), width);

    if (r.fit.ok()) {
        page += heading("Bytes, " + counted_by(r)) + traffic_text(r, d, width);
        page += paragraphs("Why", diagnosis(r, d), width);
        page += paragraphs("On chip", on_chip(r, d), width);
        page += capacity_text(r.experiment, devices, width);
        page += heading("Where the predicted time goes") + time_split_text(r, width);
        page += heading("Energy, a range") + energy_text(r, d, width);
        page += variations_text("With one other word (predicted)", r.experiment, devices);
    }
    page += better_tile(r, devices, width);
    sim::Experiment fusing =
        r.experiment;  // passes without a tile of their own find the best one for each way of fusing
    fusing.tile_dgrad = asked.tile_dgrad;
    fusing.tile_wgrad = asked.tile_wgrad;
    page += fusion_text(fusing, devices, width);
    if (under_glass && r.fit.ok()) {
        const sim::Experiment own = kernels::resolved(r.experiment);  // what its kernels really do
        const auto counted = kernels::glass::run(own, d, {}, [&](double share) { session.progress("run", share); });
        session.progress("run", 1);
        page += counted.fit.ok()
                    ? heading("What its kernel does, on the processor under glass") +
                          counted_text(sim::predict(own, devices), d, counted, width) + source_text(counted)
                    : paragraphs("Under glass", {"Does not fit: " + counted.fit.why + "."}, width);
    }
    page += rivals(measured, width);
    page += paragraphs("Notes", r.notes, width);
    std::string left_out;
    for (const std::string& item : not_modelled(d)) left_out += (left_out.empty() ? "" : "; ") + item;
    page += paragraphs("Not modelled", {left_out + "."}, width);
    session.out() << page;
    return r.fit.ok() ? done : does_not_fit;
}

}  // namespace

int explain_default(Session& session) { return explain({}, session); }

const Verb explain_verb = {
    .name = "explain",
    .operands = "[\"EXPERIMENT\"]",
    .what = "one page of text: bytes, time, limiter, bound · predicted · measured",
    .least = 0,
    .most = 1,
    .joins = true,
    .options = {{"--backend", "glass", "run its kernel on the processor too, and show the source with its counts"},
                {"--claim", "TIME", "judge a claimed time (2107us, 35ms) by the inequality it breaks"},
                {"--formulas", "", "only how each number was computed, with the metric that would check it"},
                {"--timeline", "", "only what runs when: waves, copies, stores and waits"},
                {"--tiles", "", "only the order in which the output tiles are taken"},
                {"--step", "N", "only step N: hits and misses, what is held on chip, what was dropped"},
                {"--rows", "", "only from how many rows (tokens) on fusing, tile and raster matter"}},
    .run = explain,
};

}  // namespace cli
