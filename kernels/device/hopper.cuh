#pragma once
// The words of rung 09: barriers that count arrivals and bytes, boxes copied by TMA, and products of a whole warpgroup.
// Like primitives.cuh it has two readings.

#include "kernels/device/primitives.cuh"
#include "kernels/device/shape.cuh"

#ifndef __CUDACC__
#include "kernels/glass/hopper.hpp"
#else
#include "kernels/device/wgmma.cuh"

/// Suspends until the barrier's phase of this parity has ended.
#define WAIT(barriers, i, parity) ::kernels::device::wait_phase(barriers, i, parity)
/// Before a warpgroup's products: its registers and shared memory are as written. All four warps come here.
#define WARPGROUP_FENCE() asm volatile("wgmma.fence.sync.aligned;" ::: "memory")
/// SYNC() of `count` warps from warp `first` on, both whole warpgroups.
#define SYNC_WARPS(first, count) ::kernels::device::sync_warps(first, count)
/// SYNC() of all CTAs of a cluster.
#define CLUSTER_SYNC() asm volatile("barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;" ::: "memory")

namespace kernels::device {

using Barriers = Shared<unsigned long long>;

/// By all threads, before a SYNC: barrier i takes so many arrivals a phase.
DEVICE void init_barrier(Barriers b, int i, int arrivals) {
    if (threadIdx.x == 0)
        asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;\nfence.mbarrier_init.release.cluster;" ::"r"(
                         shared_address(b.p + i)),
                     "r"(arrivals)
                     : "memory");
}
DEVICE void wait_phase(Barriers b, int i, int parity) {
    asm volatile(
        "{\n.reg .pred done;\nTRY:\nmbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n@done bra GONE;\nbra "
        "TRY;\nGONE:\n}" ::"r"(shared_address(b.p + i)),
        "r"(parity)
        : "memory");
}
/// One arrival that also announces `bytes` to come by TMA; by one lane of the warp.
DEVICE void expect_bytes(Barriers b, int i, int bytes) {
    if (lane_index() == 0)
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(b.p + i)), "r"(bytes)
                     : "memory");
}
/// One arrival a warp, at the barrier of CTA `rank` of the cluster.
DEVICE void arrive(Barriers b, int i, int rank) {
    if (lane_index() == 0)
        asm volatile(
            "{\n.reg .b32 remote;\nmapa.shared::cluster.u32 remote, %0, %1;\n"
            "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [remote];\n}" ::"r"(shared_address(b.p + i)),
            "r"(rank)
            : "memory");
}
DEVICE int cluster_rank() {
    unsigned r;
    asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(r));
    return static_cast<int>(r);
}

/// Copies a box from (line, x) of a problem to `to`, and to the same place in every CTA of the cluster whose bit is set
/// in `ctas`; its bytes count at barrier i of each. Elements outside the matrix become zero.
template <class T>
DEVICE void copy_box(Shared<T> to, const TensorMap& map, Barriers b, int i, int x, int line, int problem, int ctas,
                     Place = {}) {
    if (lane_index() != 0) return;
    if (ctas & (ctas - 1))
        asm volatile(
            "cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster [%0], "
            "[%1, "
            "{%3, %4, %5}], [%2], %6;" ::"r"(shared_address(to.p)),
            "l"(&map), "r"(shared_address(b.p + i)), "r"(x), "r"(line), "r"(problem),
            "h"(static_cast<unsigned short>(ctas))
            : "memory");
    else
        asm volatile(
            "cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4, "
            "%5}], [%2];" ::"r"(shared_address(to.p)),
            "l"(&map), "r"(shared_address(b.p + i)), "r"(x), "r"(line), "r"(problem)
            : "memory");
}

/// Copies 64 bits of each of LINES lines of a bit matrix, those beyond its edges zero or padding; each lane arrives at
/// barrier i once what it copies has come. By whole warps.
template <int LINES>
DEVICE void copy_bit_slab(Shared<unsigned> to, const Window<unsigned char>& from, Barriers b, int i, Place = {}) {
    UNROLL for (int line = lane_index(); line < LINES; line += warp_size) {
        const bool there = line < from.lines && from.length > 0;
        asm volatile("cp.async.ca.shared.global [%0], [%1], 8, %2;" ::"r"(shared_address(to.p + 2 * line)),
                     "l"(from.data + (there ? line * from.pitch : 0)), "r"(there ? 8 : 0)
                     : "memory");
    }
    asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" ::"r"(shared_address(b.p + i)) : "memory");
}

DEVICE void sync_warps(int first, int count) {
    asm volatile("bar.sync %0, %1;" ::"r"(1 + first / 4), "r"(warp_size * count) : "memory");
}
/// What this thread has written to shared memory is there for products, once those who begin them have met it.
DEVICE void fence_for_products() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }

/// A tile as wgmma reads it: slabs of 128-byte rows, 128-byte swizzle. ALONG: rows of 64 of the reduction, one a row of
/// the output; else rows of 64 of the output, one a k, and BK of them a slab.
template <bool ALONG, int BK, class T>
DEVICE unsigned long long describe(Shared<T> tile, int outer, int k) {
    unsigned address;
    if constexpr (ALONG)
        address = shared_address(tile.p) + static_cast<unsigned>(outer * 128 + k % 64 * 2);
    else
        address = shared_address(tile.p) + static_cast<unsigned>(outer / 64 * BK * 128 + k * 128);
    const unsigned long long group = ALONG ? 1 : BK * 128 / 16, rows = 1024 / 16;  // strides, 16 bytes each
    return (address & 0x3ffffu) >> 4 | group << 16 | rows << 32 | 1ull << 62;
}
/// d (64,N) += rows [row, row + 64) of the left tile, k to k + 15, times those k of the right tile.
template <int N, int BM, int BK, bool LEFT_ALONG, bool RIGHT_ALONG, class T>
DEVICE void warpgroup_multiply(float (&d)[N / 2], Shared<T> left, Shared<T> right, int row, int k, Place = {}) {
    // ALONG: each 64 of the reduction are a slab of their own.
    const Shared<T> a = LEFT_ALONG ? left.from(k / 64 * BM * 64) : left,
                    b = RIGHT_ALONG ? right.from(k / 64 * N * 64) : right;
    WarpgroupMultiply<N>::template multiply<T, LEFT_ALONG, RIGHT_ALONG>(d, describe<LEFT_ALONG, BK>(a, row, k),
                                                                        describe<RIGHT_ALONG, BK>(b, 0, k));
}
/// The same with those 64 rows, k to k + 15, in the warps' registers: a warp's 16 rows as mma.sync m16n8k16 has them,
/// which must stay as they are until the product has ended.
template <int N, int BK, bool RIGHT_ALONG, class T>
DEVICE void warpgroup_multiply(float (&d)[N / 2], const unsigned (&left)[4], Shared<T> right, int k, Place = {}) {
    const Shared<T> b = RIGHT_ALONG ? right.from(k / 64 * N * 64) : right;
    WarpgroupMultiply<N>::template multiply<T, RIGHT_ALONG>(d, left, describe<RIGHT_ALONG, BK>(b, 0, k));
}
/// The products begun since the last call are one group.
DEVICE void warpgroup_commit() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
/// All groups but the newest N have ended; their sums may be read.
template <int N>
DEVICE void warpgroup_wait() {
    asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(N) : "memory");
}
/// Hands registers back to the SM, or takes them: a producer needs few, a consumer many.
template <int N>
DEVICE void keep_registers() {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(N));
}
template <int N>
DEVICE void take_registers() {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(N));
}

}  // namespace kernels::device
#endif

namespace kernels::device {

/// Copies part `part` of PARTS of an operand's tile, OUTER rows (columns) from `first` on and BK of the reduction from
/// `k` on, to where it lies in the whole tile at `to`: (slab of 64 elements, line, element), RED_ALONG or not. A part is
/// some lines of every slab. `ctas`, `b` and `i` as copy_box has them.
template <int OUTER, int BK, bool RED_ALONG, int PARTS, class T>
DEVICE void copy_tile(Shared<T> to, const TensorMap& map, Barriers b, int i, int first, int k, int problem, int part,
                      int ctas, Place at = Place::here()) {
    constexpr int LINES = RED_ALONG ? OUTER : BK, LENGTH = RED_ALONG ? BK : OUTER, PART = LINES / PARTS;
    const int x0 = RED_ALONG ? k : first, line = (RED_ALONG ? first : k) + part * PART;
    for (int x = 0; x < LENGTH; x += 64)
        copy_box(to.from(x * LINES + part * PART * 64), map, b, i, x0 + x, line, problem, ctas, at);
}

}  // namespace kernels::device
