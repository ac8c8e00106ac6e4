#pragma once
// Which CTA of a GPU's matmul does which k-steps of which tile, and in what turn.

#include <algorithm>

#include "sim/extent.hpp"
#include "sim/stream_k.hpp"

namespace sim {

/// One CTA's piece of work: an output tile and a range of its k-steps.
struct Cta {
    i64 row = 0, col = 0, set = 0, slice = 0, k_begin = 0, k_end = 0;
    i64 number = 0;                              ///< of its tile, clusters' tiles side by side
    bool loads_left = true, loads_right = true;  ///< false: a cluster neighbour's multicast brings it
    bool idle = false;                           ///< beyond the grid's edge
};

/// The work items of a kernel, batch by batch, slice by slice, cluster by cluster in raster order; the first `shared`
/// of them are cut up by stream-K.
struct GpuWork {
    GpuWork(const Kernel& k, Raster r, Shape2 c, i64 slot_count)
        : kernel(k),
          raster(r),
          cluster(c),
          rows(k.row_tiles()),
          cols(k.col_tiles()),
          steps(k.k_steps()),
          cluster_rows(ceil_div(rows, c.rows)),
          cluster_cols(ceil_div(cols, c.cols)),
          size(i64{c.rows} * c.cols),
          per_slice(cluster_rows * cluster_cols * size),
          items(per_slice * k.splits * k.batch),
          slots(slot_count) {
        if (!k.partial) return;
        slots = std::max<i64>(1, slots / size) * size;
        stream = {items / size, steps, slots / size};
        shared = stream.shared() * size;
    }

    /// Item i, its whole range of k-steps.
    Cta at(i64 i) const {
        Cta c;
        c.number = i;
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

    /// What a slot still has to do: its range of the shared k-steps, then an item of each wave.
    struct Share {
        i64 slot = 0, unit = 0, end = 0, item = 0;
    };
    Share share(i64 slot) const {
        if (shared == 0) return {slot, 0, 0, slot};
        return {slot, stream.begin(slot / size), stream.begin(slot / size + 1), shared + slot};
    }
    /// The next piece of the shared tiles; false where the slot has none left.
    bool next_shared(Share& s, Cta& c) const {
        if (s.unit >= s.end) return false;
        c = at(s.unit / steps * size + s.slot % size);
        c.k_begin = s.unit % steps;
        c.k_end = std::min(steps, c.k_begin + s.end - s.unit);
        s.unit += c.k_end - c.k_begin;
        return true;
    }
    bool next(Share& s, Cta& c) const {
        if (next_shared(s, c)) return true;
        if (s.item >= items) return false;
        c = at(s.item);
        s.item += slots;
        return true;
    }
    /// Whether a piece is only part of what its tile sums up in this kernel.
    bool is_cut(const Cta& c) const { return kernel.partial && c.k_end - c.k_begin < steps; }

    const Kernel& kernel;
    Raster raster;
    Shape2 cluster;
    i64 rows, cols, steps, cluster_rows, cluster_cols, size, per_slice, items, slots, shared = 0;
    StreamK stream;
};

/// Calls f(slot, row, col) for the partial sum that each slot of a stream-K kernel leaves.
template <class F>
void each_slice(const GpuWork& work, F&& f) {
    if (work.shared == 0) return;
    for (i64 slot = 0; slot < work.slots; ++slot) {
        if (!work.stream.leaves_slice(slot / work.size)) continue;
        const Cta c = work.at(work.stream.begin(slot / work.size) / work.steps * work.size + slot % work.size);
        if (!c.idle) f(slot, c.row, c.col);
    }
}

}  // namespace sim
