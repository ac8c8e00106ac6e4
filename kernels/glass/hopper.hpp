#pragma once
// The words of rung 09 as the CPU reads them. A box comes when no warp can go on without it, so that a warp that does
// not wait for it reads what was there before; a product is done for each warp's own 16 rows, once its warpgroup has
// met.

#include "kernels/device/shape.cuh"
#include "kernels/glass/access.hpp"
#include "kernels/glass/primitives.hpp"

#define WAIT(barriers, i, parity) \
    co_await ::kernels::glass::PhaseWait { {__FILE__, __LINE__}, (barriers), (i), (parity) }
#define WARPGROUP_FENCE()                                                           \
    co_await ::kernels::glass::Met {                                                \
        {__FILE__, __LINE__}, { ::kernels::device::warp_index() / 4 * 4, 4, false } \
    }
#define SYNC_WARPS(first, count)                         \
    co_await ::kernels::glass::Met {                     \
        {__FILE__, __LINE__}, { (first), (count), true } \
    }
#define CLUSTER_SYNC() SYNC()

namespace kernels::glass {

/// What WAIT() does: nothing where the phase has ended.
struct PhaseWait {
    Place at;
    device::Shared<unsigned long long> barriers;
    int i, parity;

    PhaseBarrier& barrier() const {
        return self->cta->phase_barriers[barriers.offset + static_cast<std::uint32_t>(8 * i)];
    }
    bool await_ready() const {
        const PhaseBarrier& b = barrier();
        if ((b.phases & 1) == static_cast<unsigned>(parity & 1)) return false;
        for (std::size_t k = 0; k < b.knows.size(); ++k) self->knows[k] = std::max(self->knows[k], b.knows[k]);
        return true;
    }
    void await_suspend(std::coroutine_handle<>) const noexcept {
        self->state = Warp::at_phase;
        self->waits = at;
        self->phase_barrier = barriers.offset + static_cast<std::uint32_t>(8 * i);
        self->parity = parity;
    }
    void await_resume() const noexcept {}
};

/// What WARPGROUP_FENCE() and SYNC_WARPS() do: warps meet.
struct Met {
    Place at;
    Meeting meeting;
    bool await_ready() const noexcept { return false; }
    void await_suspend(std::coroutine_handle<>) const noexcept {
        self->state = Warp::at_meeting;
        self->waits = at;
        self->meeting = meeting;
    }
    void await_resume() const noexcept {}
};

/// A matrix as copy_box sees it, kept in the words of a TensorMap.
struct BoxMap {
    const std::byte* data;
    std::int64_t length, lines, batch, pitch_bytes, batch_pitch_bytes;
    std::int32_t box_length, box_lines, element_bytes;

    device::TensorMap packed() const {
        static_assert(sizeof(BoxMap) <= sizeof(device::TensorMap));
        device::TensorMap map{};
        std::memcpy(&map, this, sizeof *this);
        return map;
    }
    static BoxMap of(const device::TensorMap& map) {
        BoxMap b;
        std::memcpy(&b, &map, sizeof b);
        return b;
    }
};

}  // namespace kernels::glass

namespace kernels::device {

using Barriers = Shared<unsigned long long>;

namespace detail {
inline glass::PhaseBarrier& phase_barrier(Barriers b, int i) {
    return glass::self->cta->phase_barriers[b.offset + static_cast<std::uint32_t>(8 * i)];
}
}  // namespace detail

DEVICE void init_barrier(Barriers b, int i, int arrivals) {
    if (warp_index() != 0) return;
    glass::PhaseBarrier& p = detail::phase_barrier(b, i);
    p.arrivals = p.missing = arrivals;
}
DEVICE void arrive(Barriers b, int i, int) {
    glass::Warp& w = *glass::self;
    glass::PhaseBarrier& p = detail::phase_barrier(b, i);
    p.knows.resize(w.knows.size());
    for (std::size_t k = 0; k < w.knows.size(); ++k) p.knows[k] = std::max(p.knows[k], w.knows[k]);
    w.knows[static_cast<std::size_t>(w.index)]++;
    p.missing--;
    p.settle();
}
DEVICE void expect_bytes(Barriers b, int i, int bytes) {
    detail::phase_barrier(b, i).bytes += bytes;
    arrive(b, i, 0);
}
DEVICE int cluster_rank() { return 0; }

template <class T>
DEVICE void copy_box(Shared<T> to, const TensorMap& map, Barriers b, int i, int x, int line, int problem, int,
                     Place at = Place::here()) {
    const glass::BoxMap box = glass::BoxMap::of(map);
    glass::Cta& cta = *glass::self->cta;
    glass::Machine& m = *cta.machine;
    const int site = detail::site(at);
    m.tally(site).instructions++;
    m.tally(site).active_lanes++;
    glass::BoxCopy copy;
    copy.barrier = b.offset + static_cast<std::uint32_t>(8 * i);
    copy.first_row = to.offset / glass::row_bytes;
    copy.rows = static_cast<std::uint32_t>(box.box_lines);
    copy.site = site;
    copy.bytes = std::int64_t{box.box_lines} * glass::row_bytes;
    copy.data.assign(static_cast<std::size_t>(copy.bytes), std::byte{0});
    if (to.offset % (8 * glass::row_bytes) != 0 || box.box_length * box.element_bytes != glass::row_bytes)
        detail::stop(glass::Finding::out_of_bounds, site, "copies a box that is not eight swizzled rows of 128 bytes");
    const std::int64_t length = std::clamp<std::int64_t>(box.length - x, 0, box.box_length);
    for (int r = 0; r < box.box_lines; ++r) {
        cta.async_shadow.begin_copy(m, *glass::self, copy.first_row + static_cast<std::uint32_t>(r), site);
        if (line + r >= box.lines || length == 0) continue;
        const std::byte* from = box.data + problem * box.batch_pitch_bytes + (line + r) * box.pitch_bytes +
                                std::int64_t{x} * box.element_bytes;
        const auto bytes = static_cast<std::size_t>(length * box.element_bytes);
        const glass::Buffer* buffer = m.buffer_at(from);
        if (!buffer) detail::stop(glass::Finding::out_of_bounds, site, "copies a box from no operand");
        const std::uint64_t address = buffer->address + static_cast<std::uint64_t>(from - buffer->data);
        const std::uint64_t first = address / glass::sector_bytes, last = (address + bytes - 1) / glass::sector_bytes;
        glass::Tally& t = m.tally(site);
        t.payload_bits += 8 * bytes;
        t.global_read_bits += 8 * bytes;
        t.shared_write_bits += 8 * bytes;
        t.sectors += last - first + 1;
        t.ideal_sectors += (bytes + glass::sector_bytes - 1) / glass::sector_bytes;
        t.wavefronts++;
        t.ideal_wavefronts++;
        if (m.observer)
            for (std::uint64_t s = first; s <= last; ++s)
                m.observer->access(cta.slot, s * glass::sector_bytes, glass::sector_bytes, false);
        for (std::size_t c = 0; c < bytes; c += 16)  // chunk c of row r moves to c ^ r
            std::memcpy(&copy.data[static_cast<std::size_t>(r) * glass::row_bytes +
                                   (c / 16 ^ static_cast<std::size_t>(r % 8)) * 16],
                        from + c, std::min<std::size_t>(16, bytes - c));
    }
    cta.boxes.push_back(std::move(copy));
}

template <int LINES>
DEVICE void copy_bit_slab(Shared<unsigned> to, const Window<unsigned char>& from, Barriers b, int i,
                          Place at = Place::here()) {
    glass::Cta& cta = *glass::self->cta;
    glass::Machine& m = *cta.machine;
    const int site = detail::site(at);
    glass::BoxCopy copy;
    copy.barrier = b.offset + static_cast<std::uint32_t>(8 * i);
    copy.first_row = to.offset / glass::row_bytes;
    copy.rows = 8 * LINES / glass::row_bytes;
    copy.site = site;
    copy.arrivals = warp_size;
    copy.data.assign(8 * LINES, std::byte{0});
    for (std::uint32_t r = 0; r < copy.rows; ++r)
        cta.async_shadow.begin_copy(m, *glass::self, copy.first_row + r, site);
    for (int first = 0; first < LINES; first += warp_size) {
        detail::LaneBytes taking;
        lane<int> byte;
        std::uint64_t payload = 0;
        for (int l = 0; l < warp_size; ++l) {
            const int bits = first + l < from.lines ? std::clamp(from.length, 0, 64) : 0;
            taking.v[l] = static_cast<std::uint8_t>(bits > 0 ? 8 : 0);
            byte.v[l] = (first + l) * from.pitch;
            payload += static_cast<unsigned>(bits);
        }
        detail::global_access(from.data, byte, 1, taking, payload, false, 8, site);
        glass::Tally& t = m.tally(site);
        t.shared_write_bits += payload;
        t.wavefronts += 2;
        t.ideal_wavefronts += 2;
        for (int l = 0; l < warp_size; ++l)
            if (taking.v[l] != 0)
                std::memcpy(&copy.data[static_cast<std::size_t>(8 * (first + l))], from.data + byte.v[l], 8);
    }
    cta.boxes.push_back(std::move(copy));
}
DEVICE void fence_for_products() { glass::self->cta->async_shadow.fence(*glass::self); }

namespace detail {

/// Element (line, x) of a slab of swizzled 128-byte rows.
template <class T>
inline float slab_element(const T* slab, int line, int x) {
    return to_float(slab[line * 64 + ((x / 8) ^ (line % 8)) * 8 + x % 8]);
}
/// A warp begins to read rows [first, first + count) of 128 bytes.
inline void read_rows(std::uint32_t first, std::uint32_t count, int site) {
    glass::Warp& w = *glass::self;
    for (std::uint32_t r = first; r < first + count; ++r) w.cta->async_shadow.read(*w.cta->machine, w, r, site);
    w.reads.push_back({w.product_group, first, count});
}

}  // namespace detail

namespace detail {

/// What a product of a warp multiplies: its 16 rows of 16 on the left, 16 of N on the right.
template <int N>
struct Factors {
    float left[16][16], right[16][N];
};

/// Begins to read the right tile's rows k to k + 15, which the warpgroup reads once.
template <int N, int BK, bool RIGHT_ALONG, class T>
inline void read_right(Factors<N>& f, Shared<T> right, int k, int site) {
    const std::uint32_t first = right.offset / glass::row_bytes;
    if constexpr (RIGHT_ALONG) {
        read_rows(first + static_cast<std::uint32_t>(k / 64 * N), N, site);
    } else {
        for (int n = 0; n < N; n += 64) read_rows(first + static_cast<std::uint32_t>(n / 64 * BK + k), 16, site);
    }
    for (int n = 0; n < N; ++n)
        for (int q = 0; q < 16; ++q)
            f.right[q][n] = RIGHT_ALONG ? slab_element(right.data() + k / 64 * N * 64, n, k % 64 + q)
                                        : slab_element(right.data() + n / 64 * BK * 64, k + q, n % 64);
}
template <int N>
inline void multiply(lane<float> (&d)[N / 2], const Factors<N>& f, unsigned left_bytes, int site) {
    glass::Tally& t = glass::self->cta->machine->tally(site);
    const unsigned bytes = left_bytes + (warp_index() % 4 == 0 ? 16 * N * 2 : 0);
    t.instructions++;
    t.active_lanes += warp_size;
    t.payload_bits += 8 * bytes;
    t.shared_read_bits += 8 * bytes;
    t.wavefronts += bytes / glass::row_bytes;
    t.ideal_wavefronts += bytes / glass::row_bytes;

    static thread_local float sum[16][N];
    for (int j = 0; j < N / 8; ++j)
        for (int q = 0; q < 4; ++q)
            for (int l = 0; l < warp_size; ++l) sum[l / 4 + q / 2 * 8][8 * j + l % 4 * 2 + q % 2] = d[4 * j + q].v[l];
    for (int i = 0; i < 16; ++i)
        for (int q = 0; q < 16; ++q)
            for (int n = 0; n < N; ++n) sum[i][n] += f.left[i][q] * f.right[q][n];
    for (int j = 0; j < N / 8; ++j)
        for (int q = 0; q < 4; ++q)
            for (int l = 0; l < warp_size; ++l) d[4 * j + q].v[l] = sum[l / 4 + q / 2 * 8][8 * j + l % 4 * 2 + q % 2];
}

}  // namespace detail

template <int N, int BM, int BK, bool LEFT_ALONG, bool RIGHT_ALONG, class T>
DEVICE void warpgroup_multiply(lane<float> (&d)[N / 2], Shared<T> left, Shared<T> right, int row, int k,
                               Place at = Place::here()) {
    static thread_local detail::Factors<N> f;
    const int site = detail::site(at), rows = row + 16 * (warp_index() % 4);
    const Shared<T> a = left.from((LEFT_ALONG ? k / 64 * BM : rows / 64 * BK) * 64);
    detail::read_rows(a.offset / glass::row_bytes + static_cast<std::uint32_t>(LEFT_ALONG ? rows : k), 16, site);
    for (int i = 0; i < 16; ++i)
        for (int q = 0; q < 16; ++q)
            f.left[i][q] = LEFT_ALONG ? detail::slab_element(a.data(), rows + i, k % 64 + q)
                                      : detail::slab_element(a.data(), k + q, rows % 64 + i);
    detail::read_right<N, BK, RIGHT_ALONG>(f, right, k, site);
    detail::multiply<N>(d, f, 16 * 16 * 2, site);
}
template <int N, int BK, bool RIGHT_ALONG, class T>
DEVICE void warpgroup_multiply(lane<float> (&d)[N / 2], const lane<unsigned> (&left)[4], Shared<T> right, int k,
                               Place at = Place::here()) {
    static thread_local detail::Factors<N> f;
    const int site = detail::site(at);
    for (int l = 0; l < warp_size; ++l)
        for (int q = 0; q < 4; ++q)
            for (int high = 0; high < 2; ++high)
                f.left[l / 4 + q % 2 * 8][l % 4 * 2 + q / 2 * 8 + high] = half_of<T>(left[q].v[l], high);
    detail::read_right<N, BK, RIGHT_ALONG>(f, right, k, site);
    detail::multiply<N>(d, f, 0, site);
}
DEVICE void warpgroup_commit() { glass::self->product_group++; }
template <int N>
DEVICE void warpgroup_wait() {
    glass::Warp& w = *glass::self;
    std::size_t kept = 0;
    for (const glass::MatrixRead& r : w.reads) {
        if (r.group >= w.product_group - N)
            w.reads[kept++] = r;
        else
            for (std::uint32_t i = 0; i < r.count; ++i) w.cta->async_shadow.end_read(w, r.first + i);
    }
    w.reads.resize(kept);
}
template <int N>
DEVICE void keep_registers() {}
template <int N>
DEVICE void take_registers() {}

}  // namespace kernels::device
