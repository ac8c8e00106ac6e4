#pragma once
// Which k-steps a CTA of a stream-K schedule does. Integers only, for the simulator and for kernels alike.

#include "sim/schedule.hpp"

namespace sim {

/// `tiles` output tiles of `steps` k-steps over `slots` CTAs that stay. Whole waves run as persistent ones do; what a
/// last, ragged wave would leave idle is shared out first: its tiles and those of one whole wave (all tiles, where
/// there are fewer than slots) are laid end to end in raster order, and each slot takes an equal, contiguous range of
/// their k-steps. (Osama et al., "Stream-K", PPoPP 2023, section 5.2: two-tile stream-K + data-parallel.) Tiles that
/// are a multiple of slots are not cut at all. With clusters, tiles and slots count clusters.
struct StreamK {
    long long tiles = 0, steps = 1, slots = 1;

    /// Tiles that are cut up: the first in raster order.
    MEMWALL_HD constexpr long long shared() const {
        return tiles % slots == 0 ? 0 : tiles < slots ? tiles : slots + tiles % slots;
    }
    /// The first of slot j's k-steps, tile t's k-step k being number t·steps + k. Its last is before begin(j + 1); both
    /// alike where there are fewer k-steps than slots.
    MEMWALL_HD constexpr long long begin(long long slot) const {
        const long long all = shared() * steps;
        return all / slots * slot + all % slots * slot / slots;
    }
    /// The slot whose range holds k-step number `unit`. The slot of a tile's first k-step owns the tile: it comes to it
    /// last, finds the others' partial sums written, adds them up and writes the output.
    MEMWALL_HD constexpr long long slot_of(long long unit) const {
        long long low = 0, high = slots - 1;
        while (low < high) {
            const long long middle = (low + high + 1) / 2;
            if (begin(middle) <= unit)
                low = middle;
            else
                high = middle - 1;
        }
        return low;
    }
    /// Whether a slot starts within a tile and so leaves a partial sum of it (one at the most).
    MEMWALL_HD constexpr bool leaves_slice(long long slot) const {
        return begin(slot) % steps != 0 && begin(slot) < begin(slot + 1);
    }
};

}  // namespace sim
