#pragma once
// How the matmul of a pass is cut: the tile of a CTA (or of a grid step), and what a CTA needs on chip.

#include <array>
#include <span>
#include <string_view>

#include "sim/device.hpp"
#include "sim/schedule.hpp"
#include "sim/workload.hpp"

namespace sim {

/// A tile in the letters of the pass's own matmul: bm rows x bn columns, bk of the reduction at a time. All zero asks
/// for the sweep's best ("tile best").
struct Tile {
    i64 bm = 0, bn = 0, bk = 0;
    bool is_best() const { return bm == 0; }
    bool operator==(const Tile&) const = default;
};

/// Rows x columns of a warp tile, thread tile or cluster. Zero = the engine's usual value.
struct Shape2 {
    int rows = 0, cols = 0;
    bool operator==(const Shape2&) const = default;
};

enum class Engine { simt, mma, wgmma, tcgen05, mxu, cpu };
enum class Pipeline { none, double_buffered, multistage, warp_specialized, pallas };
enum class Consumers { cooperative, pingpong };
/// Loop order of a sequential grid, outermost first.
enum class Order { mnk, nmk, kmn, mkn, knm, nkm };

std::string_view to_string(Engine);
std::string_view to_string(Pipeline);
std::string_view to_string(Consumers);
std::string_view to_string(Order);
std::string to_string(Raster);
/// "128x256x64", or "best".
std::string to_string(const Tile&);

/// What an inner loop of a CPU rung waits for: its registers' multiply-adds, a row of sums in cache, or one sum.
enum class Inner { registers, row_update, dependent_sum };

/// A kernel family of a ladder. One row here is what the model knows of it; its source is in kernels/.
struct Rung {
    std::string_view id;
    DeviceKind device;
    Engine engine;
    Pipeline pipeline;
    std::string_view idea;
    int min_arch;  ///< compute capability x 10; 0 where it does not apply
    Inner inner = Inner::registers;
};
/// Every rung, in reading order.
std::span<const Rung> rungs();
/// The rung of that id on that kind of device, or null.
const Rung* find_rung(std::string_view id, DeviceKind kind);

}  // namespace sim
