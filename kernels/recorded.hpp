#pragma once
// A run as a row of a measurements file.

#include <map>
#include <string>
#include <string_view>

#include "kernels/run.hpp"
#include "sim/experiment.hpp"

namespace kernels {

/// The columns of a measurements file that a run fills, those of a recording among them; no time where
/// none was taken. `source` says what ran it. The caller adds an id.
std::map<std::string, std::string> recorded_row(const sim::Experiment& e, const RunResult& r,
                                                const sim::Catalogue& devices, std::string_view source);

/// The time now, UTC, as strftime has it.
std::string utc(const char* format);

}  // namespace kernels
