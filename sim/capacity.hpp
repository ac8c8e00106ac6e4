#pragma once
// DRAM bytes of a matmul against the size of its L2: every raster, every device's L2 and the I/O bound on one axis.

#include <optional>
#include <string>
#include <vector>

#include "sim/miss_curve.hpp"

namespace sim {

struct RasterCurve {
    Raster raster;
    MissCurve curve;
};
/// An L2 that some device has, as matmul tiles see it.
struct DeviceL2 {
    i64 bytes = 0;  ///< effective
    std::vector<std::string> devices;
};
struct Capacity {
    std::string kernel;                ///< the matmul that is meant
    std::vector<RasterCurve> rasters;  ///< the experiment's own first
    std::vector<DeviceL2> devices;     ///< ascending by size
    /// Bytes that no order of the same matmul can beat with an L2 of `bytes`, the device's SRAM and registers kept.
    std::vector<i64> bounds;  ///< for each of `devices`
};
/// The curves of a GPU experiment's first matmul, run in the slots it has, SMs in step, from a cold start; nullopt
/// where the machine has no such L2 or the pass of stack distances would be longer than `most_requests`.
std::optional<Capacity> capacity(const Experiment& e, const Catalogue& devices, double most_requests = 5e6);

/// A published byte count of a matmul at one L2 size (kernels/measured/dram-bytes-by-l2-size.csv, which names source
/// and kernel: 4096 cubed, f32 in and out, on GA100 parts).
struct MeasuredCapacity {
    std::string kind;  ///< simt or tensor
    i64 l2_bytes = 0, dram_bytes = 0;
};
/// The published points of this layer, or none.
std::vector<MeasuredCapacity> measured_capacity(const Experiment& e);

}  // namespace sim
