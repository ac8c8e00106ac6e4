#pragma once
// What others have measured: the rows of kernels/measured that speak of a given layer on a given device.

#include <string>
#include <vector>

#include "cli/page.hpp"
#include "sim/measurement.hpp"

namespace cli {

/// Rows that time one thing: the same tile and words, or the same library call.
struct MeasuredGroup {
    std::string what;              ///< "fused tile 128x128x8192", or what a library did
    bool same = false;             ///< the very experiment asked about
    bool library = false;          ///< no tile is known
    std::vector<double> times_us;  ///< ascending
    std::string source, address;   ///< of the first row
    double best_us() const { return times_us.front(); }
    double median_us() const { return times_us[times_us.size() / 2]; }
};

/// The groups of the published rows on e's device with e's layer and pass: the same experiment first, then by time.
std::vector<MeasuredGroup> published(const sim::Experiment& e, const sim::Catalogue& devices,
                                     lessons::Language l = lessons::Language::en);

/// The rows of the very experiment, for the table of bound, predicted and measured.
std::vector<MeasuredLine> measured_lines(const std::vector<MeasuredGroup>& groups,
                                         lessons::Language l = lessons::Language::en);

/// "35.0 ms" or "34.9 to 35.1 ms (4 rows)".
std::string times_text(const MeasuredGroup& group, lessons::Language l = lessons::Language::en);

}  // namespace cli
