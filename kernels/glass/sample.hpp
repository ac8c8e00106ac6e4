#pragma once
// A smaller problem whose CTAs stand for those of a larger one: one or more of each class (interior and edge, and every
// place a tile's rows can begin within a sector), with how many of the larger problem each stands for.

#include <cstdint>
#include <vector>

#include "sim/units.hpp"

namespace kernels::glass {

/// One dimension cut into tiles, and its smaller stand-in.
struct Sample {
    sim::i64 extent = 0;                ///< of the stand-in
    std::vector<std::uint64_t> weight;  ///< tiles of the full dimension that each of its tiles stands for
};

/// `period` tiles after a tile lies one that begins at the same place within a sector. The stand-in keeps one period of
/// whole tiles and everything from the last whole number of periods on: the extent shrinks by whole periods.
Sample sample(sim::i64 extent, sim::i64 tile, sim::i64 period);

/// Tiles of `tile` elements until one begins on a multiple of `unit` elements again.
sim::i64 period_of(sim::i64 tile, sim::i64 unit);

}  // namespace kernels::glass
