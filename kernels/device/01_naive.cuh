#pragma once
// Rung 01: one thread computes one output, straight from global memory.
//   Idea      the three loops of a matmul, the outer two spread over threads: thread t of a CTA has row t % BM.
//   Watch     the lanes of a warp read 32 rows of X at the same k: 32 sectors for 128 bytes of use, and as many when
//             they store. Every operand element crosses L1 once a thread: BM·BN·2 loads a k.
//   Limit     the load unit: a warp-level load of X takes 32 sector look-ups.

#include "kernels/device/epilogue.cuh"

namespace kernels::device {

template <class Tile, class Form>
KERNEL(Tile::THREADS)
naive(GRID_CONSTANT Params p) {
    using In = typename Form::In;
    const Work w = work_item(p, block_index(), Tile::BM, Tile::BN);
    const lane<int> t = thread_index();
    const lane<int> row = t % Tile::BM, col = t / Tile::BM;
    const mask inside = (row < p.rows - w.row) & (col < p.cols - w.col);

    const auto x = window<const In>(p.left, w.problem, w.row, 0, p.rows, p.red);   // (BM, red)
    const auto y = window<const In>(p.right, w.problem, 0, w.col, p.red, p.cols);  // (red, BN)
    lane<float> sum[1] = {0.0f};
    for (int k = 0; k < p.red; ++k) {
        const lane<In> a = ld_global(x.data + k, row * x.pitch, inside);
        const lane<In> b = ld_global(y.data + static_cast<long long>(k) * y.pitch, col, inside);
        multiply_add(sum[0], to_float(a), to_float(b));
    }
    store_outputs<Form>(p, w, row, col, sum);
    KERNEL_END;
}

}  // namespace kernels::device
