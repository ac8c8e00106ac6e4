#pragma once
// What a kernel is compared with: NVIDIA's library on the same operation, checked and timed the same way.

#include <functional>
#include <stop_token>
#include <string>
#include <vector>

#include "kernels/cuda/cublas_lt.hpp"
#include "kernels/run.hpp"
#include "sim/experiment.hpp"

namespace kernels::cuda {

/// One way in which the library does an operation, or some part of it.
struct Baseline {
    std::string name;                   ///< "cublaslt RELU"
    std::string what;                   ///< in one sentence, for a person
    sim::Pass of = sim::Pass::forward;  ///< train: its backward part
    RunResult result;                   ///< `fit` says why it was not run
};

/// The baselines that an operation has. Forward: plain, RELU, RELU_AUX. dgrad: plain and DRELU; wgrad: plain. train,
/// its backward part alone: a mask kernel and two plain matmuls; DRELU, which masks for the layer below, and a plain
/// wgrad; plain matmuls on a dZ that is given free, which is the ceiling. Each takes the fastest of 8 algorithms.
/// Throws std::runtime_error when the library's result is wrong or a call fails.
std::vector<Baseline> baselines(const sim::Experiment& e, const RunOptions& options = {}, std::stop_token stop = {},
                                const Runtime& r = runtime(), const CublasLt& lt = cublas_lt());

}  // namespace kernels::cuda
