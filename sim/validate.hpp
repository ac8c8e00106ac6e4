#pragma once
// Predicted against measured: error per row, summaries by group, and which corners any row covers.

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "sim/measurement.hpp"
#include "sim/time.hpp"

namespace sim {

struct ValidatedRow {
    std::string id;
    double measured_us = 0, predicted_us = 0;  ///< 0: not measured, not predicted
    double error = 0;                          ///< (predicted - measured) / measured
    double bound_us = 0;                       ///< at the row's own clock
    std::optional<double> measured_dram_bytes, predicted_dram_bytes, compulsory_dram_bytes;
    std::string why_skipped;   ///< not empty: no prediction, and why
    bool beats_bound = false;  ///< measured faster than its bound at its own clock: the row is refused as an error
    std::vector<std::string> groups;
};
struct Summary {
    int rows = 0;
    double mape = 0, median_ape = 0, p95_ape = 0, bias = 0;
    /// Over shapes measured with several tiles: rank correlation; the best tile's time over that of the tile predicted
    /// to be best (mean and worst), over that of the one tile that does best everywhere.
    std::optional<double> spearman, top1_efficiency, worst_efficiency, fixed_tile_efficiency;
    std::optional<double> dram_mape, dram_excess_error;
};
struct CoverageRow {
    std::string pass, fusion, engine, device;
    int rows_time = 0, rows_bytes = 0;
};
struct Validation {
    std::vector<ValidatedRow> rows;
    /// "all" = rows with a tile, "library" = rows without (the best tile of a menu is predicted), then each engine,
    /// device and source. A library row counts in its device's and source's group where those have no rows with a tile.
    std::map<std::string, Summary> summary;
    std::vector<CoverageRow> coverage;
};
struct ValidateOptions {
    std::set<std::string> without;  ///< time terms left out
    bool strict = false;            ///< traits and columns that were inferred are dropped
};
Validation validate(const MeasurementFile& file, const Catalogue& devices, const ValidateOptions& options = {});

/// The same device at another clock: math, caches and L2 run with it, DRAM and its power limit do not.
Device at_clock(const Device& device, double hz);

/// Whether a committed measured row covers this corner (pass x fusion x engine x device).
bool is_covered(const Experiment& e);

/// How an engine's predictions err on rows of sources that its constants were not fitted on.
struct EngineError {
    Engine engine = Engine::simt;
    int rows = 0, sources = 0;
    double mape_fitted = 0;    ///< with the constants in use
    double mape_held_out = 0;  ///< each source predicted with constants fitted on all others
    /// Measured over predicted of held-out rows: 10th and 90th percentile, sources weighing alike, the logs widened by
    /// 1 + 2/sources because few sources say little of the next one.
    ErrorBand band;
};
/// Refits the engine constants once a source, over the rows with a tile, without that source; what time.cpp's error
/// bands come from. Sources named in `never_fitted` are predicted only.
std::vector<EngineError> leave_one_source_out(const MeasurementFile& file, const Catalogue& devices,
                                              const std::set<std::string>& never_fitted = {
                                                  "Keras guide: custom kernel"});

}  // namespace sim
