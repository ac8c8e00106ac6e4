#pragma once
// Every legal tile of a stated space, ranked.

#include <array>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "sim/report.hpp"

namespace sim {

struct SweepRow {
    Experiment experiment;
    Fit fit;             ///< why it was rejected, else ok
    double time_us = 0;  ///< predicted; meaningless when rejected
    double interval_us[2] = {0, 0};
    i64 dram_bytes = 0;     ///< expected
    i64 sram_bytes = 0;     ///< on-chip need of a CTA (GPU), of all buffers (TPU), of the packed tiles (CPU)
    int rank = 0;           ///< 1 = best; 0 when rejected
    bool tie = false;       ///< its interval overlaps the best one's
    bool pareto = false;    ///< no other tile is faster with as little on chip
    bool replayed = false;  ///< counted by replay; else by closed form
    double gain = 1;        ///< of a variation: the time of what it varies over its own, counted alike
};

/// The words that a sweep can vary. The value of `raster` is the rows of a group: 1 = along_n, 0 = along_m,
/// -1 = hilbert.
enum class SweepWord { bm, bn, bk, stages, raster };
inline constexpr std::array all_sweep_words = {SweepWord::bm, SweepWord::bn, SweepWord::bk, SweepWord::stages,
                                               SweepWord::raster};
std::string_view to_string(SweepWord);
i64 value_of(const Experiment& e, SweepWord word);
void set(Experiment& e, SweepWord word, i64 value);
/// "128"; "grouped:8" of a raster.
std::string value_text(SweepWord word, i64 value);

/// The candidate values of one pass on a device, ascending: the axes of the sweep and of the heat map. Stages and
/// raster are empty where the device or the pipeline has none to choose.
struct TileSpace {
    std::vector<i64> bm, bn, bk, stages, raster;
    const std::vector<i64>& of(SweepWord word) const;
};
TileSpace tile_space(const Experiment& e, const Device& d);

struct SweepOptions {
    i64 replay_best = 0;              ///< re-count this many of the best by replay, on every core
    i64 most_requests = 100'000'000;  ///< and stop where those replays would make more tile requests
    std::stop_token stop;
    std::function<void(double fraction)> progress;  ///< called now and then, from the calling thread
    /// What is varied; every other word stays as the experiment says (a tile "best" is resolved first). A word without
    /// values here stays too.
    std::vector<SweepWord> over = {SweepWord::bm, SweepWord::bn, SweepWord::bk};
};
/// Ranked rows, rejected ones last. Times are by closed form, the best ones recounted where asked.
std::vector<SweepRow> sweep(const Experiment& e, const Catalogue& devices, const SweepOptions& options = {});

/// What a ranking is good for: what not choosing costs, what else to try, and what a clock should decide.
struct SweepAdvice {
    std::optional<SweepRow> usual;  ///< the tile that a line without one means; none where it does not fit
    double regret = 0;              ///< how much longer it takes than the best, as a share
    /// Rows (by index) that are worth a clock's time: the best, then ties that differ most from those taken, so that
    /// little is learnt twice; 4 to 8 where as many fit. Only such as a kernel at hand runs, where one does.
    std::vector<std::size_t> measure;
};
/// Whether a kernel at hand runs an experiment that fits; empty = any would.
using Runs = std::function<bool(const Experiment&)>;
SweepAdvice advise(const std::vector<SweepRow>& rows, const Catalogue& devices, const Runs& runs = {});

/// The experiment with one other word changed (raster, stages, schedule, cluster; order, vmem), where that is predicted
/// to gain more than 1 %; best first. Empty where the experiment itself does not fit.
std::vector<SweepRow> variations(const Experiment& e, const Catalogue& devices);

/// The fastest predicted tile of one pass (never train) of `e`; nullopt when none fits.
std::optional<Tile> best_tile(const Experiment& e, Pass pass, const Device& d);

/// Replaces every "best" tile of `e`; says why where no tile fits.
Fit resolve_best(Experiment& e, const Device& d);

}  // namespace sim
