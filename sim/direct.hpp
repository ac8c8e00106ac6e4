#pragma once
// Rungs without a shared-memory tile: each thread computes one output and loads its own operands through L1.

#include "sim/extent.hpp"

namespace sim {

/// Whether neighbouring threads of a SIMT kernel compute neighbouring rows (so that row-major operands are read a
/// pitch apart) or neighbouring columns; none where a CTA shares its tiles through SMEM.
enum class Direct { no, uncoalesced, coalesced };
Direct direct_access(const Experiment& e);

/// How the threads of a CTA, numbered along the lanes' axis first, fall into warps: each has `run` neighbours along
/// that axis at `turns` places of the other. (Where a tile's side neither divides 32 nor is a multiple, its common
/// divisor with 32 is the run, and the warps that wrap around are counted as several.)
struct Lanes {
    Axis along, across;
    i64 run = 32, turns = 1;
};
Lanes lanes_of(Direct access, const Tile& tile);

/// 128-byte lines that one warp-level load of an operand touches.
double lines_of_load(const Access& a, const Lanes& lanes);

/// One operand of a kernel at its L1s, all CTAs together.
struct L1Flow {
    __int128 requested_bytes = 0;  ///< distinct bytes of each warp-level load or store
    __int128 sector_bytes = 0;     ///< of the sectors those touch
    __int128 l2_bytes = 0;         ///< of the sectors that the L2 serves, or takes: stores are written through
};
/// `l1_bytes` are what one CTA has of an L1: true LRU, read-allocate, lines of four sectors.
L1Flow l1_read(const Kernel& k, const Access& a, const Lanes& lanes, const MovedUnit& unit, i64 l1_bytes);
L1Flow l1_write(const Kernel& k, const Access& a, const Lanes& lanes, const MovedUnit& unit);

}  // namespace sim
