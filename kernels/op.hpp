#pragma once
// One operation that a kernel can run: the layer, the pass through it and where its ReLU sits.

#include "sim/experiment.hpp"

namespace kernels {

/// A layer and a pass as kernels run them. Letters and rules are those of sim::Dense, sim::Pass and sim::Fusion.
struct Op {
    sim::Dense dense;
    sim::Pass pass = sim::Pass::forward;
    sim::Fusion fusion = sim::Fusion::fused;
    sim::Residual residual = sim::Residual::y;
    bool accumulate = false;  ///< wgrad adds to an f32 dW
    bool in_place = false;    ///< the elementwise pass of an unfused run overwrites its input
    bool drelu = false;       ///< upstream dgrad masks dX by X > 0 for the layer below
    bool operator==(const Op&) const = default;

    bool runs(sim::Pass p) const { return pass == p || pass == sim::Pass::train; }
    /// The forward of `train upstream` is the fused one: upstream speaks of the backward pass only.
    sim::Fusion forward_fusion() const { return fusion == sim::Fusion::upstream ? sim::Fusion::fused : fusion; }
};

/// What an experiment asks a kernel to compute.
inline Op op_of(const sim::Experiment& e) {
    return {e.dense, e.pass, e.fusion, e.residual, e.accumulate, e.in_place, e.drelu};
}

}  // namespace kernels
