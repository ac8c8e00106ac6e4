#include "sim/sweep.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <thread>

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
    row.replayed = c.replayed;
    return row;
}

/// Recounts the first `count` rows by replay, on every core; `tick` is called on this thread and stops it by false.
template <class Tick>
void recount(std::vector<SweepRow>& rows, std::size_t count, const Device& d, double least_us, Tick tick) {
    std::atomic<std::size_t> next = 0;
    std::atomic<bool> stopped = false;
    const auto take = [&] {
        const std::size_t i = next++;
        if (i >= count || stopped) return false;
        rows[i] = evaluate(rows[i].experiment, d, Count::automatic, least_us);
        return true;
    };
    std::vector<std::jthread> helpers;
    const std::size_t cores = std::max(1u, std::thread::hardware_concurrency());
    for (std::size_t t = 1; t < std::min(cores, count); ++t)
        helpers.emplace_back([&] {
            while (take()) {
            }
        });
    while (take())
        if (!tick()) stopped = true;
}

/// Marks the rows that no faster row does with as little on chip. `rows` are ranked.
void mark_pareto(std::vector<SweepRow>& rows) {
    i64 least = INT64_MAX;
    for (SweepRow& r : rows) {
        r.pareto = r.fit.ok() && r.sram_bytes < least;
        if (r.pareto) least = r.sram_bytes;
    }
}

/// Steps of a factor of two by which two tiles differ, and of one by which other words do.
double distance(const Experiment& a, const Experiment& b) {
    const auto steps = [](i64 x, i64 y) {
        return std::abs(std::log2(static_cast<double>(x) / static_cast<double>(y)));
    };
    return steps(a.tile.bm, b.tile.bm) + steps(a.tile.bn, b.tile.bn) + steps(a.tile.bk, b.tile.bk) +
           std::abs(a.stages - b.stages) + (a.raster == b.raster ? 0 : 1);
}

/// Those of `rows` (by index, ranked) to choose from: the best, its ties, and four at least.
std::vector<std::size_t> candidates(const std::vector<SweepRow>& rows, const Runs& runs) {
    constexpr std::size_t fewest = 4;
    std::vector<std::size_t> out;
    for (std::size_t i = 0; i < rows.size() && rows[i].fit.ok(); ++i)
        if ((i == 0 || rows[i].tie || out.size() < fewest) && (!runs || runs(rows[i].experiment))) out.push_back(i);
    return out;
}

std::vector<std::size_t> worth_measuring(const std::vector<SweepRow>& rows, const Runs& runs) {
    constexpr std::size_t most = 8;
    std::vector<std::size_t> from = candidates(rows, runs);
    if (from.empty()) from = candidates(rows, {});
    const std::size_t wanted = std::min(from.size(), most);
    std::vector<std::size_t> taken;
    if (!from.empty()) taken.push_back(from.front());
    while (taken.size() < wanted) {
        std::size_t best = 0;
        double farthest = -1;
        for (const std::size_t i : from) {
            double nearest = INFINITY;
            for (const std::size_t t : taken)
                nearest = i == t ? -INFINITY : std::min(nearest, distance(rows[i].experiment, rows[t].experiment));
            if (nearest > farthest) {
                farthest = nearest;
                best = i;
            }
        }
        taken.push_back(best);
    }
    std::sort(taken.begin(), taken.end());
    return taken;
}

/// Depths of the pipeline to choose from; none where it has only one.
std::vector<i64> stage_counts(const Experiment& e) {
    if (e.stages <= 1 || e.pipeline == Pipeline::double_buffered) return {};
    return {2, 3, 4, 5, 6, 7, 8};
}

/// The experiment with each other word of its device's kind changed, one at a time.
std::vector<Experiment> variations_of(const Experiment& e, const Device& d) {
    std::vector<Experiment> out;
    const auto with = [&](auto change) {
        Experiment one = e;
        change(one);
        if (one != e) out.push_back(one);
    };
    if (d.kind == DeviceKind::gpu) {
        for (const Raster r : {Raster{Raster::along_n, 0}, Raster{Raster::along_m, 0}, Raster{Raster::grouped, 4},
                               Raster{Raster::grouped, 8}, Raster{Raster::grouped, 16}, Raster{Raster::hilbert, 0}})
            with([&](Experiment& x) { x.raster = r; });
        for (const i64 stages : stage_counts(e)) with([&](Experiment& x) { set(x, SweepWord::stages, stages); });
        with([](Experiment& x) { x.schedule = {Schedule::persistent, 1}; });
        with([](Experiment& x) { x.schedule = {Schedule::stream_k, 1}; });
        for (int splits = 2; splits <= 32; splits *= 2)
            with([&](Experiment& x) { x.schedule = {Schedule::split_k, splits}; });
        if (e.engine == Engine::wgmma || e.engine == Engine::tcgen05)
            for (const Shape2 c : {Shape2{2, 1}, Shape2{1, 2}, Shape2{2, 2}})
                with([&](Experiment& x) { x.cluster = c; });
    } else if (d.kind == DeviceKind::tpu) {
        with([](Experiment& x) { x.order = Order::nmk; });
        for (const i64 mib : {32, 64}) with([&](Experiment& x) { x.vmem = mib << 20; });
    } else {
        for (const Order o : {Order::mnk, Order::nmk, Order::kmn, Order::mkn, Order::knm, Order::nkm})
            with([&](Experiment& x) { x.order = o; });
    }
    return out;
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

std::string_view to_string(SweepWord word) {
    constexpr std::array<std::string_view, all_sweep_words.size()> names = {"bm", "bn", "bk", "stages", "raster"};
    return names[static_cast<std::size_t>(word)];
}

namespace {

// The rasters without a group size, as values of SweepWord::raster.
constexpr i64 of_along_n = 1, of_along_m = 0, of_hilbert = -1;

Raster raster_of(i64 value) {
    if (value == of_hilbert) return {Raster::hilbert, 0};
    if (value == of_along_m) return {Raster::along_m, 0};
    if (value == of_along_n) return {Raster::along_n, 0};
    return {Raster::grouped, static_cast<int>(value)};
}

}  // namespace

i64 value_of(const Experiment& e, SweepWord word) {
    switch (word) {
        case SweepWord::bm: return e.tile.bm;
        case SweepWord::bn: return e.tile.bn;
        case SweepWord::bk: return e.tile.bk;
        case SweepWord::stages: return e.stages;
        case SweepWord::raster: break;
    }
    return e.raster.kind == Raster::hilbert   ? of_hilbert
           : e.raster.kind == Raster::along_m ? of_along_m
           : e.raster.kind == Raster::along_n ? of_along_n
                                              : e.raster.group;
}

void set(Experiment& e, SweepWord word, i64 value) {
    switch (word) {
        case SweepWord::bm: e.tile.bm = value; break;
        case SweepWord::bn: e.tile.bn = value; break;
        case SweepWord::bk: e.tile.bk = value; break;
        case SweepWord::stages: e.stages = static_cast<int>(value); break;
        case SweepWord::raster: e.raster = raster_of(value); break;
    }
}

std::string value_text(SweepWord word, i64 value) {
    return word == SweepWord::raster ? to_string(raster_of(value)) : std::to_string(value);
}

const std::vector<i64>& TileSpace::of(SweepWord word) const {
    switch (word) {
        case SweepWord::bm: return bm;
        case SweepWord::bn: return bn;
        case SweepWord::bk: return bk;
        case SweepWord::stages: return stages;
        case SweepWord::raster: break;
    }
    return raster;
}

namespace {

TileSpace tiles_of(const Experiment& e, const Device& d) {
    const Dtype t = e.dense.dtype;
    TileSpace s;
    switch (d.kind) {
        case DeviceKind::scratchpad: s.bm = s.bn = s.bk = {16, 32, 64, 128, 256, 512, 1024}; return s;
        case DeviceKind::tpu:
            s.bm = s.bn = {128, 256, 512, 1024, 2048};
            s.bk = {128, 256, 512, 1024, 2048, 4096};
            // And an untiled reduction, as a first Pallas kernel has it.
            if (const i64 red = extent(e.dense, e.pass).red; std::find(s.bk.begin(), s.bk.end(), red) == s.bk.end())
                s.bk.push_back(red);
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
            s.bm = s.bn = {16, 32, 64, 128, 256};
            s.bk = scaled({32, 64, 128, 256}, t);
            break;
    }
    s.stages = stage_counts(e);
    s.raster = {of_hilbert, of_along_m, of_along_n, 2, 4, 8, 16, 32};
    return s;
}

}  // namespace

TileSpace tile_space(const Experiment& e, const Device& d) {
    TileSpace s = tiles_of(e, d);
    std::sort(s.bk.begin(), s.bk.end());  // an untiled reduction may lie between the others
    return s;
}

std::vector<SweepRow> sweep(const Experiment& e, const Catalogue& devices, const SweepOptions& options) {
    const Device& d = devices.at(e.device);
    Experiment one = e;
    const auto varied = [&](SweepWord word) {
        return std::find(options.over.begin(), options.over.end(), word) != options.over.end();
    };
    const bool whole_tile = varied(SweepWord::bm) && varied(SweepWord::bn) && varied(SweepWord::bk);
    if (whole_tile) one.tile = {1, 1, 1};  // under train the forward tile is swept; the backward passes keep theirs
    if (const Fit resolved = resolve_best(one, d); !resolved.ok()) {
        SweepRow none;
        none.experiment = e;
        none.fit = resolved;
        return {none};
    }
    const TileSpace space = tile_space(e, d);
    const double least_us = bound(e, d).time_us;
    std::vector<Experiment> candidates = {one};
    for (const SweepWord word : all_sweep_words) {
        if (!varied(word) || space.of(word).empty()) continue;
        std::vector<Experiment> more;
        for (const Experiment& c : candidates)
            for (const i64 value : space.of(word)) set(more.emplace_back(c), word, value);
        candidates = std::move(more);
    }
    std::vector<SweepRow> rows;
    const double steps = static_cast<double>(candidates.size()) + static_cast<double>(options.replay_best);
    double done = 0;
    const auto tick = [&] {
        done += 1;
        if (options.progress) options.progress(std::min(1.0, done / steps));
        return !options.stop.stop_requested();
    };
    for (const Experiment& c : candidates) {
        rows.push_back(evaluate(c, d, Count::closed_form, least_us));
        if (!tick()) return rows;
    }
    std::stable_sort(rows.begin(), rows.end(), better);
    std::size_t replays = 0;
    for (double requests = 0; replays < rows.size() && static_cast<i64>(replays) < options.replay_best; ++replays) {
        if (!rows[replays].fit.ok()) break;
        requests += replay_requests(plan(rows[replays].experiment));
        if (requests > static_cast<double>(options.most_requests)) break;
    }
    if (replays > 0) {
        recount(rows, replays, d, least_us, tick);
        std::stable_sort(rows.begin(), rows.end(), better);
    }
    for (std::size_t i = 0; i < rows.size() && rows[i].fit.ok(); ++i) {
        rows[i].rank = static_cast<int>(i) + 1;
        rows[i].tie = i > 0 && rows[i].interval_us[0] <= rows[0].interval_us[1];
    }
    mark_pareto(rows);
    return rows;
}

SweepAdvice advise(const std::vector<SweepRow>& rows, const Catalogue& devices, const Runs& runs) {
    SweepAdvice out;
    if (rows.empty() || !rows.front().fit.ok()) return out;
    const SweepRow& best = rows.front();
    const Experiment& e = best.experiment;
    const Device& d = devices.at(e.device);
    const double least_us = bound(e, d).time_us;
    Experiment usual = e;
    usual.tile = usual_experiment(d, e.dense, e.pass, e.fusion).tile;
    if (SweepRow row = evaluate(usual, d, Count::automatic, least_us); row.fit.ok()) {
        out.regret = row.time_us / best.time_us - 1;
        out.usual = std::move(row);
    }
    out.measure = worth_measuring(rows, runs);
    return out;
}

std::vector<SweepRow> variations(const Experiment& e, const Catalogue& devices) {
    const Device& d = devices.at(e.device);
    const double least_us = bound(e, d).time_us;
    std::vector<SweepRow> out;
    // All by the same count, so that what differs is the word; by replay where some twenty replays take no time.
    constexpr double most_requests = 4e6;
    const Count how = replay_requests(plan(e)) <= most_requests ? Count::automatic : Count::closed_form;
    const SweepRow own = evaluate(e, d, how, least_us);
    if (!own.fit.ok()) return out;
    for (const Experiment& one : variations_of(e, d))
        if (SweepRow row = evaluate(one, d, how, least_us); row.fit.ok() && row.time_us < 0.99 * own.time_us) {
            row.gain = own.time_us / row.time_us;
            out.push_back(std::move(row));
        }
    std::stable_sort(out.begin(), out.end(), better);
    return out;
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
