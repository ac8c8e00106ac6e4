#pragma once
// What both GPU engines share: the levels above DRAM, which follow from the tiles alone, and how DRAM reads are
// explained.

#include "sim/count.hpp"
#include "sim/extent.hpp"

namespace sim {

/// DRAM traffic of one operand: counted in bits (a mask's tiles are no whole bytes), moved in bytes.
struct DramFlow {
    i64 read_bits = 0, write_bits = 0, moved_read_bytes = 0, moved_write_bytes = 0;
};
using DramFlows = std::array<DramFlow, operand_count>;

/// Adds `flows` to `sum`.
void add(DramFlows& sum, const DramFlows& flows);
/// Reads and writes of all operands, each rounded up to bytes once.
i64 dram_bytes(const DramFlows& flows);

/// Traffic of one kernel in `slots` at the levels above DRAM, which follows from its tiles.
Traffic chip_traffic(const Experiment& e, const Device& d, const Kernel& k, i64 slots);
/// The same with `dram` below it, its causes filled in.
Traffic gpu_traffic(const Experiment& e, const Device& d, const Kernel& k, i64 slots, const DramFlows& dram,
                    Ledger& ledger);

/// The partial sums of a stream-K kernel, all together: bits, and bytes of whole sectors. Written once, read once.
struct Slices {
    i64 bits = 0, moved_bytes = 0;
};
Slices slices_of(const Experiment& e, const Device& d, const Kernel& k, i64 slots);

/// L2 capacity in bits: what matmul tiles have, and the whole.
i64 effective_bits(const Device& d);
i64 whole_bits(const Device& d);

}  // namespace sim
