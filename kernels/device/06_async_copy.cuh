#pragma once
// Rung 06: cp.async keeps several stages in flight.
//   Idea      global memory is copied to shared memory past the registers, STAGES - 1 tiles ahead of the one in use.
//   Change    from rung 05: a ring of stages instead of two buffers and registers between; a copy cannot turn a tile
//             any more, so fragments are read four k at a time along whichever way the tile lies.
//   Watch     bytes in flight a CTA: (STAGES - 1)·(BM + BN)·BK·4, against latency x bandwidth (Little's law); the
//             registers of the tile in flight are free again.
//   Limit     the f32 units, if the stages cover the latency: one multiply-add an output and k.

#include "kernels/device/async_operand.cuh"
#include "kernels/device/epilogue.cuh"

namespace kernels::device {

template <class Tile, class Form>
KERNEL(Tile::THREADS)
async_copy(GRID_CONSTANT Params p) {
    constexpr int BM = Tile::BM, BN = Tile::BN, BK = Tile::BK, THREADS = Tile::THREADS, STAGES = Tile::STAGES;
    constexpr int TM = Tile::TM, TN = Tile::TN, LANES_M = Tile::LANES_M, LANES_N = Tile::LANES_N;
    const Work w = work_item(p, block_index(), BM, BN);
    const lane<int> t = thread_index();
    const lane<int> lane_m = lane_index() / LANES_N, lane_n = lane_index() % LANES_N;
    const int warp_m = warp_index() / Tile::WARPS_N * Tile::WM, warp_n = warp_index() % Tile::WARPS_N * Tile::WN;

    using Left = AsyncTile<typename Form::In, BM, BK, Form::LEFT_RED_ALONG, Form::LEFT_GATE, STAGES>;
    using Right = AsyncTile<typename Form::In, BN, BK, Form::RIGHT_RED_ALONG, Form::RIGHT_GATE, STAGES>;
    SharedMemory smem;
    const Left a(smem);
    const Right b(smem);

    for (int s = 0; s < STAGES - 1; ++s) {
        if (w.k_begin + s < w.k_end) {
            a.stage(s).template begin_copy<THREADS>(left_source<Form>(p, w, (w.k_begin + s) * BK), t);
            b.stage(s).template begin_copy<THREADS>(right_source<Form>(p, w, (w.k_begin + s) * BK), t);
        }
        copy_commit();
    }
    lane<float> sum[TM][TN] = {};
    for (int step = 0; step < w.k_end - w.k_begin; ++step) {
        copy_wait<STAGES - 2>();
        SYNC();
        const int next = step + STAGES - 1;
        if (w.k_begin + next < w.k_end) {
            a.stage(next % STAGES).template begin_copy<THREADS>(left_source<Form>(p, w, (w.k_begin + next) * BK), t);
            b.stage(next % STAGES).template begin_copy<THREADS>(right_source<Form>(p, w, (w.k_begin + next) * BK), t);
        }
        copy_commit();
        const Left now_a = a.stage(step % STAGES);
        const Right now_b = b.stage(step % STAGES);
        UNROLL_2 for (int k = 0; k < BK; k += 4) {  // (TM,4), or (TM/4,4) of one k
            lane<float> left[Left::RED_ALONG ? TM : TM / 4][4], right[Right::RED_ALONG ? TN : TN / 4][4];
            if constexpr (Left::RED_ALONG) now_a.template fragment<LANES_M>(left, lane_m, warp_m, k);
            if constexpr (Right::RED_ALONG) now_b.template fragment<LANES_N>(right, lane_n, warp_n, k);
            UNROLL for (int q = 0; q < 4; ++q) {
                if constexpr (!Left::RED_ALONG) now_a.template fragment_at<LANES_M>(left, lane_m, warp_m, k + q);
                if constexpr (!Right::RED_ALONG) now_b.template fragment_at<LANES_N>(right, lane_n, warp_n, k + q);
                UNROLL for (int i = 0; i < TM; ++i) UNROLL for (int j = 0; j < TN; ++j)
                    multiply_add(sum[i][j], Left::RED_ALONG ? left[i][q] : left[i / 4][i % 4],
                                 Right::RED_ALONG ? right[j][q] : right[j / 4][j % 4]);
            }
        }
    }
    constexpr int N = Right::RED_ALONG ? 1 : 4;  // neighbouring columns a thread has
    UNROLL for (int i = 0; i < TM; ++i) UNROLL for (int j = 0; j < TN; j += N) {
        lane<float> some[N];
        UNROLL for (int c = 0; c < N; ++c) some[c] = sum[i][j + c];
        store_outputs<Form>(p, w, Left::template outer<LANES_M>(lane_m, i) + warp_m,
                            Right::template outer<LANES_N>(lane_n, j) + warp_n, some);
    }
    KERNEL_END;
}

}  // namespace kernels::device
