#pragma once
// An experiment as the kernels it launches, in order: for each, what it reads and writes and how that is tiled. Both
// counting engines, the time model and the lab read this one description.

#include <optional>
#include <string>
#include <vector>

#include "sim/experiment.hpp"
#include "sim/traffic.hpp"

namespace sim {

/// A matrix as it lies in memory: row-major rows x cols of `bits` each (1 for a mask, whose rows pad to 128 bits).
struct Tensor {
    Operand name = Operand::x;
    i64 rows = 1, cols = 1;
    i64 bits = 32;
    int variant = 0;  ///< tells apart tensors of one name: the bits of X (drelu) and of Y, the partials of each pass
    /// Elements x bits of `batch` such matrices, rounded up to bytes once.
    i64 bytes(i64 batch = 1) const { return (rows * cols * bits * batch + 7) / 8; }
};

/// The index space of a kernel's tiles: rows x cols of outputs over red.
enum class Axis { rows, cols, red, one };

/// A tensor read or written by a kernel. `row_axis`, `col_axis` say which of the kernel's loops walk the tensor's rows
/// and columns in memory (wgrad reads X, which is (m,k), with its columns along the kernel's rows).
struct Access {
    Tensor tensor;
    Axis row_axis = Axis::rows, col_axis = Axis::red;
    bool compulsory = false;  ///< an operand of the operation itself: its first read had to happen
    int slices = 1;           ///< split-K: this many tiles lie behind each index
};

/// One launch. A matmul runs (rows x cols) output tiles over red; an elementwise kernel has red = 1.
struct Kernel {
    std::string name;  ///< matmul relu mask dgrad wgrad reduce
    bool matmul = true;
    Pass pass = Pass::forward;  ///< which pass's tile and letters it uses
    Extent extent;
    Tile tile;
    i64 batch = 1;
    std::vector<Access> left;       ///< loaded with every (row tile, k-step): the operand, then its residual if masked
    std::vector<Access> right;      ///< loaded with every (k-step, column tile)
    std::vector<Access> epilogue;   ///< read once per output tile: bias, the mask of drelu, dw to accumulate on; an
                                    ///< elementwise kernel's inputs
    std::vector<Access> outputs;    ///< written once per output tile, in order
    int splits = 1;                 ///< split-K slices
    std::optional<Access> partial;  ///< stream-K: f32 slices of tiles that CTAs share, written and read back within
    bool in_place = false;          ///< the first output overwrites the first epilogue input
    bool reverse = false;           ///< elementwise: walk the tiles last to first

    i64 row_tiles() const { return ceil_div(extent.rows, tile.bm); }
    i64 col_tiles() const { return ceil_div(extent.cols, tile.bn); }
    i64 k_steps() const { return matmul ? ceil_div(extent.red, tile.bk) : 1; }
    i64 flops() const { return matmul ? 2 * extent.rows * extent.cols * extent.red * batch : 0; }
};

/// The kernels of `e`; none while a tile of a pass is "best" or not yet found.
std::vector<Kernel> plan(const Experiment& e);

/// Compulsory bytes of the operation, reads and writes apart: its own operands once each, whatever the fusion. A ready
/// dZ (none, upstream) stands in for dY and its residual.
struct Compulsory {
    i64 read_bytes = 0, write_bytes = 0;
};
Compulsory compulsory(const Experiment& e);

}  // namespace sim
