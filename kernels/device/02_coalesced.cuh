#pragma once
// Rung 02: neighbouring threads read neighbouring columns.
//   Idea      the loops of rung 01 with the roles of a thread's row and column swapped: thread t has column t % BN.
//   Change    one line: a warp is now 32 columns of one row.
//   Watch     a warp's load of W is 128 bytes in a row (4 sectors), its load of X one value for all (1 sector): 5 a k
//             where rung 01 asks for 33, and 4 a store where that has 32, though the arithmetic is the same.
//   Limit     still two loads a multiply-add; L1 serves them, L2 sees what L1 cannot hold.

#include "kernels/device/epilogue.cuh"

namespace kernels::device {

template <class Tile, class Form>
KERNEL(Tile::THREADS)
coalesced(GRID_CONSTANT Params p) {
    using In = typename Form::In;
    const Work w = work_item(p, block_index(), Tile::BM, Tile::BN);
    const lane<int> t = thread_index();
    const lane<int> row = t / Tile::BN, col = t % Tile::BN;
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
