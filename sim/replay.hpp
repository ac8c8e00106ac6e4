#pragma once
// The tile requests of a GPU's kernels, walked through its L2 in lockstep or staggered. The counts and the stepper both
// run this; an observer sees every request.

#include <map>
#include <vector>

#include "sim/count_gpu.hpp"
#include "sim/l2_tiles.hpp"

namespace sim {

/// Sees nothing; costs nothing.
struct NoObserver {
    static constexpr bool watches = false;
    void request(const Access&, i64, i64, i64, i64) {}
    void write(const Access&, i64, i64, i64) {}
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
        if (!k.matmul)
            run_elementwise(k);
        else if (staggered)
            run_staggered(k, raster, cluster, slots);
        else
            run_lockstep(k, raster, cluster, slots);
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
    };
    /// One CTA's share of the work: an output tile and a range of k-steps.
    struct Cta {
        i64 row = 0, col = 0, set = 0, slice = 0, k_begin = 0, k_end = 0;
        bool loads_left = true, loads_right = true;  ///< false: a cluster neighbour's multicast brings it
        bool idle = false;                           ///< beyond the grid's edge
    };

    // ---- tiles of tensors -------------------------------------------------------------------------------------------

    std::vector<Stream> streams(const Kernel& k, const std::vector<Access>& accesses,
                                const std::vector<Stream>* over = nullptr) {
        std::vector<Stream> out;
        for (const Access& a : accesses) {
            DramFlow* flow = &flows_[static_cast<int>(a.tensor.name)];
            if (over && out.empty() && !over->empty()) {
                grids_[key(a)] = over->front().grid;  // in place: the same memory under another name
                out.push_back({&a, over->front().grid, flow});
            } else {
                out.push_back({&a, grid(k, a), flow});
            }
        }
        return out;
    }
    static std::pair<Operand, int> key(const Access& a) { return {a.tensor.name, a.tensor.variant}; }

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
        const i64 r0 = row * s.grid.row_tile, c0 = col * s.grid.col_tile;
        return moved_bytes(t, unit_, r0, std::min(t.rows, r0 + s.grid.row_tile), c0,
                           std::min(t.cols, c0 + s.grid.col_tile));
    }

    void request(Stream& s, i64 set, i64 row, i64 col) {
        const i64 size = bits(s, row, col);
        const i64 missing = l2_.request(s.grid.id(set, row, col), size);
        if (missing != 0) {
            s.flow->read_bits += missing;
            const i64 whole = moved(s, row, col);
            s.flow->moved_read_bytes += missing == size ? whole : (missing + 7) / 8;
        }
        if constexpr (Observer::watches) observer_.request(*s.access, row, col, size, missing);
    }
    void request_on(Stream& s, const Cta& c, i64 k) {
        const auto at = [&](Axis a) {
            return a == Axis::rows ? c.row : a == Axis::cols ? c.col : a == Axis::red ? k : 0;
        };
        request(s, c.set, at(s.access->row_axis), at(s.access->col_axis));
    }
    void load(const Cta& c, i64 k) {
        if (c.loads_left)
            for (Stream& s : left_) request_on(s, c, k);
        if (c.loads_right)
            for (Stream& s : right_) request_on(s, c, k);
    }
    void finish(const Kernel& k, const Cta& c) {
        for (Stream& s : epilogue_)
            for (int slice = 0; slice < s.access->slices; ++slice) {
                Cta one = c;
                one.set = slice * k.batch + c.set;
                request_on(s, one, 0);
            }
        for (Stream& s : outputs_) {
            const i64 set = k.splits > 1 ? c.slice * k.batch + c.set : c.set;
            const i64 size = bits(s, c.row, c.col);
            l2_.write(s.grid.id(set, c.row, c.col), size);
            s.flow->write_bits += size;
            s.flow->moved_write_bytes += moved(s, c.row, c.col);
            if constexpr (Observer::watches) observer_.write(*s.access, c.row, c.col, size);
        }
    }

    // ---- the walks --------------------------------------------------------------------------------------------------

    /// Work item i of a kernel: batch by batch, slice by slice, cluster by cluster in raster order.
    struct Work {
        Work(const Kernel& k, Raster r, Shape2 c)
            : kernel(k),
              raster(r),
              cluster(c),
              rows(k.row_tiles()),
              cols(k.col_tiles()),
              steps(k.k_steps()),
              cluster_rows(ceil_div(rows, c.rows)),
              cluster_cols(ceil_div(cols, c.cols)),
              per_slice(cluster_rows * cluster_cols * c.rows * c.cols),
              items(per_slice * k.splits * k.batch) {}
        const Kernel& kernel;
        Raster raster;
        Shape2 cluster;
        i64 rows, cols, steps, cluster_rows, cluster_cols, per_slice, items;

        Cta at(i64 i) const {
            Cta c;
            const i64 size = i64{cluster.rows} * cluster.cols;
            c.set = i / (per_slice * kernel.splits);
            c.slice = i / per_slice % kernel.splits;
            const TileIndex t = tile_at(raster, cluster_rows, cluster_cols, i % per_slice / size);
            const i64 local = i % size, local_row = local / cluster.cols, local_col = local % cluster.cols;
            c.row = t.row * cluster.rows + local_row;
            c.col = t.col * cluster.cols + local_col;
            c.idle = c.row >= rows || c.col >= cols;
            c.loads_left = local_col == 0;
            c.loads_right = local_row == 0;
            c.k_begin = c.slice * steps / kernel.splits;
            c.k_end = (c.slice + 1) * steps / kernel.splits;
            return c;
        }
    };

    void run_lockstep(const Kernel& k, Raster raster, Shape2 cluster, i64 slots) {
        const Work work(k, raster, cluster);
        std::vector<Cta> wave;
        for (i64 first = 0, w = 0; first < work.items; first += slots, ++w) {
            wave.clear();
            i64 longest = 0;
            for (i64 i = first; i < std::min(work.items, first + slots); ++i)
                if (const Cta c = work.at(i); !c.idle) {
                    wave.push_back(c);
                    longest = std::max(longest, c.k_end - c.k_begin);
                }
            for (i64 step = 0; step < longest; ++step)
                for (const Cta& c : wave) {
                    if (c.k_begin + step >= c.k_end) continue;
                    load(c, c.k_begin + step);
                    if constexpr (Observer::watches)
                        if (!observer_.step(k, {c.row, c.col}, c.k_begin + step, w)) {
                            stopped_ = true;
                            return;
                        }
                }
            for (const Cta& c : wave) finish(k, c);
        }
    }

    void run_staggered(const Kernel& k, Raster raster, Shape2 cluster, i64 slots) {
        const Work work(k, raster, cluster);
        struct Slot {
            Cta cta;
            i64 item, k, wait;
        };
        std::vector<Slot> live;
        for (i64 j = 0; j < std::min(slots, work.items); ++j) {
            const Cta c = work.at(j);
            live.push_back({c, j, c.k_begin, j * work.steps / slots});
        }
        while (!live.empty()) {
            std::size_t kept = 0;
            for (std::size_t s = 0; s < live.size(); ++s) {
                Slot slot = live[s];
                bool more = true;
                if (slot.wait > 0) {
                    --slot.wait;
                } else {
                    if (!slot.cta.idle) load(slot.cta, slot.k);
                    if (++slot.k >= slot.cta.k_end) {
                        if (!slot.cta.idle) finish(k, slot.cta);
                        slot.item += slots;
                        more = slot.item < work.items;
                        if (more) {
                            slot.cta = work.at(slot.item);
                            slot.k = slot.cta.k_begin;
                        }
                    }
                }
                if (more) live[kept++] = slot;
            }
            live.resize(kept);
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
    std::map<std::pair<Operand, int>, TileGrid> grids_;
    i64 next_id_ = 0;
    DramFlows flows_{};
    std::vector<Stream> left_, right_, epilogue_, outputs_;
    bool stopped_ = false;
};

}  // namespace sim
