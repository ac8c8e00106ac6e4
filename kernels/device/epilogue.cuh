#pragma once
// What becomes of a sum: bias, ReLU, the mask of the layer below, a partial slice; rounded once, stored once.

#include "kernels/device/primitives.cuh"
#include "kernels/device/shape.cuh"

namespace kernels::device {

/// The bits of N neighbouring outputs a lane: 8 / N neighbouring lanes make a byte, and the first of them stores it.
template <int N>
DEVICE void store_bits(const Window<unsigned char>& to, lane<int> row, lane<int> col, lane<unsigned> bits,
                       lane<int> count, Place at) {
    constexpr int LANES = 8 / N;
    const lane<int> part = lane_index() % LANES;
    lane<unsigned> byte = bits << as_unsigned(part * N);
    UNROLL for (int by = 1; by < LANES; by *= 2) byte = byte | shuffle_xor(byte, by);
    st_global_bits(to.data, row * (8 * to.pitch) + col, byte, select(part == 0, count, lane<int>(0)), at);
}

/// Finishes and stores outputs (row, col) to (row, col + N - 1), counted from the tile's corner at (w.row, w.col). With
/// bits, neighbouring lanes hold neighbouring groups of N columns of one row, and col of lanes 0, 8/N, … is a multiple
/// of 8. The flags are the Form's, or those of the parameters.
template <class Form, int N>
DEVICE void store_outputs(const Params& p, const Work& w, lane<int> row, lane<int> col, lane<float> (&v)[N],
                          Place at = Place::here()) {
    using Out = typename Form::Out;
    const int flags = Form::EPILOGUE == decided_at_run_time ? p.epilogue : Form::EPILOGUE;
    const lane<int> left =
        select(row < p.rows - w.row, p.cols - w.col - col, lane<int>(0));  // of this row, from col on
    const lane<int> count = select(left < N, left, lane<int>(N));
    if constexpr (sizeof(Out) == sizeof(float)) {  // slices are f32
        if (flags & as_partial) {
            const auto slice = window<float>(p.partial, w.slice * p.batch + w.problem, w.row, w.col, p.rows, p.cols);
            st_global(slice.data, row * slice.pitch + col, v, count, at);
            return;
        }
    }
    if (flags & with_bias) {
        lane<Out> b[N];
        ld_cached(b, window<const Out>(p.bias, w.problem, 0, w.col, 1, p.cols).data, col, count, at);
        UNROLL for (int j = 0; j < N; ++j) v[j] = v[j] + to_float(b[j]);
    }
    if (flags & with_relu) {
        UNROLL for (int j = 0; j < N; ++j) v[j] = relu(v[j]);
    }
    if (flags & test_values) {
        const Window<const Out> test = window<const Out>(p.test, w.problem, w.row, w.col, p.rows, p.cols);
        lane<Out> x[N];
        ld_global(x, test.data, row * test.pitch + col, count, at);
        UNROLL for (int j = 0; j < N; ++j) v[j] = select(is_positive(x[j]), v[j], lane<float>(0.0f));
    }
    if (flags & test_bits) {
        const Window<unsigned char> test = bit_window(p.test, w.problem, w.row, w.col, p.rows, p.cols);
        const lane<unsigned> open = ld_global_bits<N>(test.data, row * (8 * test.pitch) + col, count, at);
        UNROLL for (int j = 0; j < N; ++j) v[j] = select((open >> j & 1u) != 0u, v[j], lane<float>(0.0f));
    }
    const Window<Out> out = window<Out>(p.out, w.problem, w.row, w.col, p.rows, p.cols);
    if (flags & with_accumulate) {
        lane<Out> before[N];
        ld_global(before, static_cast<const Out*>(out.data), row * out.pitch + col, count, at);
        UNROLL for (int j = 0; j < N; ++j) v[j] = v[j] + to_float(before[j]);
    }
    lane<Out> stored[N];
    UNROLL for (int j = 0; j < N; ++j) stored[j] = round_to<Out>(v[j]);
    st_global(out.data, row * out.pitch + col, stored, count, at);
    if (flags & with_bits) {  // of what was stored, so that both residuals agree
        lane<unsigned> bits = 0u;
        UNROLL for (int j = 0; j < N; ++j) bits = bits | as_unsigned(is_positive(stored[j]) & (count > j))
                                                             << static_cast<unsigned>(j);
        store_bits<N>(bit_window(p.bits, w.problem, w.row, w.col, p.rows, p.cols), row, col, bits, left, at);
    }
}

}  // namespace kernels::device
