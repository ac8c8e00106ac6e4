#pragma once
// Which corners of the model any measured row covers.

#include <string>
#include <vector>

#include "sim/experiment.hpp"

namespace sim {

/// What makes a prediction one of a kind: rows in the same corner say something of it.
struct Corner {
    std::string pass, fusion, engine, device;
    auto operator<=>(const Corner&) const = default;
};
Corner corner_of(const Experiment& e);

/// Whether a committed row with a time covers the experiment's corner.
bool is_covered(const Experiment& e);

}  // namespace sim
