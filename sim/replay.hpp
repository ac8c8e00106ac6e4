#pragma once
// The tile requests of a GPU's kernels, walked through its L2 in lockstep or staggered. The counts and the stepper both
// run this; an observer sees every request.

#include <map>
#include <vector>

#include "sim/count_gpu.hpp"
#include "sim/gpu_work.hpp"
#include "sim/l2_tiles.hpp"

namespace sim {

/// Sees nothing; costs nothing.
struct NoObserver {
    static constexpr bool watches = false;
    /// A tile (its id among all tiles of the replay, row, column, bits) is asked for; `missing` bits came from DRAM.
    void request(const Access&, i64, i64, i64, i64, i64) {}
    void write(const Access&, i64, i64, i64, i64) {}
    /// A CTA finished a k-step (or a tile of an elementwise pass); false stops the replay.
    bool step(const Kernel&, TileIndex, i64, i64) { return true; }
};

/// The tile ids of one tensor as one kernel cuts it: rows x cols of tiles, per batch and slice.
struct TileGrid {
    i64 base = 0, row_tile = 1, col_tile = 1, row_trips = 1, col_trips = 1, count = 0;
    i64 id(i64 set, i64 row, i64 col) const { return base + (set * row_trips + row) * col_trips + col; }
};

template <class Observer = NoObserver>
class Replay {
public:
    /// `effective_bits` is the capacity that matmul tiles have, `whole_bits` that of an elementwise pass.
    Replay(i64 effective_bits, i64 whole_bits, MovedUnit unit, Observer observer = {})
        : l2_(effective_bits),
          effective_bits_(effective_bits),
          whole_bits_(whole_bits),
          unit_(unit),
          observer_(observer) {}

    /// Runs one kernel with `slots` resident CTAs in clusters of `cluster`, after whatever ran before. Returns its DRAM
    /// traffic. `staggered` lets CTAs drift evenly apart; elementwise kernels know no difference.
    DramFlows run(const Kernel& k, Raster raster, Shape2 cluster, i64 slots, bool staggered) {
        flows_ = {};
        l2_.set_capacity(k.matmul ? effective_bits_ : whole_bits_);
        left_ = streams(k, k.left);
        right_ = streams(k, k.right);
        epilogue_ = streams(k, k.epilogue);
        outputs_ = streams(k, k.outputs, k.in_place ? &epilogue_ : nullptr);
        if (!k.matmul) {
            run_elementwise(k);
            return flows_;
        }
        const GpuWork work(k, raster, cluster, slots);
        last_step_ = work.steps - 1;
        depth_ = std::min(k.tile.bk, k.extent.red);
        last_depth_ = clipped(k.extent.red, k.tile.bk, last_step_);
        if (work.shared > 0) share_tiles(work);
        if (staggered)
            run_staggered(work);
        else
            run_lockstep(work);
        return flows_;
    }

    i64 dirty_bits() const { return l2_.dirty_bits(); }
    bool stopped() const { return stopped_; }
    Observer& observer() { return observer_; }

private:
    struct Stream {
        const Access* access;
        TileGrid grid;
        DramFlow* flow;
        i64 stride = 0;       ///< between the ids of a k-step and the next
        i64 whole_moved = 0;  ///< bytes that any unclipped tile moves; 0 where they differ
    };
    /// The tiles of one operand that a CTA walks: step s of its range asks for first + s·stride.
    struct Load {
        Stream* stream;
        i64 first, k_begin;
        i64 bits;  ///< of one element of the reduction
    };
    /// A CTA's piece of work with what it loads.
    struct Piece {
        Cta cta;
        std::array<Load, 4> loads;
        int count = 0;
    };

    // ---- tiles of tensors -------------------------------------------------------------------------------------------

    std::vector<Stream> streams(const Kernel& k, const std::vector<Access>& accesses,
                                const std::vector<Stream>* over = nullptr) {
        std::vector<Stream> out;
        for (const Access& a : accesses) {
            DramFlow* flow = &flows_[static_cast<int>(a.tensor.name)];
            if (over && out.empty() && !over->empty()) {
                same_memory_[{a.tensor.name, a.tensor.variant}] = key(*over->front().access);
                out.push_back({&a, over->front().grid, flow});
            } else {
                out.push_back({&a, grid(k, a), flow});
            }
            Stream& s = out.back();
            s.stride = a.row_axis == Axis::red ? s.grid.col_trips : a.col_axis == Axis::red ? 1 : 0;
            const bool aligned = unit_.bytes > 0 && a.tensor.bits > 1 &&
                                 pitch_bytes(a.tensor, unit_.pitch) % unit_.bytes == 0 &&
                                 s.grid.col_tile * a.tensor.bits % (8 * unit_.bytes) == 0;
            if (aligned) s.whole_moved = moved(s, 0, 0);
        }
        return out;
    }
    using Key = std::pair<Operand, int>;
    /// The memory a tensor lies in: an in-place output is its input under another name.
    Key key(const Access& a) const {
        const Key own{a.tensor.name, a.tensor.variant};
        const auto it = same_memory_.find(own);
        return it == same_memory_.end() ? own : it->second;
    }

    const TileGrid& grid(const Kernel& k, const Access& a) {
        const i64 row_tile = std::min(axis_tile(k, a.row_axis), a.tensor.rows);
        const i64 col_tile = std::min(axis_tile(k, a.col_axis), a.tensor.cols);
        auto [it, fresh] = grids_.try_emplace(key(a));
        if (!fresh && it->second.row_tile == row_tile && it->second.col_tile == col_tile) return it->second;
        const TileGrid old = it->second;
        TileGrid g{next_id_, row_tile, col_tile, ceil_div(a.tensor.rows, row_tile), ceil_div(a.tensor.cols, col_tile),
                   0};
        g.count = g.row_trips * g.col_trips * k.batch * a.slices;
        next_id_ += g.count;
        l2_.reserve_ids(next_id_);
        if (!fresh) regrid(a.tensor, old, g);
        it->second = g;
        return it->second;
    }

    /// The same tensor is cut otherwise from now on: what is resident stays resident, under the tiles that overlap it.
    void regrid(const Tensor& t, const TileGrid& from, const TileGrid& to) {
        l2_.oldest_first([&](i64 id, i64 present, i64 dirty) {
            if (id < from.base || id >= from.base + from.count) return;
            l2_.remove(id);
            const i64 local = id - from.base, col = local % from.col_trips,
                      row = local / from.col_trips % from.row_trips, set = local / from.col_trips / from.row_trips;
            const i64 r0 = row * from.row_tile, r1 = std::min(t.rows, r0 + from.row_tile);
            const i64 c0 = col * from.col_tile, c1 = std::min(t.cols, c0 + from.col_tile);
            const i64 whole = (r1 - r0) * (c1 - c0) * t.bits;
            if (present != whole) return;  // only part of it is there, and which part is not known
            for (i64 r = r0 / to.row_tile; r * to.row_tile < r1; ++r)
                for (i64 c = c0 / to.col_tile; c * to.col_tile < c1; ++c) {
                    const i64 rows = std::min(r1, (r + 1) * to.row_tile) - std::max(r0, r * to.row_tile);
                    const i64 cols = std::min(c1, (c + 1) * to.col_tile) - std::max(c0, c * to.col_tile);
                    l2_.add(to.id(set, r, c), rows * cols * t.bits, dirty != 0 ? rows * cols * t.bits : 0);
                }
        });
    }

    // ---- one request ------------------------------------------------------------------------------------------------

    i64 bits(const Stream& s, i64 row, i64 col) const {
        return clipped(s.access->tensor.rows, s.grid.row_tile, row) *
               clipped(s.access->tensor.cols, s.grid.col_tile, col) * s.access->tensor.bits;
    }
    i64 moved(const Stream& s, i64 row, i64 col) const {
        const Tensor& t = s.access->tensor;
        if (s.whole_moved > 0 && (row + 1) * s.grid.row_tile <= t.rows && (col + 1) * s.grid.col_tile <= t.cols)
            return s.whole_moved;
        const i64 r0 = row * s.grid.row_tile, c0 = col * s.grid.col_tile;
        return moved_bytes(t, unit_, r0, std::min(t.rows, r0 + s.grid.row_tile), c0,
                           std::min(t.cols, c0 + s.grid.col_tile));
    }

    void request(Stream& s, i64 id, i64 size) {
        const i64 missing = l2_.request(id, size);
        if (missing == 0 && !Observer::watches) return;
        const i64 local = id - s.grid.base, col = local % s.grid.col_trips,
                  row = local / s.grid.col_trips % s.grid.row_trips;
        if (missing != 0) {
            s.flow->read_bits += missing;
            s.flow->moved_read_bytes += missing == size ? moved(s, row, col) : (missing + 7) / 8;
        }
        if constexpr (Observer::watches) observer_.request(*s.access, id, row, col, size, missing);
    }
    void request(const Load& l, i64 step) {
        const i64 depth = l.k_begin + step < last_step_ ? depth_ : last_depth_;
        request(*l.stream, l.first + step * l.stream->stride, l.bits * depth);
    }
    void load(const Piece& p, i64 step) {
        for (int i = 0; i < p.count; ++i) request(p.loads[static_cast<std::size_t>(i)], step);
    }
    void write(Stream& s, i64 id, i64 row, i64 col) {
        const i64 size = bits(s, row, col);
        l2_.write(id, size);
        s.flow->write_bits += size;
        s.flow->moved_write_bytes += moved(s, row, col);
        if constexpr (Observer::watches) observer_.write(*s.access, id, row, col, size);
    }
    /// The end of an output tile: what its epilogue reads, then its outputs.
    void finish(const Kernel& k, const Cta& c) {
        for (Stream& s : epilogue_) {
            const i64 row = s.access->row_axis == Axis::rows ? c.row : 0, col = c.col;
            for (int slice = 0; slice < s.access->slices; ++slice)
                request(s, s.grid.id(slice * k.batch + c.set, row, col), bits(s, row, col));
        }
        const i64 set = k.splits > 1 ? c.slice * k.batch + c.set : c.set;
        for (Stream& s : outputs_) write(s, s.grid.id(set, c.row, c.col), c.row, c.col);
    }

    // ---- the walks --------------------------------------------------------------------------------------------------

    Piece piece(const Cta& c) {
        Piece p;
        p.cta = c;
        const auto add = [&](Stream& s) {
            const Access& a = *s.access;
            const bool red_rows = a.row_axis == Axis::red;
            const i64 own = (red_rows ? a.col_axis : a.row_axis) == Axis::rows ? c.row : c.col;
            const i64 side =
                red_rows ? clipped(a.tensor.cols, s.grid.col_tile, own) : clipped(a.tensor.rows, s.grid.row_tile, own);
            p.loads[static_cast<std::size_t>(p.count++)] = {
                &s, red_rows ? s.grid.id(c.set, c.k_begin, own) : s.grid.id(c.set, own, c.k_begin), c.k_begin,
                side * a.tensor.bits};
        };
        if (c.idle) return p;
        if (c.loads_left)
            for (Stream& s : left_) add(s);
        if (c.loads_right)
            for (Stream& s : right_) add(s);
        return p;
    }

    void run_lockstep(const GpuWork& work) {
        std::vector<Piece> wave;
        i64 w = 0;
        if (work.shared > 0) {
            run_shared(work);
            ++w;
        }
        for (i64 first = work.shared; first < work.items && !stopped_; first += work.slots, ++w) {
            wave.clear();
            for (i64 i = first; i < std::min(work.items, first + work.slots); ++i)
                if (const Cta c = work.at(i); !c.idle) wave.push_back(piece(c));
            run_wave(work.kernel, wave, w);
        }
    }

    void run_wave(const Kernel& k, const std::vector<Piece>& wave, i64 w) {
        if (wave.empty()) return;
        i64 longest = 0, shortest = INT64_MAX, step = 0;
        for (const Piece& p : wave) {
            longest = std::max(longest, p.cta.k_end - p.cta.k_begin);
            shortest = std::min(shortest, p.cta.k_end - p.cta.k_begin);
        }
        if (!Observer::watches && find_distinct(wave))
            for (; step < shortest; ++step) {
                for (const Load& l : distinct_) request(l, step);
                for (const Load& l : again_) request(l, step);
            }
        for (; step < longest; ++step)
            for (const Piece& p : wave) {
                if (p.cta.k_begin + step >= p.cta.k_end) continue;
                load(p, step);
                if (!observer_.step(k, {p.cta.row, p.cta.col}, p.cta.k_begin + step, w)) {
                    stopped_ = true;
                    return;
                }
            }
        for (const Piece& p : wave) finish(k, p.cta);
    }

    /// The distinct tiles of a wave's step, which all its steps share, in the order in which they are asked for first;
    /// and those to ask for once more, so that the L2 ends as if every request had been made. False where a step's
    /// tiles may drop each other.
    bool find_distinct(const std::vector<Piece>& wave) {
        distinct_.clear();
        again_.clear();
        place_.resize(static_cast<std::size_t>(next_id_), {-1, 0});
        ++stamp_;
        i64 bits = 0;
        for (const Piece& p : wave)
            for (int i = 0; i < p.count; ++i) {
                const Load& l = p.loads[static_cast<std::size_t>(i)];
                Place& place = place_[static_cast<std::size_t>(l.first)];
                if (place.stamp == stamp_) continue;
                place = {stamp_, static_cast<i64>(distinct_.size())};
                distinct_.push_back(l);
                bits += l.bits * depth_;
            }
        if (bits > l2_.capacity_bits()) return false;
        // By last request: the tiles up to the first that is out of the order of first requests are in place.
        std::vector<const Load*> order(distinct_.size());
        std::size_t at = order.size();
        ++stamp_;
        for (std::size_t p = wave.size(); p-- > 0;)
            for (int i = wave[p].count; i-- > 0;) {
                const Load& l = wave[p].loads[static_cast<std::size_t>(i)];
                Place& place = place_[static_cast<std::size_t>(l.first)];
                if (place.stamp == stamp_) continue;
                place.stamp = stamp_;
                order[--at] = &l;
            }
        i64 before = -1;
        for (; at < order.size(); ++at) {
            const i64 place = place_[static_cast<std::size_t>(order[at]->first)].number;
            if (place < before) break;
            before = place;
        }
        for (; at < order.size(); ++at) again_.push_back(*order[at]);
        return true;
    }

    // ---- stream-K ---------------------------------------------------------------------------------------------------

    void share_tiles(const GpuWork& work) {
        const Access& a = *work.kernel.partial;
        auto [it, fresh] = grids_.try_emplace(key(a));
        if (fresh) {
            it->second = {next_id_,
                          std::min(work.kernel.tile.bm, a.tensor.rows),
                          std::min(work.kernel.tile.bn, a.tensor.cols),
                          1,
                          1,
                          work.slots};
            next_id_ += work.slots;
            l2_.reserve_ids(next_id_);
        }
        slices_ = {&a, it->second, &flows_[static_cast<int>(Operand::partial)]};
        open_steps_.assign(static_cast<std::size_t>(work.shared), work.steps);
    }
    /// A slot leaves the partial sum of the tile it started within.
    void write_slice(const Cta& c, i64 slot) {
        if (c.k_begin > 0 && !c.idle) write(slices_, slices_.grid.base + slot, c.row, c.col);
    }
    /// A piece is done. With the last of a tile's, its owner reads the others' slices and writes the output.
    void close_piece(const GpuWork& work, const Cta& c) {
        i64& open = open_steps_[static_cast<std::size_t>(c.number)];
        open -= c.k_end - c.k_begin;
        if (open > 0 || c.idle) return;
        const i64 begin = c.number / work.size * work.steps, local = c.number % work.size;
        for (i64 s = work.stream.slot_of(begin) + 1; s < work.stream.slots && work.stream.begin(s) < begin + work.steps;
             ++s)
            if (work.stream.leaves_slice(s)) request_slice(s * work.size + local, c);
        finish(work.kernel, c);
    }
    void request_slice(i64 slot, const Cta& c) {
        const i64 id = slices_.grid.base + slot, size = bits(slices_, c.row, c.col);
        const i64 missing = l2_.request(id, size);
        if (missing != 0) {
            slices_.flow->read_bits += missing;
            slices_.flow->moved_read_bytes += moved(slices_, c.row, c.col);
        }
        if constexpr (Observer::watches) observer_.request(*slices_.access, id, c.row, c.col, size, missing);
    }

    /// The shared tiles in lockstep: every slot takes a k-step of its range, then the pieces that ended with it leave
    /// their slices, slot by slot, and then tiles are finished, by the slot of their last piece.
    void run_shared(const GpuWork& work) {
        struct Slot {
            GpuWork::Share share;
            Piece now;
            i64 step = 0;
            bool live = true;
        };
        std::vector<Slot> live;
        const auto next = [&](Slot& s) {
            Cta c;
            s.live = work.next_shared(s.share, c);
            if (s.live) s.now = piece(c);
            s.step = 0;
        };
        for (i64 j = 0; j < work.slots; ++j) {
            Slot s{work.share(j), {}, 0, true};
            next(s);
            if (s.live) live.push_back(s);
        }
        while (!live.empty()) {
            for (Slot& s : live) {
                load(s.now, s.step);
                const Cta& c = s.now.cta;
                if (!c.idle && !observer_.step(work.kernel, {c.row, c.col}, c.k_begin + s.step, 0)) {
                    stopped_ = true;
                    return;
                }
                ++s.step;
            }
            const auto ended = [](const Slot& s) { return s.step == s.now.cta.k_end - s.now.cta.k_begin; };
            for (const Slot& s : live)
                if (ended(s)) write_slice(s.now.cta, s.share.slot);
            for (Slot& s : live)
                if (ended(s)) {
                    close_piece(work, s.now.cta);
                    next(s);
                }
            std::erase_if(live, [](const Slot& s) { return !s.live; });
        }
    }

    // ---- staggered --------------------------------------------------------------------------------------------------

    void run_staggered(const GpuWork& work) {
        struct Slot {
            GpuWork::Share share;
            Piece now;
            i64 step, wait;
        };
        std::vector<Slot> live;
        for (i64 j = 0; j < (work.shared > 0 ? work.slots : std::min(work.slots, work.items)); ++j) {
            Slot s{work.share(j), {}, 0, j * work.steps / work.slots};
            Cta c;
            if (!work.next(s.share, c)) continue;
            s.now = piece(c);
            live.push_back(s);
        }
        while (!live.empty()) {
            bool some_done = false;
            for (Slot& s : live) {
                if (s.wait > 0) {
                    --s.wait;
                    continue;
                }
                load(s.now, s.step);
                const Cta& c = s.now.cta;
                if (++s.step < c.k_end - c.k_begin) continue;
                if (c.number < work.shared) {
                    write_slice(c, s.share.slot);
                    close_piece(work, c);
                } else if (!c.idle) {
                    finish(work.kernel, c);
                }
                s.step = 0;
                if (Cta after; work.next(s.share, after))
                    s.now = piece(after);
                else
                    some_done = true, s.step = -1;
            }
            if (some_done) std::erase_if(live, [](const Slot& s) { return s.step < 0; });
        }
    }

    void run_elementwise(const Kernel& k) {
        const i64 tiles = k.row_tiles() * k.col_tiles(), items = tiles * k.batch;
        for (i64 n = 0; n < items; ++n) {
            const i64 i = k.reverse ? items - 1 - n : n;
            const TileIndex t = tile_at({Raster::along_n, 0}, k.row_tiles(), k.col_tiles(), i % tiles);
            Cta c;
            c.row = t.row;
            c.col = t.col;
            c.set = i / tiles;
            finish(k, c);
            if constexpr (Observer::watches)
                if (!observer_.step(k, t, 0, 0)) {
                    stopped_ = true;
                    return;
                }
        }
    }

    L2Tiles l2_;
    i64 effective_bits_, whole_bits_;
    MovedUnit unit_;
    Observer observer_;
    std::map<Key, TileGrid> grids_;
    std::map<Key, Key> same_memory_;
    i64 next_id_ = 0;
    DramFlows flows_{};
    std::vector<Stream> left_, right_, epilogue_, outputs_;
    Stream slices_{};              ///< stream-K: one a slot
    std::vector<i64> open_steps_;  ///< of each shared tile: k-steps nobody has done yet
    i64 depth_ = 1, last_depth_ = 1, last_step_ = 0;
    struct Place {
        i64 stamp, number;
    };
    std::vector<Place> place_;  ///< by tile id: of which wave, and its number among that wave's tiles
    i64 stamp_ = 0;
    std::vector<Load> distinct_, again_;
    bool stopped_ = false;
};

}  // namespace sim
