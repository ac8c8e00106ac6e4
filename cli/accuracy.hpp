#pragma once
// The accuracy of the model as the README shows it.

#include <string>
#include <vector>

#include "sim/validate.hpp"

namespace cli {

/// Markdown: errors of the rows with a tile by engine, with sources and devices held out, beside the roofline; choice
/// of a tile beside rules that know nothing; DRAM bytes beside compulsory alone.
std::string accuracy_markdown(const std::vector<sim::Trial>& trials, const sim::Validation& v);

}  // namespace cli
