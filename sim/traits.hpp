#pragma once
// What a measured kernel did beyond the words of an experiment, where the model can tell the difference.

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/experiment.hpp"

namespace sim {

/// A trait that the model reads; any other key or value of `traits` is kept and changes nothing.
struct Trait {
    std::string_view key;
    std::vector<std::string_view> values;  ///< that are read
    std::string_view what;
};
std::span<const Trait> known_traits();

/// Whether `key` is there with that value.
bool has_trait(const Experiment& e, std::string_view key, std::string_view value);

/// "key=value" of each trait of `e` that the model does not read.
std::vector<std::string> unread_traits(const Experiment& e);

}  // namespace sim
