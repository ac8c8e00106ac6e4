#include "tests/gpu/draw.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <random>
#include <set>

#include "kernels/ladder.hpp"
#include "sim/report.hpp"
#include "tests/gpu/plan.hpp"

namespace campaign {
namespace {

using sim::i64;

// ---- tables ---------------------------------------------------------------------------------------------------------

/// Tiles of a rung, as words; the first of a rung is also run with what the fusions leave open.
struct RungTiles {
    std::string_view rung, dtype;
    std::vector<std::string_view> tiles;
};
const std::vector<RungTiles>& checked_tiles() {
    static const std::vector<std::string_view> plain = {"tile 32x32x8", "tile 8x32x16", "tile 64x16x8"},
                                               registers = {"tile 64x64x8", "tile 128x128x16", "tile 128x64x32"},
                                               mma = {"tile 128x128x32 stages 3", "tile 64x64x32 stages 3",
                                                      "tile 128x64x64 stages 2", "tile 64x128x16 stages 4",
                                                      "tile 32x32x16 stages 2"};
    static const std::vector<RungTiles> all = {
        {"01_naive", "f32", plain},
        {"02_coalesced", "f32", plain},
        {"03_shared_tile", "f32", plain},
        {"04_register_tile", "f32", registers},
        {"05_vector_loads", "f32", registers},
        {"06_async_copy", "f32", {"tile 64x64x8 stages 2", "tile 128x128x16 stages 3", "tile 128x64x32 stages 2"}},
        {"07_tensor_core", "bf16", mma},
        {"07_tensor_core", "f16", {mma[0]}},
        {"08_grouped_persistent",
         "bf16",
         {"tile 128x128x32 stages 3 raster grouped:4", "tile 64x64x32 stages 3 raster grouped:8",
          "tile 128x256x32 stages 3 raster along_m", "tile 64x128x64 stages 2 raster hilbert"}},
        {"09_tma_wgmma",
         "bf16",
         {"tile 128x128x64 stages 4", "tile 64x64x64 stages 4", "tile 128x256x64 stages 3", "tile 64x256x64 stages 4",
          "tile 128x192x64 stages 3", "tile 64x128x128 stages 2", "tile 128x128x64 stages 3 cluster 2x1",
          "tile 128x128x64 stages 3 cluster 1x2", "tile 128x128x64 stages 3 cluster 2x2",
          "tile 64x128x64 stages 4 consumers pingpong", "tile 64x256x64 stages 3 consumers pingpong",
          "tile 128x128x64 stages 4 schedule persistent raster grouped:8"}},
        {"09_tma_wgmma", "f16", {"tile 128x128x64 stages 4"}},
    };
    return all;
}
constexpr std::string_view fusions_of[][2] = {
    {"forward", "none"},
    {"forward", "unfused"},
    {"forward", "fused"},
    {"dgrad", "none"},
    {"dgrad", "unfused"},
    {"dgrad", "fused"},
    {"dgrad", "upstream drelu no"},
    {"dgrad", "upstream drelu yes"},
    {"wgrad", "none"},
    {"wgrad", "unfused"},
    {"wgrad", "fused"},
    {"wgrad", "upstream"},
};
/// What the fusions leave open, each on the first tile of a rung.
constexpr std::string_view left_open[] = {
    "forward fused residual mask",
    "forward fused bias yes",
    "dgrad fused residual mask",
    "dgrad unfused residual mask",
    "dgrad upstream drelu yes residual mask",
    "wgrad fused residual mask",
    "wgrad unfused accumulate yes",
    "wgrad fused accumulate yes",
    "forward fused schedule split_k:3",
    "train unfused in_place yes",
    "batch 3 forward fused",
};

constexpr NamedShape shape_table[] = {
    {"square-1024", 1024, 1024, 1024},
    {"square-2048", 2048, 2048, 2048},
    {"square-4096", 4096, 4096, 4096},
    {"square-8192", 8192, 8192, 8192},
    {"square-16384", 16384, 16384, 16384},
    {"t5-base-up-16384", 16384, 3072, 768},
    {"t5-base-down-2048", 2048, 768, 3072},
    {"opt-6.7b-up-1", 1, 16384, 4096},
    {"opt-6.7b-down-128", 128, 4096, 16384},
    {"opt-6.7b-up-2048", 2048, 16384, 4096},
    {"opt-6.7b-down-8192", 8192, 4096, 16384},
    {"opt-30b-up-16", 16, 28672, 7168},
    {"opt-30b-up-1024", 1024, 28672, 7168},
    {"opt-30b-down-4096", 4096, 7168, 28672},
    {"llama-3-8b-up-512", 512, 14336, 4096},
    {"llama-3-8b-down-2048", 2048, 4096, 14336},
    {"llama-3-8b-down-16384", 16384, 4096, 14336},
    {"small-k-64", 8192, 8192, 64},
    {"small-k-256", 8192, 8192, 256},
    {"small-k-32", 4096, 4096, 32},
    {"ragged-1000", 1000, 1000, 1000},
    {"ragged-4095", 4095, 4097, 1023},
    {"tall", 65536, 128, 1024},
    {"wide", 128, 65536, 4096},
};

/// Every tile of the tensor-core rungs that the sweep runs, as words.
std::vector<std::string> swept_tiles() {
    std::vector<std::string> all;
    for (const int bm : {64, 128})
        for (const int bn : {64, 128, 192, 256})
            for (const int bk : {64, 128}) {
                const int stages = std::clamp(220 * 1024 / ((bm + bn) * bk * 2), 2, 6);
                all.push_back(
                    fmt::format("tile {}x{}x{} stages {} rung 09_tma_wgmma schedule persistent raster "
                                "grouped:8",
                                bm, bn, bk, stages));
            }
    for (const int bn : {128, 256})
        all.push_back(
            fmt::format("tile 64x{}x64 stages 4 consumers pingpong rung 09_tma_wgmma schedule persistent "
                        "raster grouped:8",
                        bn));
    for (const char* cluster : {"2x1", "1x2", "2x2"})
        for (const int bn : {128, 256})
            all.push_back(
                fmt::format("tile 128x{}x64 stages {} cluster {} rung 09_tma_wgmma schedule persistent "
                            "raster grouped:8",
                            bn, bn == 128 ? 5 : 4, cluster));
    for (const int bm : {32, 64, 128, 256})
        for (const int bn : {32, 64, 128, 256})
            for (const int bk : {16, 32, 64}) {
                if (bm * bn > 128 * 256) continue;
                const int stages = std::clamp(160 * 1024 / ((bm + bn) * bk * 2), 2, 4);
                all.push_back(fmt::format("tile {}x{}x{} stages {} rung 08_grouped_persistent raster grouped:8", bm, bn,
                                          bk, stages));
            }
    return all;
}

// ---- drawing --------------------------------------------------------------------------------------------------------

std::string canonical(const sim::Experiment& e) { return sim::to_string(e, sim::Catalogue::builtin()); }

std::vector<Case> check_cases() {
    std::vector<Case> all;
    std::set<std::string> seen;
    const auto add = [&](std::string_view rung, std::string_view tile, const std::string& words) {
        const auto e = runnable(fmt::format("{} {} rung {}", words, tile, rung));
        if (!e) return;
        const std::string text = canonical(*e);
        if (seen.insert(text).second) all.push_back({"check", fmt::format("{:03}-{}", all.size(), rung), text, {}});
    };
    constexpr std::string_view size = "331x287x205";
    for (const RungTiles& r : checked_tiles())
        for (const std::string_view tile : r.tiles) {
            for (const auto& [pass, fusion] : fusions_of)
                add(r.rung, tile, fmt::format("{} {} {} {}", size, r.dtype, pass, fusion));
            if (tile != r.tiles.front()) continue;
            for (const std::string_view words : left_open) {
                std::string line = fmt::format("{} {} {}", size, r.dtype, words);
                if (words.starts_with("batch 3 "))
                    line = fmt::format("batch 3 {} {} {}", size, r.dtype, words.substr(8));
                if (words.starts_with("train"))  // its passes have tiles of their own
                    line += fmt::format(" tile.dgrad {0} tile.wgrad {0}", tile.substr(5, tile.find(' ', 5) - 5));
                add(r.rung, tile, line);
            }
        }
    return all;
}

std::vector<Case> sanitize_cases() {
    std::vector<Case> all;
    for (const char* tool : {"memcheck", "racecheck"})
        for (const kernels::DeviceRung& r : kernels::device_rungs())
            if (r.arch_min <= device_capability) all.push_back({"sanitize", fmt::format("{}-{}", tool, r.id), "", {}});
    return all;
}

std::vector<Case> named(std::string_view step, std::initializer_list<const char*> ids) {
    std::vector<Case> all;
    for (const char* id : ids) all.push_back({std::string(step), id, "", {}});
    return all;
}

/// A hundred cases, tile by raster, most of them larger than the L2 keeps.
std::vector<Case> bytes_cases() {
    constexpr i64 rows[] = {2048, 4096, 6144, 8192, 12288, 16384}, reds[] = {1024, 2048, 4096, 8192};
    constexpr const char* tiles[] = {
        "tile 64x64x64 stages 4 rung 09_tma_wgmma",
        "tile 128x128x64 stages 4 rung 09_tma_wgmma",
        "tile 128x256x64 stages 4 rung 09_tma_wgmma",
        "tile 64x256x64 stages 4 rung 09_tma_wgmma",
        "tile 128x64x64 stages 4 rung 09_tma_wgmma",
        "tile 64x64x32 stages 3 rung 08_grouped_persistent",
        "tile 128x128x32 stages 3 rung 08_grouped_persistent",
        "tile 32x64x32 stages 3 rung 08_grouped_persistent",
        "tile 64x64x32 stages 3 rung 07_tensor_core",
        "tile 128x128x32 stages 3 rung 07_tensor_core",
        "tile 128x32x32 stages 3 rung 07_tensor_core",
    };
    constexpr const char* rasters[] = {"along_n",   "along_m",    "grouped:2", "grouped:4",
                                       "grouped:8", "grouped:16", "hilbert"};
    constexpr const char* passes[] = {"forward none", "forward fused", "forward unfused", "forward none",
                                      "dgrad none",   "wgrad none",    "forward fused",   "forward none"};
    std::mt19937_64 random(draw_seed);  // its numbers are fixed by the standard; a distribution's are not
    const auto pick = [&](const auto& of) { return of[random() % std::size(of)]; };
    std::vector<Case> all;
    std::set<std::string> seen;
    while (all.size() < 100) {
        const i64 m = pick(rows), n = pick(rows), k = pick(reds);
        const std::string words =
            fmt::format("{}x{}x{} bf16 {} {} raster {}", m, n, k, pick(passes), pick(tiles), pick(rasters));
        const auto e = m * n <= i64{1} << 27 ? runnable(words) : std::nullopt;
        if (e && seen.insert(canonical(*e)).second)
            all.push_back({"bytes", fmt::format("b{:03}", all.size()), canonical(*e), {}});
    }
    return all;
}

/// The swept tile that the model thinks best for a layer, among those of the rungs that can do it.
std::optional<sim::Experiment> best_swept(const std::string& words, std::string_view rung) {
    static const std::vector<std::string> tiles = swept_tiles();
    std::optional<sim::Experiment> best;
    double best_us = 0;
    for (const std::string& tile : tiles) {
        if (tile.find(rung) == std::string::npos) continue;
        const auto e = runnable(words + " " + tile);
        if (!e) continue;
        const sim::Report report = sim::predict(*e, sim::Catalogue::builtin(), {sim::Count::closed_form, {}});
        if (!report.predicted || (best && report.predicted->time_us >= best_us)) continue;
        best = e;
        best_us = report.predicted->time_us;
    }
    return best;
}

std::vector<Case> time_cases() {
    std::vector<Case> all;
    const auto add = [&](const NamedShape& s, const char* pass, const char* fusion, std::string_view rung,
                         const char* mark) {
        const std::string words = fmt::format("{}x{}x{} bf16 {} {}", s.m, s.n, s.k, pass, fusion);
        auto e = best_swept(words, rung);
        if (!e) e = best_swept(words, "08_grouped_persistent");  // masks operands as it reads them
        if (e) all.push_back({"time", fmt::format("{}-{}-{}{}", s.name, pass, fusion, mark), canonical(*e), {}});
    };
    for (const char* pass : {"forward", "dgrad", "wgrad"})
        for (const NamedShape& s : shape_table)
            for (const char* fusion : {"fused", "unfused"}) add(s, pass, fusion, "09_tma_wgmma", "");
    for (const NamedShape& s : shape_table) add(s, "forward", "fused", "08_grouped_persistent", "-mma");
    return all;
}

std::vector<Case> sweep_cases() {
    std::vector<Case> all;
    for (const i64 size : {4096, 8192})
        for (const std::string& tile : swept_tiles())
            if (const auto e = runnable(fmt::format("{0}x{0}x{0} bf16 forward fused {1}", size, tile)))
                all.push_back({"sweep", fmt::format("s{}-{:02}", size, all.size()), canonical(*e), {}});
    return all;
}

std::vector<Case> train_cases() {
    std::vector<Case> all;
    for (const NamedShape& s : {shape_table[2], shape_table[3], shape_table[9], shape_table[15]})
        for (const char* fusion : {"unfused", "fused", "upstream"})
            for (const char* residual : {"y", "mask"}) {
                const std::string tail = fmt::format(
                    "residual {} tile 128x128x64 tile.dgrad 128x128x64 tile.wgrad "
                    "128x128x64 stages 3 raster grouped:8",
                    residual);
                const std::string words = fmt::format("{}x{}x{} bf16 train {} {}", s.m, s.n, s.k, fusion, tail);
                auto e = runnable(words + " rung 09_tma_wgmma");
                if (!e) e = runnable(words + " rung 08_grouped_persistent");
                if (e) all.push_back({"train", fmt::format("{}-{}-{}", s.name, fusion, residual), canonical(*e), {}});
            }
    return all;
}

/// Shapes on which others are timed in turn with our kernel: the story's own first.
std::vector<Case> rivals_cases() {
    std::vector<Case> all;
    for (const std::size_t i : {3, 2, 9, 15, 1, 17, 18, 12, 22, 21, 0, 14, 4})
        if (const NamedShape& s = shape_table[i];
            const auto e = best_swept(fmt::format("{}x{}x{} bf16 forward fused", s.m, s.n, s.k), "09_tma_wgmma"))
            all.push_back({"rivals", std::string(s.name), canonical(*e), {}});
    return all;
}

}  // namespace

std::span<const NamedShape> shapes() { return shape_table; }

std::optional<sim::Experiment> runnable(const std::string& words) {
    try {
        const sim::Experiment e =
            sim::parse_experiment(fmt::format("{} {}", device_id, words), sim::Catalogue::builtin());
        if (!kernels::fits(kernels::resolved(e), device_capability).ok()) return std::nullopt;
        return e;
    } catch (const sim::BadInput&) {
        return std::nullopt;
    }
}

std::vector<Case> drawn(const Step& step) {
    if (step.name == "check") return check_cases();
    if (step.name == "sanitize") return sanitize_cases();
    if (step.name == "counters") return named("counters", {"copy-6-l2", "copy-3-l2", "copy-12-l2"});
    if (step.name == "constants")
        return named("constants", {"dram", "l2", "smem", "latency", "launch", "clock", "fma", "power"});
    if (step.name == "bytes") return bytes_cases();
    if (step.name == "time") return time_cases();
    if (step.name == "sweep") return sweep_cases();
    if (step.name == "train") return train_cases();
    if (step.name == "mask") return named("mask", {"512x384x256", "1000x1016x520", "4096x4096x1024"});
    if (step.name == "log") return named("log", {"07_tensor_core", "08_grouped_persistent", "09_tma_wgmma"});
    return rivals_cases();
}

}  // namespace campaign
