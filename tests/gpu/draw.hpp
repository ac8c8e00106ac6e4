#pragma once
// How cases are drawn: the tables that multiply and the chance that picks.

#include <optional>
#include <string>

#include "sim/experiment.hpp"

namespace campaign {

/// The experiment of that line (without its device) as the kernels run it; none where it is bad input or a kernel of it
/// does not fit an H200.
std::optional<sim::Experiment> runnable(const std::string& words);

}  // namespace campaign
