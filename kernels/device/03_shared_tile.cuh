#pragma once
// Rung 03: a CTA shares its tiles through shared memory.
//   Idea      the CTA walks the reduction BK at a time: all threads together copy a (BM, BK) and a (BK, BN) tile into
//             shared memory once, then each thread takes what it needs from there.
//   Change    from rung 02: two copies and two barriers a k-step; the inner loop reads shared memory.
//   Watch     L2 traffic falls to rows·red·(cols/BN) + red·cols·(rows/BM) elements; each output still costs two reads
//             of shared memory a k.
//   Limit     shared memory: two wavefronts a warp for 32 multiply-adds.

#include "kernels/device/epilogue.cuh"
#include "kernels/device/operand.cuh"

namespace kernels::device {

template <class Tile, class Form>
KERNEL(Tile::THREADS)
shared_tile(GRID_CONSTANT Params p) {
    constexpr int BM = Tile::BM, BN = Tile::BN, BK = Tile::BK, THREADS = Tile::THREADS;
    const Work w = work_item(p, block_index(), BM, BN);
    const lane<int> t = thread_index();
    const lane<int> row = t / BN, col = t % BN;

    SharedMemory smem;
    const OperandTile<typename Form::In, BM, BK, Form::LEFT_RED_ALONG, Form::LEFT_GATE, false> a(smem);    // (BK, BM)
    const OperandTile<typename Form::In, BN, BK, Form::RIGHT_RED_ALONG, Form::RIGHT_GATE, false> b(smem);  // (BK, BN)

    lane<float> sum[1] = {0.0f};
    for (int step = w.k_begin; step < w.k_end; ++step) {
        a.template copy<THREADS>(left_source<Form>(p, w, step * BK), t);
        b.template copy<THREADS>(right_source<Form>(p, w, step * BK), t);
        SYNC();
        UNROLL for (int k = 0; k < BK; ++k) {
            const lane<float> left = a.read(k, row);
            multiply_add(sum[0], left, b.read(k, col));
        }
        SYNC();
    }
    store_outputs<Form>(p, w, row, col, sum);
    KERNEL_END;
}

}  // namespace kernels::device
