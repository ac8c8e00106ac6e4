#pragma once
// The L2 as design counts it: a fully associative LRU over tiles of unequal weight.

#include <algorithm>
#include <cstdint>
#include <vector>

#include "sim/units.hpp"

namespace sim {

/// LRU over tiles with dense ids. A request makes its tile the most recent; a miss also drops the least recent tiles
/// until the rest fits; a tile larger than the whole is not kept. Weights are in bits, so that a mask's tiles weigh
/// what they are. Tiles may be partly resident (after a change of grid): only the missing part is read.
///
/// Recency is a log of touches: a tile's place is its last entry, earlier ones are void. A touch then writes one node
/// and the end of the log, where a linked list would also write the neighbours the tile leaves behind.
class L2Tiles {
public:
    explicit L2Tiles(i64 capacity_bits) : capacity_(capacity_bits) {}

    /// Takes effect at the next insertion; nothing is dropped now.
    void set_capacity(i64 bits) { capacity_ = bits; }
    i64 capacity_bits() const { return capacity_; }
    /// Makes room for ids below `count` (ids start at 0).
    void reserve_ids(i64 count) {
        if (static_cast<std::size_t>(count) <= nodes_.size()) return;
        nodes_.resize(static_cast<std::size_t>(count));
        dirty_.resize(static_cast<std::size_t>(count));
    }

    /// Requests a tile of `bits`; returns the bits read from below (0 = hit).
    i64 request(i64 id, i64 bits) {
        const i64 missing = bits - nodes_[static_cast<std::size_t>(id)].present;
        if (missing == 0)
            touch(static_cast<Id>(id));
        else
            keep(static_cast<Id>(id), bits);
        return missing;
    }
    /// The tile is written: it is the most recent and dirty, whatever was there before.
    void write(i64 id, i64 bits) {
        if (keep(static_cast<Id>(id), bits)) dirty_[static_cast<Id>(id)] = bits;
    }

    /// Bits written and still resident.
    i64 dirty_bits() const {
        i64 sum = 0;
        for (i64 bits : dirty_) sum += bits;
        return sum;
    }
    i64 used_bits() const { return used_; }

    /// Calls f(id, present bits, dirty bits) from the least recent tile to the most recent; f may add and take out
    /// tiles.
    template <class F>
    void oldest_first(F&& f) {
        std::vector<Id> order;
        for (std::size_t p = oldest_; p < log_.size(); ++p)
            if (nodes_[log_[p]].place == p) order.push_back(log_[p]);
        for (Id id : order) f(static_cast<i64>(id), nodes_[id].present, dirty_[id]);
    }
    /// Takes a tile out without a write.
    void remove(i64 id) { drop(static_cast<Id>(id)); }
    /// Adds resident bits to a tile and makes it the most recent; drops nothing (used when grids change).
    void add(i64 id, i64 bits, i64 dirty) {
        touch(static_cast<Id>(id));
        nodes_[static_cast<Id>(id)].present += bits;
        dirty_[static_cast<Id>(id)] += dirty;
        used_ += bits;
    }

private:
    using Id = std::uint32_t;
    static constexpr Id nowhere = ~Id{0};
    struct Node {
        i64 present = 0;
        Id place = nowhere;  ///< of its last entry in the log
    };

    void touch(Id id) {
        if (log_.size() == log_.capacity()) tidy();
        nodes_[id].place = static_cast<Id>(log_.size());
        log_.push_back(id);
    }
    /// Takes the void entries out of the log, which then has room for as many touches as there are tiles.
    void tidy() {
        std::size_t kept = 0;
        for (std::size_t p = oldest_; p < log_.size(); ++p) {
            const Id id = log_[p];
            if (nodes_[id].place != p) continue;
            nodes_[id].place = static_cast<Id>(kept);
            log_[kept++] = id;
        }
        log_.resize(kept);
        log_.reserve(std::max<std::size_t>(1024, 2 * nodes_.size()));
        oldest_ = 0;
    }
    void drop(Id id) {
        used_ -= nodes_[id].present;
        nodes_[id] = {};
        dirty_[id] = 0;
    }
    /// Makes the tile whole and the most recent, what is least recent leaves. False: it is larger than the L2 and only
    /// passed through.
    bool keep(Id id, i64 bits) {
        if (bits > capacity_) {
            if (nodes_[id].present != 0) drop(id);
            return false;
        }
        used_ += bits - nodes_[id].present;
        nodes_[id].present = bits;
        touch(id);
        while (used_ > capacity_) {
            const Id last = log_[oldest_];
            if (nodes_[last].place == oldest_) drop(last);
            ++oldest_;
        }
        return true;
    }

    i64 capacity_, used_ = 0;
    std::vector<Node> nodes_;
    std::vector<i64> dirty_;  ///< of each tile's bits, those written
    std::vector<Id> log_;     ///< tiles in the order of their touches
    std::size_t oldest_ = 0;  ///< nothing before this entry counts
};

}  // namespace sim
