#pragma once
// The landmarks of a walk through an experiment's steps: where a tile, a wave and a kernel begin. Step n is the state
// after n steps, as in sim/step.hpp.

#include <vector>

#include "sim/plan.hpp"

namespace gui {

using sim::i64;

class Walk {
public:
    Walk() = default;
    Walk(const sim::Experiment& e, const sim::Device& d, const std::vector<sim::Kernel>& kernels);

    i64 steps() const { return parts_.empty() ? 0 : parts_.back().begin + parts_.back().steps; }
    /// The first step of the next (+1) or previous (-1) output tile. On a GPU many are at once: there the step at which
    /// the same CTA has done its next, or previous, k-step; from 0 the one after which all have done their first.
    i64 tile(i64 step, int direction) const;
    /// The first step of the next (+1) wave, or of this one and then the previous (-1). On a sequential machine: of the
    /// outermost loop's next trip.
    i64 wave(i64 step, int direction) const;
    /// Steps worth a look, where playing pauses: the first tile and the first wave done, each kernel done.
    const std::vector<i64>& marks() const { return marks_; }

private:
    /// A wave of a GPU or a trip of the outermost loop: `steps` steps, of which `stride` in a row are of as many
    /// CTAs' same k-step (GPU) or of one tile (grid).
    struct Part {
        i64 begin, steps, stride;
    };
    const Part& at(i64 step) const;

    std::vector<Part> parts_;
    std::vector<i64> marks_;
    bool lockstep_ = false;
};

}  // namespace gui
