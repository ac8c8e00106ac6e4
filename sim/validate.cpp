#include "sim/validate.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <tuple>

#include "sim/fit.hpp"

namespace sim {

namespace {

/// A row beside what became of it.
struct Judged {
    const Trial* trial;
    const ValidatedRow* result;
};

/// What makes rows candidates of one choice.
using Shape = std::tuple<std::string, int, int, i64, i64, i64, i64, std::string>;

/// Waves (steps, on a sequential machine) x the larger of what a tile multiplies and what it loads, each at its share
/// of the device's peak: the one-line rule that any claim of choosing well has to beat.
double null_score(const Trial& t) {
    const Device& d = t.device;
    const double units = d.kind == DeviceKind::gpu ? d.sm_count.or_else(1) : 1;
    double score = 0;
    for (const Kernel& k : t.kernels) {
        if (!k.matmul) continue;
        const auto bm = static_cast<double>(k.tile.bm), bn = static_cast<double>(k.tile.bn);
        const double tiles =
            static_cast<double>(k.row_tiles()) * static_cast<double>(k.col_tiles()) * static_cast<double>(k.batch);
        const double area = 2 * bm * bn / (d.peak_flops(t.experiment->dense.dtype) / units);
        const double traffic = (bm + bn) * static_cast<double>(storage_bytes(t.experiment->dense.dtype)) /
                               (d.dram.bandwidth.value / units);
        score += std::ceil(tiles / units) * std::max(area, traffic) * static_cast<double>(k.extent.red);
    }
    return score;
}

std::optional<ChoiceSummary> choices_of(const std::vector<Judged>& rows) {
    std::map<Shape, std::map<std::tuple<i64, i64, i64>, Candidate>> shapes;  // the fastest row of each tile
    for (const Judged& j : rows) {
        const Measurement& r = j.trial->row;
        if (!r.has_tile() || !r.bm || !r.bn) continue;
        const Shape shape{r.device, static_cast<int>(r.pass), static_cast<int>(r.dtype), r.batch, r.m, r.n,
                          r.k,      r.source + r.epilogue};
        const std::tuple tile{*r.bm, *r.bn, r.bk.value_or(0)};
        const auto [at, first] = shapes[shape].try_emplace(tile);
        if (first || j.result->measured_us < at->second.measured_us)
            at->second = {tile, j.result->measured_us, j.result->predicted_us, null_score(*j.trial)};
    }
    std::vector<Choice> out;
    for (const auto& [shape, tiles] : shapes) {
        Choice c;
        for (const auto& [tile, candidate] : tiles) c.push_back(candidate);
        out.push_back(std::move(c));
    }
    return judge_choices(out);
}

ErrorSummary summary_of(const std::vector<double>& errors) {
    ErrorSummary s;
    s.rows = static_cast<int>(errors.size());
    if (errors.empty()) return s;
    std::vector<double> sizes;
    for (const double e : errors) {
        sizes.push_back(std::abs(e));
        s.mape += std::abs(e) / static_cast<double>(errors.size());
        s.bias += e / static_cast<double>(errors.size());
    }
    s.median_ape = quantile(sizes, 0.5);
    s.p95_ape = quantile(sizes, 0.95);
    return s;
}

Summary summarise(const std::vector<Judged>& rows) {
    std::vector<double> errors, roofline, dram, compulsory;
    double beyond_errors = 0, beyond_rows = 0;
    std::vector<Judged> timed;
    for (const Judged& j : rows) {
        const ValidatedRow& r = *j.result;
        if (r.measured_us > 0 && r.predicted_us > 0) {
            errors.push_back(r.error);
            roofline.push_back(r.roofline_us / r.measured_us - 1);
            timed.push_back(j);
        }
        if (r.measured_dram_bytes && r.predicted_dram_bytes && *r.measured_dram_bytes > 0) {
            const double measured = *r.measured_dram_bytes, off = *r.predicted_dram_bytes - measured;
            dram.push_back(off / measured);
            compulsory.push_back(*r.compulsory_dram_bytes / measured - 1);
            const double beyond = measured - *r.compulsory_dram_bytes;
            if (beyond > 0.01 * *r.compulsory_dram_bytes) {
                beyond_errors += std::abs(off) / beyond;
                beyond_rows += 1;
            }
        }
    }
    Summary s;
    s.rows = static_cast<int>(std::max(errors.size(), dram.size()));
    s.time = summary_of(errors);
    s.roofline = summary_of(roofline);
    s.choice = choices_of(timed);
    if (!dram.empty()) {
        s.dram = summary_of(dram);
        s.dram_compulsory = summary_of(compulsory);
    }
    if (beyond_rows > 0) s.dram_excess_error = beyond_errors / beyond_rows;
    return s;
}

ValidatedRow judge(const Trial& t, const TimeModel& model) {
    ValidatedRow out;
    const Measurement& row = t.row;
    out.id = row.id.empty() ? "line " + std::to_string(row.line) : row.id;
    out.measured_us = row.time_us.value_or(0);
    out.measured_dram_bytes = row.dram_bytes;
    out.why_skipped = t.why;
    out.beats_bound = t.beats_bound;
    if (t.experiment) out.unread = unread_words(row, *t.experiment);
    if (!t.predictable()) return out;
    out.roofline_us = t.bound.time_us;
    out.predicted_us = t.predicted_us(model);
    out.constants = constants_read(t);
    if (row.time_us) out.error = (out.predicted_us - out.measured_us) / out.measured_us;
    if (row.dram_bytes) {
        out.predicted_dram_bytes = t.predicted_dram_bytes();
        const Compulsory c = compulsory(*t.experiment);
        out.compulsory_dram_bytes = static_cast<double>(c.read_bytes) + static_cast<double>(c.write_bytes);
    }
    return out;
}

}  // namespace

double quantile(std::vector<double> values, double share) {
    std::sort(values.begin(), values.end());
    const double at = share * static_cast<double>(values.size() - 1);
    const auto low = static_cast<std::size_t>(at);
    const std::size_t high = std::min(low + 1, values.size() - 1);
    return values[low] + (at - static_cast<double>(low)) * (values[high] - values[low]);
}

double tile_mape(const std::vector<Trial>& trials, const TimeModel& model) {
    double sum = 0, rows = 0;
    for (const Trial& t : trials) {
        if (!t.predictable() || !t.row.has_tile() || !t.row.time_us) continue;
        sum += std::abs(t.predicted_us(model) / *t.row.time_us - 1);
        rows += 1;
    }
    return sum / rows;
}

Validation validate(const std::vector<Trial>& trials, const TimeModel& model) {
    Validation v;
    std::set<std::string> tiled;  // devices and sources that have rows with a tile
    for (const Trial& t : trials)
        if (t.row.has_tile()) tiled.insert({t.row.device, t.row.source});

    std::map<Corner, CoverageRow> coverage;
    for (const Trial& t : trials) {
        ValidatedRow out = judge(t, model);
        const bool tile = t.row.has_tile();
        out.groups = {tile ? "all" : "library"};
        if (tile)
            out.groups.emplace_back(t.row.engine   ? to_string(*t.row.engine)
                                    : t.experiment ? to_string(t.experiment->engine)
                                                   : "?");
        for (const std::string& name : {t.row.device, t.row.source})
            if (!name.empty() && (tile || !tiled.contains(name)) &&
                std::find(out.groups.begin(), out.groups.end(), name) == out.groups.end())
                out.groups.push_back(name);
        if (t.experiment && !t.beats_bound) {
            CoverageRow& c = coverage[corner_of(*t.experiment)];
            c.corner = corner_of(*t.experiment);
            c.rows_time += t.row.time_us.has_value();
            c.rows_bytes += t.row.dram_bytes.has_value();
        }
        v.rows.push_back(std::move(out));
    }
    std::map<std::string, std::vector<Judged>> groups;
    for (std::size_t i = 0; i < trials.size(); ++i)
        for (const std::string& g : v.rows[i].groups) groups[g].push_back({&trials[i], &v.rows[i]});
    for (const auto& [name, members] : groups)
        if (Summary s = summarise(members); s.rows > 0) v.summary[name] = s;
    for (const auto& [corner, row] : coverage) v.coverage.push_back(row);
    return v;
}

}  // namespace sim
