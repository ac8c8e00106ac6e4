#pragma once
// An operand's tile on its way through shared memory, as the f32 rungs 03 to 05 keep it: (BK, OUTER), so that the lanes
// of a warp, which hold neighbouring rows (or columns) of the output, read neighbouring words. Where the operand lies
// with the reduction along its rows, the tile is turned while it is stored.

#include "kernels/device/primitives.cuh"
#include "kernels/device/shape.cuh"

namespace kernels::device {

/// Where a tile comes from: the operand, and what masks it (values, or bits).
template <class T>
struct Source {
    Window<const T> values, gate;
    Window<const unsigned char> bits;
};
template <class T, Gate GATE>
DEVICE Source<T> source(const Plane& operand, const Plane& gate, int problem, int line, int first, int lines,
                        int length) {
    Source<T> s{};
    s.values = window<const T>(operand, problem, line, first, lines, length);
    if constexpr (GATE == gate_values) s.gate = window<const T>(gate, problem, line, first, lines, length);
    if constexpr (GATE == gate_bits) {
        const Window<unsigned char> b = bit_window(gate, problem, line, first, lines, length);
        s.bits = {b.data, b.pitch, b.lines, b.length};
    }
    return s;
}
/// The left operand's tile of a k-step that begins at `k`.
template <class Form>
DEVICE auto left_source(const Params& p, const Work& w, int k) {
    using In = typename Form::In;
    if constexpr (Form::LEFT_RED_ALONG)
        return source<In, Form::LEFT_GATE>(p.left, p.gate, w.problem, w.row, k, p.rows, p.red);
    else
        return source<In, Form::LEFT_GATE>(p.left, p.gate, w.problem, k, w.row, p.red, p.rows);
}
template <class Form>
DEVICE auto right_source(const Params& p, const Work& w, int k) {
    using In = typename Form::In;
    if constexpr (Form::RIGHT_RED_ALONG)
        return source<In, Form::RIGHT_GATE>(p.right, p.gate, w.problem, w.col, k, p.cols, p.red);
    else
        return source<In, Form::RIGHT_GATE>(p.right, p.gate, w.problem, k, w.col, p.red, p.cols);
}

/// Copies a tile of (LINES, LENGTH) bits, a word (or a whole shorter line) a thread at a time.
template <int LINES, int LENGTH, int THREADS>
DEVICE void copy_bits(Shared<unsigned> to, const Window<const unsigned char>& from, lane<int> thread, Place at) {
    constexpr int BITS = LENGTH < 32 ? LENGTH : 32, WORDS = LENGTH / BITS;
    for (int i = 0; i < LINES * WORDS; i += THREADS) {
        const lane<int> e = thread + i, line = e / WORDS, first = e % WORDS * BITS;
        const mask mine = e < LINES * WORDS;
        const lane<int> count = select(mine & (line < from.lines), from.length - first, lane<int>(0));
        const lane<unsigned> bits = ld_global_bits<BITS>(from.data, line * (8 * from.pitch) + first, count, at);
        fill_shared_bits(to, e, bits, select(count < BITS, count, lane<int>(BITS)), mine, at);
    }
}

template <class T, int OUTER, int BK, bool RED_ALONG, Gate GATE, bool VECTOR, int STAGES = 1>
struct OperandTile {
    static constexpr int LINES = RED_ALONG ? OUTER : BK, LENGTH = RED_ALONG ? BK : OUTER;  // as it lies in memory
    static constexpr int PITCH = OUTER + (RED_ALONG ? skew(BK, VECTOR) : 0);
    static constexpr int WORDS = LINES * bit_pitch(LENGTH) / 32;

    Shared<T> values, gate;
    Shared<unsigned> bits;

    DEVICE explicit OperandTile(SharedMemory& smem) : values(smem.take<T>(STAGES * BK * PITCH)), gate(), bits() {
        if constexpr (GATE == gate_values) gate = smem.take<T>(STAGES * BK * PITCH);
        if constexpr (GATE == gate_bits) bits = smem.take<unsigned>(STAGES * WORDS);
    }
    /// The tile of one stage of a pipeline.
    DEVICE OperandTile stage(int s) const {
        OperandTile one = *this;
        one.values = values.from(s * BK * PITCH);
        if constexpr (GATE == gate_values) one.gate = gate.from(s * BK * PITCH);
        if constexpr (GATE == gate_bits) one.bits = bits.from(s * WORDS);
        return one;
    }

    /// Copies one element a thread at a time: neighbouring threads read neighbouring elements of a line.
    template <int THREADS>
    DEVICE void copy(const Source<T>& from, lane<int> thread, Place at = Place::here()) const {
        copy_elements<THREADS>(values, from.values, thread, at);
        if constexpr (GATE == gate_values) copy_elements<THREADS>(gate, from.gate, thread, at);
        if constexpr (GATE == gate_bits) copy_bits<LINES, LENGTH, THREADS>(bits, from.bits, thread, at);
    }

    /// Element (k, outer), masked.
    DEVICE lane<float> read(lane<int> k, lane<int> outer, Place at = Place::here()) const {
        const lane<float> v = ld_shared(values, k * PITCH + outer, at);
        if constexpr (GATE == gate_values)
            return select(ld_shared(gate, k * PITCH + outer, at) > 0.0f, v, lane<float>(0.0f));
        else if constexpr (GATE == gate_bits)
            return select(ld_shared_bits<1>(bits, bit(k, outer), at) != 0u, v, lane<float>(0.0f));
        else
            return v;
    }
    /// Elements (k, outer) to (k, outer + 3), masked.
    DEVICE void read4(lane<float> (&v)[4], lane<int> k, lane<int> outer, Place at = Place::here()) const {
        ld_shared(v, values, k * PITCH + outer, at);
        if constexpr (GATE == gate_values) {
            lane<float> g[4];
            ld_shared(g, gate, k * PITCH + outer, at);
            UNROLL for (int j = 0; j < 4; ++j) v[j] = select(g[j] > 0.0f, v[j], lane<float>(0.0f));
        }
        if constexpr (GATE == gate_bits && RED_ALONG) {
            UNROLL for (int j = 0; j < 4; ++j) v[j] =
                select(ld_shared_bits<1>(bits, bit(k, outer + j), at) != 0u, v[j], lane<float>(0.0f));
        }
        if constexpr (GATE == gate_bits && !RED_ALONG) {
            const lane<unsigned> open = ld_shared_bits<4>(bits, bit(k, outer), at);
            UNROLL for (int j = 0; j < 4; ++j) v[j] = select((open >> j & 1u) != 0u, v[j], lane<float>(0.0f));
        }
    }

    DEVICE static lane<int> word(lane<int> line, lane<int> x) {
        return RED_ALONG ? x * PITCH + line : line * PITCH + x;
    }

private:
    DEVICE static lane<int> bit(lane<int> k, lane<int> outer) {
        return RED_ALONG ? outer * bit_pitch(LENGTH) + k : k * bit_pitch(LENGTH) + outer;
    }
    template <int THREADS>
    DEVICE static void copy_elements(Shared<T> to, const Window<const T>& from, lane<int> thread, Place at) {
        UNROLL for (int i = 0; i < LINES * LENGTH; i += THREADS) {
            const lane<int> e = thread + i, line = e / LENGTH, x = e % LENGTH;
            const mask mine = e < LINES * LENGTH, inside = mine & (line < from.lines) & (x < from.length);
            fill_shared(to, word(line, x), ld_global(from.data, line * from.pitch + x, inside, at), inside, mine, at);
        }
    }
};

/// A tile in flight between global and shared memory, 16 bytes at a time in each thread's registers: fetched before the
/// CTA computes on the tile it has, stored after.
template <class Tile, int THREADS>
struct InFlight;
template <class T, int OUTER, int BK, bool RED_ALONG, Gate GATE, bool VECTOR, int STAGES, int THREADS>
struct InFlight<OperandTile<T, OUTER, BK, RED_ALONG, GATE, VECTOR, STAGES>, THREADS> {
    using Tile = OperandTile<T, OUTER, BK, RED_ALONG, GATE, VECTOR, STAGES>;
    static constexpr int N = 16 / sizeof(T), PER_LINE = Tile::LENGTH / N, PACKS = Tile::LINES * PER_LINE;
    static constexpr int ROUNDS = (PACKS + THREADS - 1) / THREADS;
    lane<T> values[ROUNDS][N], gate[GATE == gate_values ? ROUNDS : 1][N];

    DEVICE void fetch(const Source<T>& from, lane<int> thread, Place at = Place::here()) {
        fetch(values, from.values, thread, at);
        if constexpr (GATE == gate_values) fetch(gate, from.gate, thread, at);
    }
    DEVICE void store(const Tile& to, const Source<T>& from, lane<int> thread, Place at = Place::here()) const {
        store(values, to.values, from.values, thread, at);
        if constexpr (GATE == gate_values) store(gate, to.gate, from.gate, thread, at);
        if constexpr (GATE == gate_bits) copy_bits<Tile::LINES, Tile::LENGTH, THREADS>(to.bits, from.bits, thread, at);
    }

private:
    /// Where a thread's pack of a round lies. A round of whole lines leaves each thread its column, so that one address
    /// serves them all: said here, since compilers do not see it and spill what they keep instead.
    struct Spot {
        mask mine;
        lane<int> line, x;
        DEVICE Spot(lane<int> thread, int round)
            : mine(thread + round * THREADS < PACKS), line((thread + round * THREADS) / PER_LINE),
              x((thread + round * THREADS) % PER_LINE * N) {
            if constexpr (THREADS % PER_LINE == 0) {
                line = thread / PER_LINE + round * (THREADS / PER_LINE);
                x = thread % PER_LINE * N;
            }
        }
        /// How many of the N elements from (line, x) on are there.
        DEVICE lane<int> count(const Window<const T>& from) const {
            return select(mine & (line < from.lines), from.length - x, lane<int>(0));
        }
    };
    DEVICE static void fetch(lane<T> (&v)[ROUNDS][N], const Window<const T>& from, lane<int> thread, Place at) {
        UNROLL for (int i = 0; i < ROUNDS; ++i) {
            const Spot s(thread, i);
            ld_global(v[i], from.data, s.line * from.pitch + s.x, s.count(from), at);
        }
    }
    DEVICE static void store(const lane<T> (&v)[ROUNDS][N], Shared<T> to, const Window<const T>& from, lane<int> thread,
                             Place at) {
        UNROLL for (int i = 0; i < ROUNDS; ++i) {
            const Spot s(thread, i);
            const lane<int> there = s.count(from);
            if constexpr (RED_ALONG) {
                UNROLL for (int j = 0; j < N; ++j)
                    fill_shared(to, Tile::word(s.line, s.x + j), v[i][j], there > j, s.mine, at);
            } else {
                fill_shared(to, Tile::word(s.line, s.x), v[i], there, s.mine, at);
            }
        }
    }
};

}  // namespace kernels::device
