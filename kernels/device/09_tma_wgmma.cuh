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
//   Masks     wgmma takes the left operand from registers too, the right one from shared memory only. dgrad's gradient
//             is masked on its way to registers, as in rung 07; wgrad's where it lies: read, masked and written back
//             each k-step by all that multiply it, who then meet.
//   Watch     L2 reads fall by the cluster's width and height; shared memory is read BM + (BM/64)·BN elements a k.
//   Limit     the matrix units, where the stages cover the latency; the power of the whole GPU. In a fused wgrad, the
//             threads that mask.

#include "kernels/device/async_operand.cuh"
#include "kernels/device/epilogue.cuh"
#include "kernels/device/hopper.cuh"

namespace kernels::device {

/// How a CTA of rung 09 is made up.
template <class Tile, int PINGPONG>
struct Warpgroups {
    static constexpr int CONSUMERS = PINGPONG || Tile::BM > 64 ? 2 : 1, THREADS = 128 * (1 + CONSUMERS);
    static constexpr int ROWS = PINGPONG ? Tile::BM : Tile::BM / CONSUMERS;  // of a consumer's share of a tile
    static constexpr int SHARERS = 4 * (PINGPONG ? 1 : CONSUMERS);           // warps that read a stage
};

template <class Tile, class Form, int CM, int CN, int PINGPONG>
KERNEL((Warpgroups<Tile, PINGPONG>::THREADS), 1)
tma_wgmma(GRID_CONSTANT Params p, GRID_CONSTANT TensorMaps maps) {
    using Groups = Warpgroups<Tile, PINGPONG>;
    using In = typename Form::In;
    constexpr int BM = Tile::BM, BN = Tile::BN, BK = Tile::BK, STAGES = Tile::STAGES, ROWS = Groups::ROWS;
    constexpr bool LEFT_ALONG = Form::LEFT_RED_ALONG, RIGHT_ALONG = Form::RIGHT_RED_ALONG;

    // What masks a tile lies as the tile does: (stage, slab, row of 64).
    constexpr bool LEFT_GATED = Form::LEFT_GATE != gate_none, RIGHT_GATED = Form::RIGHT_GATE != gate_none;
    constexpr Gate GATE = LEFT_GATED ? Form::LEFT_GATE : Form::RIGHT_GATE;
    constexpr int GATED = LEFT_GATED ? BM * BK : RIGHT_GATED ? BN * BK : 0, VALUES = GATE == gate_values ? GATED : 0;
    constexpr int SLABS = GATE == gate_bits ? (LEFT_GATED ? BK : BN) / 64 : 0;  // of bits

    SharedMemory smem;
    const Shared<In> a = smem.take<In>(STAGES * BM * BK);  // (stage, slab, row of 64)
    const Shared<In> b = smem.take<In>(STAGES * BN * BK);
    const Shared<In> gate = smem.take<In>(STAGES * VALUES);
    const Shared<unsigned> bits = smem.take<unsigned>(SLABS > 0 ? STAGES * GATED / 32 : 0);
    const Barriers full = smem.take<unsigned long long>(STAGES), empty = smem.take<unsigned long long>(STAGES);
    const Barriers turn = smem.take<unsigned long long>(2);  // pingpong: whose products come next
    for (int s = 0; s < STAGES; ++s) {
        init_barrier(full, s, 1 + warp_size * SLABS);
        init_barrier(empty, s, Groups::SHARERS * (CM + CN - 1));
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
            // A part of each tile for all that share it.
            const auto copy_left = [&](Shared<In> to, const TensorMap& map, const Work& w, int k) {
                copy_tile<BM, BK, LEFT_ALONG, CN>(to, map, full, stage, w.row, k, w.problem, rank_n, row_ctas);
            };
            const auto copy_right = [&](Shared<In> to, const TensorMap& map, const Work& w, int k) {
                copy_tile<BN, BK, RIGHT_ALONG, CM>(to, map, full, stage, w.col, k, w.problem, rank_m, col_ctas);
            };
            for (long long item = block_index(); item < p.work_items; item += grid_size()) {
                const Work w = cluster_work_item(p, item, BM, BN, CM, CN);
                for (int step = w.k_begin; step < w.k_end; ++step) {
                    WAIT(empty, stage, phase ^ 1);
                    expect_bytes(full, stage, ((BM + BN) * BK + VALUES) * static_cast<int>(sizeof(In)));
                    copy_left(a.from(stage * BM * BK), maps.left, w, step * BK);
                    copy_right(b.from(stage * BN * BK), maps.right, w, step * BK);
                    if constexpr (GATE == gate_values) {
                        if constexpr (LEFT_GATED)
                            copy_left(gate.from(stage * GATED), maps.gate, w, step * BK);
                        else
                            copy_right(gate.from(stage * GATED), maps.gate, w, step * BK);
                    }
                    for (int slab = 0; slab < SLABS; ++slab) {
                        const Shared<unsigned> to = bits.from((stage * GATED + slab * (GATED / SLABS)) / 32);
                        if constexpr (LEFT_GATED)
                            copy_bit_slab<BM>(
                                to, bit_window(p.gate, w.problem, w.row, step * BK + 64 * slab, p.rows, p.red), full,
                                stage);
                        else
                            copy_bit_slab<BK>(
                                to, bit_window(p.gate, w.problem, step * BK, w.col + 64 * slab, p.red, p.cols), full,
                                stage);
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
        constexpr int SHARERS = Groups::SHARERS;
        constexpr int BEHIND = STAGES > 1;  // k-steps whose products go on while the next are begun
        const int first_sharer = PINGPONG ? 4 + 4 * group : 4;
        const auto release = [&](int s) {  // all that loaded it may load again
            for (int r = 0; r < CM * CN; ++r)
                if (r / CN == rank_m || r % CN == rank_n) arrive(empty, s, r);
        };
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
                const Shared<In> now_a = a.from(stage * BM * BK), now_b = b.from(stage * BN * BK);
                if constexpr (LEFT_GATED) {
                    UNROLL for (int k = 0; k < BK; k += 16) UNROLL for (int i = 0; i < ROWS / 64; ++i) {
                        const int at = stage * GATED + k / 64 * BM * 64;
                        const AsyncTile<In, BM, 64, true, GATE, 1> slab(now_a.from(k / 64 * BM * 64),
                                                                        gate.from(VALUES > 0 ? at : 0),
                                                                        bits.from(SLABS > 0 ? at / 32 : 0));
                        lane<unsigned> left[4];  // of this warp
                        slab.left_fragment(left, row0 + 64 * i + warp_index() % 4 * 16, k % 64);
                        WARPGROUP_FENCE();
                        warpgroup_multiply<BN, BK, RIGHT_ALONG>(sum[i], left, now_b, k);
                    }
                    warpgroup_commit();
                    warpgroup_wait<0>();  // the registers it reads are wanted again
                    release(stage);
                } else {
                    if constexpr (RIGHT_GATED) {
                        UNROLL for (int n = 0; n < BN; n += 64) {
                            const int at = stage * GATED + n * BK;
                            AsyncTile<In, 64, BK, false, GATE, 1>(now_b.from(n * BK), gate.from(VALUES > 0 ? at : 0),
                                                                  bits.from(SLABS > 0 ? at / 32 : 0))
                                .template mask_in_place<32 * SHARERS>(thread_index() - 32 * first_sharer,
                                                                      p.red - step * BK, p.cols - w.col - n);
                        }
                        fence_for_products();
                        SYNC_WARPS(first_sharer, SHARERS);
                    }
                    WARPGROUP_FENCE();
                    UNROLL for (int k = 0; k < BK; k += 16) UNROLL for (int i = 0; i < ROWS / 64; ++i)
                        warpgroup_multiply<BN, BM, BK, LEFT_ALONG, RIGHT_ALONG>(sum[i], now_a, now_b, row0 + 64 * i, k);
                    warpgroup_commit();
                    warpgroup_wait<BEHIND>();
                    if (BEHIND == 0 || step > w.k_begin) release(BEHIND ? before : stage);  // has been multiplied
                    before = stage;
                }
                if (++stage == STAGES) {
                    stage = 0;
                    phase ^= 1;
                }
            }
            if constexpr (PINGPONG) arrive(turn, group ^ 1, rank);
            if constexpr (!LEFT_GATED) {
                warpgroup_wait<0>();
                if (BEHIND && w.k_begin < w.k_end) release(before);  // a slice may be empty
            }
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
