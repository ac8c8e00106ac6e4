#include "sim/trial.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sim/device_fields.hpp"
#include "sim/sweep.hpp"

namespace sim {

namespace {

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

Trial trial_of(Measurement row, const Catalogue& devices) {
    Trial t;
    t.row = std::move(row);
    t.experiment = experiment_of(t.row, devices, t.why);
    if (!t.experiment) return t;
    Experiment& e = *t.experiment;
    t.device = devices.at(e.device);
    if (t.row.clock_mhz) t.device = at_clock(t.device, 1e6 * *t.row.clock_mhz);
    t.bound = bound(e, t.device);
    if (const double least = beatable_us(t.row, t.device, t.bound); t.row.time_us && *t.row.time_us < least) {
        t.beats_bound = true;
        t.why = fmt::format("refused: {:.4g} µs is faster than any kernel can be ({:.4g} µs)", *t.row.time_us, least);
        return t;
    }
    if (const Fit f = resolve_best(e, t.device); !f.ok()) {
        t.why = f.why;
        return t;
    }
    t.kernels = plan(e);
    t.why = fit(e, t.device, t.kernels).why;
    if (t.why.empty()) t.counts = count(e, t.device, t.kernels);
    return t;
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

double Trial::predicted_us(const TimeModel& model) const {
    const double us = time_us(*experiment, device, kernels, counts, model);
    return model.complete() ? std::max(us, bound.time_us) : us;
}

double Trial::predicted_dram_bytes() const {
    i64 padding = 0;
    for (const Traffic& t : counts.kernels) {
        const Flow f = t.at(Level::dram).total();
        padding += f.moved_read_bytes + f.moved_write_bytes - f.bytes();
    }
    const i64 unseen = row.traits.contains("flushed") ? 0 : counts.kernels.back().at(Level::dram).dirty_at_end_bytes;
    return static_cast<double>(counts.dram_range.expected_bytes + padding - unseen);
}

std::vector<Trial> trials_of(const MeasurementFile& file, const Catalogue& devices, bool strict) {
    std::vector<Trial> out;
    out.reserve(file.rows.size());
    for (const Measurement& r : file.rows) out.push_back(trial_of(strict ? stripped(r) : r, devices));
    return out;
}

std::vector<ReadConstant> constants_read(const Trial& trial) {
    constexpr double nudge = 1.1;
    const Device& d = trial.device;
    const double now = trial.predicted_us();
    const auto time_with = [&](const Device& other, const TimeModel& model = {}) {
        return std::max(time_us(*trial.experiment, other, trial.kernels, trial.counts, model), trial.bound.time_us);
    };
    std::vector<ReadConstant> out;
    Device other = d;
    const auto consider = [&](const std::string& name, const Quantity& q, std::string_view unit) {
        if (!q.known() || q.kind == Evidence::spec) return;
        auto& moved = const_cast<Quantity&>(q);  // of `other`, which is ours
        const double was = moved.value;
        moved.value *= nudge;
        // The counts were made with these two.
        const bool counted = d.kind == DeviceKind::gpu && (name == "l2.effective_bytes" || name == "l2.drift");
        const bool read = counted || time_with(other) != now;
        moved.value = was;
        if (read) out.push_back({name, was, unit, q.kind, q.source});
    };
    for (const device_file::Field& f : device_file::fields)
        consider(device_file::path(f.section, f.key), f.of(other), f.units.back().name);
    for (const device_file::Rates& r : device_file::rates)
        for (const auto& [dtype, q] : other.*r.of)
            consider(device_file::path(r.section, to_string(dtype)), q, "FLOP/s");
    for (const EngineConstant& c : engine_constant_table()) {
        EngineConstants changed = engine_constants();
        changed.*c.member *= nudge;
        TimeModel m;
        m.constants = &changed;
        if (time_with(d, m) != now)
            out.push_back({fmt::format("engine.{}", c.name), engine_constants().*c.member, c.unit, c.kind,
                           std::string(c.source)});
    }
    return out;
}

}  // namespace sim
