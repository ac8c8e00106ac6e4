#pragma once
// Measured rows known to the lab: published ones that travel with the program, files that were loaded, runs made here.

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "gui/document.hpp"
#include "sim/measurement.hpp"

namespace gui {

/// A measured row and the experiment it is of. Its tile may be "best" where a library chose it.
struct MeasuredRow {
    sim::Measurement row;
    sim::Experiment experiment;
    std::string from;  // file name
};

class MeasuredRows {
public:
    /// Adds the rows of a CSV that the model can place; throws sim::BadInput when it is no such file.
    void add(std::string_view csv, std::string_view file_name, const sim::Catalogue& devices);
    void add(MeasuredRow row) { rows_.push_back(std::move(row)); }
    /// Adds the files that travel with the program.
    void add_embedded(const sim::Catalogue& devices);

    const std::vector<MeasuredRow>& rows() const { return rows_; }
    /// Rows without an experiment, left out.
    int left_out() const { return left_out_; }
    /// Indices of the rows of the same device, layer, pass and fusion, whatever their tile.
    std::vector<std::size_t> like(const sim::Experiment& e) const;
    /// The median of the rows of this very experiment (sim::same_experiment); null when there is none.
    const MeasuredRow* of(const sim::Experiment& e) const;

private:
    std::vector<MeasuredRow> rows_;
    int left_out_ = 0;
};

}  // namespace gui
