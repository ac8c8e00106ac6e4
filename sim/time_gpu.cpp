// GPU kernels: a wave of CTAs takes its k-steps at the pace of the slowest resource, pays fill and epilogue at the
// ends, and the last wave has fewer SMs to itself.

#include <algorithm>
#include <cmath>

#include "sim/direct.hpp"
#include "sim/gpu_work.hpp"
#include "sim/time_work.hpp"
#include "sim/traits.hpp"

namespace sim {

namespace {

constexpr double line_bytes = 128, lanes = 32;
/// Of narrow types to f32, per SM (CUDA C++ Programming Guide, arithmetic instructions).
constexpr double conversions_per_clock = 64;

double as_double(i64 v) { return static_cast<double>(v); }

/// Rows the engine's unit works on at once: a tile with fewer takes as long.
i64 unit_rows(Engine engine) {
    switch (engine) {
        case Engine::mma: return 16;
        case Engine::wgmma: return 64;
        case Engine::tcgen05: return 128;
        default: return 1;
    }
}

/// Lines that copying a tile touches, a warp load at a time: short rows use part of each.
double lines_of(const Kernel& k, const Access& a) {
    const auto tile = [&](Axis axis) {
        return as_double(axis == Axis::rows   ? k.tile.bm
                         : axis == Axis::cols ? k.tile.bn
                         : axis == Axis::red  ? k.tile.bk
                                              : 1);
    };
    const double row_bytes = tile(a.col_axis) * as_double(a.tensor.bits) / 8;
    return tile(a.row_axis) * std::max(1.0, row_bytes / line_bytes);
}
double bytes_of(const Kernel& k, const std::vector<Access>& side) {
    const double elements = as_double(&side == &k.left ? k.tile.bm : k.tile.bn) * as_double(k.tile.bk);
    double bytes = 0;
    for (const Access& a : side) bytes += elements * as_double(a.tensor.bits) / 8;
    return bytes;
}

/// Clocks the load/store unit of an SM spends on one k-step of a SIMT CTA: one a 128-byte line, bank row or return.
double lsu_clocks(const Experiment& e, const Device& d, const Kernel& k, const CtaShape& cta) {
    const double outputs = as_double(k.tile.bm) * as_double(k.tile.bn), depth = as_double(k.tile.bk);
    const double element = as_double(k.left.empty() ? 32 : k.left[0].tensor.bits) / 8;
    if (const Direct direct = direct_access(e); direct != Direct::no) {  // every thread loads its own through L1
        const double returns = std::max(1.0, lanes * 4 / d.l1.bytes_per_clock.or_else(line_bytes));
        const Lanes layout = lanes_of(direct, k.tile);
        double a_warp = 0;  // clocks of its loads
        for (const auto* side : {&k.left, &k.right})
            for (const Access& a : *side) a_warp += std::max(lines_of_load(a, layout), returns);
        return outputs / lanes * depth * a_warp;
    }
    // Each thread reads rows + cols operands for rows x cols multiply-adds; a load returns 4 bytes a lane and clock,
    // and unless it is vectorised a narrower element takes as long.
    const double a_load = (has_trait(e, "vector", "1") ? 4.0 : element) / 4;
    const double rows = cta.thread.rows, cols = cta.thread.cols;
    const double operands = outputs * depth * (rows + cols) / (rows * cols) / lanes * a_load;
    double copies = (bytes_of(k, k.left) + bytes_of(k, k.right)) / line_bytes;  // stores into SMEM
    for (const auto* side : {&k.left, &k.right})
        for (const Access& a : *side) copies += lines_of(k, a);  // loads from L2
    return operands + copies;
}

/// Operands that a SIMT CTA turns into f32 in one k-step, each thread its own. bf16 is the upper half of an f32.
double conversions(const Experiment& e, const Kernel& k, const CtaShape& cta) {
    if (e.dense.dtype != Dtype::f16 && e.dense.dtype != Dtype::e4m3) return 0;
    const double rows = cta.thread.rows, cols = cta.thread.cols;
    return as_double(k.tile.bm) * as_double(k.tile.bn) * as_double(k.tile.bk) * (rows + cols) / (rows * cols);
}

/// Bytes that cross an SM's SMEM port in one k-step of a tensor-core CTA: as counted, with bank conflicts.
double smem_bytes(const Kernel& k, const Traffic& t, double cta_steps) {
    double bytes = 0;
    for (const auto* side : {&k.left, &k.right})
        for (const Access& a : *side) {
            const Flow& f = t.at(Level::sram).of(a.tensor.name);
            bytes += as_double(f.moved_read_bytes) + as_double(f.moved_write_bytes);
        }
    return bytes / cta_steps;
}

double sustained_flops(const Experiment& e, const Device& d) {
    if (has_trait(e, "inputs", "easy") || has_trait(e, "inputs", "zeros")) return 0;  // few bits toggle: no power limit
    const auto rate = [&](Dtype t) {
        const auto it = d.sustained.find(t);
        return it == d.sustained.end() ? 0.0 : it->second.or_else(0);
    };
    if (e.engine == Engine::simt) return rate(Dtype::f32);
    const double own = rate(e.dense.dtype);
    if (own > 0) return own;
    return e.dense.dtype == Dtype::f16 ? rate(Dtype::bf16) : e.dense.dtype == Dtype::bf16 ? rate(Dtype::f16) : 0;
}

}  // namespace

double soft_max(double p, std::initializer_list<double> values) {
    const double largest = std::max(0.0, *std::max_element(values.begin(), values.end()));
    if (largest == 0 || p > 60) return largest;
    double sum = 0;
    if (p == 4 || p == 8) {
        for (double v : values) {
            const double r2 = v / largest * (v / largest), r4 = r2 * r2;
            sum += p == 4 ? r4 : r4 * r4;
        }
        sum = std::sqrt(std::sqrt(sum));
        return largest * (p == 4 ? sum : std::sqrt(sum));
    }
    for (double v : values) sum += v > 0 ? std::pow(v / largest, p) : 0;
    return largest * std::pow(sum, 1 / p);
}

CtaWork cta_work(const Experiment& e, const Device& d, const Kernel& k, const Traffic& t, double dram_bytes,
                 const EngineConstants& c) {
    const CtaShape cta = cta_shape(e, d, k);
    const Occupancy o = occupancy(e, d, cta);
    const bool simt = e.engine == Engine::simt;
    const double clock = d.clock.max.or_else(d.clock.boost.value);  // until power holds it down
    CtaWork w;
    w.tiles = as_double(k.row_tiles()) * as_double(k.col_tiles()) * as_double(k.batch) * k.splits;
    w.steps = as_double(ceil_div(k.k_steps(), k.splits));
    w.ctas = std::max(1, o.ctas_per_sm);
    w.sms = std::max(1.0, as_double(o.slots) / w.ctas);
    const double cta_steps = w.tiles * w.steps;

    const double flops =
        2.0 * as_double(round_up(k.tile.bm, unit_rows(e.engine))) * as_double(k.tile.bn) * as_double(k.tile.bk);
    // Vendors quote f32 at the highest clock and tensor rates at the boost clock.
    const double quoted = simt ? clock : d.clock.boost.value;
    w.math = flops * d.sm_count.value / d.peak_flops(simt ? Dtype::f32 : e.dense.dtype) * quoted / clock;
    if (simt) w.math += conversions(e, k, cta) / conversions_per_clock / clock;
    const double clocks = simt ? lsu_clocks(e, d, k, cta) * line_bytes / d.sram.bytes_per_clock.or_else(line_bytes)
                               : smem_bytes(k, t, cta_steps) / d.sram.bytes_per_clock.or_else(line_bytes);
    w.smem = clocks / clock;

    for (const auto* side : {&k.left, &k.right})
        for (const Access& a : *side) w.l2_bytes += as_double(t.at(Level::l2).of(a.tensor.name).read_bytes);
    w.l2_bytes /= cta_steps;
    w.dram_bytes = dram_bytes;
    w.l2_rate = d.l2.bandwidth.value;
    w.port_rate = c.port_bytes_per_clock * clock;
    w.dram_rate = d.dram.bandwidth.value;

    const bool bulk = e.engine == Engine::wgmma || e.engine == Engine::tcgen05;
    const double missed = w.l2_bytes > 0 ? std::min(1.0, dram_bytes / (w.l2_bytes * cta_steps)) : 0;
    w.latency = d.l2.latency.value + missed * std::max(0.0, d.dram.latency.value - d.l2.latency.value) +
                (bulk ? c.bulk_copy_clocks / clock : 0);
    double out_bits = 0;
    for (const Access& a : k.outputs) out_bits += as_double(a.tensor.bits);
    w.epilogue = as_double(k.tile.bm) * as_double(k.tile.bn) * out_bits / 8 / (c.epilogue_bytes_per_clock * clock);

    if (const double sustained = sustained_flops(e, d); sustained > 0) w.power = as_double(k.flops()) / sustained;
    w.launch = d.overhead.launch.or_else(0);

    w.warps_per_scheduler = cta.threads / lanes / 4;
    w.softness = c.gpu_softness;
    // Fetching the next fragments while these multiply hides shared memory behind math; a SIMT thread that does not
    // waits for its operands, warps of tensor-core instructions overlap as they are many.
    const bool prefetches = bulk || has_trait(e, "reg_prefetch", "1") || (!simt && e.pipeline == Pipeline::multistage);
    w.overlap = prefetches ? INFINITY : simt ? 0 : c.mma_overlap;
    w.stages = e.pipeline == Pipeline::none ? 1 : std::max(1, e.stages);
    w.persistent = e.schedule.kind == Schedule::persistent || k.partial;
    if (const GpuWork work(k, e.raster, e.cluster, o.slots); work.shared > 0) {
        double slices = 0;
        each_slice(work, [&](i64, i64, i64) { ++slices; });
        w.shared = as_double(work.shared);
        w.slice_bytes = as_double(k.tile.bm) * as_double(k.tile.bn) * as_double(k.partial->tensor.bits) / 8;
        w.slices_per_tile = std::ceil(slices / w.shared);
        w.slice = w.slice_bytes / (c.epilogue_bytes_per_clock * clock);
    }
    w.hidden_epilogue =
        w.persistent && !has_trait(e, "epilogue_serial", "1") &&
        (e.engine == Engine::tcgen05 || (e.engine == Engine::wgmma && e.consumers == Consumers::pingpong));
    return w;
}

namespace {

/// One k-step of `ctas` CTAs on each of `sms` SMs.
double step_seconds(const CtaWork& w, const TimeModel& m, double ctas, double sms) {
    const double math = m.on(Term::math) ? w.math / m.faster(Limiter::math) : 0;
    const double smem = m.on(Term::smem) ? w.smem / m.faster(Limiter::sram) : 0;
    const auto together = [&](double n) {
        const double p = 1 + w.overlap * w.warps_per_scheduler * n;
        return p > 60 ? n * std::max(math, smem) : p == 1 ? n * (math + smem) : soft_max(p, {n * math, n * smem});
    };
    const double work = together(ctas);
    const double l2_speed = m.faster(Limiter::l2);
    const double burst = w.l2_bytes / w.port_rate / l2_speed;
    const double l2 = m.on(Term::l2) ? std::max(sms * ctas * w.l2_bytes / w.l2_rate / l2_speed, ctas * burst) : 0;
    const double dram =
        m.on(Term::dram) ? w.dram_bytes / (w.tiles * w.steps) * sms * ctas / w.dram_rate / m.faster(Limiter::dram) : 0;
    if (!m.on(Term::latency)) return soft_max(w.softness, {work, l2, dram});
    const double away = w.latency / m.faster(Limiter::latency) + (m.on(Term::l2) ? burst : 0);
    if (w.stages > 1) return soft_max(w.softness, {work, l2, dram, away / (w.stages - 1)});
    const double alone = away + together(1);
    return ctas > 1 ? soft_max(w.softness, {work, l2, dram, alone}) : std::max(alone, soft_max(w.softness, {l2, dram}));
}

/// The tiles that stream-K shares: every slot does the same number of k-steps, and pays for the cuts: the slice it
/// leaves, and those it reads back for the tile it owns.
double shared_seconds(const CtaWork& w, const TimeModel& m, double store) {
    const double slots = w.ctas * w.sms, all = w.shared * w.steps;
    const double busy = std::min(slots, all), ctas = std::ceil(busy / w.sms);
    const double steps = std::ceil(all / slots) * step_seconds(w, m, ctas, std::ceil(busy / ctas));
    const double stores = ctas * std::ceil(w.shared / slots) * store;
    double fix_up = m.on(Term::epilogue) ? ctas * w.slice / m.faster(Limiter::sram) : 0;
    if (m.on(Term::latency)) fix_up += w.latency / m.faster(Limiter::latency);
    if (m.on(Term::l2))
        fix_up +=
            w.slices_per_tile * ctas * w.slice_bytes / std::min(w.port_rate, w.l2_rate / w.sms) / m.faster(Limiter::l2);
    if (w.slices_per_tile == 0) fix_up = 0;
    return (w.hidden_epilogue ? std::max(steps, stores) : steps + stores) + fix_up;
}

}  // namespace

double seconds(const CtaWork& w, const TimeModel& m) {
    const double fill = m.on(Term::fill)
                            ? w.latency / m.faster(Limiter::latency) + w.l2_bytes / w.port_rate / m.faster(Limiter::l2)
                            : 0;
    const double store = m.on(Term::epilogue) ? w.epilogue / m.faster(Limiter::sram) : 0;
    // The time of the tiles that `ctas` CTAs on `sms` SMs take at once; those of a persistent kernel follow without a
    // gap.
    const auto wave = [&](double ctas, double sms) {
        const double steps = w.steps * step_seconds(w, m, ctas, sms), stores = ctas * store;
        if (w.hidden_epilogue) return std::max(steps, stores);
        return steps + stores + (w.persistent ? 0 : fill);
    };
    const double slots = w.ctas * w.sms;
    double total = 0;
    if (!m.on(Term::waves)) {
        total = w.tiles / slots * wave(w.ctas, w.sms);
    } else {
        const double whole = w.tiles - w.shared;
        const double full = std::floor(whole / slots), rest = whole - full * slots;
        if (full > 0) total = full * wave(w.ctas, w.sms);
        if (w.shared > 0) total += shared_seconds(w, m, store);
        if (rest > 0) {
            const double ctas = std::ceil(rest / w.sms);
            total += wave(ctas, std::ceil(rest / ctas));
        }
    }
    if (w.persistent) total += fill + (w.hidden_epilogue ? store : 0);
    if (m.on(Term::dram)) total = std::max(total, w.dram_bytes / w.dram_rate / m.faster(Limiter::dram));
    if (m.on(Term::power)) total = std::max(total, w.power / m.faster(Limiter::power));
    return total + (m.on(Term::launch) ? w.launch / m.faster(Limiter::launch) : 0);
}

StreamWork stream_work(const Device& d, const Traffic& t, double dram_bytes) {
    StreamWork w;
    w.dram_bytes = dram_bytes;
    w.l2_bytes = as_double(t.at(Level::l2).total().bytes());
    w.l2_rate = d.l2.bandwidth.value;
    w.dram_rate = d.dram.bandwidth.value;
    w.latency = d.dram.latency.value;
    w.launch = d.overhead.launch.or_else(0);
    return w;
}

double seconds(const StreamWork& w, const TimeModel& m) {
    const double l2 = m.on(Term::l2) ? w.l2_bytes / w.l2_rate / m.faster(Limiter::l2) : 0;
    const double dram = m.on(Term::dram) ? w.dram_bytes / w.dram_rate / m.faster(Limiter::dram) : 0;
    return std::max(l2, dram) + (m.on(Term::fill) ? w.latency / m.faster(Limiter::latency) : 0) +
           (m.on(Term::launch) ? w.launch / m.faster(Limiter::launch) : 0);
}

}  // namespace sim
