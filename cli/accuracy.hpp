#pragma once
// The accuracy of the model as the README shows it.

#include <string>
#include <string_view>
#include <vector>

#include "sim/validate.hpp"

namespace cli {

/// What stands where a file gives no row to take an error over.
inline constexpr std::string_view nothing_predicted = "No row of the file is predicted: there is nothing to sum up.";
inline constexpr std::string_view no_tiled_row =
    "No predicted row of the file has a tile and a time: there is nothing to sum up.";

/// Markdown: errors of the rows with a tile by engine, with sources and devices held out, beside the roofline; choice
/// of a tile beside rules that know nothing; DRAM bytes beside compulsory alone.
std::string accuracy_markdown(const std::vector<sim::Trial>& trials, const sim::Validation& v);

}  // namespace cli
