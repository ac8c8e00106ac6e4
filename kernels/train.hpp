#pragma once
// A small regression fitted with Adam through the fused layer, and the same through the unfused one beside it.

#include <functional>
#include <stop_token>
#include <vector>

#include "kernels/cuda/runtime.hpp"
#include "kernels/fused_dense.hpp"

namespace kernels {

struct TrainOptions {
    int steps = 60;
    sim::i64 samples = 64, inputs = 8, hidden = 32;  ///< relu(X·W1)·W2 from 8 inputs and a constant to one output
    sim::Residual residual = sim::Residual::mask;
    double rate = 0.02;  ///< Adam's step size
    std::uint64_t seed = 1;
};
/// Mean squared error before a step's update, by either path from the same start.
struct TrainStep {
    double fused = 0, unfused = 0;
};
/// Fits what a net of the same kind with other weights computes. `progress` gets the share done; `stop` ends it early.
std::vector<TrainStep> train(const Execute& execute, const TrainOptions& options = {},
                             const std::function<void(double)>& progress = {}, std::stop_token stop = {});

/// The CPU's packed kernels, a GPU's rung 04 under glass, and the same on the GPU that is here. The latter two throw
/// NotAvailable where they cannot run.
Execute on_cpu();
Execute under_glass(const sim::Catalogue& devices);
Execute on_gpu(const sim::Catalogue& devices, const cuda::Runtime& r = cuda::runtime());

}  // namespace kernels
