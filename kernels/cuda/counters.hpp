#pragma once
// What the GPU's own counters say of a run: bytes of DRAM and L2, shared memory, tensor cores.

#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "kernels/cuda/cupti.hpp"
#include "kernels/cuda/runtime.hpp"
#include "kernels/run.hpp"

namespace kernels::cuda {

/// The names that are asked for, as the profilers have them.
std::span<const std::string_view> metric_names();

/// Whether a chip ("GH100") has every counter, and in how many passes; needs no GPU.
struct MetricPasses {
    sim::Fit fit;
    std::size_t passes = 0;
};
MetricPasses metric_passes(const std::string& chip, const cupti::Library& c = cupti::library());

/// Counts what `queue` does to a cold L2. Each pass of the profiler runs it anew between two flushes: the first outside
/// the window, so that nothing of before is found; the last inside it, so that what is still dirty is written. What the
/// flush alone counts is taken off. A copy of known bytes is counted first. Throws CudaError where counters cannot be
/// read (privileges, another profiler) or the copy is off by more than a twentieth.
Counters count(const Gpu& gpu, const std::function<void()>& queue, const Runtime& r = runtime(),
               const cupti::Library& c = cupti::library());

}  // namespace kernels::cuda
