#pragma once
// DRAM bytes for every L2 size at once: one pass of stack distances over a matmul's tile requests.

#include <array>
#include <vector>

#include "sim/count.hpp"

namespace sim {

/// What a lone matmul moves between DRAM and an L2 of any capacity, in lockstep, from a cold start. Equal to the replay
/// for capacities that hold the largest tile.
class MissCurve {
public:
    /// Bytes read of one operand with an L2 of `capacity` bytes.
    i64 read_bytes(Operand o, i64 capacity) const;
    /// Reads and writes of all operands.
    i64 dram_bytes(i64 capacity) const;
    /// Capacities at which the curve of all operands steps down, ascending, in bytes.
    std::vector<i64> steps() const;

private:
    friend MissCurve miss_curve(const Experiment&, const Device&, const Kernel&, i64);
    struct Reuse {
        i64 distance_bits;  ///< the capacity from which this request hits
        i64 bits;
    };
    std::array<i64, operand_count> cold_bits_{}, write_bits_{};
    std::array<std::vector<Reuse>, operand_count> reuses_;  ///< by distance, bits summed from the far end
};

/// The curve of one matmul kernel of `e` run in `slots`. Costs O(log requests) a request.
MissCurve miss_curve(const Experiment& e, const Device& d, const Kernel& kernel, i64 slots);

}  // namespace sim
