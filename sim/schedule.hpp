#pragma once
// Which tile comes next. The simulator and every CUDA kernel call the same `tile_at`, so this file includes nothing,
// uses integers only, and compiles freestanding and under NVRTC.

#ifndef MEMWALL_HD
#ifdef __CUDACC__
#define MEMWALL_HD __host__ __device__
#else
#define MEMWALL_HD
#endif
#endif

namespace sim {

/// How output tiles are numbered. `group` is the G of grouped:G and unused (0) elsewhere.
struct Raster {
    enum Kind : int { along_n, along_m, grouped, hilbert };
    Kind kind = along_n;
    int group = 0;
    MEMWALL_HD constexpr bool operator==(const Raster& o) const { return kind == o.kind && group == o.group; }
};

/// An output tile: its row of tiles (0..tm) and column of tiles (0..tn).
struct TileIndex {
    long long row = 0, col = 0;
    MEMWALL_HD constexpr bool operator==(const TileIndex& o) const { return row == o.row && col == o.col; }
};

namespace detail {

MEMWALL_HD constexpr long long magnitude(long long v) { return v < 0 ? -v : v; }
MEMWALL_HD constexpr long long sign(long long v) { return v > 0 ? 1 : v < 0 ? -1 : 0; }

/// Cell i of a Hilbert-like curve over any w x h rectangle (the "generalised Hilbert" construction): a rectangle is cut
/// into two or three smaller ones whose ends meet, until it is one cell wide. O(log(w + h)) steps, no table.
MEMWALL_HD constexpr TileIndex hilbert_at(long long tm, long long tn, long long i) {
    // A rectangle: corner (x, y), major side (ax, ay), minor side (bx, by); sides are signed and axis-aligned.
    long long x = 0, y = 0, ax = 0, ay = 0, bx = 0, by = 0;
    if (tn >= tm) {
        ax = tn;
        by = tm;
    } else {
        ay = tm;
        bx = tn;
    }
    for (;;) {
        const long long w = magnitude(ax + ay), h = magnitude(bx + by);
        const long long dax = sign(ax), day = sign(ay), dbx = sign(bx), dby = sign(by);
        if (h == 1) return {y + day * i, x + dax * i};
        if (w == 1) return {y + dby * i, x + dbx * i};
        long long ax2 = ax / 2, ay2 = ay / 2, bx2 = bx / 2, by2 = by / 2;
        if (2 * w > 3 * h) {  // long: cut the major side in two, the first half even so that the ends meet
            if (magnitude(ax2 + ay2) % 2 != 0 && w > 2) {
                ax2 += dax;
                ay2 += day;
            }
            const long long first = magnitude(ax2 + ay2) * h;
            if (i < first) {
                ax = ax2;
                ay = ay2;
            } else {
                i -= first;
                x += ax2;
                y += ay2;
                ax -= ax2;
                ay -= ay2;
            }
            continue;
        }
        if (magnitude(bx2 + by2) % 2 != 0 && h > 2) {
            bx2 += dbx;
            by2 += dby;
        }
        const long long half_w = magnitude(ax2 + ay2), half_h = magnitude(bx2 + by2);
        const long long up = half_h * half_w, across = w * (h - half_h);
        if (i < up) {  // up along the minor side
            const long long tx = ax2, ty = ay2;
            ax = bx2;
            ay = by2;
            bx = tx;
            by = ty;
        } else if (i < up + across) {  // across the whole major side
            i -= up;
            x += bx2;
            y += by2;
            bx -= bx2;
            by -= by2;
        } else {  // and back down
            i -= up + across;
            x += (ax - dax) + (bx2 - dbx);
            y += (ay - day) + (by2 - dby);
            const long long rest_x = ax - ax2, rest_y = ay - ay2;
            ax = -bx2;
            ay = -by2;
            bx = -rest_x;
            by = -rest_y;
        }
    }
}

}  // namespace detail

/// Tile number i (0 <= i < tm·tn) of a grid of tm x tn output tiles. A bijection for every raster.
MEMWALL_HD constexpr TileIndex tile_at(Raster raster, long long tm, long long tn, long long i) {
    switch (raster.kind) {
        case Raster::along_n: return {i / tn, i % tn};
        case Raster::along_m: return {i % tm, i / tm};
        case Raster::hilbert: return detail::hilbert_at(tm, tn, i);
        case Raster::grouped: break;
    }
    const long long per_group = raster.group * tn;
    const long long first = i / per_group * raster.group;
    const long long rows = tm - first < raster.group ? tm - first : raster.group;
    const long long r = i % per_group;
    return {first + r % rows, r / rows};
}

}  // namespace sim
