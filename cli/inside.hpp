#pragma once
// What the lab's Timeline, Hierarchy, Tiles and "how was this computed?" show, as text.

#include <string>

#include "sim/report.hpp"

namespace cli {

/// Each number with its formula, this experiment's values put in, and the profiler metric that would check it.
std::string formulas_text(const sim::Report& r, const sim::Device& d, int width);
/// The predicted time laid out: what each lane of each kernel does and when.
std::string timeline_text(const sim::Report& r, const sim::Device& d);
/// The step whose number was asked for, 0 = before anything; BadInput names the range. Its tile requests and what became of them, and what lies on chip after it.
std::string step_text(const sim::Experiment& e, const sim::Device& d, const std::string& asked);
/// The number of each output tile in the order in which they are taken, for the tiles that fit a page.
std::string tiles_text(const sim::Experiment& e, const sim::Device& d);
/// From how many rows on fusing, the tile and the raster matter.
std::string onset_text(const sim::Experiment& e, const sim::Catalogue& devices, int width);

}  // namespace cli
