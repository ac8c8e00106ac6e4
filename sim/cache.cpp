#include "sim/cache.hpp"

#include <fmt/format.h>

#include <bit>

#include "sim/error.hpp"

namespace sim {

Cache::Cache(const Shape& s) : shape_(s) {
    const auto power = [](i64 v) { return v > 0 && std::has_single_bit(static_cast<std::uint64_t>(v)); };
    const bool sectors_ok = power(s.line) && power(s.sector) && s.sector > 0 && s.line >= s.sector &&
                            s.line % s.sector == 0 && s.line / s.sector <= 64;
    if (!sectors_ok || s.ways < 1 || s.bytes < s.ways * s.line || s.bytes % (s.ways * s.line) != 0)
        throw BadInput(fmt::format(
            "cache of {} B, {} ways, {} B lines, {} B sectors: expected whole sets of whole lines of 1 to 64 sectors",
            s.bytes, s.ways, s.line, s.sector));
    line_shift_ = std::countr_zero(static_cast<std::uint64_t>(s.line));
    sector_shift_ = std::countr_zero(static_cast<std::uint64_t>(s.sector));
    sets_ = static_cast<std::uint64_t>(s.bytes / (s.ways * s.line));
    if (std::has_single_bit(sets_)) set_mask_ = sets_ - 1;
    lines_.resize(sets_ * static_cast<std::uint64_t>(s.ways));
    for (std::uint64_t i = 0; i < sets_; ++i) newest_.push_back(&lines_[i * static_cast<std::uint64_t>(s.ways)]);
}

Cache::Line& Cache::find_or_evict(std::uint64_t line_address) {
    const std::uint64_t which = set_of(line_address);
    Line*& newest = newest_[which];
    if (newest->tag == line_address) return *newest;
    Line* const set = &lines_[which * static_cast<std::uint64_t>(shape_.ways)];
    Line* oldest = set;
    for (Line* l = set; l != set + shape_.ways; ++l) {
        if (l->tag == line_address) return *(newest = l);
        if (l->used < oldest->used) oldest = l;
    }
    written_back_ += std::popcount(oldest->dirty);
    *oldest = {line_address, 0, 0, 0};
    return *(newest = oldest);
}

i64 Cache::access_sectors(std::uint64_t first, std::uint64_t last, bool write) {
    i64 fetched = 0;
    for (std::uint64_t s = first >> sector_shift_; s <= last >> sector_shift_; ++s) {
        const std::uint64_t at = s << sector_shift_, bit = bit_of(at);
        if (write && shape_.write_through) {
            ++written_back_;
            continue;
        }
        Line& line = find_or_evict(at >> line_shift_);
        line.used = ++clock_;
        if (!(line.valid & bit)) {
            ++fetched;
            line.valid |= bit;
        }
        if (write) line.dirty |= bit;
    }
    misses_ += fetched;
    return fetched;
}

i64 Cache::dirty_sectors() const {
    i64 sum = 0;
    for (const Line& l : lines_) sum += std::popcount(l.dirty);
    return sum;
}

}  // namespace sim
