#pragma once
// The state of an experiment after n steps, as a function of n alone: stepping, scrubbing and playing cannot disagree.

#include <vector>

#include "sim/plan.hpp"

namespace sim {

/// One tile request of a step and what became of it.
struct Touch {
    Operand operand = Operand::x;
    i64 row = 0, col = 0;  ///< tile indices in the operand's own grid (rows, columns in memory)
    i64 bytes = 0;         ///< requested, clipped
    enum Outcome {
        fetched,
        kept,
        written,
        read_back
    } outcome = fetched;  ///< from DRAM; found on chip; written; partial
};

struct StepState {
    i64 step = 0, steps = 0;                        ///< 0 = nothing done yet; steps = everything done
    int kernel = 0;                                 ///< index into the plan
    TileIndex tile;                                 ///< output tile in work (elementwise: the tile walked)
    i64 k = 0;                                      ///< k-step within the tile
    i64 wave = 0;                                   ///< GPUs
    std::vector<Touch> touches;                     ///< of this step
    i64 dram_read_bytes = 0, dram_write_bytes = 0;  ///< after this step, over all kernels so far
};

/// Steps of the whole experiment: grid steps on sequential machines; on GPUs one per CTA and k-step in lockstep order.
i64 step_count(const std::vector<Kernel>& kernels);
/// State after step `n` (clamped to 0..step_count). GPUs replay from the start, so cost grows with n.
StepState step_at(const Experiment& e, const Device& d, const std::vector<Kernel>& kernels, i64 n);
/// The first step that works on an output tile of a matmul of the plan (indices within its grid). Of the tiles that
/// stream-K shares out: the first step of them all.
i64 first_step(const Experiment& e, const Device& d, const std::vector<Kernel>& kernels, int kernel, TileIndex tile);

}  // namespace sim
