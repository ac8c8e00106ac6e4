#pragma once
// The named steps between two predicted times, as the verbs and their JSON know them.

#include "sim/time_steps.hpp"

namespace cli {

using sim::rounded_to_sum;
using sim::time_steps;
using sim::TimeStep;

}  // namespace cli
