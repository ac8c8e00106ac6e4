#pragma once
// Runs the CTAs of a launch on the CPU, barrier by barrier.

#include <functional>
#include <type_traits>

#include "kernels/device/params.cuh"
#include "kernels/glass/warp.hpp"

namespace kernels::glass {

/// A compiled kernel: how a warp begins it and goes on with it.
struct Entry {
    void (*start)(Warp&, const device::Params&, const device::TensorMaps&) = nullptr;
    void (*resume)(Warp&) = nullptr;
};

/// The entry of a kernel template's instance.
template <auto kernel>
constexpr Entry entry_of() {
    return {[](Warp& w, const device::Params& p, const device::TensorMaps& maps) {
                self = &w;
                if constexpr (std::is_invocable_v<decltype(kernel), device::Params>)
                    w.task = kernel(p);
                else
                    w.task = kernel(p, maps);
            },
            [](Warp& w) {
                self = &w;
                w.task.handle.resume();
            }};
}

struct Grid {
    std::int64_t ctas = 1;
    int warps = 1;
    std::int64_t smem_bytes = 0;
};

struct Order {
    std::int64_t slots = 1;  ///< CTAs resident at a time; they take turns, barrier by barrier
    std::uint64_t seed = 0;  ///< of the order in which a CTA's warps run between barriers; 0 = as they are numbered
    /// slots = 1: how many CTAs of the full problem each one stands for; none = 1.
    std::function<std::uint64_t(std::int64_t cta)> weight;
    std::function<bool()> stop;                       ///< asked before each wave; true ends the run
    std::function<void(std::int64_t ctas)> finished;  ///< told after each wave
};

/// Runs every CTA of a grid. Counts and findings go to the machine; a kernel that cannot go on (out of bounds, a
/// barrier that not all warps reach) ends the run early with its finding noted.
void execute(Machine& machine, const Entry& entry, const device::Params& params, const device::TensorMaps& maps,
             const Grid& grid, const Order& order);

}  // namespace kernels::glass
