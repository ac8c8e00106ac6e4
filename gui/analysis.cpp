#include "gui/analysis.hpp"

#include <algorithm>
#include <array>

namespace gui {
namespace {

/// The same experiment with another fusion, where its words allow it.
std::optional<sim::Experiment> with_fusion(const sim::Experiment& e, sim::Fusion fusion,
                                           const sim::Catalogue& devices) {
    const std::string line = sim::to_string(e, devices), name(sim::to_string(fusion));
    for (const bool keep_residual : {true, false}) try {
            std::vector<Word> words = {{"fusion", name}};
            if (!keep_residual) words.insert(words.end(), {{"residual", ""}, {"in_place", ""}, {"drelu", ""}});
            return sim::parse_experiment(with_words(line, words), devices);
        } catch (const sim::BadInput&) {  // a word of the one fusion that the other does not know
        }
    return {};
}

}  // namespace

Analysis analyse(const Analysis::Question& q, const Job& job) {
    Analysis a;
    a.report = sim::predict(q.experiment, *q.devices);
    const sim::Experiment& e = a.report.experiment;
    a.variants.push_back({e.fusion, a.report});
    a.kernels = sim::plan(e);
    if (!a.kernels.empty()) {
        a.steps = sim::step_count(a.kernels);
        a.walk = Walk(e, q.devices->at(e.device), a.kernels);
        for (sim::Fusion fusion : {sim::Fusion::unfused, sim::Fusion::fused}) {
            if (fusion == e.fusion || job.stop.stop_requested()) continue;
            if (const auto other = with_fusion(e, fusion, *q.devices))
                a.variants.push_back({fusion, sim::predict(*other, *q.devices)});
        }
    }
    if (q.baseline && !job.stop.stop_requested()) a.baseline = sim::predict(*q.baseline, *q.devices);
    return a;
}

sim::StepState step_state(const Stepping::Question& q, const Job&) {
    return sim::step_at(q.experiment, q.devices->at(q.experiment.device), sim::plan(q.experiment), q.step);
}

Sweep sweep_tiles(const Sweep::Question& q, const Job& job) {
    Sweep s;
    s.axes = q.axes;
    s.space = sim::tile_space(q.experiment, q.devices->at(q.experiment.device));
    sim::SweepOptions options;
    options.stop = job.stop;
    options.progress = job.progress;
    options.replay_best = 64;
    options.most_requests = 20'000'000;  // a fraction of a second: the scene's own tile shows the headline's time
    for (const sim::SweepWord word : q.axes)
        if (word == sim::SweepWord::stages || word == sim::SweepWord::raster) options.over.push_back(word);
    s.rows = sim::sweep(q.experiment, *q.devices, options);
    const auto place = [&](int axis, const sim::Experiment& e) -> int {
        const std::vector<sim::i64>& all = s.values(axis);
        const sim::i64 value = sim::value_of(e, s.axes[static_cast<std::size_t>(axis)]);
        const auto at = std::lower_bound(all.begin(), all.end(), value);
        return at != all.end() && *at == value ? static_cast<int>(at - all.begin()) : -1;
    };
    for (const sim::SweepRow& r : s.rows) {
        const int down = place(0, r.experiment), across = place(1, r.experiment);
        s.cells.push_back(down < 0 || across < 0 ? -1 : down * static_cast<int>(s.values(1).size()) + across);
    }
    return s;
}

RoofPoint roof_point(double flops, double bytes, double time_us) { return {flops / bytes, flops / (time_us * 1e-6)}; }

}  // namespace gui
