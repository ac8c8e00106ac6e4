#pragma once
// How a kernel is cut (Tile), what it is compiled for beside that (Form), and which share of the work a CTA has. The
// host reads this file too.

#include "kernels/device/params.cuh"

namespace kernels::device {

/// A CTA's tile BM x BN of the output, BK of the reduction at a time, cut into warp tiles WM x WN and those into thread
/// tiles TM x TN (1 x 1 where tensor cores spread the tile themselves).
template <int BM_, int BN_, int BK_, int WM_, int WN_, int TM_, int TN_, int STAGES_>
struct Tile {
    static constexpr int BM = BM_, BN = BN_, BK = BK_, WM = WM_, WN = WN_, TM = TM_, TN = TN_, STAGES = STAGES_;
    static constexpr int WARPS_N = BN / WN, WARPS = BM / WM * WARPS_N, THREADS = 32 * WARPS;
    static constexpr int LANES_N = WN / TN, LANES_M = WM / TM;  // of a warp, where a lane has a thread tile
};

/// Element types, layout of the operands, where the gradient operand is masked, what is done to a sum.
template <class In_, class Out_, Layout LAYOUT_, Gate GATE_, int EPILOGUE_>
struct Form {
    using In = In_;
    using Out = Out_;
    static constexpr Layout LAYOUT = LAYOUT_;
    static constexpr int EPILOGUE = EPILOGUE_;
    /// dgrad's gradient is the left operand, wgrad's the right one.
    static constexpr Gate LEFT_GATE = LAYOUT_ == nt ? GATE_ : gate_none, RIGHT_GATE = LAYOUT_ == tn ? GATE_ : gate_none;
    /// Whether an operand lies with the reduction along its rows in memory.
    static constexpr bool LEFT_RED_ALONG = LAYOUT_ != tn, RIGHT_RED_ALONG = LAYOUT_ == nt;
};

/// One output tile and a range of k-steps of one problem.
struct Work {
    int problem, slice, row, col;  ///< row, col: of the tile's first output
    int k_begin, k_end;            ///< k-steps
};

/// Work item i: batch by batch, slice by slice, in the raster's order. The simulator walks the same `tile_at`.
MEMWALL_HD inline Work work_item(const Params& p, long long i, int tile_rows, int tile_cols) {
    const long long tiles = static_cast<long long>(p.row_tiles) * p.col_tiles;
    const sim::TileIndex t = sim::tile_at(p.raster, p.row_tiles, p.col_tiles, i % tiles);
    const int slice = static_cast<int>(i / tiles % p.splits);
    return {static_cast<int>(i / tiles / p.splits),
            slice,
            static_cast<int>(t.row) * tile_rows,
            static_cast<int>(t.col) * tile_cols,
            static_cast<int>(static_cast<long long>(slice) * p.k_steps / p.splits),
            static_cast<int>(static_cast<long long>(slice + 1) * p.k_steps / p.splits)};
}

/// The same for CTAs in clusters of CM x CN tiles: cluster by cluster in the raster's order, row by row within one. A
/// tile beyond the grid's edge belongs to a CTA that only helps its neighbours.
MEMWALL_HD inline Work cluster_work_item(const Params& p, long long i, int tile_rows, int tile_cols, int cm, int cn) {
    const int size = cm * cn, rank = static_cast<int>(i % size);
    Params clusters = p;
    clusters.row_tiles = (p.row_tiles + cm - 1) / cm;
    clusters.col_tiles = (p.col_tiles + cn - 1) / cn;
    Work w = work_item(clusters, i / size, cm * tile_rows, cn * tile_cols);
    w.row += rank / cn * tile_rows;
    w.col += rank % cn * tile_cols;
    return w;
}

/// A window into a matrix from (line, first) on: `lines` lines of memory, `length` elements of each, still inside.
template <class T>
struct Window {
    T* data;
    int pitch, lines, length;
};
template <class T>
MEMWALL_HD inline Window<T> window(const Plane& m, int problem, int line, int first, int lines, int length) {
    return {static_cast<T*>(m.data) + problem * m.batch_pitch + line * m.pitch + first, static_cast<int>(m.pitch),
            lines - line, length - first};
}
/// The same of a bit matrix, whose pitches count bytes; `first` is a multiple of 8.
MEMWALL_HD inline Window<unsigned char> bit_window(const Plane& m, int problem, int line, int first, int lines,
                                                   int length) {
    return {static_cast<unsigned char*>(m.data) + problem * m.batch_pitch + line * m.pitch + first / 8,
            static_cast<int>(m.pitch), lines - line, length - first};
}

/// Elements added to a row of a tile that is stored across its memory order, so that a warp's stores fall into
/// different banks: 32 / BK, and whole 16 bytes where rows are read so.
MEMWALL_HD constexpr int skew(int bk, bool vector) {
    const int spread = bk < 32 ? 32 / bk : 1;
    return vector && spread < 4 ? 4 : spread;
}
/// Bits from one line of a bit tile in shared memory to the next: whole words.
MEMWALL_HD constexpr int bit_pitch(int length) { return length < 32 ? 32 : length; }

}  // namespace kernels::device
