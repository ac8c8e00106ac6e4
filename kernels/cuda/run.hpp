#pragma once
// Check, then time: the one way a CUDA kernel gets a number.

#include <functional>
#include <stop_token>

#include "kernels/cuda/runtime.hpp"
#include "kernels/run.hpp"
#include "sim/experiment.hpp"

namespace kernels::cuda {

/// Whether the GPU that is here is the device of that file: its model, form, number of SMs and memory.
sim::Fit same_gpu(const sim::Device& device, const Gpu& gpu);

/// Checks the experiment's kernels against the double-precision reference, at ragged sizes with NaN, infinities,
/// negative zeros and subnormals and at full size, with poisoned outputs and guarded inputs; then times them with
/// events, back to back, on sets of operands that exceed the L2 twice. Its tiles must not be "best". `progress` gets
/// the share done; `stop` ends the run between groups of samples. Throws std::runtime_error when a result is wrong or a
/// call fails, CompileError when a kernel does not compile.
RunResult run(const sim::Experiment& e, const RunOptions& options = {},
              const std::function<void(double)>& progress = {}, std::stop_token stop = {},
              const Runtime& r = runtime());

}  // namespace kernels::cuda
