// Sequential machines: the grid is walked in `order`, one tile of each operand is held, and a tile is fetched when its
// index differs from the one held.

#include <array>
#include <cstdint>
#include <unordered_map>

#include "sim/count.hpp"
#include "sim/extent.hpp"

namespace sim {

namespace {

/// The loops of a kernel on a sequential grid, outermost first; loops of one trip are no loops.
struct Loop {
    Axis axis;
    i64 trips;
};
std::vector<Loop> loops_of(const Kernel& k, Order order) {
    std::vector<Loop> loops;
    for (Axis a : loop_order(k, order))
        if (const i64 trips = axis_trips(k, a); trips > 1) loops.push_back({a, trips});
    return loops;
}

bool owns(const Access& a, Axis axis) { return a.row_axis == axis || a.col_axis == axis; }

/// How often one operand's tiles move: `sweeps` times each, of which the loop at `foreign[i]` causes a factor.
struct Refetch {
    i64 sweeps = 1;
    std::vector<std::size_t> foreign;  ///< loops outside its innermost own loop that it does not own
};
Refetch refetch(const std::vector<Loop>& loops, const Access& a) {
    std::size_t innermost = loops.size();
    for (std::size_t i = 0; i < loops.size(); ++i)
        if (owns(a, loops[i].axis)) innermost = i;
    Refetch r;
    if (innermost == loops.size()) return r;  // no own loop left: held throughout
    for (std::size_t i = 0; i < innermost; ++i)
        if (!owns(a, loops[i].axis)) {
            r.sweeps *= loops[i].trips;
            r.foreign.push_back(i);
        }
    return r;
}

/// Tile fetches and visits of one kernel: how often each access's tiles moved, in sweeps over the whole tensor. Both
/// engines fill this, each in its own way; bytes follow from it.
struct Movement {
    std::vector<i64> input_elements;  ///< fetched, per each_input access, all batches
    std::vector<i64> input_moved;     ///< bytes
    i64 visit_elements = 0;           ///< output elements put back, partial visits included, all batches
    i64 partial_moved = 0;            ///< bytes of the visits that wrote f32 partial sums
};

Tensor as_partial(const Tensor& t) { return {t.name, t.rows, t.cols, 32, t.variant}; }

i64 bytes_of(i64 elements, i64 bits) { return static_cast<i64>((static_cast<__int128>(elements) * bits + 7) / 8); }

/// CPU: whether an operand swept again by loop `f` stays in the last-level cache: what it touches in one trip of that
/// loop, beside all that streams past meanwhile.
bool stays(const Kernel& k, const std::vector<Loop>& loops, std::size_t f, double cache) {
    double bytes = 0;
    const auto touched = [&](const Access& a) {
        double share = static_cast<double>(a.tensor.bytes());
        for (std::size_t i = 0; i <= f; ++i)
            if (owns(a, loops[i].axis)) share /= static_cast<double>(loops[i].trips);
        bytes += share;
    };
    each_input(k, touched);
    for (const Access& a : k.outputs) touched(a);
    return bytes <= cache;
}

/// A register tile of the packed CPU kernel, for operand reads from the core's own cache.
constexpr i64 micro_rows = 8, micro_cols = 48;

class Accountant {
public:
    Accountant(const Experiment& e, const Device& d) : e_(e), d_(d), unit_(moved_unit(d, e)) {}

    Traffic traffic(const Kernel& k, const Movement& m, Ledger& ledger) const {
        Traffic t;
        LevelTraffic& sram = t.at(Level::sram);
        sram.present = true;
        t.at(Level::dram).present = true;
        const bool is_cpu = d_.kind == DeviceKind::cpu;
        t.at(Level::l2).present = is_cpu;
        const auto loops = loops_of(k, e_.order);
        const double cache = is_cpu ? d_.l2.bytes.or_else(0) : 0;

        std::size_t index = 0;
        each_input(k, [&](const Access& a) {
            const Tensor& x = a.tensor;
            const i64 elements = m.input_elements[index], fetched = bytes_of(elements, x.bits);
            const i64 moved = m.input_moved[index];
            ++index;
            i64 kept = 1;
            if (is_cpu) {
                Flow l2 = read(fetched, moved);
                const bool packs = k.matmul && (e_.rung.empty() || e_.rung == "04_packed");
                if (packs) {  // the tile is copied once more as it is packed, and read back packed
                    l2.read_bytes += fetched;
                    l2.moved_read_bytes += fetched;
                    l2.write_bytes += fetched;
                    l2.moved_write_bytes += fetched;
                    l2.causes.write = fetched;
                }
                l2.causes.order = l2.read_bytes;
                l2.causes.padding = l2.moved_read_bytes - l2.read_bytes;
                t.at(Level::l2).of(x.name) += l2;
                if (!along_output(k, a)) kept = kept_in_cache(k, loops, a, cache);
            }
            Flow dram;
            const bool still_there =
                is_cpu && !k.matmul && !a.compulsory && 2.0 * static_cast<double>(x.bytes()) <= cache;
            if (!still_there) dram = read(ledger.read_bytes(x.name, elements / kept * x.bits), moved / kept);
            settle(dram, a, ledger);
            t.at(Level::dram).of(x.name) += dram;
            Flow on_chip;
            on_chip.write_bytes = on_chip.moved_write_bytes = fetched;
            on_chip.causes.write = fetched;
            on_chip.read_bytes = on_chip.moved_read_bytes = operand_reads(k, a);
            on_chip.causes.capacity = on_chip.read_bytes;
            sram.of(x.name) += on_chip;
        });

        for (std::size_t i = 0; i < k.outputs.size(); ++i) {
            const Access& a = k.outputs[i];
            const i64 whole = a.tensor.rows * a.tensor.cols * k.batch;
            Flow once;
            once.write_bytes = bytes_of(whole, a.tensor.bits);
            once.moved_write_bytes = k.batch * sweep_moved_bytes(a.tensor, unit_, axis_tile(k, a.col_axis));
            once.causes.write = once.write_bytes;
            // Partial sums go out as f32 and come back, once less than the tile is visited; a mask is written at the
            // end.
            const i64 visits = i == 0 ? m.visit_elements / whole : 1;
            const i64 partial = bytes_of(whole, 32), partial_moved = visits > 1 ? m.partial_moved / (visits - 1) : 0;
            const auto visited = [&](i64 times) {
                Flow f = once;
                f.write_bytes += (times - 1) * partial;
                f.read_bytes += (times - 1) * partial;
                f.moved_write_bytes += (times - 1) * partial_moved;
                f.moved_read_bytes += (times - 1) * partial_moved;
                f.causes.order += 2 * (times - 1) * partial;
                f.causes.padding = f.moved_read_bytes + f.moved_write_bytes - f.read_bytes - f.write_bytes;
                return f;
            };
            const Flow below = visited(visits);  // what leaves the SRAM
            if (is_cpu) t.at(Level::l2).of(a.tensor.name) += below;
            t.at(Level::dram).of(a.tensor.name) +=
                is_cpu && visits > 1 ? visited(visits / kept_in_cache(k, loops, a, cache)) : below;
            Flow on_chip;
            on_chip.read_bytes = on_chip.moved_read_bytes = below.write_bytes;
            on_chip.write_bytes = on_chip.moved_write_bytes = below.write_bytes + below.read_bytes;
            on_chip.causes.capacity = on_chip.read_bytes;
            on_chip.causes.write = on_chip.write_bytes;
            sram.of(a.tensor.name) += on_chip;
        }
        return t;
    }

private:
    static Flow read(i64 requested, i64 moved) {
        Flow f;
        f.read_bytes = requested;
        f.moved_read_bytes = moved;
        return f;
    }
    /// Splits a read into what the operation owes and what came again.
    void settle(Flow& f, const Access& a, Ledger& ledger) const {
        f.causes.compulsory = a.compulsory ? ledger.settle(a.tensor.name, f.read_bytes) : 0;
        const i64 again = f.read_bytes - f.causes.compulsory;
        (a.compulsory ? f.causes.order : f.causes.capacity) = again;
        f.causes.padding = f.moved_read_bytes - f.read_bytes;
    }
    /// The factor of an operand's sweeps that the last-level cache absorbs.
    i64 kept_in_cache(const Kernel& k, const std::vector<Loop>& loops, const Access& a, double cache) const {
        i64 factor = 1;
        for (std::size_t f : refetch(loops, a).foreign)
            if (stays(k, loops, f, cache)) factor *= loops[f].trips;
        return factor;
    }
    /// Bytes the compute units read from SRAM: whole tiles, every step; on a CPU a register tile at a time.
    i64 operand_reads(const Kernel& k, const Access& a) const {
        const __int128 steps = static_cast<__int128>(k.row_tiles()) * k.col_tiles() * k.k_steps() * k.batch;
        // A tile beyond the problem is the whole dimension.
        const auto along = [&](Axis axis) { return std::min(axis_tile(k, axis), axis_extent(k, axis)); };
        __int128 elements = static_cast<__int128>(along(a.row_axis)) * along(a.col_axis);
        if (d_.kind == DeviceKind::cpu && k.matmul) {
            if (!owns(a, Axis::cols)) elements *= ceil_div(along(Axis::cols), micro_cols);
            if (!owns(a, Axis::rows)) elements *= ceil_div(along(Axis::rows), micro_rows);
        }
        const __int128 bytes = (steps * elements * a.tensor.bits + 7) / 8;
        return bytes > INT64_MAX / 4 ? INT64_MAX / 4 : static_cast<i64>(bytes);
    }

    const Experiment& e_;
    const Device& d_;
    MovedUnit unit_;
};

Movement move_by_formula(const Experiment& e, const Kernel& k, const MovedUnit& unit) {
    const auto loops = loops_of(k, e.order);
    Movement m;
    each_input(k, [&](const Access& a) {
        const i64 sweeps = along_output(k, a) ? 1 : refetch(loops, a).sweeps;
        m.input_elements.push_back(a.tensor.rows * a.tensor.cols * sweeps * k.batch);
        m.input_moved.push_back(sweep_moved_bytes(a.tensor, unit, axis_tile(k, a.col_axis)) * sweeps * k.batch);
    });
    const Access& out = k.outputs[0];
    const i64 visits = refetch(loops, out).sweeps;
    m.visit_elements = out.tensor.rows * out.tensor.cols * visits * k.batch;
    m.partial_moved =
        sweep_moved_bytes(as_partial(out.tensor), unit, axis_tile(k, out.col_axis)) * (visits - 1) * k.batch;
    return m;
}

/// One operand's held tile during a walk.
struct Held {
    const Access* access;
    i64 row = -1, col = -1;
    i64 elements = 0, moved = 0;
    std::unordered_map<i64, bool> seen;  ///< along_output: read once per tile only
};

Movement move_by_walk(const Experiment& e, const Kernel& k, const MovedUnit& unit) {
    Movement m;
    std::vector<Held> inputs;
    each_input(k, [&](const Access& a) { inputs.push_back({&a, -1, -1, 0, 0, {}}); });
    const Access& out = k.outputs[0];
    const i64 row_trips = axis_trips(k, out.row_axis), col_trips = axis_trips(k, out.col_axis),
              steps = axis_trips(k, Axis::red);

    const auto size = [&](const Access& a, i64 row, i64 col) {
        return clipped(a.tensor.rows, axis_tile(k, a.row_axis), row) *
               clipped(a.tensor.cols, axis_tile(k, a.col_axis), col);
    };
    const auto moved = [&](const Tensor& t, const Access& a, i64 row, i64 col) {
        const i64 r0 = row * axis_tile(k, a.row_axis), c0 = col * axis_tile(k, a.col_axis);
        return moved_bytes(t, unit, r0, std::min(t.rows, r0 + axis_tile(k, a.row_axis)), c0,
                           std::min(t.cols, c0 + axis_tile(k, a.col_axis)));
    };

    const std::array<Axis, 3> order = loop_order(k, e.order);
    for (i64 b = 0; b < k.batch; ++b) {
        std::vector<i64> done(static_cast<std::size_t>(row_trips * col_trips),
                              0);  // k-steps summed into each output tile
        i64 held_row = -1, held_col = -1;
        for (Held& h : inputs) h.row = h.col = -1;
        const auto put_back = [&] {
            if (held_row < 0) return;
            m.visit_elements += size(out, held_row, held_col);
            if (done[static_cast<std::size_t>(held_row * col_trips + held_col)] < steps)
                m.partial_moved += moved(as_partial(out.tensor), out, held_row, held_col);
        };
        i64 index[3];
        for (i64 i0 = 0; i0 < axis_trips(k, order[0]); ++i0)
            for (i64 i1 = 0; i1 < axis_trips(k, order[1]); ++i1)
                for (i64 i2 = 0; i2 < axis_trips(k, order[2]); ++i2) {
                    index[static_cast<int>(order[0])] = i0;
                    index[static_cast<int>(order[1])] = i1;
                    index[static_cast<int>(order[2])] = i2;
                    const auto at = [&](Axis a) { return a == Axis::one ? 0 : index[static_cast<int>(a)]; };
                    for (Held& h : inputs) {
                        const i64 row = at(h.access->row_axis), col = at(h.access->col_axis);
                        if (row == h.row && col == h.col) continue;
                        h.row = row;
                        h.col = col;
                        if (along_output(k, *h.access) &&
                            !h.seen.emplace((b * row_trips + row) * col_trips + col, true).second)
                            continue;
                        h.elements += size(*h.access, row, col);
                        h.moved += moved(h.access->tensor, *h.access, row, col);
                    }
                    const i64 row = at(out.row_axis), col = at(out.col_axis);
                    if (row != held_row || col != held_col) {
                        put_back();
                        held_row = row;
                        held_col = col;
                    }
                    ++done[static_cast<std::size_t>(row * col_trips + col)];
                }
        put_back();
    }
    for (const Held& h : inputs) {
        m.input_elements.push_back(h.elements);
        m.input_moved.push_back(h.moved);
    }
    return m;
}

template <class Move>
Counts count(const Experiment& e, const Device& d, const std::vector<Kernel>& kernels, Move&& move) {
    Counts c;
    c.exact = true;
    const MovedUnit unit = moved_unit(d, e);
    const Accountant accountant(e, d);
    Ledger ledger(kernels);
    i64 total = 0;
    for (const Kernel& k : kernels) {
        c.kernels.push_back(accountant.traffic(k, move(e, k, unit), ledger));
        total += c.kernels.back().at(Level::dram).total().bytes();
        c.requests += k.row_tiles() * k.col_tiles() * k.k_steps() * k.batch;
    }
    c.dram_range = {total, total, total};
    return c;
}

}  // namespace

Counts walk_sequential(const Experiment& e, const Device& d, const std::vector<Kernel>& kernels) {
    Counts c = count(e, d, kernels, move_by_walk);
    c.replayed = true;
    return c;
}

Counts closed_sequential(const Experiment& e, const Device& d, const std::vector<Kernel>& kernels) {
    return count(e, d, kernels, move_by_formula);
}

}  // namespace sim
