#pragma once
// What an L2 of another size would leave of a matmul's DRAM bytes.

#include <string>

#include "sim/experiment.hpp"

namespace cli {

/// A row for each L2 that a known GPU has: bytes by operand, with other rasters, and the I/O bound; then published
/// points. Empty where the machine has no such L2 or the pass would take long.
std::string capacity_text(const sim::Experiment& e, const sim::Catalogue& devices, int width);

}  // namespace cli
