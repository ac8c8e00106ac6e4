#pragma once
// Whether an experiment can run on a device, and what a CTA of it occupies.

#include <vector>

#include "sim/plan.hpp"

namespace sim {

/// Compute capability x 10: 90 of "9.0"; 0 where the device says none.
int capability(const Device& d);

/// What one CTA of a GPU matmul needs, derived from the tile, engine and pipeline.
struct CtaShape {
    int threads = 0;
    int registers = 0;    ///< per thread: the estimate of `fit.cpp` (the compiler's where they are known)
    i64 smem_bytes = 0;   ///< pipeline stages and epilogue staging, as the kernel would ask for
    Shape2 warp, thread;  ///< resolved warp and thread tile
};
CtaShape cta_shape(const Experiment& e, const Device& d, const Kernel& k);

/// tcgen05: two CTAs of a cluster's column multiply together, and each keeps half of the right operand's tile.
constexpr bool multiplies_in_pairs(const Experiment& e) {
    return e.engine == Engine::tcgen05 && e.cluster.rows % 2 == 0;
}
/// mma: ways in which the banks conflict when fragments are read from SMEM that is not swizzled (traits swizzle=0);
/// 1 = none.
i64 bank_conflicts(const Experiment& e, const Kernel& k);

struct Occupancy {
    int ctas_per_sm = 0;     ///< 0: cannot launch
    i64 slots = 0;           ///< CTAs resident on the whole device
    std::string limited_by;  ///< "shared memory", "registers", "threads", "CTAs per SM", "said"
    std::string impossible;  ///< why an SM has no room for e.ctas, where it is certain: registers are an estimate
};
/// Resident CTAs from shared memory, registers, threads and the CTA limit, or e.ctas where said.
Occupancy occupancy(const Experiment& e, const Device& d, const CtaShape& cta);

/// TPU: bytes of one copy of every tile of a kernel and of its accumulator, and the copies that fit.
struct VmemNeed {
    i64 tiles_bytes = 0;        ///< one copy of every tile, padded to the (8,128) layout of its dtype
    i64 accumulator_bytes = 0;  ///< f32 bm x bn when the reduction has more than one trip
    i64 limit_bytes = 0;
    int buffers = 2;  ///< copies used: said, or 2 if they fit, else 1
    i64 bytes() const { return buffers * tiles_bytes + accumulator_bytes; }
};
VmemNeed vmem_need(const Experiment& e, const Device& d, const Kernel& k);

/// The first reason why the experiment cannot run, naming need and limit; or fits.
Fit fit(const Experiment& e, const Device& d, const std::vector<Kernel>& kernels);

}  // namespace sim
