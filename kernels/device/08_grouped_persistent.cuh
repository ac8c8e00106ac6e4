#pragma once
// Rung 08: CTAs that stay, in a raster that keeps neighbours together.
//   Idea      as many CTAs as the GPU holds at a time take tile after tile; the tiles that run side by side are chosen
//             to share rows and columns (raster grouped:G), so that their union is small enough for L2.
//   Change    from rung 07: a loop around it. The first stages of the next tile are on their way while this one is
//             stored.
//   Watch     DRAM bytes: a wave of S CTAs in groups of G rows reads about G + S/G strips where a row-by-row wave
//             reads 1 + S. L2 bytes do not change.
//   Limit     the epilogue, which the matrix units wait for; rung 09 gives loads, products and stores warps of their
//             own.

#include "kernels/device/async_operand.cuh"
#include "kernels/device/epilogue.cuh"

namespace kernels::device {

template <class Tile, class Form>
KERNEL(Tile::THREADS)
grouped_persistent(GRID_CONSTANT Params p) {
    constexpr int BM = Tile::BM, BN = Tile::BN, BK = Tile::BK, THREADS = Tile::THREADS, STAGES = Tile::STAGES;
    constexpr int WM = Tile::WM, WN = Tile::WN;
    using In = typename Form::In;
    const lane<int> t = thread_index();
    const int warp_m = warp_index() / Tile::WARPS_N * WM, warp_n = warp_index() % Tile::WARPS_N * WN;

    SharedMemory smem;
    const AsyncTile<In, BM, BK, Form::LEFT_RED_ALONG, Form::LEFT_GATE, STAGES> a(smem);
    const AsyncTile<In, BN, BK, Form::RIGHT_RED_ALONG, Form::RIGHT_GATE, STAGES> b(smem);

    const auto begin_stage = [&](const Work& w, int step) {
        if (w.k_begin + step < w.k_end) {
            a.stage(step % STAGES).template begin_copy<THREADS>(left_source<Form>(p, w, (w.k_begin + step) * BK), t);
            b.stage(step % STAGES).template begin_copy<THREADS>(right_source<Form>(p, w, (w.k_begin + step) * BK), t);
        }
        copy_commit();
    };

    Work w = work_item(p, block_index(), BM, BN);
    for (int s = 0; s < STAGES - 1; ++s) begin_stage(w, s);
    for (long long item = block_index(); item < p.work_items; item += grid_size()) {
        lane<float> sum[WM / 16][WN / 8][4] = {};
        for (int step = 0; step < w.k_end - w.k_begin; ++step) {
            copy_wait<STAGES - 2>();
            SYNC();
            begin_stage(w, step + STAGES - 1);
            UNROLL for (int k = 0; k < BK; k += 16) {
                lane<unsigned> left[WM / 16][4], right[WN / 16][4];
                UNROLL for (int i = 0; i < WM / 16; ++i) a.stage(step % STAGES)
                    .left_fragment(left[i], warp_m + 16 * i, k);
                UNROLL for (int j = 0; j < WN / 16; ++j) b.stage(step % STAGES)
                    .right_fragments(right[j], warp_n + 16 * j, k);
                UNROLL for (int i = 0; i < WM / 16; ++i) UNROLL for (int j = 0; j < WN / 8; ++j)
                    mma_m16n8k16<In>(sum[i][j], left[i], right[j / 2][j % 2 * 2], right[j / 2][j % 2 * 2 + 1]);
            }
        }
        SYNC();  // no warp reads the stages any more
        const Work done = w;
        if (item + grid_size() < p.work_items) {
            w = work_item(p, item + grid_size(), BM, BN);
            for (int s = 0; s < STAGES - 1; ++s) begin_stage(w, s);
        }
        const lane<int> row = lane_index() / 4 + warp_m, col = lane_index() % 4 * 2 + warp_n;
        UNROLL for (int i = 0; i < WM / 16; ++i) UNROLL for (int half = 0; half < 2; ++half)
            UNROLL for (int j = 0; j < WN / 8; ++j) {
            lane<float> two[2] = {sum[i][j][2 * half], sum[i][j][2 * half + 1]};
            store_outputs<Form>(p, done, row + (16 * i + 8 * half), col + 8 * j, two);
        }
    }
    KERNEL_END;
}

}  // namespace kernels::device
