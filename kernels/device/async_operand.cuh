#pragma once
// An operand's tiles in a ring of stages that cp.async fills, as rungs 06 to 08 keep them: each tile lies as it lies in
// memory, (LINES, LENGTH), since a copy that passes by the registers cannot turn it. Its 16-byte chunks are swizzled:
// chunk c of a line moves to c ^ f(line), so that eight lines read at one chunk, or eight chunks of one line, fall into
// eight different groups of four banks. Lines of 128 bytes lie as TMA swizzles them: rung 09 masks its slabs with this.

#include "kernels/device/operand.cuh"

namespace kernels::device {

template <class T, int OUTER, int BK, bool RED_ALONG_, Gate GATE, int STAGES>
struct AsyncTile {
    static constexpr bool RED_ALONG = RED_ALONG_;
    static constexpr int LINES = RED_ALONG ? OUTER : BK, LENGTH = RED_ALONG ? BK : OUTER, SIZE = LINES * LENGTH;
    static constexpr int N = 16 / sizeof(T), CHUNKS = LENGTH / N;  // elements of a chunk, chunks of a line
    static constexpr int WAYS = CHUNKS % 8 == 0 ? 8 : CHUNKS % 4 == 0 ? 4 : CHUNKS % 2 == 0 ? 2 : 1;
    static constexpr int BIT_PITCH = bit_pitch(LENGTH), WORDS = LINES * BIT_PITCH / 32;

    Shared<T> values, gate;
    Shared<unsigned> bits;

    DEVICE explicit AsyncTile(SharedMemory& smem) : values(smem.take<T>(STAGES * SIZE)), gate(), bits() {
        if constexpr (GATE == gate_values) gate = smem.take<T>(STAGES * SIZE);
        if constexpr (GATE == gate_bits) bits = smem.take<unsigned>(STAGES * WORDS);
    }
    /// A tile whose memory is another's, filled by others in this layout.
    DEVICE AsyncTile(Shared<T> its_values, Shared<T> its_gate, Shared<unsigned> its_bits)
        : values(its_values), gate(its_gate), bits(its_bits) {}
    /// The tile of one stage.
    DEVICE AsyncTile stage(int s) const {
        AsyncTile one = *this;
        one.values = values.from(s * SIZE);
        if constexpr (GATE == gate_values) one.gate = gate.from(s * SIZE);
        if constexpr (GATE == gate_bits) one.bits = bits.from(s * WORDS);
        return one;
    }

    /// Where element (line, x) lies; the elements of a chunk stay side by side.
    DEVICE static lane<int> at(lane<int> line, lane<int> x) {
        return line * LENGTH + ((x / N) ^ (line / (8 / WAYS) % WAYS)) * N + x % N;
    }

    /// Begins to copy a tile, 16 bytes a thread at a time.
    template <int THREADS>
    DEVICE void begin_copy(const Source<T>& from, lane<int> thread, Place place = Place::here()) const {
        begin_copy<THREADS>(values, from.values, thread, place);
        if constexpr (GATE == gate_values) begin_copy<THREADS>(gate, from.gate, thread, place);
        if constexpr (GATE == gate_bits) copy_bits<LINES, LENGTH, THREADS>(bits, from.bits, thread, place);
    }

    /// Elements (line, x) to (line, x + 3), masked.
    DEVICE void read4(lane<float> (&v)[4], lane<int> line, lane<int> x, Place place = Place::here()) const {
        ld_shared(v, values, at(line, x), place);
        if constexpr (GATE == gate_values) {
            lane<float> g[4];
            ld_shared(g, gate, at(line, x), place);
            UNROLL for (int j = 0; j < 4; ++j) v[j] = select(g[j] > 0.0f, v[j], lane<float>(0.0f));
        }
        if constexpr (GATE == gate_bits) {
            const lane<unsigned> open = ld_shared_bits<4>(bits, line * BIT_PITCH + x, place);
            UNROLL for (int j = 0; j < 4; ++j) v[j] = select((open >> j & 1u) != 0u, v[j], lane<float>(0.0f));
        }
    }

    /// Masks the tile where it lies; `lines` lines of `length` elements of it are valid, the rest padding.
    template <int THREADS>
    DEVICE void mask_in_place(lane<int> thread, int lines, int length, Place place = Place::here()) const {
        static_assert(GATE != gate_none && LINES * CHUNKS % THREADS == 0);
        UNROLL_2 for (int i = 0; i < LINES * CHUNKS; i += THREADS) {
            const lane<int> e = thread + i, line = e / CHUNKS, x = e % CHUNKS * N;
            const lane<int> count = select(line < lines, length - x, lane<int>(0));
            lane<T> v[N];
            ld_shared(v, values, at(line, x), count, place);
            if constexpr (GATE == gate_values) {
                lane<T> g[N];
                ld_shared(g, gate, at(line, x), place);
                UNROLL for (int j = 0; j < N; ++j) v[j] = select(is_positive(g[j]), v[j], lane<T>(T{}));
            } else {
                const lane<unsigned> open = ld_shared_bits<N>(bits, line * BIT_PITCH + x, place);
                UNROLL for (int j = 0; j < N; ++j) v[j] = select((open >> j & 1u) != 0u, v[j], lane<T>(T{}));
            }
            fill_shared(values, at(line, x), v, count, all_lanes, place);
        }
    }

    /// Which rows (columns) a thread has of a warp's strip, given where it stands among LANES: every LANES-th, or
    /// groups of four where four neighbours lie side by side in memory.
    template <int LANES>
    DEVICE static lane<int> outer(lane<int> stands, int i) {
        return RED_ALONG ? stands + i * LANES : stands * 4 + (i / 4 * 4 * LANES + i % 4);
    }
    /// v[i] = elements (outer(stands, i) + first, k) to (…, k + 3), masked: a tile with the reduction along its lines.
    template <int LANES, int COUNT>
    DEVICE void fragment(lane<float> (&v)[COUNT][4], lane<int> stands, int first, int k,
                         Place place = Place::here()) const {
        static_assert(RED_ALONG);
        UNROLL for (int i = 0; i < COUNT; ++i) read4(v[i], outer<LANES>(stands, i) + first, k, place);
    }
    /// v[i / 4][i % 4] = element (outer(stands, i) + first, k), masked: a tile with the reduction across its lines.
    template <int LANES, int COUNT>
    DEVICE void fragment_at(lane<float> (&v)[COUNT][4], lane<int> stands, int first, int k,
                            Place place = Place::here()) const {
        static_assert(!RED_ALONG);
        UNROLL for (int i = 0; i < COUNT; ++i) read4(v[i], k, outer<LANES>(stands, 4 * i) + first, place);
    }

    /// The left fragment (16,16) of mma.sync at (first, k), masked: a[0] rows 0-7, a[1] rows 8-15, a[2], a[3] at k + 8.
    DEVICE void left_fragment(lane<unsigned> (&a)[4], int first, int k, Place place = Place::here()) const {
        const lane<int> l = lane_index();
        if constexpr (RED_ALONG)
            matrices<false>(a, l % 16 + first, l / 16 * 8 + k, place);
        else
            matrices<true>(a, l % 8 + l / 16 * 8 + k, l / 8 % 2 * 8 + first, place);
        if constexpr (GATE == gate_bits) {
            UNROLL for (int q = 0; q < 4; ++q) a[q] =
                gate_pair_by_bits(a[q], open_pair(l / 4 + (q % 2 * 8 + first), l % 4 * 2 + (q / 2 * 8 + k), place));
        }
    }
    /// Two right fragments (16,8) of mma.sync at (k, first) and (k, first + 8), masked: b[0], b[1] and b[2], b[3].
    DEVICE void right_fragments(lane<unsigned> (&b)[4], int first, int k, Place place = Place::here()) const {
        const lane<int> l = lane_index();
        if constexpr (RED_ALONG)
            matrices<false>(b, l % 8 + l / 16 * 8 + first, l / 8 % 2 * 8 + k, place);
        else
            matrices<true>(b, l % 8 + l / 8 % 2 * 8 + k, l / 16 * 8 + first, place);
        if constexpr (GATE == gate_bits) {
            UNROLL for (int q = 0; q < 4; ++q) b[q] =
                gate_pair_by_bits(b[q], open_pair(l / 4 + (q / 2 * 8 + first), l % 4 * 2 + (q % 2 * 8 + k), place));
        }
    }

private:
    template <int THREADS>
    DEVICE static void begin_copy(Shared<T> to, const Window<const T>& from, lane<int> thread, Place place) {
        UNROLL_2 for (int i = 0; i < LINES * CHUNKS; i += THREADS) {
            const lane<int> e = thread + i, line = e / CHUNKS, x = e % CHUNKS * N;
            const mask mine = e < LINES * CHUNKS;
            const lane<int> count = select(mine & (line < from.lines), from.length - x, lane<int>(0));
            copy_async<N>(to, at(line, x), from.data, line * from.pitch + x, count, mine, place);
        }
    }
    template <bool TRANSPOSED>
    DEVICE void matrices(lane<unsigned> (&r)[4], lane<int> line, lane<int> x, Place place) const {
        ldmatrix<TRANSPOSED>(r, values, at(line, x), place);
        if constexpr (GATE == gate_values) {
            lane<unsigned> g[4];
            ldmatrix<TRANSPOSED>(g, gate, at(line, x), place);
            UNROLL for (int q = 0; q < 4; ++q) r[q] = gate_pair<T>(r[q], g[q]);
        }
    }
    /// The two mask bits of a register: (outer, k) and (outer, k + 1).
    DEVICE lane<unsigned> open_pair(lane<int> outer, lane<int> k, Place place) const {
        if constexpr (RED_ALONG)
            return ld_shared_bits<2>(bits, outer * BIT_PITCH + k, place);
        else
            return ld_shared_bits<1>(bits, k * BIT_PITCH + outer, place) |
                   ld_shared_bits<1>(bits, (k + 1) * BIT_PITCH + outer, place) << 1u;
    }
};

}  // namespace kernels::device
