#pragma once
// What NVIDIA's library takes for the same operation, beside the kernel that ran.

#include <stop_token>
#include <string>
#include <vector>

#include "kernels/cuda/baselines.hpp"

namespace cli {

/// The baselines of an experiment: those of its pass; of a training step, those of its forward pass and then those of
/// its backward part.
std::vector<kernels::cuda::Baseline> baselines_of(const sim::Experiment& e, const kernels::RunOptions& options = {},
                                                  std::stop_token stop = {},
                                                  const kernels::cuda::Runtime& r = kernels::cuda::runtime(),
                                                  const kernels::cuda::CublasLt& lt = kernels::cuda::cublas_lt());

/// A row a baseline: its time, how many times the kernels' own of the same part, what it does or why it did not run.
std::string baselines_text(const kernels::RunResult& own, const std::vector<kernels::cuda::Baseline>& baselines,
                           int width);

}  // namespace cli
