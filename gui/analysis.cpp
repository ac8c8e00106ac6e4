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

std::size_t place(const std::vector<sim::i64>& axis, sim::i64 value) {
    return static_cast<std::size_t>(std::lower_bound(axis.begin(), axis.end(), value) - axis.begin());
}

}  // namespace

Analysis analyse(const Analysis::Question& q, const Job& job) {
    Analysis a;
    a.report = sim::predict(q.experiment, *q.devices);
    const sim::Experiment& e = a.report.experiment;
    a.variants.push_back({e.fusion, a.report});
    if (!e.tile.is_best()) {
        a.kernels = sim::plan(e);
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

const sim::SweepRow* Sweep::at(std::size_t bm, std::size_t bn, std::size_t bk) const {
    const int index = cells[(bm * space.bn.size() + bn) * space.bk.size() + bk];
    return index < 0 ? nullptr : &rows[static_cast<std::size_t>(index)];
}

const sim::SweepRow* Sweep::best_over_bk(std::size_t bm, std::size_t bn) const {
    const sim::SweepRow* best = nullptr;
    for (std::size_t bk = 0; bk < space.bk.size(); ++bk) {
        const sim::SweepRow* row = at(bm, bn, bk);
        if (!row) continue;
        const bool better = !best || (row->rank != 0 && (best->rank == 0 || row->rank < best->rank));
        if (better) best = row;
    }
    return best;
}

Sweep sweep_tiles(const Sweep::Question& q, const Job& job) {
    Sweep s;
    s.space = sim::tile_space(q.experiment, q.devices->at(q.experiment.device));
    for (auto* axis : {&s.space.bm, &s.space.bn, &s.space.bk}) std::sort(axis->begin(), axis->end());
    sim::SweepOptions options;
    options.stop = job.stop;
    options.progress = job.progress;
    s.rows = sim::sweep(q.experiment, *q.devices, options);
    s.cells.assign(s.space.bm.size() * s.space.bn.size() * s.space.bk.size(), -1);
    for (std::size_t i = 0; i < s.rows.size(); ++i) {
        const sim::Tile& t = s.rows[i].experiment.tile;
        const std::size_t bm = place(s.space.bm, t.bm), bn = place(s.space.bn, t.bn), bk = place(s.space.bk, t.bk);
        const bool known = bm < s.space.bm.size() && s.space.bm[bm] == t.bm && bn < s.space.bn.size() &&
                           s.space.bn[bn] == t.bn && bk < s.space.bk.size() && s.space.bk[bk] == t.bk;
        if (!known) continue;
        int& cell = s.cells[(bm * s.space.bn.size() + bn) * s.space.bk.size() + bk];
        if (cell < 0) cell = static_cast<int>(i);  // rows are ranked: the first is the best
    }
    return s;
}

RoofPoint roof_point(double flops, double bytes, double time_us) { return {flops / bytes, flops / (time_us * 1e-6)}; }

}  // namespace gui
