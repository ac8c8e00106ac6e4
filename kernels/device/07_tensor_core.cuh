#pragma once
// Rung 07: tensor cores.
//   Idea      mma.sync multiplies (16,16) by (16,8) for a whole warp at once; ldmatrix brings fragments from shared
//             memory in the order it wants, turned or not.
//   Change    from rung 06: bf16 or f16 operands, f32 sums; fragments and the product. The pipeline is the same.
//   Watch     the same bytes do some 16 times the work of the f32 units, so a tile that fed them well starves now:
//             shared memory is read (BM/WM)·BN + (BN/WN)·BM elements a k, L2 BM + BN.
//   Limit     shared memory for small warp tiles, L2 or DRAM for small CTA tiles.

#include "kernels/device/async_operand.cuh"
#include "kernels/device/epilogue.cuh"

namespace kernels::device {

template <class Tile, class Form>
KERNEL(Tile::THREADS)
tensor_core(GRID_CONSTANT Params p) {
    constexpr int BM = Tile::BM, BN = Tile::BN, BK = Tile::BK, THREADS = Tile::THREADS, STAGES = Tile::STAGES;
    constexpr int WM = Tile::WM, WN = Tile::WN;
    using In = typename Form::In;
    const Work w = work_item(p, block_index(), BM, BN);
    const lane<int> t = thread_index();
    const int warp_m = warp_index() / Tile::WARPS_N * WM, warp_n = warp_index() % Tile::WARPS_N * WN;

    SharedMemory smem;
    const AsyncTile<In, BM, BK, Form::LEFT_RED_ALONG, Form::LEFT_GATE, STAGES> a(smem);
    const AsyncTile<In, BN, BK, Form::RIGHT_RED_ALONG, Form::RIGHT_GATE, STAGES> b(smem);

    for (int s = 0; s < STAGES - 1; ++s) {
        if (w.k_begin + s < w.k_end) {
            a.stage(s).template begin_copy<THREADS>(left_source<Form>(p, w, (w.k_begin + s) * BK), t);
            b.stage(s).template begin_copy<THREADS>(right_source<Form>(p, w, (w.k_begin + s) * BK), t);
        }
        copy_commit();
    }
    lane<float> sum[WM / 16][WN / 8][4] = {};
    for (int step = 0; step < w.k_end - w.k_begin; ++step) {
        copy_wait<STAGES - 2>();
        SYNC();
        const int next = step + STAGES - 1;
        if (w.k_begin + next < w.k_end) {
            a.stage(next % STAGES).template begin_copy<THREADS>(left_source<Form>(p, w, (w.k_begin + next) * BK), t);
            b.stage(next % STAGES).template begin_copy<THREADS>(right_source<Form>(p, w, (w.k_begin + next) * BK), t);
        }
        copy_commit();
        UNROLL for (int k = 0; k < BK; k += 16) {
            lane<unsigned> left[WM / 16][4], right[WN / 16][4];
            UNROLL for (int i = 0; i < WM / 16; ++i) a.stage(step % STAGES).left_fragment(left[i], warp_m + 16 * i, k);
            UNROLL for (int j = 0; j < WN / 16; ++j) b.stage(step % STAGES)
                .right_fragments(right[j], warp_n + 16 * j, k);
            UNROLL for (int i = 0; i < WM / 16; ++i) UNROLL for (int j = 0; j < WN / 8; ++j)
                mma_m16n8k16<In>(sum[i][j], left[i], right[j / 2][j % 2 * 2], right[j / 2][j % 2 * 2 + 1]);
        }
    }
    const lane<int> row = lane_index() / 4 + warp_m, col = lane_index() % 4 * 2 + warp_n;
    UNROLL for (int i = 0; i < WM / 16; ++i) UNROLL for (int half = 0; half < 2; ++half)
        UNROLL for (int j = 0; j < WN / 8; ++j) {
        lane<float> two[2] = {sum[i][j][2 * half], sum[i][j][2 * half + 1]};
        store_outputs<Form>(p, w, row + (16 * i + 8 * half), col + 8 * j, two);
    }
    KERNEL_END;
}

}  // namespace kernels::device
