#pragma once
// The same pass with its ReLU or mask applied elsewhere: which way of fusing wins for a shape and a tile.

#include <string>
#include <vector>

#include "sim/report.hpp"

namespace sim {

struct FusionChoice {
    std::string words;  ///< "unfused", "fused residual mask", "upstream"
    Report report;
    bool asked = false;  ///< the one that the experiment says
    bool wins = false;   ///< the fastest predicted of those that do the same work
    /// Upstream alone leaves the masking to the kernel before: less work, so it is shown and never wins. Under train
    /// all of it is done, and counts.
    bool same_work = true;
};
/// Every way that the pass can be run with the experiment's tile, unfused first; empty for fusion none.
std::vector<FusionChoice> fusion_choices(const Experiment& e, const Catalogue& devices);

}  // namespace sim
