#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "kernels/ladder.hpp"
#include "sim/fit.hpp"
#include "sim/units.hpp"

namespace kernels {

using sim::Fit;
using sim::Pass;

namespace {

/// Shared memory a CTA may use, bytes.
i64 smem_limit(int arch) {
    switch (arch) {
        case 75: return 64 << 10;
        case 80: return 163 << 10;
        case 86:
        case 89:
        case 120: return 99 << 10;
        default: return 227 << 10;
    }
}

Fit multiple(std::string_view what, i64 value, i64 of, std::string_view why) {
    if (value % of == 0) return {};
    return {fmt::format("{} {} must be a multiple of {}: {}", what, value, of, why)};
}

/// Rows that move 16 bytes at a time start on 16 bytes.
Fit fits_pitch(const DeviceKernel& k) {
    if (!k.rung->vector_copies || k.dense.pitch == sim::Pitch::padded) return {};
    const auto row = [&](std::string_view name, i64 cols, sim::Dtype t) -> Fit {
        const i64 bytes = cols * sim::storage_bytes(t);
        if (bytes % 16 == 0) return {};
        return {fmt::format("{} moves 16 bytes at a time; rows of {} are {} bytes (pitch padded is the way out)",
                            k.rung->id, name, bytes)};
    };
    const bool forward = k.pass == Pass::forward, dgrad = k.pass == Pass::dgrad;
    Fit f;
    if (!dgrad) f = row("x", k.dense.k, k.dense.dtype);
    if (f.ok()) f = row(forward ? "w" : dgrad ? "w" : "dw", k.dense.n, k.dense.dtype);
    if (f.ok()) f = row(forward ? "the output" : "the gradient", k.dense.n, k.dense.out);
    if (f.ok() && dgrad) f = row("dx", k.dense.k, k.dense.dtype);
    return f;
}

Fit fits_bits(const DeviceKernel& k) {
    const bool writes = (k.epilogue & device::with_bits) != 0;
    if (writes && k.rung->number() == 1 && k.matmul())
        return {
            "01_naive writes no bit mask: the eight outputs of a byte belong to eight warps (residual y is the way "
            "out)"};
    if (writes || (k.epilogue & device::test_bits) != 0 || !k.matmul())
        if (Fit f = multiple("tile columns", k.tile.bn, 8, "a byte of the mask has 8 outputs"); writes && !f.ok())
            return f;
    if (writes && k.matmul() && k.rung->simt && k.rung->register_tile) {
        const int lanes = k.warp.cols / std::max(1, k.thread.cols), group = k.rung->vector_copies ? 4 : 1;
        if (lanes * group % 8 != 0)
            return {fmt::format("a warp of {} lanes along the columns cannot put together a byte of the mask", lanes)};
    }
    if (k.gate == device::gate_bits && k.matmul()) {
        const i64 length = k.layout == device::nt ? k.tile.bk : k.tile.bn;
        if (length % 32 != 0 && length != 8 && length != 16)
            return {fmt::format("a tile of {} mask bits a row: 8, 16 or a multiple of 32 are whole words", length)};
    }
    if (k.gate == device::gate_bits && !k.matmul())
        return multiple("tile columns", k.tile.bn, 8, "the mask is read by bytes");
    return {};
}

Fit fits_tile(const DeviceKernel& k) {
    const DeviceRung& r = *k.rung;
    const sim::Tile& t = k.tile;
    if (r.simt && !r.register_tile) {
        const i64 along = r.number() == 1 ? t.bm : t.bn;
        if (along % 32 != 0 && 32 % along != 0)
            return {fmt::format("{} stands a warp's 32 lanes along {} {}: it must divide 32 or be a multiple", r.id,
                                r.number() == 1 ? "tile rows" : "tile columns", along)};
        if (t.bm * t.bn % 32 != 0) return {fmt::format("{} outputs a tile are no whole warps", t.bm * t.bn)};
        return {};
    }
    if (Fit f = multiple("tile rows", t.bm, k.warp.rows, "whole warp tiles"); !f.ok()) return f;
    if (Fit f = multiple("tile columns", t.bn, k.warp.cols, "whole warp tiles"); !f.ok()) return f;
    if (r.simt) {
        if (k.warp.rows % k.thread.rows != 0 || k.warp.cols % k.thread.cols != 0 ||
            k.warp.rows / k.thread.rows * (k.warp.cols / k.thread.cols) != 32)
            return {fmt::format("a warp tile {}x{} of thread tiles {}x{} is not 32 lanes", k.warp.rows, k.warp.cols,
                                k.thread.rows, k.thread.cols)};
        if (!r.vector_copies) return {};
        if (Fit f = multiple("tile depth", t.bk, 4, "16-byte copies"); !f.ok()) return f;
        if (Fit f = multiple("thread tile rows", k.thread.rows, 4, "16-byte fragments"); !f.ok()) return f;
        return multiple("thread tile columns", k.thread.cols, 4, "16-byte fragments");
    }
    if (!r.tma) {
        if (Fit f = multiple("warp tile rows", k.warp.rows, 16, "mma.sync m16n8k16"); !f.ok()) return f;
        if (Fit f = multiple("warp tile columns", k.warp.cols, 16, "two n8 fragments come from one ldmatrix"); !f.ok())
            return f;
        return multiple("tile depth", t.bk, 16, "mma.sync m16n8k16");
    }
    if (Fit f = multiple("tile rows", t.bm, 64, "a warpgroup multiplies 64 rows"); !f.ok()) return f;
    if (t.bm > 128) return {fmt::format("{} rows a tile: two warpgroups of 64 are the most", t.bm)};
    if (t.bn > 256) return {fmt::format("{} columns a tile: the matrix unit takes 256", t.bn)};
    if (r.number() == 10 && t.bm != 128) return {fmt::format("{} rows a tile: tensor memory has 128 lanes", t.bm)};
    if (r.number() == 10 && (k.epilogue & device::with_bits) != 0 && sim::storage_bytes(k.out) != 2)
        return {"10_tcgen05 writes a bit mask beside 16-bit outputs only: a thread stores 16 bytes of a row"};
    if (r.number() == 10 && t.bn % 64 != 0) return multiple("tile columns", t.bn, 64, "a swizzled row is 128 bytes");
    if (r.number() == 9 && t.bn != 64 && t.bn != 128 && t.bn != 192 && t.bn != 256)
        return {fmt::format("{} columns a tile: 64, 128, 192 and 256 are built", t.bn)};
    if (Fit f = multiple("tile columns", t.bn, 16, "the matrix unit's step"); !f.ok()) return f;
    if (k.gate == device::gate_bits && (k.layout == device::nt ? k.cluster.cols : k.cluster.rows) > 1)
        return {
            "a cluster whose CTAs share the gradient's tile cannot share its bits: TMA copies 16 bytes of a row and "
            "more "
            "(residual y is the way out)"};
    if (r.number() == 9 && ((k.layout == device::tn ? t.bk : t.bm) % (8 * k.cluster.cols) != 0 ||
                            (k.layout == device::nt ? t.bn : t.bk) % (8 * k.cluster.rows) != 0))
        return {fmt::format("a cluster of {}x{} cannot deal out the lines of a tile in eights", k.cluster.rows,
                            k.cluster.cols)};
    return multiple("tile depth", t.bk, 64, "a swizzled row is 128 bytes");
}

}  // namespace

sim::Fit fits(const DeviceKernel& k, int arch) {
    const DeviceRung& r = *k.rung;
    if (arch > 0 && k.matmul()) {
        const bool exact = r.arch_min == 90 || r.arch_min == 100;
        if (arch < r.arch_min || (exact && arch / 10 != r.arch_min / 10))
            return {fmt::format("rung {} needs compute capability {}.{}; this is {}.{}", r.id, r.arch_min / 10,
                                r.arch_min % 10, arch / 10, arch % 10)};
    }
    for (const sim::Dtype t : {k.dense.dtype, k.dense.out})
        if (t != sim::Dtype::f32 && t != sim::Dtype::bf16 && t != sim::Dtype::f16)
            return {fmt::format("the CUDA kernels have no {}; they take f32, bf16 and f16", to_string(t))};
    if (k.work_items() > std::numeric_limits<int>::max())
        return {fmt::format("{} tiles; a grid has at most 2^31 - 1 CTAs", k.work_items())};
    if (!k.matmul()) return fits_bits(k);

    for (const Legal& l : legal_table())
        if (l.rung == r.id && l.dtype == k.dense.dtype && l.pass == k.pass && !l.needs.empty()) {
            std::string why = fmt::format("{} {} needs {}", r.id, to_string(k.pass), l.needs);
            const i64 cols = k.pass == Pass::wgrad ? k.dense.m : k.dense.n;
            const std::string bytes =
                sim::format_bytes(static_cast<double>(cols * k.dense.k * sim::storage_bytes(k.dense.dtype)));
            if (const auto at = why.find("{transpose}"); at != std::string::npos) why.replace(at, 11, bytes);
            return {why};
        }
    if (k.pass != Pass::forward && k.dense.out != k.dense.dtype)
        return {fmt::format("{} multiplies a gradient of {} by operands of {}; {} takes one type for both",
                            to_string(k.pass), to_string(k.dense.out), to_string(k.dense.dtype), r.id)};
    if (k.persistent && r.id < "08")
        return {fmt::format("{} runs one tile a CTA; 08_grouped_persistent is the rung whose CTAs stay", r.id)};
    if (k.stream_k)
        return {fmt::format("{} gives each CTA whole tiles or split_k:S slices of them, not stream_k", r.id)};
    if (k.splits > 1 && r.id < "03") return {fmt::format("{} does not split the reduction", r.id)};
    if (k.splits > 1 && r.number() == 10) return {fmt::format("{} does not split the reduction", r.id)};
    if ((k.cluster.rows > 1 || k.cluster.cols > 1) && r.number() != 9) return {fmt::format("{} has no clusters", r.id)};
    if (r.async_copies && k.stages > 16) return {fmt::format("{} stages; 16 are the most", k.stages)};
    for (Fit f : {fits_tile(k), fits_bits(k), fits_pitch(k)})
        if (!f.ok()) return f;
    if (const int threads = block_threads(k); threads > 1024)
        return {fmt::format("{} needs {} threads for a tile of {}x{}; a CTA may have 1024", r.id, threads, k.tile.bm,
                            k.tile.bn)};
    if (const i64 need = smem_bytes(k), limit = smem_limit(arch); need > limit)
        return {fmt::format("needs {} of shared memory; a CTA may use {}", sim::format_kib(static_cast<double>(need)),
                            sim::format_kib(static_cast<double>(limit)))};
    const i64 widest = std::max({k.dense.m, k.dense.n, k.dense.k}) + 16;
    if (8 * widest * std::max({k.tile.bm, k.tile.bn, k.tile.bk}) > std::numeric_limits<int>::max() &&
        widest * std::max({k.tile.bm, k.tile.bn, k.tile.bk}) > std::numeric_limits<int>::max())
        return {fmt::format("a tile's lines lie more than 2^31 elements apart")};
    return {};
}

sim::Fit fits(const sim::Experiment& e, const sim::Device& d) {
    const int arch = sim::capability(d);
    if (d.kind != sim::DeviceKind::gpu || arch == 0) return {fmt::format("{} runs no CUDA", d.id)};
    return fits(e, arch);
}

sim::Fit fits(const sim::Experiment& e, int arch) {
    for (const DeviceKernel& k : kernels_of(e))
        if (sim::Fit fit = fits(k, arch); !fit.ok()) return {fmt::format("{}: {}", k.name, fit.why)};
    return {};
}

}  // namespace kernels
