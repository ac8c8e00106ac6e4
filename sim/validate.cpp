#include "sim/validate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <tuple>

#include "sim/bound.hpp"
#include "sim/embedded.hpp"
#include "sim/report.hpp"

namespace sim {

namespace {

/// A spread of numbers as share of the sorted list; values interpolated between neighbours.
double quantile(std::vector<double> values, double share) {
    std::sort(values.begin(), values.end());
    const double at = share * static_cast<double>(values.size() - 1);
    const auto low = static_cast<std::size_t>(at);
    const std::size_t high = std::min(low + 1, values.size() - 1);
    return values[low] + (at - static_cast<double>(low)) * (values[high] - values[low]);
}
/// The smallest value that at least `share` of the weight does not exceed.
double weighted_quantile(std::vector<std::pair<double, double>> values, double share) {
    std::sort(values.begin(), values.end());
    double whole = 0, so_far = 0;
    for (const auto& [value, weight] : values) whole += weight;
    for (const auto& [value, weight] : values)
        if ((so_far += weight) >= share * whole - 1e-12) return value;
    return values.back().first;
}
double mean(const std::vector<double>& v) {
    return v.empty() ? 0 : std::accumulate(v.begin(), v.end(), 0.0) / static_cast<double>(v.size());
}

/// Places in ascending order, ties sharing their mean place.
std::vector<double> ranks(const std::vector<double>& v) {
    std::vector<double> out;
    for (double x : v) {
        double below = 0, same = 0;
        for (double y : v) {
            below += y < x;
            same += y == x;
        }
        out.push_back(below + (same - 1) / 2);
    }
    return out;
}

std::optional<double> spearman(const std::vector<double>& a, const std::vector<double>& b) {
    const auto x = ranks(a), y = ranks(b);
    const double mx = mean(x), my = mean(y);
    double xy = 0, xx = 0, yy = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
        xy += (x[i] - mx) * (y[i] - my);
        xx += (x[i] - mx) * (x[i] - mx);
        yy += (y[i] - my) * (y[i] - my);
    }
    if (xx == 0 || yy == 0) return std::nullopt;
    return xy / std::sqrt(xx * yy);
}

/// A row beside what became of it.
struct Judged {
    const Measurement* row;
    const ValidatedRow* result;
};

/// Tiles of one shape on one device: the fastest row of each.
using Shape = std::tuple<std::string, int, int, i64, i64, i64, i64, std::string>;
using TileKey = std::tuple<i64, i64, i64>;
struct Choice {
    double measured = INFINITY, predicted = 0;
};
using Choices = std::map<TileKey, Choice>;

void judge_choices(const std::vector<Judged>& rows, Summary& s) {
    std::map<Shape, Choices> shapes;
    for (const Judged& j : rows) {
        const Measurement& r = *j.row;
        if (!r.has_tile() || !r.bm || !r.bn) continue;
        const Shape shape{r.device, static_cast<int>(r.pass), static_cast<int>(r.dtype), r.batch, r.m, r.n,
                          r.k,      r.source + r.epilogue};
        Choice& c = shapes[shape][{*r.bm, *r.bn, r.bk.value_or(0)}];
        if (j.result->measured_us < c.measured) c = {j.result->measured_us, j.result->predicted_us};
    }
    std::vector<double> correlations, chosen;
    std::map<TileKey, std::vector<double>> fixed;
    std::size_t several = 0;
    for (const auto& [shape, choices] : shapes) {
        if (choices.size() < 2) continue;
        ++several;
        std::vector<double> measured, predicted;
        for (const auto& [tile, c] : choices) {
            measured.push_back(c.measured);
            predicted.push_back(c.predicted);
        }
        const double best = *std::min_element(measured.begin(), measured.end());
        const auto taken =
            static_cast<std::size_t>(std::min_element(predicted.begin(), predicted.end()) - predicted.begin());
        chosen.push_back(best / measured[taken]);
        for (const auto& [tile, c] : choices) fixed[tile].push_back(best / c.measured);
        if (choices.size() >= 3)
            if (const auto r = spearman(measured, predicted)) correlations.push_back(*r);
    }
    if (!chosen.empty()) {
        s.top1_efficiency = mean(chosen);
        s.worst_efficiency = *std::min_element(chosen.begin(), chosen.end());
        for (const auto& [tile, efficiency] :
             fixed)  // a tile that was run in most shapes could have been the one taken
            if (2 * efficiency.size() >= several)
                s.fixed_tile_efficiency = std::max(s.fixed_tile_efficiency.value_or(0), mean(efficiency));
    }
    if (!correlations.empty()) s.spearman = mean(correlations);
}

Summary summarise(const std::vector<Judged>& rows) {
    Summary s;
    std::vector<double> errors, sizes, dram, excess;
    std::vector<Judged> timed;
    for (const Judged& j : rows) {
        const ValidatedRow& r = *j.result;
        if (r.measured_us > 0 && r.predicted_us > 0) {
            errors.push_back(r.error);
            sizes.push_back(std::abs(r.error));
            timed.push_back(j);
        }
        if (r.measured_dram_bytes && r.predicted_dram_bytes && *r.measured_dram_bytes > 0) {
            const double off = std::abs(*r.predicted_dram_bytes - *r.measured_dram_bytes);
            dram.push_back(off / *r.measured_dram_bytes);
            const double beyond = *r.measured_dram_bytes - *r.compulsory_dram_bytes;
            if (beyond > 0.01 * *r.compulsory_dram_bytes) excess.push_back(off / beyond);
        }
    }
    s.rows = static_cast<int>(std::max(errors.size(), dram.size()));
    if (!errors.empty()) {
        s.mape = mean(sizes);
        s.median_ape = quantile(sizes, 0.5);
        s.p95_ape = quantile(sizes, 0.95);
        s.bias = mean(errors);
    }
    judge_choices(timed, s);
    if (!dram.empty()) s.dram_mape = mean(dram);
    if (!excess.empty()) s.dram_excess_error = mean(excess);
    return s;
}

/// What no machine at this row's clock can beat. Caches may be warm when a benchmark repeats itself, so bytes that an
/// L2 could have kept are not held against it unless the row says that they were cold.
double beatable_us(const Measurement& row, const Device& d, const Bound& b) {
    const auto cache = row.cells.find("cache");
    const bool cold = cache != row.cells.end() && cache->second == "cold";
    const double kept = cold ? 0 : d.l2.bytes.or_else(0);
    const double must = std::max(0.0, static_cast<double>(b.dram_bytes) - kept);
    const double dram = b.dram_bytes > 0 ? b.dram_us * must / static_cast<double>(b.dram_bytes) : 0;
    return std::max({b.math_us, dram, b.l2_us});
}

/// Without what the collector of the rows inferred or assumed.
Measurement stripped(Measurement r) {
    const auto assumed = [&](const char* key) { return r.traits.erase(key) > 0; };
    const bool both = assumed("bk_stages_assumed");
    if (both) r.bk.reset();
    if (assumed("stages_assumed") || both) r.stages.reset();
    if (r.traits.contains("device_inferred") || r.traits.contains("library_tile"))
        r.bm.reset(), r.bn.reset(), r.bk.reset();
    return r;
}

struct Prepared {
    std::optional<Experiment> experiment;
    Catalogue devices;  ///< the row's device at the row's clock
    std::string why;
};

Prepared prepare(const Measurement& row, const Catalogue& devices) {
    Prepared p;
    p.experiment = experiment_of(row, devices, p.why);
    if (!p.experiment) return p;
    const Device& d = devices.at(p.experiment->device);
    p.devices.add(row.clock_mhz ? at_clock(d, 1e6 * *row.clock_mhz) : d);
    return p;
}

ValidatedRow judge(const Measurement& row, const Catalogue& devices, const ValidateOptions& options) {
    ValidatedRow out;
    out.id = row.id.empty() ? fmt::format("line {}", row.line) : row.id;
    out.measured_us = row.time_us.value_or(0);
    out.measured_dram_bytes = row.dram_bytes;
    const Prepared p = prepare(row, devices);
    out.why_skipped = p.why;
    if (!p.experiment) return out;
    const Experiment& e = *p.experiment;
    const Device& d = p.devices.at(e.device);
    out.bound_us = beatable_us(row, d, bound(e, d));
    if (row.time_us && *row.time_us < out.bound_us) {
        out.beats_bound = true;
        out.why_skipped =
            fmt::format("refused: {:.4g} µs is faster than any kernel can be ({:.4g} µs)", *row.time_us, out.bound_us);
        return out;
    }
    const Report r = predict(e, p.devices, {Count::automatic, options.without});
    if (!r.predicted) {
        out.why_skipped = r.fit.why;
        return out;
    }
    out.predicted_us = r.predicted->time_us;
    if (row.time_us) out.error = (out.predicted_us - out.measured_us) / out.measured_us;
    if (row.dram_bytes) {  // counters see whole sectors
        const Flow f = r.traffic.at(Level::dram).total();
        const double padding =
            static_cast<double>(f.moved_read_bytes + f.moved_write_bytes) - static_cast<double>(f.bytes());
        out.predicted_dram_bytes = static_cast<double>(r.dram_range.expected_bytes) + padding;
        const Compulsory c = compulsory(r.experiment);
        out.compulsory_dram_bytes = static_cast<double>(c.read_bytes) + static_cast<double>(c.write_bytes);
    }
    return out;
}

std::string_view engine_of(const Measurement& row, const Catalogue& devices) {
    if (row.engine) return to_string(*row.engine);
    std::string why;
    const auto e = experiment_of(row, devices, why);
    return e ? to_string(e->engine) : "?";
}

using Corner = std::tuple<std::string, std::string, std::string, std::string>;
Corner corner_of(const Experiment& e) {
    return {std::string(to_string(e.pass)), std::string(to_string(e.fusion)), std::string(to_string(e.engine)),
            e.device};
}

}  // namespace

Device at_clock(const Device& device, double hz) {
    Device d = device;
    const double boost = d.clock.boost.or_else(d.clock.max.or_else(hz)), top = d.clock.max.or_else(boost);
    for (auto& [dtype, rate] : d.peak) rate.value *= hz / (dtype == Dtype::f32 ? top : boost);
    d.l2.bandwidth.value *= hz / top;
    const double beyond = d.dram.latency.value - d.l2.latency.value;  // the part of a miss that the memory takes
    d.l2.latency.value *= top / hz;
    if (!std::isnan(beyond)) d.dram.latency.value = d.l2.latency.value + beyond;
    d.clock.boost.value = d.clock.max.value = hz;
    return d;
}

Validation validate(const MeasurementFile& file, const Catalogue& devices, const ValidateOptions& options) {
    Validation v;
    std::vector<Measurement> rows;
    for (const Measurement& r : file.rows) rows.push_back(options.strict ? stripped(r) : r);
    std::set<std::string> tiled;  // devices and sources that have rows with a tile
    for (const Measurement& r : rows)
        if (r.has_tile()) tiled.insert({r.device, r.source});

    std::map<Corner, CoverageRow> coverage;
    for (const Measurement& r : rows) {
        ValidatedRow out = judge(r, devices, options);
        const bool tile = r.has_tile();
        out.groups = {tile ? "all" : "library"};
        if (tile) out.groups.emplace_back(engine_of(r, devices));
        for (const std::string& name : {r.device, r.source})
            if (!name.empty() && (tile || !tiled.contains(name)) &&
                std::find(out.groups.begin(), out.groups.end(), name) == out.groups.end())
                out.groups.push_back(name);
        std::string why;
        if (const auto e = experiment_of(r, devices, why); e && !out.beats_bound) {
            const auto [pass, fusion, engine, device] = corner_of(*e);
            CoverageRow& c = coverage[corner_of(*e)];
            c.pass = pass, c.fusion = fusion, c.engine = engine, c.device = device;
            c.rows_time += r.time_us.has_value();
            c.rows_bytes += r.dram_bytes.has_value();
        }
        v.rows.push_back(std::move(out));
    }
    std::map<std::string, std::vector<Judged>> groups;
    for (std::size_t i = 0; i < rows.size(); ++i)
        for (const std::string& g : v.rows[i].groups) groups[g].push_back({&rows[i], &v.rows[i]});
    for (const auto& [name, members] : groups)
        if (Summary s = summarise(members); s.rows > 0) v.summary[name] = s;
    for (auto& [corner, row] : coverage) v.coverage.push_back(std::move(row));
    return v;
}

bool is_covered(const Experiment& e) {
    static const std::set<Corner> covered = [] {
        std::set<Corner> out;
        for (const EmbeddedFile& file : embedded_measurements()) {
            if (file.name == "impossible.csv") continue;  // rows that no machine ran
            const MeasurementFile rows = parse_measurements(file.text, file.name);
            std::string why;
            for (const Measurement& r : rows.rows)
                if (const auto x = experiment_of(r, Catalogue::builtin(), why); x && r.time_us)
                    out.insert(corner_of(*x));
        }
        return out;
    }();
    return covered.contains(corner_of(e));
}

// ---- what the constants are worth on rows they were not fitted on ---------------------------------------------------

namespace {

/// A row with all that a prediction under other constants needs.
struct Trial {
    std::string source;
    Engine engine;
    double measured_us;
    Experiment experiment;
    const Device* device;
    std::vector<Kernel> kernels;
    Counts counts;
    double bound_us;

    double log_ratio(const TimeModel& m) const {
        return std::log(std::max(bound_us, time_us(experiment, *device, kernels, counts, m)) / measured_us);
    }
};

/// Mean of |log(predicted / measured)| over the trials, an outlier counting at most a factor e^0.5.
double loss(const std::vector<const Trial*>& trials, const EngineConstants& c) {
    TimeModel m;
    m.constants = &c;
    double sum = 0;
    for (const Trial* t : trials) sum += std::min(0.5, std::abs(t->log_ratio(m)));
    return sum / static_cast<double>(std::max<std::size_t>(1, trials.size()));
}

/// One constant at a time, until none of its candidates is better.
EngineConstants refit(const std::vector<const Trial*>& trials) {
    EngineConstants c = engine_constants();
    double best = loss(trials, c);
    for (bool moved = true; moved;) {
        moved = false;
        for (const EngineConstant& row : engine_constant_table()) {
            for (double candidate : row.candidates) {
                EngineConstants other = c;
                other.*row.member = candidate;
                const double l = loss(trials, other);
                if (l < best - 1e-9) {
                    best = l;
                    c = other;
                    moved = true;
                }
            }
        }
    }
    return c;
}

}  // namespace

std::vector<EngineError> leave_one_source_out(const MeasurementFile& file, const Catalogue& devices,
                                              const std::set<std::string>& never_fitted) {
    std::vector<Prepared> prepared;  // keeps the devices alive
    std::vector<Trial> trials;
    prepared.reserve(file.rows.size());
    for (const Measurement& r : file.rows) {
        if (!r.has_tile() || !r.time_us) continue;
        prepared.push_back(prepare(r, devices));
        const Prepared& p = prepared.back();
        if (!p.experiment) continue;
        const Device& d = p.devices.at(p.experiment->device);
        std::vector<Kernel> kernels = plan(*p.experiment);
        if (!fit(*p.experiment, d, kernels).ok()) continue;
        const double bound_us = bound(*p.experiment, d).time_us;
        Counts counts = count(*p.experiment, d, kernels);
        trials.push_back({r.source, p.experiment->engine, *r.time_us, *p.experiment, &d, std::move(kernels),
                          std::move(counts), bound_us});
    }
    std::set<std::string> sources;
    for (const Trial& t : trials) sources.insert(t.source);

    std::map<Engine, std::map<std::string, std::vector<double>>> held_out, in_use;  // log ratios by engine and source
    for (const std::string& held : sources) {
        std::vector<const Trial*> others;
        for (const Trial& t : trials)
            if (t.source != held && !never_fitted.contains(t.source)) others.push_back(&t);
        const EngineConstants c = refit(others);
        TimeModel m;
        m.constants = &c;
        for (const Trial& t : trials) {
            if (t.source != held) continue;
            held_out[t.engine][held].push_back(t.log_ratio(m));
            in_use[t.engine][held].push_back(t.log_ratio({}));
        }
    }

    std::vector<EngineError> out;
    for (const auto& [engine, by_source] : held_out) {
        EngineError e;
        e.engine = engine;
        e.sources = static_cast<int>(by_source.size());
        std::vector<double> all, fitted;
        std::vector<std::pair<double, double>> weighted;  // log of measured over predicted, weight
        for (const auto& [source, logs] : by_source) {
            for (double l : logs) {
                all.push_back(std::abs(std::expm1(l)));
                weighted.emplace_back(-l, 1.0 / static_cast<double>(logs.size()));
            }
            for (double l : in_use[engine][source]) fitted.push_back(std::abs(std::expm1(l)));
        }
        e.rows = static_cast<int>(all.size());
        e.mape_fitted = mean(fitted);
        e.mape_held_out = mean(all);
        const double wider = 1 + 2.0 / e.sources;
        e.band = {std::min(1.0, std::exp(wider * weighted_quantile(weighted, 0.1))),
                  std::max(1.0, std::exp(wider * weighted_quantile(weighted, 0.9)))};
        out.push_back(e);
    }
    return out;
}

}  // namespace sim
