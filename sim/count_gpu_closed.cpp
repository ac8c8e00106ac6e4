// The GPU counts by formula. A wave of CTAs in lockstep fetches each row strip of the left operand and each column
// strip of the right one once; whether a strip is still there when a later wave wants it again follows from the bytes
// touched in between, since the L2 is an LRU. Where those bytes cannot straddle its capacity the result equals the
// replay's.

#include <cmath>
#include <map>

#include "sim/count_gpu.hpp"
#include "sim/stream_k.hpp"

namespace sim {

namespace {

/// Beyond this many waves, or strips in one direction, the rest is extrapolated.
constexpr i64 most_waves = 4096, most_strips = 1 << 22;

double bits_per_element(const std::vector<Access>& side) {
    double bits = 0;
    for (const Access& a : side) bits += static_cast<double>(a.tensor.bits);
    return bits;
}

/// What one matmul fetched: sums of clipped tile extents over strip fetches (each fetch brings the whole reduction).
struct StripFetches {
    double rows = 0, cols = 0;
    bool exact = true;
    double streamed_bits = 0;                 ///< distinct bits of all waves, summed
    double last_wave_bits = 0;                ///< operands of the last wave
    double shared_rows = 0, shared_cols = 0;  ///< of those, what the tiles that stream-K shares fetched
};

/// The waves of one matmul over its grid of tiles, for one batch entry and slice. The tiles that stream-K shares, laid
/// end to end, are a wave of their own before them.
class Waves {
public:
    Waves(const Kernel& k, const Raster& raster, i64 slots, double capacity_bits, double slice_bits)
        : k_(k),
          raster_(raster),
          slots_(slots),
          capacity_(capacity_bits),
          slice_bits_(slice_bits),
          tm_(k.row_tiles()),
          tn_(k.col_tiles()) {
        // along_n walks groups of one row, along_m one group of all rows.
        group_ = raster.kind == Raster::along_n   ? 1
                 : raster.kind == Raster::grouped ? std::min<i64>(raster.group, tm_)
                                                  : tm_;
        const double red = static_cast<double>(k.extent.red);
        row_bits_ = bits_per_element(k.left) * red;
        col_bits_ = bits_per_element(k.right) * red;
        out_bits_ = bits_per_element(k.outputs) + bits_per_element(k.epilogue);
    }

    StripFetches fetches() {
        const i64 tiles = tm_ * tn_, shared = shared_tiles();
        const i64 waves = ceil_div(tiles - shared, slots_) + (shared > 0 ? 1 : 0);
        if (tm_ > most_strips || tn_ > most_strips) return coarse();
        rows_.begin(tm_, k_.extent.rows, k_.tile.bm);
        cols_.begin(tn_, k_.extent.cols, k_.tile.bn);
        prefix_.assign(1, 0.0);
        operand_.clear();
        const i64 walked = std::min(waves, most_waves);
        i64 begin = 0;
        if (shared > 0) {
            walk_shared(shared);
            begin = shared;
            wave_ = 1;
        }
        for (; wave_ < walked; ++wave_, begin += slots_) walk_wave(begin, std::min(tiles, begin + slots_));
        if (walked < waves) {
            const double scale = static_cast<double>(waves) / static_cast<double>(walked);
            f_.rows *= scale;
            f_.cols *= scale;
            f_.streamed_bits *= scale;
            f_.exact = false;
            f_.rows = std::max(f_.rows, static_cast<double>(k_.extent.rows));
            f_.cols = std::max(f_.cols, static_cast<double>(k_.extent.cols));
        }
        if (!operand_.empty()) f_.last_wave_bits = operand_.back();
        return f_;
    }

    /// Whether drifting CTAs still share the strips that come back last. Evenly staggered, the strip a CTA shares with
    /// the one `group` (along_n: a whole row) behind it is touched again after all strips of that group (row) and one
    /// strip of the other operand, with the outputs finished meanwhile.
    bool shares_when_apart() const {
        const double row = static_cast<double>(std::min(k_.tile.bm, k_.extent.rows)) * row_bits_;
        const double col = static_cast<double>(std::min(k_.tile.bn, k_.extent.cols)) * col_bits_;
        const double apart = static_cast<double>(outer_is_col() ? tn_ : group_);
        const double outputs = apart * static_cast<double>(k_.tile.bm) * static_cast<double>(k_.tile.bn) * out_bits_;
        return (outer_is_col() ? apart * col + row : apart * row + col) + outputs <= capacity_;
    }
    bool outer_is_col() const { return group_ == 1; }
    i64 shared_tiles() const { return k_.partial && k_.batch == 1 ? StreamK{tm_ * tn_, 1, slots_}.shared() : 0; }
    double shared_part() const {
        return static_cast<double>(shared_tiles()) / (static_cast<double>(tm_) * static_cast<double>(tn_));
    }
    /// The share of stream-K's partial sums that left the L2 before their tile's owner asked for them.
    double slices_missing() const { return slices_missing_; }

private:
    /// Strips of one wave that an earlier wave `last` used before (-1 = none did): their extents, summed.
    struct Run {
        i64 last;
        double extent;
    };
    struct Strips {
        std::vector<i64> seen;  ///< the wave that used each strip last
        std::vector<Run> runs;  ///< of the wave being walked
        double whole = 0, edge = 0, extent = 0;
        i64 touched = 0;

        void begin(i64 count, i64 size, i64 tile) {
            seen.assign(static_cast<std::size_t>(count), -1);
            whole = static_cast<double>(std::min(tile, size));
            edge = static_cast<double>(clipped(size, tile, count - 1));
        }
        void next_wave() {
            runs.clear();
            extent = 0;
            touched = 0;
        }
        /// Strips [from, to) are used by this wave.
        void touch(i64 from, i64 to, i64 wave) {
            const i64 last_strip = static_cast<i64>(seen.size()) - 1;
            i64 before = 0, count = 0;  // the run being gathered, in registers
            for (i64 strip = from; strip < to; ++strip) {
                i64& last = seen[static_cast<std::size_t>(strip)];
                if (last == wave) continue;
                if (last != before || strip == last_strip) {
                    add(before, count, whole);
                    count = 0;
                    before = last;
                }
                if (strip == last_strip)
                    add(last, 1, edge);
                else
                    ++count;
                last = wave;
            }
            add(before, count, whole);
        }
        void add(i64 last, i64 count, double size) {
            if (count == 0) return;
            if (runs.empty() || runs.back().last != last) runs.push_back({last, 0});
            runs.back().extent += static_cast<double>(count) * size;
            extent += static_cast<double>(count) * size;
            touched += count;
        }
    };

    void walk_wave(i64 begin, i64 end) {
        rows_.next_wave();
        cols_.next_wave();
        if (raster_.kind == Raster::hilbert) {
            for (i64 i = begin; i < end; ++i) {
                const TileIndex t = tile_at(raster_, tm_, tn_, i);
                rows_.touch(t.row, t.row + 1, wave_);
                cols_.touch(t.col, t.col + 1, wave_);
            }
        } else {
            walk_groups(begin, end);
        }
        const double out = static_cast<double>(end - begin) * static_cast<double>(k_.tile.bm) *
                           static_cast<double>(k_.tile.bn) * out_bits_;
        bits_ = rows_.extent * row_bits_ + cols_.extent * col_bits_;
        operand_.push_back(bits_);
        prefix_.push_back(prefix_.back() + bits_ + out);
        f_.streamed_bits += bits_;
        const double step =
            bits_ * static_cast<double>(std::min(k_.tile.bk, k_.extent.red)) / static_cast<double>(k_.extent.red);
        if (step > capacity_) f_.exact = false;  // even within a step the L2 cannot hold what is shared
        for (const Run& run : rows_.runs) f_.rows += run.extent * missing(run.last, step);
        for (const Run& run : cols_.runs) f_.cols += run.extent * missing(run.last, step);
    }

    /// The shared tiles. Tile t's k-step k comes at time (t·steps + k) mod n of a slot's range of n steps, so the tiles
    /// that share a strip ask for the same piece of it at different times, spread over the range as t·slots/shared is
    /// modulo 1. A piece is read again after each pause in which more is touched than the L2 holds.
    void walk_shared(i64 shared) {
        f_.exact = false;
        walk_wave(0, shared);
        prefix_.back() += slice_bits_;
        const double range = static_cast<double>(shared) / static_cast<double>(slots_);  // of a slot, in tiles
        std::vector<Pauses> strips;
        {
            std::map<i64, std::vector<double>> rows, cols;
            for (i64 t = 0; t < shared; ++t) {
                const TileIndex at = tile_at(raster_, tm_, tn_, t);
                const double when = static_cast<double>(t * slots_ % shared) / static_cast<double>(shared);
                rows[at.row].push_back(when);
                cols[at.col].push_back(when);
            }
            for (auto& [row, times] : rows)
                strips.push_back({true, static_cast<double>(clipped(k_.extent.rows, k_.tile.bm, row)), times});
            for (auto& [col, times] : cols)
                strips.push_back({false, static_cast<double>(clipped(k_.extent.cols, k_.tile.bn, col)), times});
        }
        const double written = static_cast<double>(shared) * static_cast<double>(k_.tile.bm) *
                                   static_cast<double>(k_.tile.bn) * out_bits_ +
                               slice_bits_;
        double fits = 0, too_long = 1;  // pauses, as shares of the range
        for (int i = 0; i < 30; ++i) {
            const double pause = (fits + too_long) / 2;
            double rows = 0, cols = 0;  // apart, so that a mirrored grid gives the same sum
            for (const Pauses& p : strips)
                (p.is_row ? rows : cols) +=
                    p.extent * (p.is_row ? row_bits_ : col_bits_) * std::min(1.0, range * p.covered(pause));
            const double touched = pause * written + (rows + cols);
            (touched <= capacity_ ? fits : too_long) = pause;
        }
        for (const Pauses& p : strips) (p.is_row ? f_.rows : f_.cols) += p.extent * p.reread(too_long);
        f_.shared_rows = f_.rows;
        f_.shared_cols = f_.cols;
        // A slot's partial sum waits from the end of its first tile to the end of its range.
        const StreamK stream{shared, k_.k_steps(), slots_};
        double slices = 0, missing = 0;
        for (i64 j = 0; j < slots_; ++j) {
            if (!stream.leaves_slice(j)) continue;
            const double steps = static_cast<double>(stream.begin(j + 1) - stream.begin(j));
            const double first = static_cast<double>(stream.steps - stream.begin(j) % stream.steps);
            ++slices;
            if (std::max(0.0, 1 - first / steps) > fits || slice_bits_ > capacity_) ++missing;
        }
        slices_missing_ = slices > 0 ? missing / slices : 0;
    }
    /// The times, as shares of a slot's range, at which the tiles that share a strip ask for a piece of it.
    struct Pauses {
        bool is_row;
        double extent;
        std::vector<double> pauses;  ///< between one and the next, round the clock

        Pauses(bool row, double size, std::vector<double>& times) : is_row(row), extent(size) {
            std::sort(times.begin(), times.end());
            for (std::size_t i = 0; i < times.size(); ++i)
                pauses.push_back(i + 1 < times.size() ? times[i + 1] - times[i] : 1 + times[0] - times[i]);
        }
        /// Of the strip, what its tiles touch in a time, in ranges.
        double covered(double time) const {
            double sum = 0;
            for (double p : pauses) sum += std::min(p, time);
            return sum;
        }
        /// How often a piece is read again. One pause is not between two uses but before the first: each in turn.
        double reread(double too_long) const {
            double sum = 0;
            for (double p : pauses) sum += p >= too_long ? 1 - p : 0;
            return sum;
        }
    };

    /// Tiles [begin, end) of a grouped raster, group by group: which rows and columns of tiles they lie in.
    void walk_groups(i64 begin, i64 end) {
        const i64 per_group = group_ * tn_;
        while (begin < end) {
            const i64 g = begin / per_group, first = g * group_, rows = std::min(group_, tm_ - first);
            const i64 group_end = std::min(end, g * per_group + rows * tn_);
            const i64 a = begin - g * per_group, b = group_end - g * per_group;  // local numbers, column after column
            if (cols_.touched < tn_) cols_.touch(a / rows, (b - 1) / rows + 1, wave_);
            const i64 from = a % rows, to = from + std::min(rows, b - a);  // rows, wrapping at the group's end
            rows_.touch(first + from, first + std::min(rows, to), wave_);
            if (to > rows) rows_.touch(first, first + to - rows, wave_);
            begin = group_end;
        }
    }

    /// The share of a strip that must be read again, last used in wave `u`: 1 = all, 0 = it is still there.
    double missing(i64 u, double step) {
        if (u < 0) return 1;
        const std::size_t from = static_cast<std::size_t>(u), to = static_cast<std::size_t>(wave_);
        const double before = operand_[from], now = bits_;
        const double between = prefix_[to] - prefix_[from + 1];  // whole waves in between, with their outputs
        const double outputs = prefix_[from + 1] - prefix_[from] - before;  // of the wave that used it
        const double at_least = std::max(std::min(before, now) - step, to > from + 1 ? operand_[from + 1] : 0.0);
        const double at_most = before + now + outputs + between;
        if (std::max(before, now) + step + outputs + between <= capacity_) return 0;
        if (at_least > capacity_) return 1;
        if (at_most > capacity_) f_.exact = false;
        // Tile k of nk was followed by (1-k/nk) of that wave and k/nk of this one: linear in k.
        const double start = before + outputs + between, finish = now + outputs + between;
        if (start <= capacity_ && finish <= capacity_) return 0;
        f_.exact = false;
        if (start > capacity_ && finish > capacity_) return 1;
        const double crossing = (capacity_ - start) / (finish - start);
        return start <= capacity_ ? 1 - crossing : crossing;
    }

    /// Grids too large to walk: every wave alike.
    StripFetches coarse() const {
        StripFetches f;
        f.exact = false;
        const double tiles = static_cast<double>(tm_) * static_cast<double>(tn_),
                     waves = std::ceil(tiles / static_cast<double>(slots_));
        const double per_col = static_cast<double>(group_), full = std::max(1.0, static_cast<double>(slots_) / per_col);
        const double rows = std::min(static_cast<double>(tm_),
                                     std::max(per_col, static_cast<double>(slots_) / static_cast<double>(tn_)));
        const double cols = std::min(static_cast<double>(tn_), full);
        const double row_extent = static_cast<double>(std::min(k_.tile.bm, k_.extent.rows));
        const double col_extent = static_cast<double>(std::min(k_.tile.bn, k_.extent.cols));
        const double wave_bits = rows * row_extent * row_bits_ + cols * col_extent * col_bits_;
        const double row_strips = static_cast<double>(k_.extent.rows) * row_bits_,
                     col_strips = static_cast<double>(k_.extent.cols) * col_bits_;
        f.rows = row_strips + wave_bits <= capacity_
                     ? static_cast<double>(k_.extent.rows)
                     : std::max(static_cast<double>(k_.extent.rows), waves * rows * row_extent);
        f.cols = col_strips + wave_bits <= capacity_
                     ? static_cast<double>(k_.extent.cols)
                     : std::max(static_cast<double>(k_.extent.cols), waves * cols * col_extent);
        f.streamed_bits = waves * wave_bits;
        f.last_wave_bits = wave_bits;
        return f;
    }

    const Kernel& k_;
    Raster raster_;
    i64 slots_;
    double capacity_, slice_bits_, slices_missing_ = 0;
    i64 tm_, tn_, group_ = 1, wave_ = 0;
    double row_bits_ = 0, col_bits_ = 0, out_bits_ = 0, bits_ = 0;
    Strips rows_, cols_;
    std::vector<double> prefix_;   ///< bits touched before each wave
    std::vector<double> operand_;  ///< operand bits of each wave
    StripFetches f_;
};

/// `share` (1 = once, whole) of a count; exact for whole shares.
i64 times(i64 count, double share) {
    if (share == 1) return count;
    return static_cast<i64>(std::llround(std::min(static_cast<double>(count) * share, 9e18)));
}

void add_read(const Access& a, double share, i64 batch, const MovedUnit& unit, i64 col_tile, DramFlows& flows) {
    DramFlow& f = flows[static_cast<int>(a.tensor.name)];
    const i64 sets = batch * a.slices;
    f.read_bits += times(a.tensor.rows * a.tensor.cols * a.tensor.bits * sets, share);
    f.moved_read_bytes += times(sweep_moved_bytes(a.tensor, unit, col_tile) * sets, share);
}

void add_writes(const Kernel& k, const MovedUnit& unit, DramFlows& flows) {
    for (const Access& a : k.outputs) {
        DramFlow& f = flows[static_cast<int>(a.tensor.name)];
        const i64 sets = k.batch * a.slices;
        f.write_bits += a.tensor.rows * a.tensor.cols * a.tensor.bits * sets;
        f.moved_write_bytes += sweep_moved_bytes(a.tensor, unit, axis_tile(k, a.col_axis)) * sets;
    }
}

double tensor_bits(const Access& a, i64 batch) {
    return static_cast<double>(a.tensor.rows) * static_cast<double>(a.tensor.cols) *
           static_cast<double>(a.tensor.bits) * static_cast<double>(batch * a.slices);
}

using Key = std::pair<Operand, int>;
bool contains(const std::vector<Key>& seen, const Access& a) {
    for (const Key& k : seen)
        if (k.first == a.tensor.name && k.second == a.tensor.variant) return true;
    return false;
}

}  // namespace

Counts closed_gpu(const Experiment& e, const Device& d, const std::vector<Kernel>& kernels, const Slots& slots) {
    Counts c;
    c.exact = true;
    const MovedUnit unit = moved_unit(d, e);
    const double effective = static_cast<double>(effective_bits(d)), whole = static_cast<double>(whole_bits(d));

    // Everything that any kernel touches, each tensor once (an in-place output is its input).
    double touched = 0;
    std::vector<Slices> slices;
    std::vector<Key> seen;
    const auto meet = [&](const Access& a, i64 batch) {
        if (contains(seen, a)) return;
        seen.push_back({a.tensor.name, a.tensor.variant});
        touched += tensor_bits(a, batch);
    };
    for (const Kernel& k : kernels) {
        each_input(k, [&](const Access& a) { meet(a, k.batch); });
        for (const Access& a : k.outputs) meet(a, k.batch);
        slices.push_back(slices_of(e, d, k, slots[static_cast<std::size_t>(&k - kernels.data())]));
        touched += static_cast<double>(slices.back().bits);
    }
    const bool fits = touched <= std::min(effective, whole);
    const bool warm = e.l2 == L2Start::warm;
    if (warm && !fits) c.exact = false;

    Ledger ledger(kernels);
    seen.clear();
    DramFlows lockstep{}, staggered{};
    double written = 0, dirty = 0, since_last = 0;
    for (std::size_t i = 0; i < kernels.size(); ++i) {
        const Kernel& k = kernels[i];
        DramFlows flows{}, apart{};
        add_writes(k, unit, flows);
        if (k.partial) {
            flows[static_cast<int>(Operand::partial)].write_bits += slices[i].bits;
            flows[static_cast<int>(Operand::partial)].moved_write_bytes += slices[i].moved_bytes;
        }
        apart = flows;
        double outputs = static_cast<double>(slices[i].bits);
        for (const Access& a : k.outputs) outputs += tensor_bits(a, k.batch);
        if (fits) {  // only first touches read, and nothing is ever dropped
            each_input(k, [&](const Access& a) {
                if (contains(seen, a) || warm) return;
                seen.push_back({a.tensor.name, a.tensor.variant});
                add_read(a, 1, k.batch, unit, axis_tile(k, a.col_axis), flows);
            });
            for (const Access& a : k.outputs) seen.push_back({a.tensor.name, a.tensor.variant});
            apart = flows;
            dirty = written += k.in_place ? 0 : outputs;  // in place: the same bytes, dirty already
        } else if (k.matmul) {
            Waves waves(k, e.raster, std::max<i64>(1, slots[i] / std::max(1, k.splits)), effective,
                        static_cast<double>(slices[i].bits));
            const StripFetches f = waves.fetches();
            // Sweeps over either operand: at most one a request.
            const double all_rows = static_cast<double>(ceil_div(k.col_tiles(), e.cluster.cols)),
                         all_cols = static_cast<double>(ceil_div(k.row_tiles(), e.cluster.rows));
            const double rows = std::min(all_rows, f.rows / static_cast<double>(k.extent.rows)),
                         cols = std::min(all_cols, f.cols / static_cast<double>(k.extent.cols));
            const bool lone = kernels.size() == 1 || (i == 0 && e.pass == Pass::forward);
            c.exact = c.exact && f.exact && lone && k.batch == 1 && k.splits == 1 && e.cluster == Shape2{1, 1};
            const bool survives = waves.shares_when_apart();
            const double alone = 1 - waves.shared_part();
            const double apart_rows =
                survives || waves.outer_is_col()
                    ? rows
                    : std::min(all_rows, f.shared_rows / static_cast<double>(k.extent.rows) + alone * all_rows);
            const double apart_cols =
                survives || !waves.outer_is_col()
                    ? cols
                    : std::min(all_cols, f.shared_cols / static_cast<double>(k.extent.cols) + alone * all_cols);
            for (const Access& a : k.left) {
                add_read(a, rows, k.batch, unit, axis_tile(k, a.col_axis), flows);
                add_read(a, apart_rows, k.batch, unit, axis_tile(k, a.col_axis), apart);
            }
            for (const Access& a : k.right) {
                add_read(a, cols, k.batch, unit, axis_tile(k, a.col_axis), flows);
                add_read(a, apart_cols, k.batch, unit, axis_tile(k, a.col_axis), apart);
            }
            for (const Access& a : k.epilogue) {
                add_read(a, 1, k.batch, unit, axis_tile(k, a.col_axis), flows);
                add_read(a, 1, k.batch, unit, axis_tile(k, a.col_axis), apart);
                if (a.row_axis == Axis::one) c.exact = false;  // a bias is read again by each wave that lost it
            }
            if (k.partial) {
                DramFlow read;
                read.read_bits = times(slices[i].bits, waves.slices_missing());
                read.moved_read_bytes = times(slices[i].moved_bytes, waves.slices_missing());
                for (DramFlows* of : {&flows, &apart}) {
                    (*of)[static_cast<int>(Operand::partial)].read_bits += read.read_bits;
                    (*of)[static_cast<int>(Operand::partial)].moved_read_bytes += read.moved_read_bytes;
                }
            }
            const double last_outputs =
                std::min(outputs, static_cast<double>(slots[i]) * static_cast<double>(k.tile.bm) *
                                      static_cast<double>(k.tile.bn) * bits_per_element(k.outputs));
            dirty =
                std::min(effective, last_outputs + std::max(0.0, effective - last_outputs - f.last_wave_bits) * 0.5);
            dirty = std::min(dirty, outputs);
            since_last = f.streamed_bits;
        } else {
            // The pass follows the order in which its input was written: tile at fraction p of the walk lies behind
            // (1-p) of what the kernel before it touched and p of this walk.
            double inputs = 0;
            for (const Access& a : k.epilogue) inputs += tensor_bits(a, k.batch);
            const double walked = inputs + (k.in_place ? 0 : outputs);
            for (const Access& a : k.epilogue) {
                const bool is_intermediate = !a.compulsory && i > 0;
                double read = 1;
                if (is_intermediate) {
                    const double own = tensor_bits(a, k.batch);
                    const double start = own + since_last, finish = walked;
                    if (start <= whole && finish <= whole)
                        read = 0;
                    else if (start > whole && finish > whole)
                        read = 1;
                    else
                        read = start <= whole ? 1 - (whole - start) / (finish - start)
                                              : (whole - start) / (finish - start);
                    const double tile = static_cast<double>(k.tile.bm) * static_cast<double>(k.tile.bn) *
                                        static_cast<double>(a.tensor.bits);
                    if (own - tile <= whole || e.raster.kind != Raster::along_n || k.reverse) c.exact = false;
                }
                add_read(a, read, k.batch, unit, axis_tile(k, a.col_axis), flows);
                add_read(a, read, k.batch, unit, axis_tile(k, a.col_axis), apart);
            }
            if (kernels.size() > 2 || e.pass != Pass::forward) c.exact = false;
            dirty = std::min(outputs, whole * outputs / walked);
            since_last = walked;
        }
        add(lockstep, flows);
        add(staggered, apart);
        c.kernels.push_back(gpu_traffic(e, d, k, slots[i], flows, ledger));
        c.requests +=
            k.row_tiles() * k.col_tiles() * k.k_steps() * k.batch * static_cast<i64>(k.left.size() + k.right.size());
    }
    c.kernels.back().at(Level::dram).dirty_at_end_bytes = static_cast<i64>(dirty / 8);
    c.dram_range.lockstep_bytes = dram_bytes(lockstep);
    c.dram_range.staggered_bytes = dram_bytes(staggered);
    return c;
}

}  // namespace sim
