#pragma once
// Times work that is queued on the GPU again and again.

#include <functional>
#include <stop_token>

#include "kernels/cuda/runtime.hpp"
#include "kernels/run.hpp"

namespace kernels::cuda {

/// Rotates through `sets` sets of operands: queue(i) queues one run on set i. After a warm-up, samples lie between
/// events of one stream that does not run dry within a group of them, so that the host's own time is outside. Fills
/// samples_us, their summary and the clocks of `result`; cancelled where `stop` came before the first.
void sample(const Runtime& r, int sets, const std::function<void(std::size_t)>& queue, const RunOptions& options,
            const std::function<void(double)>& progress, std::stop_token stop, RunResult& result);

/// Medians of the parts of a run, with an event between each two (which a whole run does not have).
std::vector<double> sample_parts(const Runtime& r, std::size_t parts, int runs,
                                 const std::function<void(std::size_t run, std::size_t part)>& queue);

/// How many sets of `set_bytes` a run rotates through: as many as exceed the L2 twice, or as `most_bytes` hold.
struct Rotation {
    int sets = 1;
    bool cold = false;  ///< they do exceed it
};
Rotation rotation(sim::i64 set_bytes, sim::i64 l2_bytes, sim::i64 most_bytes, const RunOptions& options);

}  // namespace kernels::cuda
