#include "sim/timeline.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "sim/extent.hpp"
#include "sim/time_work.hpp"

namespace sim {

namespace {

constexpr i64 close_up_k_steps = 12, close_up_grid_steps = 16;
constexpr double us = 1e6;

double as_double(i64 v) { return static_cast<double>(v); }

/// Spans one after the other.
class Row {
public:
    explicit Row(std::string name, i64 units = 1) { lane.name = std::move(name), lane.units = units; }
    /// Adds a span of `length` seconds; nothing where it is empty.
    Row& add(Doing doing, double length, i64 count = 1, double busy = 1) {
        if (length * us > 1e-12 * at_) {  // less is rounding
            lane.spans.push_back({doing, at_, at_ + length * us, count, std::clamp(busy, 0.0, 1.0)});
            at_ += length * us;
        }
        return *this;
    }
    /// Up to a place in seconds from the start.
    Row& until(Doing doing, double place, double busy = 1) { return add(doing, place - at_ / us, 1, busy); }
    Lane lane;

private:
    double at_ = 0;
};

TimeModel without(std::initializer_list<Term> terms) {
    TimeModel m;
    for (const Term t : terms) m.terms &= ~(1u << static_cast<int>(t));
    return m;
}

/// `tiles` of the same kernel, with their share of its bytes.
CtaWork with_tiles(CtaWork w, double tiles) {
    w.dram_bytes *= tiles / w.tiles;
    w.tiles = tiles;
    w.shared = 0;
    w.power = 0;
    return w;
}

/// How the load of a k-step, its multiply and the wait between them follow each other in one CTA's buffers.
void close_up_cta(KernelTimeline& t, const CtaWork& w, double fill, double step, double store, double scale) {
    const i64 steps = static_cast<i64>(w.steps), shown = std::min(steps, close_up_k_steps);
    const double away = (w.latency + w.l2_bytes / w.port_rate) * scale, math = std::min(step, w.math * w.ctas * scale);
    const auto begin = [&](i64 j) { return fill + as_double(j) * step; };
    t.close_up_steps = shown;
    t.step_us = step * us;
    const double end = begin(shown);
    for (i64 j = 0; j < shown; ++j) t.close_up_begins.push_back(begin(j) * us);
    const i64 buffers = std::max(1, w.stages);
    for (i64 b = 0; b < std::min(buffers, shown); ++b) {
        Row row("buffer " + std::to_string(b + 1));
        for (i64 j = b; j < shown; j += buffers) {
            const double asked = buffers == 1  ? begin(j) - (j == 0 ? fill : 0)
                                 : j < buffers ? 0
                                               : begin(j - buffers + 1);
            const double use = buffers == 1 ? std::max(asked, begin(j + 1) - math) : begin(j);
            row.until(Doing::idle, asked);
            row.until(Doing::copy, std::min(use, asked + std::max(away, 0.0)));
            row.until(Doing::held, use);
            row.add(Doing::work, buffers == 1 ? math : std::min(step, std::max(math, 0.0)));
            if (buffers > 1) row.until(Doing::held, begin(j + 1));
        }
        row.until(Doing::idle, end);
        t.close_up.push_back(std::move(row.lane));
    }
    Row multiply("math");
    for (i64 j = 0; j < shown; ++j) {
        multiply.until(Doing::idle, buffers == 1 ? begin(j + 1) - math : begin(j));
        multiply.add(Doing::work, math);
    }
    multiply.until(Doing::idle, end);
    if (shown == steps && store > 0) {
        for (Lane& l : t.close_up) l.spans.push_back({Doing::idle, end * us, (end + store) * us});
        multiply.add(Doing::store, store);
    }
    t.close_up.push_back(std::move(multiply.lane));
}

void lay_out_cta(KernelTimeline& t, CtaWork w, double kernel_us) {
    if (w.shared == 0) w.ctas = std::min(w.ctas, std::ceil(w.tiles / w.sms));  // a grid that is no full wave
    const TimeModel all = without({Term::power, Term::launch});
    const double slots = w.ctas * w.sms, launch = std::min(w.launch, kernel_us / us);
    // What a wave takes, whatever comes once a kernel: the second of two.
    const auto wave_seconds = [&](const TimeModel& m) {
        return seconds(with_tiles(w, 2 * slots), m) - seconds(with_tiles(w, slots), m);
    };
    const double wave = wave_seconds(all);
    const double whole = w.tiles - w.shared, full = std::floor(whole / slots), rest = whole - full * slots;
    double tail = 0;
    if (rest > 0)
        tail = seconds(with_tiles(w, (full + 1) * slots + rest), all) - seconds(with_tiles(w, (full + 1) * slots), all);
    CtaWork plain = w;
    plain.power = 0;
    const double raw = seconds(plain, all), shared = w.shared > 0 ? std::max(0.0, raw - full * wave - tail) : 0;
    // Bytes, power or the bound can hold all of it back alike.
    const double body = kernel_us / us - launch, scale = raw > 0 ? body / raw : 1;
    const double once = std::max(0.0, raw - shared - full * wave - tail);  // the first loads of a persistent kernel
    const double steps_only = wave_seconds(without({Term::power, Term::launch, Term::fill, Term::epilogue}));
    const double busy = wave > 0 ? w.steps * w.math * w.ctas / (wave * scale) : 1;

    const double tail_ctas = rest > 0 ? std::ceil(rest / w.sms) : 0;
    const i64 sms = static_cast<i64>(w.sms);
    const i64 late = rest > 0 ? std::clamp<i64>(static_cast<i64>(std::ceil(rest / tail_ctas)), 1, sms) : sms;
    for (const i64 units : {late, sms - late}) {
        if (units <= 0) continue;
        Row row("SM", units);
        row.add(Doing::launch, launch).add(Doing::copy, once * scale);
        row.add(Doing::work, shared * scale, 1, busy);
        row.add(Doing::work, full * wave * scale, static_cast<i64>(full), busy);
        const bool works = units == late && t.lanes.empty();
        row.until(works ? Doing::work : Doing::idle, kernel_us / us, works ? busy : 1);
        t.lanes.push_back(std::move(row.lane));
    }
    t.units_per_wave = static_cast<i64>(slots);

    const double store = std::max(0.0, wave - wave_seconds(without({Term::power, Term::launch, Term::epilogue})));
    const double fill = (w.latency + w.l2_bytes / w.port_rate) * scale;
    close_up_cta(t, w, fill, steps_only / w.steps * scale, store * scale, scale);
}

void lay_out_stream(KernelTimeline& t, const StreamWork& w, double kernel_us) {
    Row row("memory");
    row.add(Doing::launch, std::min(w.launch, kernel_us / us));
    row.until(Doing::copy, kernel_us / us);
    t.lanes.push_back(std::move(row.lane));
}

/// Which loop (0 = batch, then the three of the order) moves on into grid step i of a kernel.
std::size_t moves_on(const std::array<i64, 3>& trips, i64 i) {
    for (std::size_t j = 3; j > 0; --j) {
        if (i % trips[j - 1] != 0) return j;
        i /= trips[j - 1];
    }
    return 0;
}

void lay_out_grid(KernelTimeline& t, const GridWork& w, const std::array<i64, 3>& trips, i64 steps, double kernel_us,
                  i64 first_step) {
    const double raw = seconds(w, {}), scale = raw > 0 ? kernel_us / us / raw : 1;
    const double compute = w.math + w.load;
    const auto step = [&](double dram, double l2) {
        const double copy = dram / w.dram_rate, from_l2 = l2 / w.l2_rate;
        return w.pipelined ? soft_max(w.softness, {compute, copy, from_l2}) : compute + copy + from_l2;
    };
    double in_steps = 0, copied = 0;
    for (const GridWork::Steps& s : w.kinds) {
        if (s.count <= 0) continue;
        in_steps += s.count * (step(s.dram_bytes, s.l2_bytes) + w.step);
        copied += s.count * (s.dram_bytes / w.dram_rate + s.l2_bytes / w.l2_rate);
    }
    const double start = w.launch + w.dispatch;
    const double first = w.ends_exposed ? w.first_bytes / w.dram_rate : 0;
    const double last = w.ends_exposed ? w.last_bytes / w.dram_rate : 0;
    in_steps += w.step + (w.ends_exposed ? compute : step(w.first_bytes + w.last_bytes, 0));
    if (!w.ends_exposed) copied += (w.first_bytes + w.last_bytes) / w.dram_rate;

    Row copy("copy"), multiply("compute");
    copy.add(Doing::launch, start * scale).add(Doing::copy, first * scale);
    copy.add(Doing::copy, in_steps * scale, steps, copied / in_steps).add(Doing::store, last * scale);
    multiply.add(Doing::launch, start * scale).add(Doing::idle, first * scale);
    multiply.add(Doing::work, in_steps * scale, steps, as_double(steps) * compute / in_steps)
        .add(Doing::idle, last * scale);
    t.lanes = {std::move(copy.lane), std::move(multiply.lane)};
    t.step_us = in_steps * scale / as_double(steps) * us;

    // The close-up: what is copied for step i comes before it, or beside the step before where two copies fit.
    t.close_up_first = std::clamp<i64>(first_step, 0, std::max<i64>(0, steps - close_up_grid_steps));
    t.close_up_steps = std::min(steps - t.close_up_first, close_up_grid_steps);
    const auto kind_of = [&](i64 i) -> GridWork::Steps {
        if (i >= steps) return {0, w.last_bytes, 0};
        if (i == 0) return {0, w.first_bytes, 0};
        return w.kinds[moves_on(trips, i)];
    };
    Row in("copy"), mul("compute");
    double now = 0;
    if (t.close_up_first == 0 && w.pipelined && w.ends_exposed) {
        in.add(Doing::copy, first * scale);
        mul.add(Doing::idle, first * scale);
        now = first * scale;
    }
    for (i64 i = t.close_up_first; i < t.close_up_first + t.close_up_steps; ++i) {
        const GridWork::Steps s = kind_of(w.pipelined ? i + 1 : i);
        const bool ends = w.pipelined && i + 1 >= steps;
        const double moved = ends && w.ends_exposed ? 0 : s.dram_bytes / w.dram_rate + s.l2_bytes / w.l2_rate;
        const double length = (w.pipelined ? step(moved * w.dram_rate, 0) : compute + moved) * scale;
        const double overhead = w.step * scale;
        t.close_up_begins.push_back(now * us);
        if (w.pipelined) {
            in.add(Doing::copy, std::min(length, moved * scale)).until(Doing::idle, now + length + overhead);
            mul.add(Doing::work, std::min(length, compute * scale)).until(Doing::idle, now + length + overhead);
        } else {
            in.add(Doing::copy, moved * scale).until(Doing::idle, now + length + overhead);
            mul.add(Doing::idle, moved * scale)
                .add(Doing::work, compute * scale)
                .until(Doing::idle, now + length + overhead);
        }
        now += length + overhead;
    }
    t.close_up = {std::move(in.lane), std::move(mul.lane)};
}

}  // namespace

std::string_view to_string(Doing doing) {
    static constexpr std::string_view names[] = {"launch", "copy", "work", "store", "held", "idle"};
    return names[static_cast<int>(doing)];
}

double Lane::busy_us() const {
    double sum = 0;
    for (const TimeSpan& s : spans)
        if (s.doing == Doing::copy || s.doing == Doing::work || s.doing == Doing::store) sum += s.us() * s.busy;
    return sum;
}

Timeline timeline(const Report& r, const Device& d, i64 first_step) {
    Timeline out;
    if (!r.predicted) return out;
    const std::vector<Kernel> kernels = plan(r.experiment);
    double reads = 0;  // of the matmuls, which drift adds to
    for (std::size_t i = 0; i < kernels.size(); ++i)
        if (kernels[i].matmul) reads += as_double(r.predicted->kernels[i].traffic.at(Level::dram).total().read_bytes);
    const double drift =
        reads > 0 ? std::max(-1.0, as_double(r.dram_range.expected_bytes - r.dram_range.lockstep_bytes) / reads) : 0;

    double now = 0;
    for (std::size_t i = 0; i < kernels.size(); ++i) {
        const Kernel& k = kernels[i];
        const KernelReport& report = r.predicted->kernels[i];
        const Flow dram = report.traffic.at(Level::dram).total();
        const double dram_bytes = as_double(dram.bytes()) + (k.matmul ? drift * as_double(dram.read_bytes) : 0);
        const i64 steps = k.row_tiles() * k.col_tiles() * k.k_steps() * k.batch;
        KernelTimeline t;
        t.name = k.name;
        if (d.kind != DeviceKind::gpu) {
            const auto order = loop_order(k, r.experiment.order);
            const std::array<i64, 3> trips = {axis_trips(k, order[0]), axis_trips(k, order[1]),
                                              axis_trips(k, order[2])};
            const GridWork w = grid_work(r.experiment, d, k, report.traffic, engine_constants());
            lay_out_grid(t, w, trips, steps, report.time_us, first_step);
        } else if (k.matmul) {
            lay_out_cta(t, cta_work(r.experiment, d, k, report.traffic, dram_bytes, engine_constants()),
                        report.time_us);
        } else {
            lay_out_stream(t, stream_work(d, report.traffic, dram_bytes), report.time_us);
        }
        first_step = std::max<i64>(0, first_step - steps);
        t.begin_us = now;
        now += report.time_us;
        t.end_us = now;
        out.kernels.push_back(std::move(t));
    }
    out.time_us = r.predicted->time_us;
    return out;
}

}  // namespace sim
