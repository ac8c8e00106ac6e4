#pragma once
// The experiments by which the whole ladder is tried: every rung, many tiles forward, two for every other pass, fusion
// and residual. NVRTC compiles their kernels, glass runs them.

#include <algorithm>
#include <utility>
#include <vector>

#include "kernels/ladder.hpp"
#include "sim/experiment.hpp"

namespace tests {

inline constexpr std::size_t least_tiles = 40, deep_tiles = 2, tiles_of_others = 2;

namespace detail {

using namespace kernels;
using sim::Fusion;
using sim::Pass;
using sim::Residual;

/// `warp` and `thread` tiles as said, 0: those the rung takes.
inline sim::Experiment experiment(const DeviceRung& rung, Pass pass, Fusion fusion, const sim::Tile& tile, int stages,
                                  int warp = 0, int thread = 0) {
    const sim::Dtype dtype = rung.simt ? sim::Dtype::f32 : sim::Dtype::bf16;
    sim::Experiment e =
        sim::usual_experiment(sim::Catalogue::builtin().at("h200-sxm"),
                              {.m = 1000, .n = 1000, .k = 1000, .dtype = dtype, .out = dtype}, pass, fusion);
    e.rung = rung.id;
    e.tile = tile;
    e.stages = stages;
    e.warp = {warp, warp};
    e.thread = {thread, thread};
    return resolved(e);
}

/// Every tile of a grid that the rung can launch on the architecture.
inline std::vector<std::pair<sim::Tile, int>> tiles_of(const DeviceRung& rung, Pass pass, Fusion fusion, int arch) {
    std::vector<std::pair<sim::Tile, int>> all;
    const std::vector<int> stages = rung.tma            ? std::vector{1, 2, 3, 4, 5, 6, 7, 8}
                                    : rung.async_copies ? std::vector{2, 3}
                                                        : std::vector{1};
    const std::vector<int> depths = rung.tma ? std::vector{64, 128, 192, 256} : std::vector{8, 16, 32, 64};
    for (const int bm : {8, 16, 32, 64, 128, 256})
        for (const int bn : {8, 16, 32, 64, 96, 128, 192, 256})
            for (const int bk : depths)
                for (const int s : stages) {
                    const sim::Experiment e = experiment(rung, pass, fusion, {bm, bn, bk}, s);
                    if (fits(e, arch).ok()) all.push_back({e.tile, s});
                }
    return all;
}

/// The same where a warp's share is the least, whose code is a fifth of the usual one's; else as the rung takes it.
inline sim::Experiment small_experiment(const DeviceRung& rung, Pass pass, Fusion fusion, const sim::Tile& tile,
                                        int stages, int arch) {
    for (const int warp : {16, 32})
        if (!rung.simt && !rung.tma)
            if (const auto e = experiment(rung, pass, fusion, tile, stages, warp); fits(e, arch).ok()) return e;
    if (rung.simt && rung.register_tile)
        if (const auto e = experiment(rung, pass, fusion, tile, stages, 0, 4); fits(e, arch).ok()) return e;
    return experiment(rung, pass, fusion, tile, stages);
}

/// `count` of them, evenly spread.
template <class T>
std::vector<T> spread(const std::vector<T>& all, std::size_t count) {
    if (all.size() <= count) return all;
    std::vector<T> some;
    for (std::size_t i = 0; i < count; i++) some.push_back(all[i * all.size() / count]);
    return some;
}

}  // namespace detail

/// The experiments of every rung that an architecture (80 90 100) has; all fit it.
inline std::vector<sim::Experiment> ladder_experiments(int arch) {
    using namespace detail;
    std::vector<sim::Experiment> experiments;
    const auto add = [&](const sim::Experiment& e) {
        if (fits(e, arch).ok()) experiments.push_back(e);
    };
    for (const DeviceRung& rung : device_rungs()) {
        if (rung.arch_min > arch || (rung.arch_min >= 90 && rung.arch_min != arch)) continue;
        // The loop over a tile's depth is unrolled. Deep tiles, and every sixteenth of the others, are as a person would
        // get them.
        const auto shallow = [&](const auto& tile) { return tile.first.bk <= (rung.tma ? 64 : 32); };
        auto all = tiles_of(rung, Pass::forward, Fusion::fused, arch);
        const auto deep_from = std::stable_partition(all.begin(), all.end(), shallow);
        const auto some = spread(std::vector(all.begin(), deep_from), least_tiles - deep_tiles);
        for (std::size_t i = 0; i < some.size(); i++) {
            const auto& [tile, stages] = some[i];
            add(i % 16 == 0 ? experiment(rung, Pass::forward, Fusion::fused, tile, stages)
                            : small_experiment(rung, Pass::forward, Fusion::fused, tile, stages, arch));
        }
        for (const auto& [tile, stages] : spread(std::vector(deep_from, all.end()), least_tiles - some.size()))
            add(experiment(rung, Pass::forward, Fusion::fused, tile, stages));

        for (const Pass pass : {Pass::forward, Pass::dgrad, Pass::wgrad})
            for (const Fusion fusion : {Fusion::none, Fusion::fused, Fusion::upstream})
                for (const Residual residual : {Residual::y, Residual::mask}) {
                    if (pass == Pass::forward && fusion == Fusion::upstream) continue;
                    std::size_t index =
                        0;  // the second tile adds a bias, or to what was there, or splits the reduction
                    for (const auto& [tile, stages] : spread(tiles_of(rung, pass, fusion, arch), tiles_of_others)) {
                        sim::Experiment e = small_experiment(rung, pass, fusion, tile, stages, arch);
                        e.residual = residual;
                        e.drelu = pass == Pass::dgrad && fusion == Fusion::upstream;
                        const bool more = index++ > 0;
                        e.dense.bias = more && pass == Pass::forward;
                        e.accumulate = more && pass == Pass::wgrad && fusion == Fusion::fused;
                        if (more && pass == Pass::wgrad && fusion == Fusion::none && rung.number() != 10)
                            e.schedule = {sim::Schedule::split_k, 4};
                        add(e);
                    }
                }
        if (rung.number() == 9)
            for (const Pass pass : {Pass::forward, Pass::dgrad, Pass::wgrad}) {
                sim::Experiment e = experiment(rung, pass, Fusion::fused, {64, 128, 64}, 4);
                e.cluster = {2, 1};
                add(e);
                e.cluster = {1, 1};
                e.consumers = sim::Consumers::pingpong;
                add(e);
            }
        for (const Pass pass : {Pass::forward, Pass::dgrad})  // the passes of their own around a matmul
            add(experiment(rung, pass, Fusion::unfused, {128, 128, 64}, 2));
    }
    return experiments;
}

}  // namespace tests
