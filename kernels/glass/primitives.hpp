#pragma once
// The words kernels are written in, as the CPU reads them: each access is checked, counted by source line and done for
// 32 lanes at once. kernels/device/gpu.cuh has the same words as instructions.

#include "kernels/glass/access.hpp"

#define DEVICE inline
#define UNROLL
#define UNROLL_8
#define UNROLL_2
#define KERNEL(...) inline ::kernels::glass::Task
#define KERNEL_END co_return
#define GRID_CONSTANT const
#define SYNC()                                         \
    co_await ::kernels::glass::Barrier {               \
        ::kernels::glass::Place { __FILE__, __LINE__ } \
    }

namespace kernels::device {

// ---- who am I
// --------------------------------------------------------------------------------------------------------

DEVICE long long block_index() { return glass::self->cta->index; }
DEVICE long long grid_size() { return glass::self->cta->grid; }
DEVICE int warp_index() { return glass::self->index; }
DEVICE lane<int> lane_index() {
    return each_lane([](int i) { return i; });
}
DEVICE lane<int> thread_index() { return lane_index() + warp_size * warp_index(); }

// ---- global memory
// ---------------------------------------------------------------------------------------------------

/// p[i] where ok, T{} elsewhere.
template <class T>
DEVICE lane<T> ld_global(const T* p, const lane<int>& i, mask ok = all_lanes, Place at = Place::here()) {
    const auto bytes = detail::LaneBytes::where(ok, sizeof(T));
    detail::global_access(p, i, sizeof(T), bytes, bytes.bits(), false, sizeof(T), detail::site(at));
    lane<T> r;
    for (int l = 0; l < warp_size; ++l) r.v[l] = (ok.bits >> l & 1) != 0 ? p[i.v[l]] : T{};
    return r;
}
/// v[j] = p[i + j] for the first `count` of N, T{} for the rest. One access of N elements where all are there.
template <class T, int N>
DEVICE void ld_global(lane<T> (&v)[N], const T* p, const lane<int>& i, const lane<int>& count,
                      Place at = Place::here()) {
    const auto bytes = detail::LaneBytes::of<N>(count, sizeof(T));
    detail::global_access(p, i, sizeof(T), bytes, bytes.bits(), false, N * sizeof(T), detail::site(at));
    for (int l = 0; l < warp_size; ++l)
        for (int j = 0; j < N; ++j) v[j].v[l] = j < count.v[l] ? p[i.v[l] + j] : T{};
}
/// The same of a small read-only array that many threads of a CTA want: it stays in L1, and L2 is asked once.
template <class T, int N>
DEVICE void ld_cached(lane<T> (&v)[N], const T* p, const lane<int>& i, const lane<int>& count,
                      Place at = Place::here()) {
    const auto bytes = detail::LaneBytes::of<N>(count, sizeof(T));
    detail::LaneBytes fresh{};
    for (int l = 0; l < warp_size; ++l)
        for (int j = 0; j < N && j < count.v[l]; ++j)
            if (glass::self->cta->cached.first(p, i.v[l] + j)) fresh.v[l] += sizeof(T);
    detail::global_access(p, i, sizeof(T), bytes, bytes.bits(), false, N * sizeof(T), detail::site(at), &fresh);
    for (int l = 0; l < warp_size; ++l)
        for (int j = 0; j < N; ++j) v[j].v[l] = j < count.v[l] ? p[i.v[l] + j] : T{};
}
template <class T>
DEVICE void st_global(T* p, const lane<int>& i, const lane<T>& v, mask ok = all_lanes, Place at = Place::here()) {
    const auto bytes = detail::LaneBytes::where(ok, sizeof(T));
    detail::global_access(p, i, sizeof(T), bytes, bytes.bits(), true, sizeof(T), detail::site(at));
    for (int l = 0; l < warp_size; ++l)
        if ((ok.bits >> l & 1) != 0) p[i.v[l]] = v.v[l];
}
/// p[i + j] = v[j] for the first `count` of N.
template <class T, int N>
DEVICE void st_global(T* p, const lane<int>& i, const lane<T> (&v)[N], const lane<int>& count,
                      Place at = Place::here()) {
    const auto bytes = detail::LaneBytes::of<N>(count, sizeof(T));
    detail::global_access(p, i, sizeof(T), bytes, bytes.bits(), true, N * sizeof(T), detail::site(at));
    for (int l = 0; l < warp_size; ++l)
        for (int j = 0; j < N && j < count.v[l]; ++j) p[i.v[l] + j] = v[j].v[l];
}
/// The BITS bits (1 to 32, a power of two) from bit `i` on (a multiple of BITS) of a bit row, those beyond `count` 0.
template <int BITS>
DEVICE lane<unsigned> ld_global_bits(const void* p, const lane<int>& i, const lane<int>& count,
                                     Place at = Place::here()) {
    constexpr int bytes = BITS <= 8 ? 1 : BITS / 8;
    detail::LaneBytes taking;
    lane<int> first;
    std::uint64_t payload = 0;
    for (int l = 0; l < warp_size; ++l) {
        const int bits = std::min(std::max(count.v[l], 0), BITS);
        taking.v[l] = static_cast<std::uint8_t>(bits > 0 ? bytes : 0);
        first.v[l] = i.v[l] / 8;
        payload += static_cast<unsigned>(bits);
    }
    detail::global_access(p, first, 1, taking, payload, false, bytes, detail::site(at));
    return each_lane([&](int l) {
        unsigned r = 0;
        if (taking.v[l] == 0) return r;
        std::memcpy(&r, static_cast<const std::byte*>(p) + first.v[l], bytes);
        r >>= BITS < 8 ? i.v[l] % 8 : 0;
        const int bits = std::min(count.v[l], BITS);
        return bits < 32 ? r & ((1u << bits) - 1) : r;
    });
}
/// Stores the byte that holds bits [i, i + 8) of a bit row where `count` > 0; its bits beyond `count` are padding.
DEVICE void st_global_bits(void* p, const lane<int>& i, const lane<unsigned>& v, const lane<int>& count,
                           Place at = Place::here()) {
    detail::LaneBytes taking;
    lane<int> first;
    std::uint64_t payload = 0;
    for (int l = 0; l < warp_size; ++l) {
        taking.v[l] = count.v[l] > 0;
        first.v[l] = i.v[l] / 8;
        payload += static_cast<unsigned>(std::min(std::max(count.v[l], 0), 8));
    }
    detail::global_access(p, first, 1, taking, payload, true, 1, detail::site(at));
    for (int l = 0; l < warp_size; ++l)
        if (taking.v[l] != 0) static_cast<std::byte*>(p)[first.v[l]] = static_cast<std::byte>(v.v[l]);
}

// ---- shared memory
// ---------------------------------------------------------------------------------------------------

/// An array in the CTA's shared memory.
template <class T>
struct Shared {
    std::uint32_t offset = 0;
    int size = 0;
    T* data() const { return reinterpret_cast<T*>(glass::self->cta->smem + offset); }
    /// Its elements from `first` on.
    Shared from(int first) const {
        return {offset + static_cast<std::uint32_t>(first) * static_cast<std::uint32_t>(sizeof(T)), size - first};
    }
};

/// Hands out the CTA's shared memory, 128 bytes aligned.
struct SharedMemory {
    template <class T>
    Shared<T> take(int n) {
        glass::Warp& w = *glass::self;
        const std::uint32_t offset = w.smem_used;
        w.smem_used += (static_cast<std::uint32_t>(n) * static_cast<std::uint32_t>(sizeof(T)) + 127) / 128 * 128;
        if (w.smem_used > w.cta->smem_bytes)
            detail::stop(glass::Finding::out_of_bounds, detail::site(Place::here()),
                         "takes " + std::to_string(w.smem_used) + " bytes of shared memory; the launch gave " +
                             std::to_string(w.cta->smem_bytes));
        return {offset, n};
    }
};

template <class T>
DEVICE lane<T> ld_shared(Shared<T> s, const lane<int>& i, Place at = Place::here()) {
    static_assert(sizeof(T) == 4);
    detail::shared_access(s.offset, s.size, i, sizeof(T), sizeof(T), all_lanes, detail::Smem::read, 32 * 8 * sizeof(T),
                          -1, detail::site(at));
    const T* p = s.data();
    lane<T> r;
    for (int l = 0; l < warp_size; ++l) r.v[l] = p[i.v[l]];
    return r;
}
/// v[j] = s[i + j], N·sizeof(T) bytes at once.
template <class T, int N>
DEVICE void ld_shared(lane<T> (&v)[N], Shared<T> s, const lane<int>& i, Place at = Place::here()) {
    static_assert(N * sizeof(T) % 4 == 0 && N * sizeof(T) <= 16);
    detail::shared_access(s.offset, s.size, i, sizeof(T), N * sizeof(T), all_lanes, detail::Smem::read,
                          32 * 8 * N * sizeof(T), -1, detail::site(at));
    const T* p = s.data();
    for (int l = 0; l < warp_size; ++l)
        for (int j = 0; j < N; ++j) v[j].v[l] = p[i.v[l] + j];
}
/// The same of a tile of which the first `count` elements are valid; the others are padding and not counted as payload.
template <class T, int N>
DEVICE void ld_shared(lane<T> (&v)[N], Shared<T> s, const lane<int>& i, const lane<int>& count,
                      Place at = Place::here()) {
    const auto payload = detail::LaneBytes::of<N>(count, sizeof(T)).bits();
    detail::shared_access(s.offset, s.size, i, sizeof(T), N * sizeof(T), all_lanes, detail::Smem::read, payload,
                          static_cast<std::int64_t>(payload), detail::site(at));
    const T* p = s.data();
    for (int l = 0; l < warp_size; ++l)
        for (int j = 0; j < N; ++j) v[j].v[l] = p[i.v[l] + j];
}
/// Stores a tile's element where `where`; it is padding (zero) where not `valid`, and then not counted as payload.
template <class T>
DEVICE void fill_shared(Shared<T> s, const lane<int>& i, const lane<T>& v, mask valid, mask where = all_lanes,
                        Place at = Place::here()) {
    const auto payload = static_cast<std::uint64_t>(std::popcount((valid & where).bits)) * 8 * sizeof(T);
    detail::shared_access(s.offset, s.size, i, sizeof(T), sizeof(T), where, detail::Smem::write, payload, -1,
                          detail::site(at));
    T* p = s.data();
    for (int l = 0; l < warp_size; ++l)
        if ((where.bits >> l & 1) != 0) p[i.v[l]] = v.v[l];
}
/// The same for N elements at once, of which the first `count` are valid.
template <class T, int N>
DEVICE void fill_shared(Shared<T> s, const lane<int>& i, const lane<T> (&v)[N], const lane<int>& count,
                        mask where = all_lanes, Place at = Place::here()) {
    auto valid = detail::LaneBytes::of<N>(count, sizeof(T));
    for (int l = 0; l < warp_size; ++l)
        if ((where.bits >> l & 1) == 0) valid.v[l] = 0;
    detail::shared_access(s.offset, s.size, i, sizeof(T), N * sizeof(T), where, detail::Smem::write, valid.bits(), -1,
                          detail::site(at));
    T* p = s.data();
    for (int l = 0; l < warp_size; ++l)
        for (int j = 0; j < N; ++j)
            if ((where.bits >> l & 1) != 0) p[i.v[l] + j] = v[j].v[l];
}
/// Stores a word of bits, `count` of them valid.
DEVICE void fill_shared_bits(Shared<unsigned> s, const lane<int>& i, const lane<unsigned>& v, const lane<int>& count,
                             mask where = all_lanes, Place at = Place::here()) {
    std::uint64_t payload = 0;
    for (int l = 0; l < warp_size; ++l)
        if ((where.bits >> l & 1) != 0) payload += static_cast<unsigned>(std::min(std::max(count.v[l], 0), 32));
    detail::shared_access(s.offset, s.size, i, 4, 4, where, detail::Smem::write, payload, -1, detail::site(at));
    unsigned* p = s.data();
    for (int l = 0; l < warp_size; ++l)
        if ((where.bits >> l & 1) != 0) p[i.v[l]] = v.v[l];
}
/// The BITS bits from bit `i` on (a multiple of BITS).
template <int BITS>
DEVICE lane<unsigned> ld_shared_bits(Shared<unsigned> s, const lane<int>& i, Place at = Place::here()) {
    const lane<int> word = i / 32;
    detail::shared_access(s.offset, s.size, word, 4, 4, all_lanes, detail::Smem::read, 32 * BITS,
                          std::int64_t{BITS} * detail::distinct(i), detail::site(at));
    const unsigned* p = s.data();
    return each_lane([&](int l) {
        const unsigned r = p[word.v[l]] >> i.v[l] % 32;
        return BITS < 32 ? r & ((1u << BITS % 32) - 1) : r;
    });
}

// ---- asynchronous copies
// ---------------------------------------------------------------------------------------------

/// Begins to copy N elements (16 bytes) from g + gi to s + si where `where`; those beyond `count` become zero.
template <int N, class T>
DEVICE void copy_async(Shared<T> s, const lane<int>& si, const T* g, const lane<int>& gi, const lane<int>& count,
                       mask where = all_lanes, Place at = Place::here()) {
    static_assert(N * sizeof(T) == 16);
    auto bytes = detail::LaneBytes::of<N>(count, sizeof(T));
    for (int l = 0; l < warp_size; ++l)
        if ((where.bits >> l & 1) == 0) bytes.v[l] = 0;
    const int site = detail::site(at);
    detail::global_access(g, gi, sizeof(T), bytes, bytes.bits(), false, 16, site);
    detail::shared_access(s.offset, s.size, si, sizeof(T), 16, where, detail::Smem::begin_copy, bytes.bits(), -1, site);
    for (int l = 0; l < warp_size; ++l) {
        if ((where.bits >> l & 1) == 0) continue;
        T* to = s.data() + si.v[l];
        std::memset(static_cast<void*>(to), 0, 16);
        std::memcpy(static_cast<void*>(to), g + (bytes.v[l] != 0 ? gi.v[l] : 0), bytes.v[l]);
    }
}
/// The copies begun since the last call are one group.
DEVICE void copy_commit() { glass::self->copy_group++; }
/// All groups but the newest N have arrived, as this warp sees it.
template <int N>
DEVICE void copy_wait() {
    glass::Warp& w = *glass::self;
    w.cta->shadow.wait_copies(*w.cta->machine, w, N);
}

// ---- tensor cores
// ----------------------------------------------------------------------------------------------------

/// Four 8x8 matrices of 16-bit elements: lane l gives the address of row l % 8 of matrix l / 8; r[j] of lane l is row
/// l / 4, columns l % 4 · 2 and the next, of matrix j (TRANSPOSED: column l / 4, those rows).
template <bool TRANSPOSED, class T>
DEVICE void ldmatrix(lane<unsigned> (&r)[4], Shared<T> s, const lane<int>& i, Place at = Place::here()) {
    static_assert(sizeof(T) == 2);
    detail::shared_access(s.offset, s.size, i, sizeof(T), 16, all_lanes, detail::Smem::read, 32 * 128, -1,
                          detail::site(at));
    const T* p = s.data();
    for (int j = 0; j < 4; ++j)
        for (int l = 0; l < warp_size; ++l) {
            const int row = l / 4, col = l % 4 * 2;
            const T a = TRANSPOSED ? p[i.v[8 * j + col] + row] : p[i.v[8 * j + row] + col];
            const T b = TRANSPOSED ? p[i.v[8 * j + col + 1] + row] : p[i.v[8 * j + row] + col + 1];
            r[j].v[l] = a.bits | static_cast<unsigned>(b.bits) << 16;
        }
}

/// The low or high element of a register's pair.
template <class T>
inline float half_of(unsigned pair, int high) {
    return to_float(T{static_cast<std::uint16_t>(pair >> 16 * high)});
}

/// c (16,8) += a (16,16) · b (16,8), spread over the warp as mma.sync m16n8k16 has it.
template <class T>
DEVICE void mma_m16n8k16(lane<float> (&c)[4], const lane<unsigned> (&a)[4], const lane<unsigned>& b0,
                         const lane<unsigned>& b1) {
    float left[16][16], right[16][8], sum[16][8];
    for (int l = 0; l < warp_size; ++l) {
        const int row = l / 4, col = l % 4 * 2;
        for (int high = 0; high < 2; ++high) {
            for (int q = 0; q < 4; ++q) left[row + q % 2 * 8][col + q / 2 * 8 + high] = half_of<T>(a[q].v[l], high);
            right[col + high][row] = half_of<T>(b0.v[l], high);
            right[col + 8 + high][row] = half_of<T>(b1.v[l], high);
        }
        for (int q = 0; q < 4; ++q) sum[row + q / 2 * 8][col + q % 2] = c[q].v[l];
    }
    for (int i = 0; i < 16; ++i)
        for (int k = 0; k < 16; ++k)
            for (int j = 0; j < 8; ++j) sum[i][j] += left[i][k] * right[k][j];
    for (int l = 0; l < warp_size; ++l) {
        const int row = l / 4, col = l % 4 * 2;
        for (int q = 0; q < 4; ++q) c[q].v[l] = sum[row + q / 2 * 8][col + q % 2];
    }
}

/// Each half of `pair` where the same half of `by` is > 0, else 0.
template <class T>
DEVICE lane<unsigned> gate_pair(const lane<unsigned>& pair, const lane<unsigned>& by) {
    return each_lane([&](int l) {
        unsigned r = 0;
        for (int high = 0; high < 2; ++high)
            if (half_of<T>(by.v[l], high) > 0) r |= pair.v[l] & 0xffffu << 16 * high;
        return r;
    });
}
/// Each half of `pair` where its bit (0, 1) of `open` is set, else 0.
DEVICE lane<unsigned> gate_pair_by_bits(const lane<unsigned>& pair, const lane<unsigned>& open) {
    return each_lane([&](int l) {
        return pair.v[l] & (((open.v[l] & 1) != 0 ? 0xffffu : 0) | ((open.v[l] & 2) != 0 ? 0xffff0000u : 0));
    });
}

}  // namespace kernels::device
