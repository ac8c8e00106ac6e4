#pragma once
// What lies on chip after a step, and what that step drove out: the other half of step.hpp.

#include <array>
#include <vector>

#include "sim/step.hpp"

namespace sim {

struct Residency {
    i64 capacity_bytes = 0;                  ///< of the shared level: L2 of a GPU, one tile of each operand else
    std::array<i64, operand_count> bytes{};  ///< of each operand there after the step
    std::vector<Touch> evicted;              ///< tiles that were there before the step and are not after it
    i64 used_bytes() const;
};

/// After step n (clamped to 0..step_count). On a GPU the L2 is replayed from the start. Where kernels cut one tensor
/// into different tiles, tiles of the earlier cut are not followed into the later kernel.
Residency residency_at(const Experiment& e, const Device& d, const std::vector<Kernel>& kernels, i64 n);

}  // namespace sim
