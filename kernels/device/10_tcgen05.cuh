#pragma once
// Rung 10: the sums leave the registers.
//   Idea      the matrix unit of sm_100a reads both operands from shared memory and adds into tensor memory, a memory
//             of its own beside the SM; one thread issues it for the whole CTA. Four warps then read the sums back to
//             finish and store them.
//   Change    from rung 09: no consumer warpgroups. One warp loads, one multiplies, four store, and tensor memory holds
//             two tiles, so that one is stored while the next is summed. A stage is freed by the matrix unit itself.
//   Watch     shared memory is read once a tile instead of once a warpgroup; registers no longer bound the tile.
//   Limit     the matrix unit, and what feeds it: a pair of CTAs that shares the right operand is not used here.

#include "kernels/device/epilogue.cuh"
#include "kernels/device/hopper.cuh"

namespace kernels::device {

// ---- tensor memory: 128 lanes x columns of 32 bits -------------------------------------------------------------------

/// By one whole warp: `columns` (a power of two from 32 on), whose address goes to shared memory.
template <int COLUMNS>
DEVICE void allocate_tensor_memory(Shared<unsigned> address) {
    asm volatile(
        "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%0], %1;\n"
        "tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;" ::"r"(shared_address(address.p)),
        "r"(COLUMNS)
        : "memory");
}
template <int COLUMNS>
DEVICE void free_tensor_memory(unsigned address) {
    asm volatile("tcgen05.dealloc.cta_group::1.sync.aligned.b32 %0, %1;" ::"r"(address), "r"(COLUMNS));
}
/// Orders what this thread did with tensor memory before, or does after, a barrier.
DEVICE void tensor_fence_before() { asm volatile("tcgen05.fence::before_thread_sync;" ::: "memory"); }
DEVICE void tensor_fence_after() { asm volatile("tcgen05.fence::after_thread_sync;" ::: "memory"); }

/// Sixteen columns of this warp's 32 lanes from `address` on: v[j] of lane l is (l, j).
DEVICE void read_tensor_memory(float (&v)[16], unsigned address) {
    unsigned r[16];
    asm volatile(
        "tcgen05.ld.sync.aligned.32x32b.x16.b32 {%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15}, "
        "[%16];\ntcgen05.wait::ld.sync.aligned;"
        : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]), "=r"(r[4]), "=r"(r[5]), "=r"(r[6]), "=r"(r[7]), "=r"(r[8]),
          "=r"(r[9]), "=r"(r[10]), "=r"(r[11]), "=r"(r[12]), "=r"(r[13]), "=r"(r[14]), "=r"(r[15])
        : "r"(address)
        : "memory");
    UNROLL for (int j = 0; j < 16; ++j) v[j] = __uint_as_float(r[j]);
}

// ---- the matrix unit -------------------------------------------------------------------------------------------------

/// What is multiplied, as the instruction is told: f32 sums, the operands' type, which way they lie, M and N.
template <class In, int M, int N, bool LEFT_ALONG, bool RIGHT_ALONG>
inline constexpr unsigned multiply_shape = 1u << 4 | (In::is_bf16 ? 1u << 7 | 1u << 10 : 0u) | (LEFT_ALONG ? 0u : 1u << 15) |
                                           (RIGHT_ALONG ? 0u : 1u << 16) | unsigned(N / 8) << 17 | unsigned(M / 16) << 24;

/// By one thread: tensor memory (128,N) = left · right over 16 of the reduction, added to what was there where `add`.
DEVICE void tensor_multiply(unsigned sums, unsigned long long left, unsigned long long right, unsigned shape, bool add) {
    constexpr unsigned long long version = 1ull << 46;  // of a shared-memory description, beside what wgmma takes
    asm volatile(
        "{\n.reg .pred add;\nsetp.ne.b32 add, %4, 0;\n"
        "tcgen05.mma.cta_group::1.kind::f16 [%0], %1, %2, %3, add;\n}" ::"r"(sums),
        "l"(left | version), "l"(right | version), "r"(shape), "r"(static_cast<unsigned>(add))
        : "memory");
}
/// By the same thread: an arrival at barrier i when all products begun so far have ended.
DEVICE void arrive_when_multiplied(Barriers b, int i) {
    asm volatile("tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%0];" ::"r"(
                     shared_address(b.p + i))
                 : "memory");
}

/// Columns that are handed out for n that are needed.
MEMWALL_HD constexpr int tensor_columns(int n) {
    int columns = 32;
    while (columns < n) columns *= 2;
    return columns;
}

template <class Tile, class Form, int CM, int CN, int PINGPONG>
KERNEL(192, 1)
tcgen05(GRID_CONSTANT Params p, GRID_CONSTANT TensorMaps maps) {
    using In = typename Form::In;
    constexpr int BM = Tile::BM, BN = Tile::BN, BK = Tile::BK, STAGES = Tile::STAGES, COLUMNS = tensor_columns(2 * BN);
    constexpr bool LEFT_ALONG = Form::LEFT_RED_ALONG, RIGHT_ALONG = Form::RIGHT_RED_ALONG;
    constexpr int N = 16 / sizeof(typename Form::Out);  // outputs of a row that a thread stores at once
    static_assert(BM == 128 && CM * CN == 1 && (N == 8 || (Form::EPILOGUE & with_bits) == 0));
    constexpr int loader = 4, multiplier = 5;  // warps; 0 to 3 finish and store

    SharedMemory smem;
    const Shared<In> a = smem.take<In>(STAGES * BM * BK);  // (stage, slab, row of 64)
    const Shared<In> b = smem.take<In>(STAGES * BN * BK);
    const Barriers full = smem.take<unsigned long long>(STAGES), empty = smem.take<unsigned long long>(STAGES);
    const Barriers summed = smem.take<unsigned long long>(2), stored = smem.take<unsigned long long>(2);
    const Shared<unsigned> address = smem.take<unsigned>(1);
    for (int s = 0; s < STAGES; ++s) {
        init_barrier(full, s, 1);
        init_barrier(empty, s, 1);
    }
    for (int t = 0; t < 2; ++t) {
        init_barrier(summed, t, 1);
        init_barrier(stored, t, 4);
    }
    if (warp_index() == multiplier) allocate_tensor_memory<COLUMNS>(address);
    tensor_fence_before();
    SYNC();
    tensor_fence_after();
    const unsigned sums = *address.p;

    int stage = 0, phase = 0, turn = 0;  // of the next k-step; tiles so far
    if (warp_index() == loader) {
        for (long long item = block_index(); item < p.work_items; item += grid_size()) {
            const Work w = work_item(p, item, BM, BN);
            for (int step = w.k_begin; step < w.k_end; ++step) {
                WAIT(empty, stage, phase ^ 1);
                expect_bytes(full, stage, (BM + BN) * BK * static_cast<int>(sizeof(In)));
                copy_tile<BM, BK, LEFT_ALONG, 1>(a.from(stage * BM * BK), maps.left, full, stage, w.row, step * BK,
                                                 w.problem, 0, 1);
                copy_tile<BN, BK, RIGHT_ALONG, 1>(b.from(stage * BN * BK), maps.right, full, stage, w.col, step * BK,
                                                  w.problem, 0, 1);
                if (++stage == STAGES) {
                    stage = 0;
                    phase ^= 1;
                }
            }
        }
    } else if (warp_index() == multiplier) {
        for (long long item = block_index(); item < p.work_items; item += grid_size(), ++turn) {
            const Work w = work_item(p, item, BM, BN);
            WAIT(stored, turn % 2, turn / 2 % 2 ^ 1);  // the tile before last has left this half of tensor memory
            tensor_fence_after();
            for (int step = w.k_begin; step < w.k_end; ++step) {
                WAIT(full, stage, phase);
                tensor_fence_after();
                if (lane_index() == 0) {
                    UNROLL for (int k = 0; k < BK; k += 16) {
                        const Shared<In> left = a.from(stage * BM * BK + (LEFT_ALONG ? k / 64 * BM * 64 : 0)),
                                         right = b.from(stage * BN * BK + (RIGHT_ALONG ? k / 64 * BN * 64 : 0));
                        tensor_multiply(sums + turn % 2 * BN, describe<LEFT_ALONG, BK>(left, 0, k),
                                        describe<RIGHT_ALONG, BK>(right, 0, k),
                                        multiply_shape<In, BM, BN, LEFT_ALONG, RIGHT_ALONG>, step > w.k_begin || k > 0);
                    }
                    arrive_when_multiplied(empty, stage);
                    if (step + 1 == w.k_end) arrive_when_multiplied(summed, turn % 2);
                }
                if (++stage == STAGES) {
                    stage = 0;
                    phase ^= 1;
                }
            }
        }
    } else {
        const int row = warp_index() * 32 + lane_index();  // a lane of tensor memory is a row of the tile
        for (long long item = block_index(); item < p.work_items; item += grid_size(), ++turn) {
            const Work w = work_item(p, item, BM, BN);
            WAIT(summed, turn % 2, turn / 2 % 2);
            tensor_fence_after();
            for (int n = 0; n < BN; n += 16) {
                float v[16];
                read_tensor_memory(v, sums + static_cast<unsigned>(warp_index() * 32 << 16 | turn % 2 * BN) + n);
                UNROLL for (int j = 0; j < 16; j += N) {
                    float some[N];
                    UNROLL for (int i = 0; i < N; ++i) some[i] = v[j + i];
                    store_outputs<Form>(p, w, row, n + j, some);
                }
            }
            tensor_fence_before();
            arrive(stored, turn % 2, cluster_rank());
        }
    }
    tensor_fence_before();
    SYNC();
    tensor_fence_after();
    if (warp_index() == multiplier) free_tensor_memory<COLUMNS>(sums);
    KERNEL_END;
}

}  // namespace kernels::device
