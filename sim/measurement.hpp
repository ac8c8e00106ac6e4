#pragma once
// Rows of measured data: recorded here or published elsewhere, one schema for all.

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/experiment.hpp"

namespace sim {

/// One row of a measurements file. Empty text and absent numbers mean unknown. `cells` keeps every column as read, also
/// unknown ones, so that nothing is lost when rows are written again.
struct Measurement {
    int line = 0;  ///< in the file, 1-based
    std::string id, split, source, address, device, epilogue, confidence, note, machine, date;
    Pass pass = Pass::forward;
    Dtype dtype = Dtype::f32;
    i64 batch = 1, m = 0, n = 0, k = 0;
    std::optional<Engine> engine;
    std::optional<Pipeline> pipeline;
    std::optional<i64> bm, bn, bk, stages, threads;
    std::string raster;
    std::optional<bool> persistent;
    std::optional<double> time_us, dram_bytes, l2_hit_pct, clock_mhz, min_us, max_us, max_error, power_w;
    std::optional<i64> samples;
    std::map<std::string, std::string> traits;  ///< "key=value" tokens; a bare word has the value "1"
    std::string experiment;                     ///< text form, where recorded
    std::map<std::string, std::string> cells;
    /// A tile was said (a kernel that shares none through SMEM has no bk), so that this tile's time is predicted.
    bool has_tile() const { return (bm && bn) || !experiment.empty(); }
};

struct MeasurementFile {
    std::vector<std::string> columns;  ///< as in the file's head
    std::vector<Measurement> rows;
};

/// Reads a CSV of measurements. Columns device, m, n, k and time_us or dram_bytes must be there; those left out are
/// unknown. Throws BadInput with file, line, column, what was found and what was expected.
MeasurementFile parse_measurements(std::string_view csv, std::string_view file_name);
/// The same from a file; BadInput when it cannot be read.
MeasurementFile read_measurements(const std::string& path);

/// The columns of a recorded row, in order: the shared schema, then those of a recording.
const std::vector<std::string>& recorded_columns();
/// Appends rows to a CSV, creating it with its head; columns the file lacks are added to it, all that it has is kept,
/// and it is replaced whole or not at all. Throws BadInput when the file exists and is no measurements file, or a row
/// is none.
void append_measurements(const std::string& path, const std::vector<std::map<std::string, std::string>>& rows);

/// Every committed row of this schema (kernels/measured/), read once.
const std::vector<Measurement>& committed_rows();

/// The experiment a row describes: its `experiment` column if recorded, else built from its columns and traits (a row
/// without a tile asks for "tile best" of a stated menu); nullopt with a reason when the model cannot say.
std::optional<Experiment> experiment_of(const Measurement& row, const Catalogue& devices, std::string& why);
/// Whether a row's experiment ran what `e` asks for. A double buffer is a pipeline of two stages; what one of the two
/// leaves to the rules (0) is whatever the other says; a GPU's rung only names what engine, pipeline and access say.
bool same_experiment(Experiment row, const Experiment& e);
/// The words of a row that its experiment could not take over or the model does not read, as "column value".
std::vector<std::string> unread_words(const Measurement& row, const Experiment& e);

}  // namespace sim
