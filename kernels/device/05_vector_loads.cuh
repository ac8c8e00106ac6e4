#pragma once
// Rung 05: 128-bit loads, and the next tile is fetched early.
//   Idea      every access moves 16 bytes a thread: global loads, fragments from shared memory, stores. The next tile
//             is loaded into registers before the CTA computes on the one it has, and stored to a second buffer
//             after.
//   Change    from rung 04: rows and columns of a thread come in groups of four; InFlight stands between global and
//             shared memory; one barrier a k-step instead of two.
//   Watch     a quarter of the memory instructions for the same bytes; the latency of global memory hides behind BK
//             outer products.
//   Limit     registers (tile in flight + fragments + TM·TN sums), and the stores that turn a tile row by row.

#include "kernels/device/epilogue.cuh"
#include "kernels/device/operand.cuh"

namespace kernels::device {

template <class Tile, class Form>
KERNEL(Tile::THREADS)
vector_loads(GRID_CONSTANT Params p) {
    constexpr int BM = Tile::BM, BN = Tile::BN, BK = Tile::BK, THREADS = Tile::THREADS;
    constexpr int TM = Tile::TM, TN = Tile::TN, LANES_M = Tile::LANES_M, LANES_N = Tile::LANES_N;
    const Work w = work_item(p, block_index(), BM, BN);
    const lane<int> t = thread_index();
    const lane<int> row = lane_index() / LANES_N * 4 + warp_index() / Tile::WARPS_N * Tile::WM;  // 4, and 4 further on
    const lane<int> col = lane_index() % LANES_N * 4 + warp_index() % Tile::WARPS_N * Tile::WN;

    using Left = OperandTile<typename Form::In, BM, BK, Form::LEFT_RED_ALONG, Form::LEFT_GATE, true, 2>;     // (BK, BM)
    using Right = OperandTile<typename Form::In, BN, BK, Form::RIGHT_RED_ALONG, Form::RIGHT_GATE, true, 2>;  // (BK, BN)
    SharedMemory smem;
    const Left a(smem);
    const Right b(smem);
    InFlight<Left, THREADS> next_a;
    InFlight<Right, THREADS> next_b;

    next_a.fetch(left_source<Form>(p, w, w.k_begin * BK), t);
    next_b.fetch(right_source<Form>(p, w, w.k_begin * BK), t);
    next_a.store(a, left_source<Form>(p, w, w.k_begin * BK), t);
    next_b.store(b, right_source<Form>(p, w, w.k_begin * BK), t);
    SYNC();
    lane<float> sum[TM][TN] = {};
    for (int step = w.k_begin; step < w.k_end; ++step) {
        const int now = (step - w.k_begin) % 2;
        if (step + 1 < w.k_end) {
            next_a.fetch(left_source<Form>(p, w, (step + 1) * BK), t);
            next_b.fetch(right_source<Form>(p, w, (step + 1) * BK), t);
        }
        UNROLL_8 for (int k = 0; k < BK; ++k) {
            lane<float> left[TM / 4][4], right[TN / 4][4];
            UNROLL for (int i = 0; i < TM / 4; ++i) a.stage(now).read4(left[i], k, row + i * 4 * LANES_M);
            UNROLL for (int j = 0; j < TN / 4; ++j) b.stage(now).read4(right[j], k, col + j * 4 * LANES_N);
            UNROLL for (int i = 0; i < TM; ++i) UNROLL for (int j = 0; j < TN; ++j)
                multiply_add(sum[i][j], left[i / 4][i % 4], right[j / 4][j % 4]);
        }
        if (step + 1 < w.k_end) {
            next_a.store(a.stage(1 - now), left_source<Form>(p, w, (step + 1) * BK), t);
            next_b.store(b.stage(1 - now), right_source<Form>(p, w, (step + 1) * BK), t);
        }
        SYNC();
    }
    UNROLL for (int i = 0; i < TM; ++i) UNROLL for (int j = 0; j < TN / 4; ++j) {
        lane<float> four[4] = {sum[i][4 * j], sum[i][4 * j + 1], sum[i][4 * j + 2], sum[i][4 * j + 3]};
        store_outputs<Form>(p, w, row + i / 4 * 4 * LANES_M + i % 4, col + j * 4 * LANES_N, four);
    }
    KERNEL_END;
}

}  // namespace kernels::device
