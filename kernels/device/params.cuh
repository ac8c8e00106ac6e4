#pragma once
// What a kernel is given by value, and the words its template is chosen by: the GPU, the glass executor and the host
// all read this file, so it includes nothing but the schedule and uses plain types only.

#include "sim/schedule.hpp"

namespace kernels::device {

/// How a pass reads its operands: the left one (rows, red), the right one (red, cols), n = as it lies in memory, t =
/// transposed. Forward X·W is nn, dgrad dZ·Wᵀ is nt, wgrad Xᵀ·dZ is tn.
enum Layout : int { nn, nt, tn };

/// How the gradient operand is masked as it is read: not at all, by Y > 0, or by the bits of Y > 0.
enum Gate : int { gate_none, gate_values, gate_bits };

/// What is done to a sum before it is stored; flags.
enum Epilogue : int {
    with_bias = 1,         ///< add bias(col)
    with_relu = 2,         ///< y = max(z, 0); NaN stays NaN, -0 becomes +0
    with_bits = 4,         ///< store y > 0 too, one bit an element
    test_values = 8,       ///< store 0 where test(row, col) > 0 does not hold
    test_bits = 16,        ///< the same by bits
    with_accumulate = 32,  ///< add what the output held (f32)
    as_partial = 64,       ///< store the f32 sum as this split's slice, nothing else
    decided_at_run_time = -1
};

/// A row-major matrix in global memory, one a problem of the batch. Pitches count elements, those of bits bytes.
struct Plane {
    void* data;
    long long pitch;        ///< from one row to the next
    long long batch_pitch;  ///< from one problem to the next
};

/// One launch. A matmul computes out (rows, cols) over red; an elementwise pass walks (rows, cols) with red = 1.
struct Params {
    Plane left;     ///< x, dz or dy; x; an elementwise pass's input (z, dy)
    Plane right;    ///< w; dz or dy
    Plane gate;     ///< what masks the gradient operand: y, or the bits of y > 0
    Plane bias;     ///< one row
    Plane test;     ///< what drelu looks at: x, or the bits of x > 0
    Plane out;      ///< z, y, dz, dx or dw
    Plane bits;     ///< mask to write
    Plane partial;  ///< f32 (splits x batch) slices of rows x cols; pitch = cols
    int rows, cols, red;
    int tile_rows, tile_cols;  ///< BM, BN
    int row_tiles, col_tiles;  ///< of the output
    int batch;
    int k_steps;           ///< tiles of the reduction
    int splits;            ///< slices the k-steps are dealt out to
    int epilogue;          ///< flags, read where the template says decided_at_run_time
    int reverse;           ///< elementwise: last tile first
    long long work_items;  ///< batch x splits x row_tiles x col_tiles
    sim::Raster raster;    ///< order of the output tiles
};

/// A TMA descriptor, opaque: the driver's CUtensorMap.
struct alignas(64) TensorMap {
    unsigned long long words[16];
};

/// What the rungs that copy by TMA take after Params. Those a launch does not use stay zero.
struct TensorMaps {
    TensorMap left, right, gate;
};

}  // namespace kernels::device
