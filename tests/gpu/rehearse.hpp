#pragma once
// What can be known of a campaign without a GPU.

#include <filesystem>
#include <string>

#include "tests/gpu/campaign.hpp"

namespace campaign {

/// Prints steps, cases and guessed seconds.
void print_plan(const std::filesystem::path& cases);

/// Reads every case, asks whether it fits, compiles for an H200 (all, or what `seconds` allow) and runs some under
/// glass. Prints what it did; false where something is wrong.
bool rehearse(const std::filesystem::path& cases, bool compile_all, double seconds);

/// Small runs of one rung for compute-sanitizer to watch; the exit code.
int run_sanitized(const Machine& machine, const std::string& rung);

}  // namespace campaign
