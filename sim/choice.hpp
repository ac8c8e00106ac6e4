#pragma once
// How well a model chooses: over shapes that were measured with several tiles, beside rules that know nothing.

#include <optional>
#include <tuple>
#include <vector>

#include "sim/units.hpp"

namespace sim {

/// One tile of a shape: what a clock said, and what two rules say of it (less is better).
struct Candidate {
    std::tuple<i64, i64, i64> tile;
    double measured_us = 0, predicted_us = 0;
    double null_score = 0;  ///< waves x the larger of a tile's area and its traffic
};
/// The candidates of one shape on one device.
using Choice = std::vector<Candidate>;

/// A way to take a tile: the best measured time over that of the tile it takes, averaged over shapes and at worst, and
/// how its ranking of a shape's tiles goes with the clock's (shapes of three tiles or more; ties share a place).
struct Chooser {
    double mean = 0, worst = 0;
    std::optional<double> spearman, kendall;
};
struct ChoiceSummary {
    int shapes = 0, tiles = 0;
    Chooser model;
    Chooser null;                  ///< by null_score
    Chooser random;                ///< any tile, each as likely; worst = the shape where that costs most
    std::optional<Chooser> fixed;  ///< the one tile that does best everywhere, of those run in at least half the shapes
};
/// Shapes with one tile are no choice and do not count; nullopt where none has two.
std::optional<ChoiceSummary> judge_choices(const std::vector<Choice>& shapes);

/// Rank correlations, -1 to 1; nullopt where one side is constant.
std::optional<double> spearman(const std::vector<double>& a, const std::vector<double>& b);
/// tau-b: pairs in the same order less pairs in opposite order, ties taken out of both sides.
std::optional<double> kendall(const std::vector<double>& a, const std::vector<double>& b);

}  // namespace sim
