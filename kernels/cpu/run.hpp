#pragma once
// Check, then time: the one way a CPU kernel gets a number.

#include <functional>
#include <stop_token>
#include <string>

#include "kernels/cpu/machine.hpp"
#include "kernels/cpu/rung.hpp"
#include "kernels/run.hpp"

namespace kernels::cpu {

using kernels::KernelMedian;
using kernels::RunOptions;
using kernels::RunResult;

/// Checks the operation on a small ragged instance with NaN, infinities, negative zeros and subnormals and, after the
/// warm-up, at full size; then samples it. `progress` gets the share done, on this thread; `stop` ends the run between
/// tiles. Throws std::runtime_error when a kernel's result is wrong.
RunResult run(const Op& op, const Config& config, const RunOptions& options = {},
              const std::function<void(double)>& progress = {}, std::stop_token stop = {});

/// The small instance alone: the same pass, fusion, types, rung and threads at ragged sizes, with special values in
/// every input. Returns "131x89x70"; throws std::runtime_error when a result is wrong.
std::string check_ragged(const Op& op, const Config& config, std::uint64_t seed);

}  // namespace kernels::cpu
