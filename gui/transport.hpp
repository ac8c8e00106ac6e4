#pragma once
// The walk through an experiment's steps, as every view that moves with it shows it.

#include "gui/analysis.hpp"

namespace gui {

class Lab;

/// Buttons to step by k-step, tile and wave, play and its speed, and the scrubber with its landmarks.
void draw_transport(Lab& lab);
/// Height of draw_transport with the space above it.
float transport_height();

/// The kernel that a step is in.
const sim::Kernel& kernel_of(const Analysis& a, const sim::StepState& s);
/// "fetched", "kept", …
const char* outcome_name(sim::Touch::Outcome o);
/// The state at the scene's step; that of step 0 until it is computed.
const sim::StepState& step_or_start(const Lab& lab);

}  // namespace gui
