#pragma once
// A sectored set-associative cache with true LRU: the exact reference for small cases.

#include <cstdint>
#include <vector>

#include "sim/units.hpp"

namespace sim {

/// Lines of `line` bytes in sets of `ways`, filled sector by sector; write-allocate, write-back (or write-through).
class Cache {
public:
    struct Shape {
        i64 bytes = 0;  ///< capacity; bytes / (ways x line) sets, any number of them
        i64 ways = 1;
        i64 line = 128;
        i64 sector = 32;  ///< divides line; both are powers of two
        bool write_through = false;
    };
    /// Throws BadInput where the shape has no whole number of sets or sectors, or line and sector are no powers of two.
    explicit Cache(const Shape& shape);

    /// Sectors that an access of [address, address + bytes) had to fetch; a write marks them dirty (write-through:
    /// passes them on and allocates nothing on a miss).
    i64 access(std::uint64_t address, i64 bytes, bool write) {
        // Most accesses stay within a sector of the line that their set saw last.
        const std::uint64_t last = address + static_cast<std::uint64_t>(bytes) - 1;
        if (address >> sector_shift_ == last >> sector_shift_ && !shape_.write_through) {
            const std::uint64_t line_address = address >> line_shift_;
            Line& line = *newest_[set_of(line_address)];
            const std::uint64_t bit = bit_of(address);
            if (line.tag == line_address && (line.valid & bit) != 0) {
                line.used = ++clock_;
                if (write) line.dirty |= bit;
                return 0;
            }
        }
        return access_sectors(address, last, write);
    }

    i64 sector_misses() const { return misses_; }
    i64 sectors_written_back() const { return written_back_; }
    /// Dirty sectors still inside.
    i64 dirty_sectors() const;

private:
    struct Line {
        std::uint64_t tag = ~std::uint64_t{0};
        std::uint64_t valid = 0, dirty = 0;  // one bit a sector
        std::uint64_t used = 0;
    };
    std::uint64_t set_of(std::uint64_t line_address) const {
        return set_mask_ != 0 ? line_address & set_mask_ : line_address % sets_;
    }
    std::uint64_t bit_of(std::uint64_t address) const {
        return std::uint64_t{1} << ((address >> sector_shift_) &
                                    ((std::uint64_t{1} << (line_shift_ - sector_shift_)) - 1));
    }
    i64 access_sectors(std::uint64_t first, std::uint64_t last, bool write);
    Line& find_or_evict(std::uint64_t line_address);

    Shape shape_;
    int line_shift_ = 7, sector_shift_ = 5;
    std::uint64_t sets_ = 1, set_mask_ = 0;  ///< mask: sets - 1 where that is a power of two, else 0
    std::vector<Line*> newest_;              ///< of each set: most accesses ask for it again
    std::uint64_t clock_ = 0;
    i64 misses_ = 0, written_back_ = 0;
    std::vector<Line> lines_;
};

}  // namespace sim
