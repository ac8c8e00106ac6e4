// Leave one source or device out: what the engine constants are worth on rows that they were not fitted on.

#include <algorithm>
#include <cmath>

#include "sim/validate.hpp"

namespace sim {

namespace {

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
    double sum = 0;
    for (const double x : v) sum += x;
    return sum / static_cast<double>(std::max<std::size_t>(1, v.size()));
}

double log_ratio(const Trial& t, const TimeModel& m) { return std::log(t.predicted_us(m) / *t.row.time_us); }

/// Mean of |log(predicted / measured)| over the trials, an outlier counting at most a factor e^0.5.
double loss(const std::vector<const Trial*>& trials, const EngineConstants& c) {
    TimeModel m;
    m.constants = &c;
    double sum = 0;
    for (const Trial* t : trials) sum += std::min(0.5, std::abs(log_ratio(*t, m)));
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
                if (candidate == c.*row.member) continue;
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

std::vector<EngineError> leave_one_out(const std::vector<Trial>& all, HeldOut what,
                                       const std::set<std::string>& never_fitted) {
    std::vector<const Trial*> trials;
    for (const Trial& t : all)
        if (t.predictable() && t.row.has_tile() && t.row.time_us) trials.push_back(&t);
    const auto part_of = [&](const Trial& t) -> const std::string& {
        return what == HeldOut::source ? t.row.source : t.row.device;
    };
    std::set<std::string> parts;
    for (const Trial* t : trials) parts.insert(part_of(*t));

    std::map<Engine, std::map<std::string, std::vector<double>>> held_out, in_use;  // log ratios by engine and part
    for (const std::string& held : parts) {
        std::vector<const Trial*> others;
        for (const Trial* t : trials)
            if (part_of(*t) != held && !never_fitted.contains(t->row.source)) others.push_back(t);
        const EngineConstants c = refit(others);
        TimeModel m;
        m.constants = &c;
        for (const Trial* t : trials) {
            if (part_of(*t) != held) continue;
            held_out[t->experiment->engine][held].push_back(log_ratio(*t, m));
            in_use[t->experiment->engine][held].push_back(log_ratio(*t, {}));
        }
    }

    std::vector<EngineError> out;
    for (const auto& [engine, by_part] : held_out) {
        EngineError e;
        e.engine = engine;
        e.parts = static_cast<int>(by_part.size());
        std::vector<double> errors, fitted;
        std::vector<std::pair<double, double>> weighted;  // log of measured over predicted, weight
        for (const auto& [part, logs] : by_part) {
            for (double l : logs) {
                errors.push_back(std::abs(std::expm1(l)));
                weighted.emplace_back(-l, 1.0 / static_cast<double>(logs.size()));
            }
            for (double l : in_use[engine][part]) fitted.push_back(std::abs(std::expm1(l)));
        }
        e.rows = static_cast<int>(errors.size());
        e.mape_fitted = mean(fitted);
        e.mape_held_out = mean(errors);
        const double wider = 1 + 2.0 / e.parts;
        e.band = {std::min(1.0, std::exp(wider * weighted_quantile(weighted, 0.1))),
                  std::max(1.0, std::exp(wider * weighted_quantile(weighted, 0.9)))};
        out.push_back(e);
    }
    return out;
}

}  // namespace sim
