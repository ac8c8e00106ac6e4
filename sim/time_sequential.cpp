// Sequential machines: a step copies what its loops changed and multiplies what it holds; the two run side by side
// where a second copy of every tile fits, else one after the other.

#include <algorithm>
#include <cmath>

#include "sim/extent.hpp"
#include "sim/time_work.hpp"
#include "sim/traits.hpp"

namespace sim {

namespace {

double as_double(i64 v) { return static_cast<double>(v); }

/// Extent of a tile as the multiply unit sees it: no more than the matrix, whole units.
double padded(i64 tile, i64 extent, i64 unit) { return as_double(round_up(std::min(tile, extent), unit)); }

/// FLOP of one grid step. A TPU multiplies whole tiles of its unit; the others are taken as clipping at edges.
double step_flops(const Device& d, const Kernel& k) {
    if (!k.matmul) return 0;
    if (d.kind != DeviceKind::tpu)
        return as_double(k.flops()) / as_double(k.batch) / as_double(k.row_tiles()) / as_double(k.col_tiles()) /
               as_double(k.k_steps());
    const i64 dim = static_cast<i64>(d.mxu.dim.or_else(128));
    return 2 * padded(k.tile.bm, k.extent.rows, 8) * padded(k.tile.bn, k.extent.cols, dim) *
           padded(k.tile.bk, k.extent.red, dim);
}

double mxu_passes(const Experiment& e) {
    if (e.dense.dtype != Dtype::f32) return 1;  // f32 is taken apart into bf16 parts
    return e.precision == Precision::highest ? 6 : e.precision == Precision::high ? 3 : 1;
}

/// Seconds that a multiply-add of a plain dot product spends on lines of which it uses one element: a walk down a
/// column comes back to a line 16 columns in a row, if the cache that holds all lines of the walk is a near one.
double column_walk(const Device& d, const Kernel& k) {
    const double walks = k.pass == Pass::dgrad ? 0 : k.pass == Pass::wgrad ? 2 : 1;
    constexpr double line = 64;
    const double lines = as_double(k.extent.red) * line;
    double rate = INFINITY;
    if (lines > d.core.l1d_bytes.or_else(INFINITY) / 2)
        rate = d.sram.bytes_per_clock.or_else(INFINITY) * d.clock.boost.or_else(INFINITY);
    if (lines > d.sram.bytes_per_sm.or_else(INFINITY) / 2)
        rate = d.l2.bandwidth.or_else(INFINITY) / d.sm_count.or_else(1);
    if (lines > d.l2.effective_bytes.or_else(INFINITY) / 2)
        rate = d.core.dram_bandwidth.or_else(d.dram.bandwidth.value);
    return walks * line / rate;
}

}  // namespace

GridWork grid_work(const Experiment& e, const Device& d, const Kernel& k, const Traffic& t, const EngineConstants& c) {
    GridWork w;
    const auto loops = loop_order(k, e.order);
    double outer = as_double(k.batch);  // trips of the loops outside
    w.kinds[0].count = outer - 1;
    for (std::size_t j = 0; j < 3; ++j) {
        w.kinds[j + 1].count = outer * (as_double(axis_trips(k, loops[j])) - 1);
        outer *= as_double(axis_trips(k, loops[j]));
    }

    // A tile moves when a loop of its own moves on, or one outside such a loop.
    const auto spread = [&](const Access& a, bool is_output) {
        std::size_t innermost = 0;  // kind of its innermost own loop; 0 = only the batch changes it
        double moves = as_double(k.batch);
        double so_far = moves;
        for (std::size_t j = 0; j < 3; ++j) {
            so_far *= as_double(axis_trips(k, loops[j]));
            if ((a.row_axis == loops[j] || a.col_axis == loops[j]) && axis_trips(k, loops[j]) > 1) {
                innermost = j + 1;
                moves = so_far;
            }
        }
        const Flow &dram = t.at(Level::dram).of(a.tensor.name), &l2 = t.at(Level::l2).of(a.tensor.name);
        const double dram_each = as_double(dram.moved_read_bytes + dram.moved_write_bytes) / moves;
        const double l2_each = as_double(l2.moved_read_bytes + l2.moved_write_bytes) / moves;
        for (std::size_t j = 0; j <= innermost; ++j) {
            w.kinds[j].dram_bytes += dram_each;
            w.kinds[j].l2_bytes += l2_each;
        }
        (is_output ? w.last_bytes : w.first_bytes) += dram_each;
    };
    // Traffic is by operand: one that a kernel reads and writes counts where it is written.
    const auto written = [&](const Access& a) {
        return std::any_of(k.outputs.begin(), k.outputs.end(),
                           [&](const Access& o) { return o.tensor.name == a.tensor.name; });
    };
    for (const auto* side : {&k.left, &k.right, &k.epilogue})
        for (const Access& a : *side)
            if (!written(a)) spread(a, false);
    for (const Access& a : k.outputs) spread(a, true);

    double rate = d.peak_flops(e.dense.dtype);
    if (std::isnan(rate)) rate = d.peak_flops(Dtype::f32);  // a dtype without a rate of its own is widened
    rate /= mxu_passes(e);
    w.dram_rate = d.dram.bandwidth.value;
    w.step = k.matmul ? d.overhead.step.or_else(0) : 0;
    w.l2_rate = INFINITY;
    const Rung* rung = find_rung(e.rung, d.kind);
    const Inner inner = rung ? rung->inner : Inner::registers;
    if (d.kind == DeviceKind::cpu) {
        const double cores = d.sm_count.or_else(1);
        const double used = inner == Inner::registers && e.threads > 0 ? std::min<double>(e.threads, cores)
                            : inner == Inner::registers                ? cores
                                                                       : 1;
        const double one_core = rate / cores;
        rate = inner == Inner::dependent_sum ? std::min(one_core, d.core.dependent_rate.or_else(one_core))
               : inner == Inner::row_update  ? std::min(one_core, d.core.row_rate.or_else(one_core))
                                             : one_core * used;
        w.dram_rate = std::min(w.dram_rate, used * d.core.dram_bandwidth.or_else(w.dram_rate));
        w.l2_rate = d.l2.bandwidth.or_else(INFINITY) * used / cores;
        if (inner != Inner::registers) w.step = 0;  // no tiles to pack, no threads to meet
    }
    w.math = step_flops(d, k) / rate;
    if (inner == Inner::dependent_sum && k.matmul) w.load = step_flops(d, k) / 2 * column_walk(d, k);
    if (d.kind == DeviceKind::tpu && k.matmul && e.dense.dtype == Dtype::f32)
        w.load = d.overhead.operand_load.or_else(0) * as_double(std::min(k.tile.bk, k.extent.red)) *
                 (as_double(std::min(k.tile.bm, k.extent.rows)) + as_double(std::min(k.tile.bn, k.extent.cols)));
    w.launch = d.overhead.launch.or_else(0);
    w.dispatch = has_trait(e, "dispatch", "0") ? 0 : d.overhead.dispatch.or_else(0);
    w.softness = d.kind == DeviceKind::scratchpad ? INFINITY : c.dma_softness;
    w.ends_exposed = d.kind == DeviceKind::tpu;
    w.pipelined = d.kind != DeviceKind::tpu || !k.matmul || vmem_need(e, d, k).buffers > 1;
    return w;
}

double seconds(const GridWork& w, const TimeModel& m) {
    const double compute = (m.on(Term::math) ? w.math / m.faster(Limiter::math) : 0) +
                           (m.on(Term::smem) ? w.load / m.faster(Limiter::sram) : 0);
    const double dram_rate = w.dram_rate * m.faster(Limiter::dram);
    const double overhead = m.on(Term::step_overhead) ? w.step / m.faster(Limiter::step_overhead) : 0;
    double total = 0, steps = 0;
    const auto one = [&](double dram_bytes, double l2_bytes) {
        const double copy = m.on(Term::dram) ? dram_bytes / dram_rate : 0;
        const double l2 = m.on(Term::l2) ? l2_bytes / w.l2_rate / m.faster(Limiter::l2) : 0;
        return w.pipelined ? soft_max(w.softness, {compute, copy, l2}) : compute + l2 + copy;
    };
    for (const GridWork::Steps& s : w.kinds) {
        if (s.count <= 0) continue;
        total += s.count * one(s.dram_bytes, s.l2_bytes);
        steps += s.count;
    }
    if (w.ends_exposed && m.on(Term::fill) && m.on(Term::dram))
        total += compute + (w.first_bytes + w.last_bytes) / dram_rate;
    else
        total += one(w.first_bytes + w.last_bytes, 0);
    total += (steps + 1) * overhead;
    if (m.on(Term::launch)) total += w.launch / m.faster(Limiter::launch);
    if (m.on(Term::dispatch)) total += w.dispatch / m.faster(Limiter::launch);
    return total;
}

}  // namespace sim
