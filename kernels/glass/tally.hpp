#pragma once
// What is counted of a kernel's accesses, source line by source line, and how one warp's access falls into sectors,
// shared-memory banks and wavefronts.

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace kernels::glass {

/// A place in the source of a kernel.
struct Place {
    const char* file = "";
    int line = 0;
    /// Where the function stands that has this as a default argument.
    static constexpr Place here(const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
        return {file, line};
    }
    /// The file from the root of the tree ("kernels/device/03_shared_tile.cuh"), or its bare name.
    std::string_view name() const {
        const std::string_view whole = file;
        const std::size_t at = whole.rfind("kernels/device/");
        return at != std::string_view::npos ? whole.substr(at) : whole.substr(whole.rfind('/') + 1);
    }
    bool operator==(const Place& o) const { return line == o.line && std::strcmp(file, o.file) == 0; }
};

/// Counts of one source line, or of a whole kernel. One access of a warp is one instruction.
struct Tally {
    std::uint64_t instructions = 0, active_lanes = 0;
    std::uint64_t payload_bits = 0;  ///< what the active lanes asked for, read or written, in either memory
    std::uint64_t global_read_bits = 0, global_write_bits = 0;
    std::uint64_t shared_read_bits = 0;  ///< a word that several lanes read in one instruction counts once
    std::uint64_t shared_write_bits = 0;
    std::uint64_t sectors = 0, ideal_sectors = 0;        ///< 32 B of global memory touched; if lanes lay side by side
    std::uint64_t wavefronts = 0, ideal_wavefronts = 0;  ///< passes over the 32 banks; if no two lanes collided

    void add(const Tally& o, std::uint64_t times = 1) {
        instructions += o.instructions * times;
        active_lanes += o.active_lanes * times;
        payload_bits += o.payload_bits * times;
        global_read_bits += o.global_read_bits * times;
        global_write_bits += o.global_write_bits * times;
        shared_read_bits += o.shared_read_bits * times;
        shared_write_bits += o.shared_write_bits * times;
        sectors += o.sectors * times;
        ideal_sectors += o.ideal_sectors * times;
        wavefronts += o.wavefronts * times;
        ideal_wavefronts += o.ideal_wavefronts * times;
    }
    std::uint64_t bank_conflicts() const { return wavefronts - ideal_wavefronts; }
    bool operator==(const Tally&) const = default;
};

inline constexpr int warp_lanes = 32, banks = 32, word_bytes = 4, sector_bytes = 32;
inline constexpr int row_bytes = banks * word_bytes;

/// Words of shared memory by rows of 32 banks: bit b of bits[i] is the word of bank b in row index[i].
struct BankRows {
    int count = 0;
    std::uint32_t index[2 * warp_lanes], bits[2 * warp_lanes];

    void add(std::uint32_t row, std::uint32_t words) {
        for (int i = count - 1; i >= 0; --i)
            if (index[i] == row) {
                bits[i] |= words;
                return;
            }
        index[count] = row;
        bits[count++] = words;
    }
    void add(const BankRows& o) {
        for (int i = 0; i < o.count; ++i) add(o.index[i], o.bits[i]);
    }
    int words() const {
        int n = 0;
        for (int i = 0; i < count; ++i) n += std::popcount(bits[i]);
        return n;
    }
    /// Passes the banks need: the most rows that one bank is asked for.
    int wavefronts() const {
        if (count <= 1) return count;
        if (count == 2) return (bits[0] & bits[1]) != 0 ? 2 : 1;
        std::uint32_t ones = 0, twos = 0, fours = 0, eights = 0, sixteens = 0, all = ~std::uint32_t{0};
        for (int i = 0; i < count; ++i) {  // adds one bit to each bank's counter, bit-sliced
            std::uint32_t carry = ones & bits[i];
            ones ^= bits[i];
            std::uint32_t next = twos & carry;
            twos ^= carry;
            carry = fours & next;
            fours ^= next;
            next = eights & carry;
            eights ^= carry;
            carry = sixteens & next;
            sixteens ^= next;
            if (carry != 0) return 32;
        }
        int most = 0;  // the largest counter, bit by bit from the top
        const auto take = [&](std::uint32_t slice, int value) {
            if ((all & slice) != 0) {
                all &= slice;
                most += value;
            }
        };
        take(sixteens, 16);
        take(eights, 8);
        take(fours, 4);
        take(twos, 2);
        take(ones, 1);
        return most;
    }
};

/// Distinct 32 B sectors, in ascending order.
struct Sectors {
    int count = 0;
    std::uint64_t index[2 * warp_lanes];

    /// Of accesses [address, address + bytes) of each lane; 0 bytes = the lane does not take part.
    void collect(const std::uint64_t (&address)[warp_lanes], const std::uint8_t (&bytes)[warp_lanes]) {
        std::uint64_t low = ~std::uint64_t{0}, high = 0;
        for (int i = 0; i < warp_lanes; ++i) {
            if (bytes[i] == 0) continue;
            low = std::min(low, address[i]);
            high = std::max(high, address[i] + bytes[i] - 1);
        }
        count = 0;
        if (low > high) return;
        const std::uint64_t first = low / sector_bytes;
        if (high / sector_bytes - first < 64) {
            std::uint64_t touched = 0;
            for (int i = 0; i < warp_lanes; ++i) {
                if (bytes[i] == 0) continue;
                touched |= std::uint64_t{1} << (address[i] / sector_bytes - first);
                touched |= std::uint64_t{1} << ((address[i] + bytes[i] - 1) / sector_bytes - first);
            }
            for (; touched != 0; touched &= touched - 1)
                index[count++] = first + static_cast<std::uint64_t>(std::countr_zero(touched));
            return;
        }
        for (int i = 0; i < warp_lanes; ++i) {
            if (bytes[i] == 0) continue;
            const std::uint64_t begin = address[i] / sector_bytes, end = (address[i] + bytes[i] - 1) / sector_bytes;
            index[count++] = begin;
            if (end != begin) index[count++] = end;
        }
        std::sort(index, index + count);
        count = static_cast<int>(std::unique(index, index + count) - index);
    }
};

}  // namespace kernels::glass
