#pragma once
// From how many rows on (tokens of a layer) fusing, the tile and the raster matter.

#include <functional>
#include <stop_token>
#include <vector>

#include "sim/device.hpp"
#include "sim/experiment.hpp"

namespace sim {

/// What each choice is worth at one number of rows, by closed form: how much longer the other takes, as a share.
struct OnsetRow {
    i64 rows = 0;
    double fusing = 0;  ///< unfused against fused, each with its best tile; below 0 where fusing loses
    double tile = 0;    ///< the usual tile against the best; NaN where the usual one does not fit
    double raster = 0;  ///< the worst raster against the best, with the best tile; 0 off GPUs
};
/// The forward pass of `e`'s layer at 1, 2, 4 … 65536 rows; fewer where it was stopped. Numbers of rows that no tile
/// fits are left out.
std::vector<OnsetRow> onset(const Experiment& e, const Catalogue& devices, std::stop_token stop = {},
                            const std::function<void(double)>& progress = {});

/// Shares below these are called even: the model does not see smaller differences.
inline constexpr double fusing_matters = 0.02, tile_matters = 0.05, raster_matters = 0.02;

/// The numbers of rows, one after the other, at which `share` is above `least`, round the one at which it is most;
/// 0 rows where nowhere.
struct OnsetRange {
    i64 first = 0, last = 0, at = 0;
    double most = 0;
    bool elsewhere = false;  ///< and at others too
};
OnsetRange where(const std::vector<OnsetRow>& rows, double OnsetRow::*share, double least);

}  // namespace sim
