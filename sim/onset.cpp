#include "sim/onset.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "sim/sweep.hpp"

namespace sim {

std::vector<OnsetRow> onset(const Experiment& e, const Catalogue& devices, std::stop_token stop,
                            const std::function<void(double)>& progress) {
    constexpr i64 most_rows = 65536;
    const Device& d = devices.at(e.device);
    std::vector<OnsetRow> out;
    for (i64 rows = 1; rows <= most_rows && !stop.stop_requested(); rows *= 2) {
        Dense layer = e.dense;
        layer.m = rows;
        Experiment fused = usual_experiment(d, layer, Pass::forward, Fusion::fused), unfused = fused;
        unfused.fusion = Fusion::unfused;
        const Tile usual = fused.tile;
        SweepOptions options;
        options.stop = stop;
        const auto best = [&](Experiment one) {
            one.tile = {};
            return sweep(one, devices, options);
        };
        const std::vector<SweepRow> with = best(fused), without = best(unfused);
        if (progress) progress(std::log2(static_cast<double>(rows) + 1) / std::log2(double{most_rows}));
        if (stop.stop_requested()) break;
        if (with.empty() || without.empty() || !with.front().fit.ok() || !without.front().fit.ok()) continue;
        OnsetRow row;
        row.rows = rows;
        row.fusing = without.front().time_us / with.front().time_us - 1;
        fused.tile = usual;
        const Report r = predict(fused, devices, {Count::closed_form, {}});
        row.tile = r.predicted ? r.predicted->time_us / with.front().time_us - 1 : std::nan("");
        options.over = {SweepWord::raster};
        const std::vector<SweepRow> rasters = sweep(with.front().experiment, devices, options);
        const auto worst = std::find_if(rasters.rbegin(), rasters.rend(), [](const SweepRow& s) { return s.fit.ok(); });
        if (worst != rasters.rend()) row.raster = worst->time_us / rasters.front().time_us - 1;
        out.push_back(row);
    }
    return out;
}

OnsetRange where(const std::vector<OnsetRow>& rows, double OnsetRow::*share, double least) {
    OnsetRange out;
    const auto matters = [&](const OnsetRow& r) { return r.*share > least; };
    auto most = rows.end();
    for (auto r = rows.begin(); r != rows.end(); ++r)
        if (matters(*r) && (most == rows.end() || (*r).*share > (*most).*share)) most = r;
    if (most == rows.end()) return out;
    auto first = most, last = most;
    while (first != rows.begin() && matters(*std::prev(first))) --first;
    while (std::next(last) != rows.end() && matters(*std::next(last))) ++last;
    out.at = most->rows;
    out.most = (*most).*share;
    out.first = first->rows;
    out.last = last->rows;
    out.elsewhere = std::count_if(rows.begin(), rows.end(), matters) > last - first + 1;
    return out;
}

}  // namespace sim
