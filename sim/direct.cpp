#include "sim/direct.hpp"

#include <numeric>

#include "sim/traits.hpp"

namespace sim {

namespace {

constexpr i64 warp = 32, line_bytes = 128;

/// Places along an axis that one warp has.
i64 places(const Lanes& l, Axis a) { return a == l.along ? l.run : a == l.across ? l.turns : 1; }

/// Bytes of the sectors that one sweep over a tensor touches, its rows cut into `width` columns each.
i64 swept(const Tensor& t, const MovedUnit& unit, i64 width) {
    if (t.bits == 1) return t.rows * ceil_div(t.cols, width) * unit.bytes;  // at most 32 bits: within a sector
    return sweep_moved_bytes(t, unit, width);
}

/// Bytes of the sectors in whole rows of a tensor, `strip` rows at a time: a sector that two of them share counts once.
i64 strips(const Tensor& t, const MovedUnit& unit, i64 strip) {
    const i64 pitch = pitch_bytes(t, unit.pitch), row = (t.cols * t.bits + 7) / 8;
    const auto sectors = [&](i64 r0, i64 r1) {
        return ceil_div((r1 - 1) * pitch + row, unit.bytes) - r0 * pitch / unit.bytes;
    };
    const i64 whole = ceil_div(t.rows, strip) - 1;
    const i64 period = unit.bytes / std::gcd(strip * pitch, unit.bytes);  // of where a strip starts within a sector
    i64 sum = sectors(whole * strip, t.rows);
    for (i64 i = 0; i < std::min(period, whole); ++i)
        sum += ceil_div(whole - i, period) * sectors(i * strip, (i + 1) * strip);
    return sum * unit.bytes;
}

/// Warps that lie along an axis, over all tiles, clipped to the matrix: so often is an operand asked for that does not
/// lie along it.
i64 warps_along(const Kernel& k, const Lanes& l, Axis axis) {
    const i64 side = axis_tile(k, axis), tiles = axis_trips(k, axis);
    return (tiles - 1) * ceil_div(side, places(l, axis)) +
           ceil_div(clipped(axis_extent(k, axis), side, tiles - 1), places(l, axis));
}

bool lies_along(const Access& a, Axis axis) { return a.row_axis == axis || a.col_axis == axis; }

/// Lines of an operand that a CTA touches in one step of the reduction.
i64 lines_of_step(const Kernel& k, const Access& a) {
    const auto side = [&](Axis axis) { return axis == Axis::rows || axis == Axis::cols ? axis_tile(k, axis) : 1; };
    return side(a.row_axis) * ceil_div(side(a.col_axis) * a.tensor.bits, 8 * line_bytes);
}

}  // namespace

Direct direct_access(const Experiment& e) {
    if (e.engine != Engine::simt) return Direct::no;
    if (e.rung == "01_naive") return Direct::uncoalesced;
    if (e.rung == "02_coalesced") return Direct::coalesced;
    return has_trait(e, "access", "uncoalesced") ? Direct::uncoalesced
           : has_trait(e, "access", "coalesced") ? Direct::coalesced
                                                 : Direct::no;
}

Lanes lanes_of(Direct access, const Tile& tile) {
    Lanes l;
    l.along = access == Direct::uncoalesced ? Axis::rows : Axis::cols;
    l.across = access == Direct::uncoalesced ? Axis::cols : Axis::rows;
    const i64 side = l.along == Axis::rows ? tile.bm : tile.bn;
    l.run = std::gcd(side, warp);
    l.turns = side == l.run ? std::min(warp / l.run, l.across == Axis::rows ? tile.bm : tile.bn) : 1;
    return l;
}

double lines_of_load(const Access& a, const Lanes& l) {
    const i64 columns = places(l, a.col_axis);
    return static_cast<double>(places(l, a.row_axis) * ceil_div(columns * a.tensor.bits, 8 * line_bytes));
}

L1Flow l1_read(const Kernel& k, const Access& a, const Lanes& l, const MovedUnit& unit, i64 l1_bytes) {
    const Tensor& t = a.tensor;
    i64 times = k.batch * a.slices, tiles = k.batch * a.slices;
    for (Axis axis : {Axis::rows, Axis::cols})
        if (!lies_along(a, axis)) {
            times *= warps_along(k, l, axis);
            tiles *= axis_trips(k, axis);
        }
    L1Flow f;
    f.requested_bytes = (static_cast<__int128>(t.rows) * t.cols * t.bits * times + 7) / 8;
    f.sector_bytes = static_cast<__int128>(swept(t, unit, places(l, a.col_axis))) * times;
    if (a.col_axis != Axis::red) {  // each step has rows of its own
        const i64 width = a.col_axis == Axis::one ? t.cols : axis_tile(k, a.col_axis);
        f.l2_bytes = static_cast<__int128>(width >= t.cols ? strips(t, unit, t.rows) : swept(t, unit, width)) * tiles;
        return f;
    }
    // A sector with several steps' elements serves them all if its line stays. Warps go along the lanes' axis first, so
    // the lines of operands that lie along it come round as often as there are warps across; the others' come round at
    // the next step, after all lines of this one and those it brings anew.
    const bool along = a.row_axis == l.along;
    i64 lines = 0;
    for (const auto* side : {&k.left, &k.right})
        for (const Access& other : *side) {
            const i64 anew = other.col_axis == Axis::red ? 1 : 2;
            lines += along && !lies_along(other, l.along) ? anew : lines_of_step(k, other) * anew;
        }
    const bool stays = lines * line_bytes <= l1_bytes;
    if (stays)
        f.l2_bytes = static_cast<__int128>(strips(t, unit, axis_tile(k, a.row_axis))) * tiles;
    else if (along)
        f.l2_bytes = f.sector_bytes;
    else
        f.l2_bytes = static_cast<__int128>(swept(t, unit, 1)) * tiles;
    return f;
}

L1Flow l1_write(const Kernel& k, const Access& a, const Lanes& l, const MovedUnit& unit) {
    const Tensor& t = a.tensor;
    L1Flow f;
    f.requested_bytes = (static_cast<__int128>(t.rows) * t.cols * t.bits * k.batch * a.slices + 7) / 8;
    f.sector_bytes = f.l2_bytes = static_cast<__int128>(swept(t, unit, places(l, a.col_axis))) * k.batch * a.slices;
    return f;
}

}  // namespace sim
