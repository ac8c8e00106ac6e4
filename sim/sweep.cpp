#include "sim/sweep.hpp"

#include <algorithm>

#include "sim/bound.hpp"
#include "sim/count.hpp"
#include "sim/time.hpp"

namespace sim {

namespace {

std::vector<i64> scaled(std::initializer_list<i64> bytes, Dtype t) {
    std::vector<i64> out;
    for (i64 b : bytes) out.push_back(b / storage_bytes(t));
    return out;
}

/// Bytes a tile needs on chip, in the sense of SweepRow::sram_bytes.
i64 on_chip_bytes(const Experiment& e, const Device& d, const Kernel& k) {
    switch (d.kind) {
        case DeviceKind::gpu: return cta_shape(e, d, k).smem_bytes;
        case DeviceKind::tpu: return vmem_need(e, d, k).bytes();
        default:
            return (k.tile.bm * k.tile.bk + k.tile.bk * k.tile.bn) * storage_bytes(e.dense.dtype) +
                   4 * k.tile.bm * k.tile.bn;
    }
}

const Kernel& main_matmul(const std::vector<Kernel>& kernels) {
    return *std::find_if(kernels.begin(), kernels.end(), [](const Kernel& k) { return k.matmul; });
}

/// `least_us` is the bound, which no tile changes.
SweepRow evaluate(const Experiment& e, const Device& d, Count how, double least_us) {
    SweepRow row;
    row.experiment = e;
    const std::vector<Kernel> kernels = plan(e);
    row.sram_bytes = on_chip_bytes(e, d, main_matmul(kernels));
    row.fit = fit(e, d, kernels);
    if (!row.fit.ok()) return row;
    const Counts c = count(e, d, kernels, how);
    row.time_us = std::max(time_us(e, d, kernels, c), least_us);
    const ErrorBand band = error_band(e.engine);
    row.interval_us[0] = std::max(row.time_us * band.low, least_us);
    row.interval_us[1] = row.time_us * band.high;
    row.dram_bytes = c.dram_range.expected_bytes;
    return row;
}

/// Fastest first, then fewer bytes, then the smaller tile; rejected ones last, in the order they were tried.
bool better(const SweepRow& a, const SweepRow& b) {
    if (a.fit.ok() != b.fit.ok()) return a.fit.ok();
    if (!a.fit.ok()) return false;
    if (a.time_us != b.time_us) return a.time_us < b.time_us;
    if (a.dram_bytes != b.dram_bytes) return a.dram_bytes < b.dram_bytes;
    return a.sram_bytes < b.sram_bytes;
}

}  // namespace

TileSpace tile_space(const Experiment& e, const Device& d) {
    const Dtype t = e.dense.dtype;
    TileSpace s;
    switch (d.kind) {
        case DeviceKind::scratchpad: s.bm = s.bn = s.bk = {16, 32, 64, 128, 256, 512, 1024}; return s;
        case DeviceKind::tpu:
            s.bm = s.bn = {128, 256, 512, 1024, 2048};
            s.bk = {128, 256, 512, 1024, 2048, 4096};
            // And an untiled reduction, as a first Pallas kernel has it.
            if (const i64 red = extent(e.dense, e.pass).red; std::find(s.bk.begin(), s.bk.end(), red) == s.bk.end()) s.bk.push_back(red);
            return s;
        case DeviceKind::cpu:
            s.bm = {48, 96, 192, 384, 768};
            s.bn = {192, 384, 768, 1536, 3072};
            s.bk = {64, 128, 256, 384, 512};
            return s;
        case DeviceKind::gpu: break;
    }
    switch (e.engine) {
        case Engine::simt:
            s.bm = s.bn = {16, 32, 64, 128, 256};
            s.bk = scaled({32, 64, 128}, t);
            break;
        case Engine::wgmma:
            s.bm = {64, 128, 192, 256};
            s.bn = {64, 96, 128, 192, 256};
            s.bk = scaled({64, 128, 256}, t);
            break;
        case Engine::tcgen05:
            s.bm = {64, 128, 256};
            s.bn = {64, 128, 192, 256};
            s.bk = scaled({64, 128, 256}, t);
            break;
        default:
            s.bm = s.bn = {32, 64, 128, 256};
            s.bk = scaled({32, 64, 128, 256}, t);
            break;
    }
    return s;
}

std::vector<SweepRow> sweep(const Experiment& e, const Catalogue& devices, const SweepOptions& options) {
    const Device& d = devices.at(e.device);
    Experiment one = e;
    if (e.pass == Pass::train) {  // the forward tile is swept; the backward passes keep theirs
        Tile keep = one.tile;
        one.tile = {1, 1, 1};
        resolve_best(one, d);
        one.tile = keep;
    }
    const TileSpace space = tile_space(e, d);
    const double least_us = bound(e, d).time_us;
    std::vector<SweepRow> rows;
    const double steps =
        static_cast<double>(space.bm.size() * space.bn.size()) + static_cast<double>(options.replay_best);
    double done = 0;
    const auto tick = [&] {
        done += 1;
        if (options.progress) options.progress(std::min(1.0, done / steps));
        return !options.stop.stop_requested();
    };
    for (i64 bm : space.bm)
        for (i64 bn : space.bn) {
            for (i64 bk : space.bk) {
                one.tile = {bm, bn, bk};
                rows.push_back(evaluate(one, d, Count::closed_form, least_us));
            }
            if (!tick()) return rows;
        }
    std::stable_sort(rows.begin(), rows.end(), better);
    const auto recount =
        std::min<std::size_t>(rows.size(), static_cast<std::size_t>(std::max<i64>(0, options.replay_best)));
    for (std::size_t i = 0; i < recount && rows[i].fit.ok(); ++i) {
        rows[i] = evaluate(rows[i].experiment, d, Count::automatic, least_us);
        if (!tick()) break;
    }
    std::stable_sort(rows.begin(), rows.end(), better);
    for (std::size_t i = 0; i < rows.size() && rows[i].fit.ok(); ++i) {
        rows[i].rank = static_cast<int>(i) + 1;
        rows[i].tie = i > 0 && rows[i].interval_us[0] <= rows[0].interval_us[1];
    }
    return rows;
}

std::optional<Tile> best_tile(const Experiment& e, Pass pass, const Device& d) {
    Experiment one = single_pass(e, pass);
    const TileSpace space = tile_space(one, d);
    const double least_us = bound(one, d).time_us;
    std::optional<SweepRow> best;
    for (i64 bm : space.bm)
        for (i64 bn : space.bn)
            for (i64 bk : space.bk) {
                one.tile = {bm, bn, bk};
                SweepRow row = evaluate(one, d, Count::closed_form, least_us);
                if (row.fit.ok() && (!best || better(row, *best))) best = std::move(row);
            }
    if (!best) return std::nullopt;
    return best->experiment.tile;
}

}  // namespace sim
