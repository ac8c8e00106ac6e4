#pragma once
// Changing words of an experiment's line: "tile 128x128x16", "unfused", "tpu-v6e", "8192x8192x512 bf16".

#include <map>
#include <span>
#include <string>
#include <string_view>

#include "sim/device.hpp"

namespace lessons {

/// The words of an experiment's line by name; those without a name of their own are called device, shape, dtype, pass
/// and fusion. What follows a bar is left out.
std::map<std::string, std::string> words_of(std::string_view line, const sim::Catalogue& devices);

/// The line with the words of `edit` put in, each for the one it takes the place of; `m N`, `n N` and `k N` change one
/// size of the shape. BadInput on a word without a value. The result is not yet known to be a sound experiment.
std::string edited(std::string_view line, std::string_view edit, const sim::Catalogue& devices);

}  // namespace lessons
