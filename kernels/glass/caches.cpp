#include "kernels/glass/caches.hpp"

#include <algorithm>

namespace kernels::glass {

using sim::i64;

namespace {

/// The nearest shape of so many bytes that has whole sets.
sim::Cache::Shape shape_of(i64 bytes, i64 ways, bool write_through) {
    constexpr i64 line = 128;
    ways = std::clamp<i64>(bytes / line, 1, ways);
    return {std::max<i64>(1, bytes / (ways * line)) * ways * line, ways, line, sector_bytes, write_through};
}

/// The address as the L2's slices and sets see it. GPUs hash it, so that the rows of a matrix whose pitch is a power of
/// two do not crowd into a few sets; one to one, line by line.
std::uint64_t spread(std::uint64_t address) {
    std::uint64_t line = address / 128;
    line ^= line >> 7;
    line ^= line >> 13;
    return line * 128 + address % 128;
}

}  // namespace

Caches::Caches(i64 l2_bytes) {
    if (l2_bytes > 0) l2_ = std::make_unique<sim::Cache>(shape_of(l2_bytes, 16, false));
}

void Caches::set_l1(i64 bytes, i64 ctas_per_sm, bool cold) {
    l1s_.clear();
    l1_bytes_ = bytes;
    cold_ = cold;
    ctas_per_sm_ = std::max<i64>(1, ctas_per_sm);
}

void Caches::access(int slot, std::uint64_t address, int bytes, bool write) {
    if (l1_bytes_ > 0) {
        const auto sm = static_cast<std::size_t>(slot / ctas_per_sm_);
        while (l1s_.size() <= sm) l1s_.push_back(std::make_unique<sim::Cache>(shape_of(l1_bytes_, 16, true)));
        if (l1s_[sm]->access(address, bytes, write) == 0 && !write) return;
    }
    (write ? now_.written : now_.read)++;
    if (!l2_) return;
    address = spread(address);
    // A written sector needs no fetch: the L2 keeps which of its bytes are new.
    const i64 fetched = l2_->access(address, bytes, write);
    if (!write) dram_read_sectors_ += fetched;
}

void Caches::settle(std::uint64_t times) {
    sum_.read += now_.read * static_cast<i64>(times);
    sum_.written += now_.written * static_cast<i64>(times);
    now_ = {};
    if (cold_) l1s_.clear();
}

Caches::L2Sectors Caches::take_l2_sectors() {
    const L2Sectors taken = sum_;
    sum_ = {};
    return taken;
}

i64 Caches::dram_read_bytes() const { return dram_read_sectors_ * sector_bytes; }
i64 Caches::dirty_bytes() const { return l2_ ? l2_->dirty_sectors() * sector_bytes : 0; }
i64 Caches::dram_write_bytes() const { return l2_ ? l2_->sectors_written_back() * sector_bytes + dirty_bytes() : 0; }

}  // namespace kernels::glass
