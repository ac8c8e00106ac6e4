#pragma once
// The passes around an unfused matmul and after a split one: relu (z to y), mask (dy to dz where y > 0) and reduce (the
// sum of split-K slices, then what the matmul's epilogue would have done). One CTA takes one tile of outputs (the
// matmul's, so its size is a parameter), N neighbouring ones a thread at a time.
//   Watch     each output is read once and written once more: this is the traffic that fusion saves. Walked in reverse,
//             the tiles that the matmul wrote last are found in L2.

#include "kernels/device/epilogue.cuh"

namespace kernels::device {

inline constexpr int elementwise_threads = 256;

/// The tile of this CTA: rows of tiles one after another, or backwards.
DEVICE Work elementwise_item(const Params& p) {
    const long long i = block_index();
    Params along_n = p;
    along_n.raster = {sim::Raster::along_n, 0};
    along_n.splits = 1;
    return work_item(along_n, p.reverse ? p.work_items - 1 - i : i, p.tile_rows, p.tile_cols);
}

/// The N outputs of a thread in round i over the CTA's tile, from (row, col) on; beyond the tile's end, row is p.rows.
template <int N>
struct Spot {
    lane<int> row, col;
    DEVICE Spot(const Params& p, int i) {
        const int packs = (p.tile_cols + N - 1) / N;  // of a row
        const lane<int> e = thread_index() + i;
        row = select(e < p.tile_rows * packs, e / packs, lane<int>(p.rows));
        col = e % packs * N;
    }
    /// Threads' shares of a tile.
    DEVICE static int shares(const Params& p) { return p.tile_rows * ((p.tile_cols + N - 1) / N); }
    /// How many of the N lie inside a matrix of which `lines` x `length` are left from the tile's corner on.
    DEVICE lane<int> count(int lines, int length) const { return select(row < lines, length - col, lane<int>(0)); }
};

/// out = z, as the flags say (with_relu, with_bits).
template <int N, class Form>
KERNEL(elementwise_threads)
relu_pass(GRID_CONSTANT Params p) {
    using In = typename Form::In;
    const Work w = elementwise_item(p);
    const auto z = window<const In>(p.left, w.problem, w.row, w.col, p.rows, p.cols);
    for (int i = 0; i < Spot<N>::shares(p); i += elementwise_threads) {
        const Spot<N> at(p, i);
        lane<In> in[N];
        ld_global(in, z.data, at.row * z.pitch + at.col, at.count(z.lines, z.length));
        lane<float> v[N];
        UNROLL for (int j = 0; j < N; ++j) v[j] = to_float(in[j]);
        store_outputs<Form>(p, w, at.row, at.col, v);
    }
    KERNEL_END;
}

/// out = dy where the gate is open, else 0.
template <int N, class Form>
KERNEL(elementwise_threads)
mask_pass(GRID_CONSTANT Params p) {
    using In = typename Form::In;
    constexpr Gate GATE = Form::LEFT_GATE;
    const Work w = elementwise_item(p);
    const auto dy = window<const In>(p.left, w.problem, w.row, w.col, p.rows, p.cols);
    for (int i = 0; i < Spot<N>::shares(p); i += elementwise_threads) {
        const Spot<N> at(p, i);
        const lane<int> count = at.count(dy.lines, dy.length);
        lane<In> in[N];
        ld_global(in, dy.data, at.row * dy.pitch + at.col, count);
        lane<float> v[N];
        if constexpr (GATE == gate_bits) {
            const auto bits = bit_window(p.gate, w.problem, w.row, w.col, p.rows, p.cols);
            const lane<unsigned> open = ld_global_bits<N>(bits.data, at.row * (8 * bits.pitch) + at.col, count);
            UNROLL for (int j = 0; j < N; ++j) v[j] =
                select((open >> j & 1u) != 0u, to_float(in[j]), lane<float>(0.0f));
        } else {
            const auto y = window<const In>(p.gate, w.problem, w.row, w.col, p.rows, p.cols);
            lane<In> by[N];
            ld_global(by, y.data, at.row * y.pitch + at.col, count);
            UNROLL for (int j = 0; j < N; ++j) v[j] = select(is_positive(by[j]), to_float(in[j]), lane<float>(0.0f));
        }
        store_outputs<Form>(p, w, at.row, at.col, v);
    }
    KERNEL_END;
}

/// out = the epilogue of the sum of the slices.
template <int N, class Form>
KERNEL(elementwise_threads)
reduce_slices(GRID_CONSTANT Params p) {
    const Work w = elementwise_item(p);
    for (int i = 0; i < Spot<N>::shares(p); i += elementwise_threads) {
        const Spot<N> at(p, i);
        lane<float> sum[N] = {};
        for (int slice = 0; slice < p.splits; ++slice) {
            const auto part = window<const float>(p.partial, slice * p.batch + w.problem, w.row, w.col, p.rows, p.cols);
            lane<float> v[N];
            ld_global(v, part.data, at.row * part.pitch + at.col, at.count(part.lines, part.length));
            UNROLL for (int j = 0; j < N; ++j) sum[j] = sum[j] + v[j];
        }
        store_outputs<Form>(p, w, at.row, at.col, sum);
    }
    KERNEL_END;
}

}  // namespace kernels::device
