#pragma once
// A measured row made ready to be predicted: counted once, then timed under any constants.

#include <string>
#include <vector>

#include "sim/bound.hpp"
#include "sim/measurement.hpp"
#include "sim/time.hpp"

namespace sim {

struct Trial {
    Measurement row;
    std::string why;                       ///< not empty: no prediction, and why
    bool beats_bound = false;              ///< measured faster than its bound at its own clock: refused as an error
    std::optional<Experiment> experiment;  ///< as the row describes it, a best tile found
    Device device;                         ///< at the row's own clock
    std::vector<Kernel> kernels;
    Counts counts;
    Bound bound;

    bool predictable() const { return why.empty(); }
    /// µs, never below the bound unless terms are left out.
    double predicted_us(const TimeModel& model = {}) const;
    /// What a counter of DRAM bytes is expected to show: whole sectors, and not what is still dirty in the L2 when the
    /// window closes, unless the row says that it was flushed (trait `flushed`).
    double predicted_dram_bytes() const;
};

/// Every row of a file. `strict` drops traits and columns that its collector inferred or assumed.
std::vector<Trial> trials_of(const MeasurementFile& file, const Catalogue& devices, bool strict = false);

/// The same device at another clock: math, caches and L2 run with it, DRAM and its power limit do not.
Device at_clock(const Device& device, double hz);

/// A number that no datasheet gives, as a prediction read it.
struct ReadConstant {
    std::string key;  ///< "l2.bandwidth", "engine.mma_overlap"
    double value = 0;
    std::string_view unit;
    Evidence kind = Evidence::assumed;
    std::string source;
    /// Whether it was set by looking at measured times or bytes, which its source then says first.
    bool is_fitted() const { return source.starts_with("fitted"); }
};
/// Those that a predictable trial depends on: what moves the predicted time when it moves by a tenth, and what its
/// counts read.
std::vector<ReadConstant> constants_read(const Trial& trial);

}  // namespace sim
