#pragma once
// Predicted against measured: error per row, summaries by group beside rules that know nothing, and what is covered.

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "sim/choice.hpp"
#include "sim/coverage.hpp"
#include "sim/trial.hpp"

namespace sim {

struct ValidatedRow {
    std::string id;
    double measured_us = 0, predicted_us = 0;  ///< 0: not measured, not predicted
    double error = 0;                          ///< (predicted - measured) / measured
    std::vector<ReadConstant> constants;       ///< what the prediction read that no datasheet gives
    double roofline_us = 0;                    ///< the null: the device's bound at the row's own clock
    std::optional<double> measured_dram_bytes, predicted_dram_bytes, compulsory_dram_bytes;
    std::vector<std::string> unread;  ///< its words that the model does not read, as "column value"
    std::string why_skipped;          ///< not empty: no prediction, and why
    bool beats_bound = false;  ///< measured faster than its bound at its own clock: the row is refused as an error
    std::vector<std::string> groups;
};

/// Sizes of relative errors, as fractions.
struct ErrorSummary {
    int rows = 0;
    double mape = 0, median_ape = 0, p95_ape = 0, bias = 0;
};
struct Summary {
    int rows = 0;                                       ///< with a time or with bytes
    ErrorSummary time, roofline;                        ///< of the prediction, of the null
    std::optional<ErrorSummary> dram, dram_compulsory;  ///< of the prediction, of the null "each operand once"
    std::optional<double> dram_excess_error;            ///< mean error as a share of the bytes beyond compulsory
    std::optional<ChoiceSummary> choice;
};
struct CoverageRow {
    Corner corner;
    int rows_time = 0, rows_bytes = 0;
};
struct Validation {
    std::vector<ValidatedRow> rows;
    /// "all" = rows with a tile, "library" = rows without (the best tile of a menu is predicted), then each engine,
    /// device and source. A library row counts in its device's and source's group where those have no rows with a tile.
    std::map<std::string, Summary> summary;
    std::vector<CoverageRow> coverage;
};
Validation validate(const std::vector<Trial>& trials, const TimeModel& model = {});
inline Validation validate(const MeasurementFile& file, const Catalogue& devices, bool strict = false) {
    return validate(trials_of(file, devices, strict));
}

/// Mean absolute error of the rows with a tile under a model; NaN where there is none.
double tile_mape(const std::vector<Trial>& trials, const TimeModel& model);

/// A spread of numbers as a share of the sorted list, interpolated between neighbours. `values` must not be empty.
double quantile(std::vector<double> values, double share);

// ---- what the constants are worth on rows they were not fitted on ---------------------------------------------------

enum class HeldOut { source, device };
/// How an engine's predictions err on rows that its constants were not fitted on.
struct EngineError {
    Engine engine = Engine::simt;
    int rows = 0, parts = 0;   ///< parts = sources or devices
    double mape_fitted = 0;    ///< with the constants in use
    double mape_held_out = 0;  ///< each part predicted with constants fitted on all others
    /// Measured over predicted of held-out rows: 10th and 90th percentile, parts weighing alike, the logs widened by
    /// 1 + 2/parts because few of them say little of the next one.
    ErrorBand band;
};
/// Refits the engine constants once a source (or device), over the rows with a tile, without that source; what
/// time.cpp's error bands come from. Sources named in `never_fitted` are predicted only.
std::vector<EngineError> leave_one_out(const std::vector<Trial>& trials, HeldOut what,
                                       const std::set<std::string>& never_fitted = {"Keras guide: custom kernel"});

}  // namespace sim
