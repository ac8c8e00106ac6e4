#pragma once
// Arithmetic of clipped tiles that every counting engine needs: how a tensor is cut by a kernel's tiles, and what one
// sweep over all of its tiles requests and moves.

#include <algorithm>
#include <array>

#include "sim/plan.hpp"

namespace sim {

/// Extent of the kernel's index space along an axis, and of its tile there.
constexpr i64 axis_extent(const Kernel& k, Axis a) {
    return a == Axis::rows ? k.extent.rows : a == Axis::cols ? k.extent.cols : a == Axis::red ? k.extent.red : 1;
}
constexpr i64 axis_tile(const Kernel& k, Axis a) {
    return a == Axis::rows ? k.tile.bm : a == Axis::cols ? k.tile.bn : a == Axis::red ? k.tile.bk : 1;
}
constexpr i64 axis_trips(const Kernel& k, Axis a) { return ceil_div(axis_extent(k, a), axis_tile(k, a)); }

/// Elements of tile t of a dimension of `extent` cut by `tile`.
constexpr i64 clipped(i64 extent, i64 tile, i64 t) { return std::min(tile, extent - t * tile); }

/// Smallest unit a memory moves: nothing (idealised), 32 B sectors, 64 B lines, or the padded layout of a TPU.
struct MovedUnit {
    i64 bytes = 0;  ///< a power of two; 0 = exactly what was requested
    bool tpu_layout = false;
    Pitch pitch = Pitch::padded;
};
MovedUnit moved_unit(const Device& d, const Experiment& e);

/// Bytes between the starts of two rows of a tensor.
i64 pitch_bytes(const Tensor& t, Pitch pitch);

/// Bytes moved when rows [r0, r1) x columns [c0, c1) of a tensor are read or written.
i64 moved_bytes(const Tensor& t, const MovedUnit& unit, i64 r0, i64 r1, i64 c0, i64 c1);

/// Bytes moved by one sweep over all tiles of a tensor whose columns are cut by col_tile, each tile once. (Rows move
/// one by one, however they are grouped.)
i64 sweep_moved_bytes(const Tensor& t, const MovedUnit& unit, i64 col_tile);

/// The loops of a kernel on a sequential grid, outermost first; an elementwise pass walks rows, then columns.
constexpr std::array<Axis, 3> loop_order(const Kernel& k, Order order) {
    constexpr Axis m = Axis::rows, n = Axis::cols, r = Axis::red;
    constexpr std::array<std::array<Axis, 3>, 6> orders = {
        {{m, n, r}, {n, m, r}, {r, m, n}, {m, r, n}, {r, n, m}, {n, r, m}}};
    return orders[k.matmul ? static_cast<std::size_t>(order) : 0];
}

/// An epilogue operand that lies along the output (the X that drelu tests, the dW accumulated on): read once a tile,
/// when it is finished (or first visited), however often the order comes back to it.
constexpr bool along_output(const Kernel& k, const Access& a) {
    return k.matmul && a.row_axis == Axis::rows && a.col_axis == Axis::cols;
}

/// Calls f(access) for every operand a kernel touches, inputs first.
template <class F>
void each_input(const Kernel& k, F&& f) {
    for (const auto* side : {&k.left, &k.right, &k.epilogue})
        for (const Access& a : *side) f(a);
}

}  // namespace sim
