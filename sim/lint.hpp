#pragma once
// What is doubtful about a device file that can be read: numbers out of range, or that contradict each other.

#include <string>
#include <vector>

#include "sim/device.hpp"

namespace sim {

/// One sentence for each thing that cannot be right ("l2.effective_bytes (60 MiB) is above l2.bytes (50 MiB)"); empty
/// where all is well. The rules are the rows of the tables in lint.cpp.
std::vector<std::string> lint_device(const Device& device);

}  // namespace sim
