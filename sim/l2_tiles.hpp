#pragma once
// The L2 as design counts it: a fully associative LRU over tiles of unequal weight.

#include <cstdint>
#include <vector>

#include "sim/units.hpp"

namespace sim {

/// LRU over tiles with dense ids. A request moves its tile to the front; a miss inserts it there and drops tiles from
/// the back until the rest fits; a tile larger than the whole is not kept. Weights are in bits, so that a mask's tiles
/// weigh what they are. Tiles may be partly resident (after a change of grid): only the missing part is read.
class L2Tiles {
public:
    explicit L2Tiles(i64 capacity_bits) : capacity_(capacity_bits), nodes_(1) { nodes_[0] = {0, 0, 0, 0}; }

    /// Takes effect at the next insertion; nothing is dropped now.
    void set_capacity(i64 bits) { capacity_ = bits; }
    /// Makes room for ids below `count` (ids start at 0).
    void reserve_ids(i64 count) {
        if (static_cast<std::size_t>(count) + 1 > nodes_.size()) nodes_.resize(static_cast<std::size_t>(count) + 1);
    }

    /// Requests a tile of `bits`; returns the bits read from below (0 = hit).
    i64 request(i64 id, i64 bits) {
        const Index i = static_cast<Index>(id + 1);
        Node& node = nodes_[i];
        if (node.present == bits) {
            if (nodes_[0].next != i) {
                unlink(i);
                push_front(i);
            }
            return 0;
        }
        const i64 missing = bits - node.present;
        keep(i, bits, node.dirty);
        return missing;
    }
    /// The tile is written: it is the most recent and dirty, whatever was there before.
    void write(i64 id, i64 bits) { keep(static_cast<Index>(id + 1), bits, bits); }

    /// Bits written and still resident.
    i64 dirty_bits() const {
        i64 sum = 0;
        for (Index i = nodes_[0].next; i != 0; i = nodes_[i].next) sum += nodes_[i].dirty;
        return sum;
    }
    i64 used_bits() const { return used_; }

    /// Calls f(id, present bits, dirty bits) from the least recent tile to the most recent, f may take tiles out.
    template <class F>
    void oldest_first(F&& f) {
        for (Index i = nodes_[0].prev; i != 0;) {
            const Index before = nodes_[i].prev;
            f(static_cast<i64>(i) - 1, nodes_[i].present, nodes_[i].dirty);
            i = before;
        }
    }
    /// Takes a tile out without a write.
    void remove(i64 id) {
        const Index i = static_cast<Index>(id + 1);
        unlink(i);
        used_ -= nodes_[i].present;
        nodes_[i].present = nodes_[i].dirty = 0;
    }
    /// Adds resident bits to a tile and makes it the most recent; drops nothing (used when grids change).
    void add(i64 id, i64 bits, i64 dirty) {
        const Index i = static_cast<Index>(id + 1);
        if (nodes_[i].present != 0) unlink(i);
        push_front(i);
        nodes_[i].present += bits;
        nodes_[i].dirty += dirty;
        used_ += bits;
    }

private:
    using Index = std::uint32_t;  // 0 is the list's own end
    struct Node {
        Index prev = 0, next = 0;
        i64 present = 0, dirty = 0;
    };

    void unlink(Index i) {
        nodes_[nodes_[i].prev].next = nodes_[i].next;
        nodes_[nodes_[i].next].prev = nodes_[i].prev;
    }
    void push_front(Index i) {
        const Index first = nodes_[0].next;
        nodes_[i].prev = 0;
        nodes_[i].next = first;
        nodes_[first].prev = i;
        nodes_[0].next = i;
    }
    void keep(Index i, i64 bits, i64 dirty) {
        if (nodes_[i].present != 0) unlink(i);
        used_ -= nodes_[i].present;
        nodes_[i].present = nodes_[i].dirty = 0;
        if (bits > capacity_) return;  // read or written through
        push_front(i);
        nodes_[i].present = bits;
        nodes_[i].dirty = dirty;
        used_ += bits;
        while (used_ > capacity_) {
            const Index last = nodes_[0].prev;
            used_ -= nodes_[last].present;
            unlink(last);
            nodes_[last].present = nodes_[last].dirty = 0;
        }
    }

    i64 capacity_, used_ = 0;
    std::vector<Node> nodes_;
};

}  // namespace sim
