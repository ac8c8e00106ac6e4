#include "sim/fit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sim/direct.hpp"
#include "sim/traits.hpp"

namespace sim {

namespace {

/// Rows and columns a warp takes of a tile when nothing was said: SIMT 4 x 8 thread tiles, or 32 neighbouring columns
/// where threads have one output each; tensor cores up to 64x64; a warpgroup all columns of its 64 rows.
Shape2 usual_warp(const Experiment& e, const Tile& t, Shape2 thread) {
    const auto at_most = [](i64 size, int limit) { return static_cast<int>(std::min<i64>(size, limit)); };
    switch (e.engine) {
        case Engine::mma: return {at_most(t.bm, 64), at_most(t.bn, 64)};
        case Engine::wgmma:
        case Engine::tcgen05: return {at_most(t.bm, 64), at_most(t.bn, 256)};
        default: break;
    }
    if (thread.rows * thread.cols == 1) {
        const Lanes lanes = lanes_of(Direct::coalesced, t);
        return {static_cast<int>(lanes.turns), static_cast<int>(lanes.run)};
    }
    return {at_most(t.bm, 4 * thread.rows), at_most(t.bn, 8 * thread.cols)};
}

/// Output columns staged through SMEM at a time by a warp-specialised epilogue.
constexpr i64 staged_columns = 64;

}  // namespace

i64 bank_conflicts(const Experiment& e, const Kernel& k) {
    if (e.engine != Engine::mma || k.left.empty() || !has_trait(e, "swizzle", "0")) return 1;
    // All rows of a tile start in the same bank once a row is a whole number of 128-byte lines; ldmatrix reads 16 bytes
    // of eight rows at a time.
    return std::clamp<i64>(k.tile.bk * k.left[0].tensor.bits / 8 / 16, 1, 8);
}

int capability(const Device& d) {
    return d.compute_capability.empty()
               ? 0
               : static_cast<int>(std::lround(10 * std::strtod(d.compute_capability.c_str(), nullptr)));
}

CtaShape cta_shape(const Experiment& e, const Device&, const Kernel& k) {
    CtaShape c;
    const Tile& t = k.tile;
    const i64 out = storage_bytes(e.dense.out);
    c.thread = e.thread.rows
                   ? e.thread
                   : Shape2{static_cast<int>(std::min<i64>(t.bm, 8)), static_cast<int>(std::min<i64>(t.bn, 8))};

    const bool direct = direct_access(e) != Direct::no;  // a thread an output, nothing in SMEM
    if (direct || (!e.thread.rows && e.rung == "03_shared_tile")) c.thread = {1, 1};
    c.warp = e.warp.rows ? e.warp : usual_warp(e, t, c.thread);

    const i64 outputs = t.bm * t.bn;
    i64 compute_threads = 0;
    switch (e.engine) {
        case Engine::simt: compute_threads = round_up(ceil_div(outputs, i64{c.thread.rows} * c.thread.cols), 32); break;
        case Engine::mma:
            compute_threads = 32 * std::min<i64>(ceil_div(t.bm, c.warp.rows), 4096) *
                              std::min<i64>(ceil_div(t.bn, c.warp.cols), 4096);
            break;
        case Engine::wgmma: compute_threads = 128 * std::clamp<i64>(ceil_div(t.bm, 64), 1, 2); break;
        default: compute_threads = 128; break;
    }
    const bool producer = e.pipeline == Pipeline::warp_specialized;
    i64 threads = compute_threads;
    if (producer) threads += e.engine == Engine::tcgen05 ? 64 : 128;
    if (e.warps > 0) {
        threads = 32 * i64{e.warps};
        compute_threads = std::max<i64>(32, producer && threads > 128 ? threads - 128 : threads);
    }
    c.threads = static_cast<int>(std::min<i64>(threads, 1 << 20));

    const i64 accumulators = ceil_div(outputs, std::max<i64>(1, compute_threads));
    i64 registers = 0;
    switch (e.engine) {  // facts of compiled kernels: accumulators plus fragments and addresses
        case Engine::simt: registers = accumulators + 2 * (c.thread.rows + c.thread.cols) + 24; break;
        case Engine::mma: registers = accumulators + 64; break;
        case Engine::wgmma: registers = accumulators + 40; break;
        default: registers = 128; break;  // tcgen05: accumulators live in tensor memory
    }
    c.registers = static_cast<int>(std::min<i64>(registers, 1 << 20));

    // The masked operand's residual is staged beside it.
    __int128 stage = 0;
    const auto add = [&](const std::vector<Access>& side, i64 elements) {
        for (const Access& a : side) stage += (static_cast<__int128>(elements) * a.tensor.bits + 7) / 8;
    };
    add(k.left, t.bm * t.bk);
    add(k.right, t.bk * (multiplies_in_pairs(e) ? ceil_div(t.bn, 2) : t.bn));
    const __int128 pipeline = stage * std::max(1, e.stages);
    const __int128 staging = static_cast<__int128>(t.bm) * std::min(t.bn, staged_columns) * out;
    const bool own_staging = producer;  // the next tile's loads are in flight while the epilogue stores
    const bool reuses_stages = e.engine == Engine::mma && !producer;
    const __int128 smem = own_staging ? pipeline + staging : reuses_stages ? std::max(pipeline, staging) : pipeline;
    c.smem_bytes = direct ? 0 : static_cast<i64>(std::min<__int128>(smem, i64{1} << 50));
    return c;
}

Occupancy occupancy(const Experiment& e, const Device& d, const CtaShape& cta) {
    Occupancy o;
    const i64 sms =
        e.sms > 0 ? std::min<i64>(e.sms, static_cast<i64>(d.sm_count.value)) : static_cast<i64>(d.sm_count.value);
    const i64 cluster = i64{e.cluster.rows} * e.cluster.cols;
    const auto whole = [&](int ctas) {
        o.ctas_per_sm = ctas;
        o.slots = sms * ctas / cluster * cluster;  // how GPCs cut the SMs up is not known to the device files
    };
    struct Limit {
        std::string_view name;
        i64 ctas;
    };
    const i64 warps = ceil_div(cta.threads, 32);
    std::vector<Limit> limits;
    if (d.per_sm.threads.known())
        limits.push_back({"threads", static_cast<i64>(d.per_sm.threads.value) / (warps * 32)});
    if (d.per_sm.warps.known()) limits.push_back({"warps", static_cast<i64>(d.per_sm.warps.value) / warps});
    if (d.per_sm.ctas.known()) limits.push_back({"CTAs per SM", static_cast<i64>(d.per_sm.ctas.value)});
    if (d.registers.bytes_per_sm.known()) {
        // Registers are handed out to warps in units, from four equal files per SM.
        const i64 unit = static_cast<i64>(d.registers.allocation_unit.or_else(256));
        const i64 per_warp = round_up(i64{cta.registers} * 32, unit);
        const i64 per_file = static_cast<i64>(d.registers.bytes_per_sm.value) / 4 / 4;
        limits.push_back({"registers", 4 * (per_file / std::max<i64>(1, per_warp)) / warps});
    }
    if (d.sram.bytes_per_sm.known()) {
        const i64 unit = static_cast<i64>(d.sram.allocation_unit.or_else(128));
        const i64 need = round_up(cta.smem_bytes + static_cast<i64>(d.sram.reserved_per_cta.or_else(0)), unit);
        if (need > 0) limits.push_back({"shared memory", static_cast<i64>(d.sram.bytes_per_sm.value) / need});
    }
    i64 ctas = 64;
    for (const Limit& l : limits) {
        if (e.ctas > l.ctas && l.name != "registers")
            o.impossible = fmt::format("ctas {}: an SM holds {} such CTAs ({})", e.ctas, l.ctas, l.name);
        if (l.ctas < ctas) {
            ctas = l.ctas;
            o.limited_by = l.name;
        }
    }
    const bool stays = e.schedule.kind == Schedule::persistent || e.schedule.kind == Schedule::stream_k;
    if (e.engine == Engine::tcgen05 || stays) ctas = std::min<i64>(ctas, 1);
    if (e.ctas > 0) {
        ctas = ctas > 0 ? e.ctas : 0;
        o.limited_by = "said";
    }
    whole(static_cast<int>(ctas));
    return o;
}

namespace {

/// Rows and columns of the layout a TPU keeps a dtype in.
Shape2 vmem_layout(i64 bits) { return bits == 32 ? Shape2{8, 128} : bits == 16 ? Shape2{16, 128} : Shape2{32, 128}; }

/// Tile extent of a tensor along an axis of the kernel, never more than the tensor's own.
i64 along(const Kernel& k, Axis axis, i64 whole) {
    switch (axis) {
        case Axis::rows: return std::min(k.tile.bm, whole);
        case Axis::cols: return std::min(k.tile.bn, whole);
        case Axis::red: return std::min(k.tile.bk, whole);
        case Axis::one: return whole;
    }
    return whole;
}

template <class F>
void each_access(const Kernel& k, F&& f) {
    for (const auto* side : {&k.left, &k.right, &k.epilogue, &k.outputs})
        for (const Access& a : *side) f(a);
}

}  // namespace

VmemNeed vmem_need(const Experiment& e, const Device& d, const Kernel& k) {
    VmemNeed need;
    each_access(k, [&](const Access& a) {
        const Shape2 layout = vmem_layout(a.tensor.bits);
        const i64 rows = round_up(along(k, a.row_axis, a.tensor.rows), layout.rows);
        const i64 cols = round_up(along(k, a.col_axis, a.tensor.cols), layout.cols);
        const __int128 bytes = static_cast<__int128>(rows) * cols * a.tensor.bits / 8;
        need.tiles_bytes = static_cast<i64>(std::min<__int128>(need.tiles_bytes + bytes, i64{1} << 58));
    });
    if (k.matmul && k.k_steps() > 1) {
        const i64 rows = round_up(std::min(k.tile.bm, k.extent.rows), 8);
        const i64 cols = round_up(std::min(k.tile.bn, k.extent.cols), 128);
        need.accumulator_bytes =
            static_cast<i64>(std::min<__int128>(static_cast<__int128>(rows) * cols * 4, i64{1} << 58));
    }
    need.limit_bytes = e.vmem > 0 ? e.vmem : static_cast<i64>(d.sram.bytes_per_cta.value);
    if (e.buffers > 0)
        need.buffers = e.buffers;
    else
        need.buffers = 2 * need.tiles_bytes + need.accumulator_bytes <= need.limit_bytes ? 2 : 1;
    return need;
}

namespace {

Fit fit_tpu(const Experiment& e, const Device& d, const Kernel& k) {
    if (d.sram.bytes_per_sm.known() && e.vmem > static_cast<i64>(d.sram.bytes_per_sm.value))
        return {fmt::format("vmem {} is more than the {} a TensorCore of {} has",
                            format_kib(static_cast<double>(e.vmem)), format_kib(d.sram.bytes_per_sm.value), d.id)};
    Fit fit;
    each_access(k, [&](const Access& a) {
        if (!fit.ok()) return;
        const Shape2 layout = vmem_layout(a.tensor.bits);
        const i64 rows = along(k, a.row_axis, a.tensor.rows), cols = along(k, a.col_axis, a.tensor.cols);
        const bool rows_ok = rows == a.tensor.rows || rows % layout.rows == 0;
        const bool cols_ok = cols == a.tensor.cols || cols % layout.cols == 0;
        if (!rows_ok || !cols_ok)
            fit.why =
                fmt::format("a {}x{} tile of {} must be a multiple of {}x{} or the whole dimension ({}x{})", rows, cols,
                            to_string(a.tensor.name), layout.rows, layout.cols, a.tensor.rows, a.tensor.cols);
    });
    if (!fit.ok()) return fit;
    const VmemNeed need = vmem_need(e, d, k);
    if (need.bytes() > need.limit_bytes)
        return {fmt::format(
            "{} {} of every tile take{} {}; the scoped VMEM is {} (a larger vmem or a smaller tile is the way out)",
            need.buffers, need.buffers == 1 ? "copy" : "copies", need.buffers == 1 ? "s" : "",
            format_kib(static_cast<double>(need.bytes())), format_kib(static_cast<double>(need.limit_bytes)))};
    return {};
}

Fit fit_gpu(const Experiment& e, const Device& d, const Kernel& k) {
    if (e.sms > static_cast<int>(d.sm_count.value))
        return {fmt::format("sms {}: {} has {}", e.sms, d.id, static_cast<int>(d.sm_count.value))};
    if (!k.matmul) return {};
    const int arch = capability(d);
    const auto needs = [&](bool ok, std::string_view what) {
        return ok ? Fit{}
                  : Fit{fmt::format(
                        "{} needs {}; {} is {}", to_string(e.engine), what, d.id,
                        d.compute_capability.empty() ? d.arch : "compute capability " + d.compute_capability)};
    };
    if (e.engine == Engine::wgmma && arch != 90) return needs(false, "compute capability 9.0");
    if (e.engine == Engine::tcgen05 && arch / 10 != 10) return needs(false, "compute capability 10.x");
    if (const Rung* r = e.rung.empty() ? nullptr : find_rung(e.rung, d.kind); r && arch < r->min_arch)
        return {fmt::format("rung {} needs compute capability {}.{}; {} is {}", r->id, r->min_arch / 10,
                            r->min_arch % 10, d.id, d.compute_capability.empty() ? d.arch : d.compute_capability)};
    const bool tensor = e.engine != Engine::simt;
    if (tensor && e.dense.dtype == Dtype::f32)
        return {fmt::format("{} has no f32 operands (tf32 is the nearest)", to_string(e.engine))};
    if (direct_access(e) != Direct::no) {
        const std::string who = e.rung.empty() ? "a kernel without a shared tile" : "rung " + e.rung;
        if (e.thread.rows * e.thread.cols > 1 && !e.rung.empty())
            return {fmt::format("{} computes one output a thread, not {}x{}", who, e.thread.rows, e.thread.cols)};
        if (i64{e.cluster.rows} * e.cluster.cols > 1)
            return {fmt::format("{} has no shared memory that a cluster could fill together", who)};
    }
    if (i64{e.cluster.rows} * e.cluster.cols > 1 && arch < 90)
        return {fmt::format("a cluster needs compute capability 9.0; {} is {}", d.id,
                            d.compute_capability.empty() ? d.arch : d.compute_capability)};
    if (i64{e.cluster.rows} * e.cluster.cols > 16)
        return {fmt::format("a cluster of {} CTAs; the most is 16", i64{e.cluster.rows} * e.cluster.cols)};

    const CtaShape cta = cta_shape(e, d, k);
    if (cta.threads > 1024) return {fmt::format("needs {} threads; a CTA may have 1024", cta.threads)};
    if (cta.registers > static_cast<int>(d.registers.max_per_thread.or_else(255)))
        return {fmt::format("needs about {} registers a thread; a thread may have {}", cta.registers,
                            static_cast<int>(d.registers.max_per_thread.or_else(255)))};
    if (d.sram.bytes_per_cta.known() && cta.smem_bytes > static_cast<i64>(d.sram.bytes_per_cta.value))
        return {fmt::format("needs {} of shared memory; a CTA may use {}",
                            format_kib(static_cast<double>(cta.smem_bytes)), format_kib(d.sram.bytes_per_cta.value))};
    const Occupancy o = occupancy(e, d, cta);
    if (o.ctas_per_sm == 0)
        return {fmt::format("no CTA of {} threads x {} registers can be resident: {} run out", cta.threads,
                            cta.registers, o.limited_by)};
    if (!o.impossible.empty()) return {o.impossible};
    if (o.slots == 0) return {fmt::format("a cluster of {} CTAs finds no room", i64{e.cluster.rows} * e.cluster.cols)};
    return {};
}

/// The counts are 64-bit: refuses what would overflow them.
Fit fit_counters(const Kernel& k) {
    const double left =
        static_cast<double>(k.extent.rows) * static_cast<double>(k.extent.red) * static_cast<double>(k.col_tiles());
    const double right =
        static_cast<double>(k.extent.cols) * static_cast<double>(k.extent.red) * static_cast<double>(k.row_tiles());
    const double partial =
        static_cast<double>(k.extent.rows) * static_cast<double>(k.extent.cols) * static_cast<double>(k.k_steps());
    // Every load with its residual, and full tiles on chip, stay below 16 times this.
    const double bytes = 16 * 4 * static_cast<double>(k.batch) * (left + right + partial);
    if (bytes < 9.2e18) return {};
    return {fmt::format("would move more than 2^63 bytes through tiles of {}x{}x{}; take larger tiles", k.tile.bm,
                        k.tile.bn, k.tile.bk)};
}

}  // namespace

Fit fit(const Experiment& e, const Device& d, const std::vector<Kernel>& kernels) {
    if (std::isnan(d.peak_flops(e.dense.dtype)))
        return {fmt::format("{} has no {} rate", d.id, to_string(e.dense.dtype))};
    for (const Kernel& k : kernels) {
        Fit f = fit_counters(k);
        if (f.ok() && d.kind == DeviceKind::tpu) f = fit_tpu(e, d, k);
        if (f.ok() && d.kind == DeviceKind::gpu) f = fit_gpu(e, d, k);
        if (!f.ok()) {
            if (kernels.size() > 1) f.why = k.name + ": " + f.why;
            return f;
        }
    }
    return {};
}

}  // namespace sim
