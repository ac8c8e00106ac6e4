#pragma once
// One access of a warp: checked against what is there, counted by source line, shown to the caches and the race check.

#include <climits>

#include "kernels/glass/lane.hpp"
#include "kernels/glass/warp.hpp"

namespace kernels::device {

using glass::Place;

namespace detail {

using glass::Machine;
using glass::self;
using glass::Tally;

[[noreturn]] inline void stop(glass::Finding::Kind kind, int site, const std::string& what) {
    Machine& m = *self->cta->machine;
    m.note(kind, m.place(site), {}, place_text(m.place(site)) + " " + what);
    throw glass::Stopped();
}

inline std::string who(int lane) {
    return " (CTA " + std::to_string(self->cta->index) + ", warp " + std::to_string(self->index) + ", lane " +
           std::to_string(lane) + ")";
}

/// Bytes that each lane takes part with; 0 = not at all.
struct LaneBytes {
    std::uint8_t v[warp_size];
    static LaneBytes where(mask m, int bytes) {
        LaneBytes r;
        for (int i = 0; i < warp_size; ++i) r.v[i] = static_cast<std::uint8_t>((m.bits >> i & 1) != 0 ? bytes : 0);
        return r;
    }
    /// `count` elements of `size` bytes, at most N.
    template <int N>
    static LaneBytes of(const lane<int>& count, int size) {
        LaneBytes r;
        for (int i = 0; i < warp_size; ++i)
            r.v[i] = static_cast<std::uint8_t>(std::min(std::max(count.v[i], 0), N) * size);
        return r;
    }
    int active() const {
        int n = 0;
        for (std::uint8_t b : v) n += b != 0;
        return n;
    }
    std::uint64_t bits() const {
        std::uint64_t n = 0;
        for (std::uint8_t b : v) n += b;
        return 8 * n;
    }
};

/// One access of a warp to global memory: lane l touches bytes.v[l] bytes at p + i[l]·size. Of those, L2 is asked for
/// `fresh` (null: all).
inline void global_access(const void* p, const lane<int>& i, int size, const LaneBytes& bytes,
                          std::uint64_t payload_bits, bool write, int align, int site,
                          const LaneBytes* fresh = nullptr) {
    Machine& m = *self->cta->machine;
    Tally& t = m.tally(site);
    t.instructions++;
    int low = -1, high = -1;
    for (int l = 0; l < warp_size; ++l) {
        if (bytes.v[l] == 0) continue;
        if (low < 0 || i.v[l] < i.v[low]) low = l;
        if (high < 0 || i.v[l] > i.v[high]) high = l;
    }
    if (low < 0) return;
    const auto* base = static_cast<const std::byte*>(p);
    const auto at = [&](int l) { return base + static_cast<std::ptrdiff_t>(i.v[l]) * size; };
    const glass::Buffer* buffer = m.buffer_at(at(low));
    if (!buffer || at(high) + bytes.v[high] > buffer->data + buffer->bytes) {
        const int l = buffer ? high : low;
        std::string where = "no operand";
        if (buffer)
            where = std::to_string(at(l) - buffer->data) + " bytes into " + buffer->name + ", which has " +
                    std::to_string(buffer->bytes);
        else if (const glass::Buffer* near = m.buffer_at(at(high)))
            where = std::to_string(near->data - at(l)) + " bytes before " + near->name;
        else if (const glass::Buffer* first = m.buffer_at(base))
            where = std::to_string(at(l) - first->data) + " bytes into " + first->name + ", which has " +
                    std::to_string(first->bytes);
        stop(glass::Finding::out_of_bounds, site,
             std::string(write ? "writes" : "reads") + " " + std::to_string(bytes.v[l]) +
                 " bytes of global memory at " + where + who(l));
    }
    std::uint64_t address[warp_size];
    const std::uint64_t origin = buffer->address + static_cast<std::uint64_t>(base - buffer->data);
    std::uint64_t crooked = 0;
    for (int l = 0; l < warp_size; ++l) {
        address[l] = origin + static_cast<std::uint64_t>(static_cast<std::int64_t>(i.v[l]) * size);
        crooked |= bytes.v[l] == align ? address[l] & static_cast<std::uint64_t>(align - 1) : 0;
    }
    if (crooked != 0)
        stop(glass::Finding::out_of_bounds, site,
             "moves " + std::to_string(align) + " bytes of " + buffer->name +
                 " from an address that is no multiple of them");
    glass::Sectors sectors;
    sectors.collect(address, bytes.v);
    t.active_lanes += static_cast<unsigned>(bytes.active());
    t.payload_bits += payload_bits;
    (write ? t.global_write_bits : t.global_read_bits) += fresh ? fresh->bits() : payload_bits;
    t.sectors += static_cast<unsigned>(sectors.count);
    // Side by side the lanes would need this many; a broadcast needs fewer.
    const std::uint64_t side_by_side = (payload_bits + 8 * glass::sector_bytes - 1) / (8 * glass::sector_bytes);
    t.ideal_sectors += std::min(side_by_side, static_cast<std::uint64_t>(sectors.count));
    if (!m.observer) return;
    if (fresh) sectors.collect(address, fresh->v);
    for (int s = 0; s < sectors.count; ++s)
        m.observer->access(self->cta->slot, sectors.index[s] * glass::sector_bytes, glass::sector_bytes, write);
}

enum class Smem { read, write, begin_copy };

/// What an access of lanes at these elements, counted from the first lane's, asks of the banks. It does not depend on
/// where the first lane is, so that a loop over k analyses its accesses once.
struct Pattern {
    lane<int> element;  ///< of each lane, from the first active lane's on
    std::uint32_t where = 0;
    int bytes = 0, low = 0, high = 0, crooked = 0, words = 0;
    std::uint32_t wavefronts = 0, ideal = 0;
    int low_word = 0;      ///< of the lowest word, from the first lane's
    glass::BankRows rows;  ///< counted from the lowest word
};

/// Fills a pattern whose element, where and bytes are set.
inline void analyse(Pattern& p, int size) {
    p.low = INT32_MAX;
    p.high = INT32_MIN;
    p.crooked = 0;
    for (int l = 0; l < warp_size; ++l) {
        if ((p.where >> l & 1) == 0) continue;
        p.low = std::min(p.low, p.element.v[l]);
        p.high = std::max(p.high, p.element.v[l]);
        p.crooked |= p.element.v[l] * size & (p.bytes - 1);
    }
    const int lanes = p.bytes <= 4 ? 32 : p.bytes == 8 ? 16 : 8;  // that one pass over the banks serves
    p.low_word = (p.low * size) >> 2;
    p.rows.count = 0;
    p.wavefronts = p.ideal = 0;
    for (int first = 0; first < warp_size; first += lanes) {
        glass::BankRows pass;
        for (int l = first; l < first + lanes; ++l) {
            if ((p.where >> l & 1) == 0) continue;
            const int word = ((p.element.v[l] * size) >> 2) - p.low_word;
            for (int w = word; w < word + std::max(1, p.bytes / 4); ++w)
                pass.add(static_cast<std::uint32_t>(w) / glass::banks, 1u << w % glass::banks);
        }
        if (pass.count == 0) continue;
        p.wavefronts += static_cast<unsigned>(pass.wavefronts());
        p.ideal++;
        p.rows.add(pass);
    }
    p.words = p.rows.words();
}

/// The pattern of an access, from the site's last one where they are the same.
inline const Pattern& pattern_of(Machine& m, int site, const lane<int>& i, mask where, int size, int bytes) {
    Pattern& p = m.pattern<Pattern>(site);
    const int origin = i.v[std::countr_zero(where.bits)];
    int differs = 0;
    for (int l = 0; l < warp_size; ++l) differs |= (i.v[l] - origin) ^ p.element.v[l];
    if (differs == 0 && p.where == where.bits && p.bytes == bytes) return p;
    for (int l = 0; l < warp_size; ++l) p.element.v[l] = i.v[l] - origin;
    p.where = where.bits;
    p.bytes = bytes;
    analyse(p, size);
    return p;
}

/// One access of a warp to shared memory: lane l touches `bytes` bytes at offset + i[l]·size. Counts wavefronts: all
/// lanes at once up to 4 bytes each, half a warp at 8, a quarter at 16. `read_bits` < 0: each word once.
inline void shared_access(std::uint32_t offset, int elements, const lane<int>& i, int size, int bytes, mask where,
                          Smem kind, std::uint64_t payload_bits, std::int64_t read_bits, int site) {
    Machine& m = *self->cta->machine;
    Tally& t = m.tally(site);
    if (kind != Smem::begin_copy) t.instructions++;
    if (where.bits == 0) return;
    const Pattern& p = pattern_of(m, site, i, where, size, bytes);
    const int origin = i.v[std::countr_zero(where.bits)];
    if (origin + p.low < 0 || (origin + p.high) * size + bytes > elements * size) {
        for (int l = 0; l < warp_size; ++l)
            if ((where.bits >> l & 1) != 0 && (i.v[l] < 0 || i.v[l] * size + bytes > elements * size))
                stop(glass::Finding::out_of_bounds, site,
                     std::string(kind == Smem::read ? "reads" : "writes") + " element " + std::to_string(i.v[l]) +
                         " of a shared array of " + std::to_string(elements) + who(l));
    }
    if (((p.crooked | origin * size) & (bytes - 1)) != 0)
        stop(glass::Finding::out_of_bounds, site,
             "moves " + std::to_string(bytes) + " bytes of shared memory at an address that is no multiple of them");
    t.wavefronts += p.wavefronts;
    t.ideal_wavefronts += p.ideal;
    if (kind != Smem::begin_copy) {
        t.active_lanes += static_cast<unsigned>(std::popcount(where.bits));
        t.payload_bits += payload_bits;
    }
    if (kind == Smem::read)
        t.shared_read_bits +=
            read_bits >= 0 ? static_cast<std::uint64_t>(read_bits) : static_cast<unsigned>(32 * p.words);
    else
        t.shared_write_bits += payload_bits;
    if (!m.checks_races) return;
    // The pattern's rows, moved to where its lowest word is: each falls into one or two rows of banks.
    const std::uint32_t lowest = (offset + static_cast<std::uint32_t>(origin * size)) / glass::word_bytes +
                                 static_cast<std::uint32_t>(p.low_word);
    const std::uint32_t row = lowest / glass::banks, shift = lowest % glass::banks;
    glass::BankRows rows;
    rows.count = 0;
    if (shift == 0) {
        rows.count = p.rows.count;
        for (int r = 0; r < rows.count; ++r) {
            rows.index[r] = row + p.rows.index[r];
            rows.bits[r] = p.rows.bits[r];
        }
    } else {
        for (int r = 0; r < p.rows.count; ++r) {
            const std::uint64_t moved = static_cast<std::uint64_t>(p.rows.bits[r]) << shift;
            if (static_cast<std::uint32_t>(moved) != 0)
                rows.add(row + p.rows.index[r], static_cast<std::uint32_t>(moved));
            if (moved >> 32 != 0) rows.add(row + p.rows.index[r] + 1, static_cast<std::uint32_t>(moved >> 32));
        }
    }
    if (glass::AsyncShadow& shadow = self->cta->async_shadow; shadow.watches()) {
        for (int r = 0; r < rows.count; ++r) shadow.access(m, *self, rows.index[r], kind != Smem::read, site);
        return;
    }
    glass::Shadow& shadow = self->cta->shadow;
    if (kind == Smem::read)
        shadow.read(m, self->index, rows, site);
    else if (kind == Smem::write)
        shadow.write(m, self->index, rows, site);
    else
        shadow.begin_copy(m, *self, rows, site);
}

inline int site(Place at) { return self->cta->machine->site(at); }

/// Distinct values among the lanes.
inline int distinct(const lane<int>& a) {
    int v[warp_size];
    std::copy(a.v, a.v + warp_size, v);
    std::sort(v, v + warp_size);
    return static_cast<int>(std::unique(v, v + warp_size) - v);
}

}  // namespace detail

}  // namespace kernels::device
