#pragma once
// Rung 04: a thread keeps a tile of outputs in registers.
//   Idea      TM x TN outputs a thread: TM + TN values read from shared memory serve TM·TN multiply-adds.
//   Change    from rung 03: the inner loop is an outer product of two fragments. A warp's lanes stand LANES_M x
//             LANES_N; a thread's rows and columns are strided by those, so that lanes side by side read words side
//             by side.
//   Watch     wavefronts a multiply-add fall from 2/32 to (TM + TN)/(32·TM·TN), without a bank conflict; L2 traffic
//             falls too, as the CTA's tile can now be larger than its threads.
//   Limit     the instructions of the copies, and their latency: nothing is computed while a tile is on its way.

#include "kernels/device/epilogue.cuh"
#include "kernels/device/operand.cuh"

namespace kernels::device {

template <class Tile, class Form>
KERNEL(Tile::THREADS)
register_tile(GRID_CONSTANT Params p) {
    constexpr int BM = Tile::BM, BN = Tile::BN, BK = Tile::BK, THREADS = Tile::THREADS;
    constexpr int TM = Tile::TM, TN = Tile::TN, LANES_M = Tile::LANES_M, LANES_N = Tile::LANES_N;
    const Work w = work_item(p, block_index(), BM, BN);
    const lane<int> t = thread_index();
    const lane<int> row = lane_index() / LANES_N + warp_index() / Tile::WARPS_N * Tile::WM;  // and every LANES_M-th on
    const lane<int> col = lane_index() % LANES_N + warp_index() % Tile::WARPS_N * Tile::WN;

    SharedMemory smem;
    const OperandTile<typename Form::In, BM, BK, Form::LEFT_RED_ALONG, Form::LEFT_GATE, false> a(smem);    // (BK, BM)
    const OperandTile<typename Form::In, BN, BK, Form::RIGHT_RED_ALONG, Form::RIGHT_GATE, false> b(smem);  // (BK, BN)

    lane<float> sum[TM][TN] = {};
    for (int step = w.k_begin; step < w.k_end; ++step) {
        a.template copy<THREADS>(left_source<Form>(p, w, step * BK), t);
        b.template copy<THREADS>(right_source<Form>(p, w, step * BK), t);
        SYNC();
        UNROLL_8 for (int k = 0; k < BK; ++k) {
            lane<float> left[TM], right[TN];
            UNROLL for (int i = 0; i < TM; ++i) left[i] = a.read(k, row + i * LANES_M);
            UNROLL for (int j = 0; j < TN; ++j) right[j] = b.read(k, col + j * LANES_N);
            UNROLL for (int i = 0; i < TM; ++i) UNROLL for (int j = 0; j < TN; ++j)
                multiply_add(sum[i][j], left[i], right[j]);
        }
        SYNC();
    }
    UNROLL for (int i = 0; i < TM; ++i) UNROLL for (int j = 0; j < TN; ++j) {
        lane<float> one[1] = {sum[i][j]};
        store_outputs<Form>(p, w, row + i * LANES_M, col + j * LANES_N, one);
    }
    KERNEL_END;
}

}  // namespace kernels::device
