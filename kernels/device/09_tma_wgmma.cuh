#pragma once
// Rung 09: loads, products and stores have warps of their own.
//   Idea      one warp copies whole boxes by TMA and does nothing else; one or two warpgroups multiply straight from
//             shared memory (wgmma reads both operands there). They meet at barriers: `full` counts the bytes of a
//             stage that have come, `empty` the warps that are done with it.
//   Change    from rung 08: no address arithmetic, no fragments in registers, no SYNC in the loop. CTAs of a cluster
//             share loads: those of a row their X, those of a column their W, each loading a part for all
//             (multicast).
//   Consumers cooperative: the warpgroups share a tile, 64 rows each. pingpong: each has a tile of its own, so that one
//             multiplies while the other stores.
//   Watch     L2 reads fall by the cluster's width and height; shared memory is read BM + (BM/64)·BN elements a k.
//   Limit     the matrix units, where the stages cover the latency; the power of the whole GPU.

#include "kernels/device/epilogue.cuh"
#include "kernels/device/hopper.cuh"

namespace kernels::device {

/// How a CTA of rung 09 is made up.
template <class Tile, int PINGPONG>
struct Warpgroups {
    static constexpr int CONSUMERS = PINGPONG || Tile::BM > 64 ? 2 : 1, THREADS = 128 * (1 + CONSUMERS);
    static constexpr int ROWS = PINGPONG ? Tile::BM : Tile::BM / CONSUMERS;  // of a consumer's share of a tile
    static constexpr int ARRIVALS = 4 * (PINGPONG ? 1 : CONSUMERS);          // warps that read a stage
};

template <class Tile, class Form, int CM, int CN, int PINGPONG>
KERNEL((Warpgroups<Tile, PINGPONG>::THREADS), 1)
tma_wgmma(GRID_CONSTANT Params p, GRID_CONSTANT TensorMaps maps) {
    using Groups = Warpgroups<Tile, PINGPONG>;
    using In = typename Form::In;
    constexpr int BM = Tile::BM, BN = Tile::BN, BK = Tile::BK, STAGES = Tile::STAGES, ROWS = Groups::ROWS;
    constexpr bool LEFT_ALONG = Form::LEFT_RED_ALONG, RIGHT_ALONG = Form::RIGHT_RED_ALONG;

    SharedMemory smem;
    const Shared<In> a = smem.take<In>(STAGES * BM * BK);  // (stage, slab, row of 64)
    const Shared<In> b = smem.take<In>(STAGES * BN * BK);
    const Barriers full = smem.take<unsigned long long>(STAGES), empty = smem.take<unsigned long long>(STAGES);
    const Barriers turn = smem.take<unsigned long long>(2);  // pingpong: whose products come next
    for (int s = 0; s < STAGES; ++s) {
        init_barrier(full, s, 1);
        init_barrier(empty, s, Groups::ARRIVALS * (CM + CN - 1));
    }
    init_barrier(turn, 0, 4);
    init_barrier(turn, 1, 4);
    if constexpr (CM * CN > 1)
        CLUSTER_SYNC();
    else
        SYNC();

    const int rank = cluster_rank(), rank_m = rank / CN, rank_n = rank % CN;
    int stage = 0, phase = 0;  // of the next k-step
    if (warp_index() < 4) {
        if constexpr (Groups::CONSUMERS == 2) keep_registers<56>();
        if (warp_index() == 0) {
            // The CTAs of my row and of my column, as bits.
            const int row_ctas = ((1 << CN) - 1) << rank_m * CN;
            int col_ctas = 0;
            for (int i = 0; i < CM; ++i) col_ctas |= 1 << (i * CN + rank_n);
            for (long long item = block_index(); item < p.work_items; item += grid_size()) {
                const Work w = cluster_work_item(p, item, BM, BN, CM, CN);
                for (int step = w.k_begin; step < w.k_end; ++step) {
                    WAIT(empty, stage, phase ^ 1);
                    expect_bytes(full, stage, (BM + BN) * BK * static_cast<int>(sizeof(In)));
                    const Shared<In> to_a = a.from(stage * BM * BK), to_b = b.from(stage * BN * BK);
                    // A part of each tile: lines of a slab, or a slab where it lies the other way.
                    if constexpr (LEFT_ALONG) {
                        constexpr int PART = BM / CN;
                        for (int k = 0; k < BK; k += 64)
                            copy_box(to_a.from(k * BM + rank_n * PART * 64), maps.left, full, stage, step * BK + k,
                                     w.row + rank_n * PART, w.problem, row_ctas);
                    } else {
                        constexpr int PART = BK / CN;
                        for (int m = 0; m < BM; m += 64)
                            copy_box(to_a.from(m * BK + rank_n * PART * 64), maps.left, full, stage, w.row + m,
                                     step * BK + rank_n * PART, w.problem, row_ctas);
                    }
                    if constexpr (RIGHT_ALONG) {
                        constexpr int PART = BN / CM;
                        for (int k = 0; k < BK; k += 64)
                            copy_box(to_b.from(k * BN + rank_m * PART * 64), maps.right, full, stage, step * BK + k,
                                     w.col + rank_m * PART, w.problem, col_ctas);
                    } else {
                        constexpr int PART = BK / CM;
                        for (int n = 0; n < BN; n += 64)
                            copy_box(to_b.from(n * BK + rank_m * PART * 64), maps.right, full, stage, w.col + n,
                                     step * BK + rank_m * PART, w.problem, col_ctas);
                    }
                    if (++stage == STAGES) {
                        stage = 0;
                        phase ^= 1;
                    }
                }
            }
        }
    } else {
        if constexpr (Groups::CONSUMERS == 2) take_registers<224>();
        const int group = warp_index() / 4 - 1, row0 = PINGPONG ? 0 : group * ROWS;
        int tile = 0, turn_phase = group ^ 1;  // the first group begins
        for (long long item = block_index(); item < p.work_items; item += grid_size(), ++tile) {
            const Work w = cluster_work_item(p, item, BM, BN, CM, CN);
            if (PINGPONG && tile % 2 != group) {  // the other's tile: its k-steps pass by
                const int skipped = stage + (w.k_end - w.k_begin);
                phase ^= skipped / STAGES & 1;
                stage = skipped % STAGES;
                continue;
            }
            lane<float> sum[ROWS / 64][BN / 2] = {};
            int before = 0;
            if constexpr (PINGPONG) {  // a parity tells one phase from the next only: no group runs ahead of the other
                WAIT(turn, group, turn_phase);
                turn_phase ^= 1;
            }
            for (int step = w.k_begin; step < w.k_end; ++step) {
                WAIT(full, stage, phase);
                WARPGROUP_FENCE();
                UNROLL for (int k = 0; k < BK; k += 16) UNROLL for (int i = 0; i < ROWS / 64; ++i)
                    warpgroup_multiply<BN, BM, BK, LEFT_ALONG, RIGHT_ALONG>(sum[i], a.from(stage * BM * BK),
                                                                            b.from(stage * BN * BK), row0 + 64 * i, k);
                warpgroup_commit();
                warpgroup_wait<1>();
                if (step > w.k_begin)  // the step before has been multiplied: all that loaded it may load again
                    for (int r = 0; r < CM * CN; ++r)
                        if (r / CN == rank_m || r % CN == rank_n) arrive(empty, before, r);
                before = stage;
                if (++stage == STAGES) {
                    stage = 0;
                    phase ^= 1;
                }
            }
            if constexpr (PINGPONG) arrive(turn, group ^ 1, rank);
            warpgroup_wait<0>();
            for (int r = 0; r < CM * CN; ++r)
                if (r / CN == rank_m || r % CN == rank_n) arrive(empty, before, r);
            const lane<int> row = lane_index() / 4 + (warp_index() % 4 * 16 + row0), col = lane_index() % 4 * 2;
            UNROLL for (int i = 0; i < ROWS / 64; ++i) UNROLL for (int half = 0; half < 2; ++half)
                UNROLL for (int j = 0; j < BN / 8; ++j) {
                lane<float> two[2] = {sum[i][4 * j + 2 * half], sum[i][4 * j + 2 * half + 1]};
                store_outputs<Form>(p, w, row + (64 * i + 8 * half), col + 8 * j, two);
            }
        }
    }
    if constexpr (CM * CN > 1) CLUSTER_SYNC();  // nobody leaves while a neighbour may still write here
    KERNEL_END;
}

}  // namespace kernels::device
