#pragma once
// What a run under glass counted, as text and beside the source it ran.

#include <string>

#include "kernels/glass/run.hpp"
#include "sim/report.hpp"

namespace cli {

/// "03_shared_tile.cuh:35: what is wrong".
std::string finding_text(const kernels::glass::Finding& f);

/// bound, predicted and counted bytes of each level; sectors, wavefronts and conflicts; the lines that cost most;
/// races and worse.
std::string counted_text(const sim::Report& r, const sim::Device& d, const kernels::glass::Counted& c, int width);

/// The kernels' source with each line's counts beside it; only files and functions that ran.
std::string source_text(const kernels::glass::Counted& c);

}  // namespace cli
