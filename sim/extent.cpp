#include "sim/extent.hpp"

#include <bit>
#include <cstdint>
#include <numeric>

namespace sim {

MovedUnit moved_unit(const Device& d, const Experiment& e) {
    switch (d.kind) {
        case DeviceKind::gpu: return {32, false, e.dense.pitch};
        case DeviceKind::cpu: return {64, false, e.dense.pitch};
        case DeviceKind::tpu: return {0, true, Pitch::tight};
        case DeviceKind::scratchpad: break;
    }
    return {0, false, Pitch::tight};
}

i64 pitch_bytes(const Tensor& t, Pitch pitch) {
    if (t.bits == 1) return round_up(t.cols, 128) / 8;  // a mask's rows pad to 128 bits, as RELU_AUX has them
    const i64 row = t.cols * t.bits / 8;
    return pitch == Pitch::padded ? round_up(row, 16) : row;
}

namespace {

/// Rows and columns after padding to the layout a TPU keeps the dtype in.
i64 padded_rows(const Tensor& t) { return round_up(t.rows, t.bits == 32 ? 8 : t.bits == 16 ? 16 : 32); }
i64 padded_cols(const Tensor& t) { return round_up(t.cols, 128); }

}  // namespace

i64 moved_bytes(const Tensor& t, const MovedUnit& unit, i64 r0, i64 r1, i64 c0, i64 c1) {
    if (unit.tpu_layout) {
        const i64 rows = (r1 == t.rows ? padded_rows(t) : r1) - r0, cols = (c1 == t.cols ? padded_cols(t) : c1) - c0;
        return (rows * cols * t.bits + 7) / 8;
    }
    if (unit.bytes == 0) return ((r1 - r0) * (c1 - c0) * t.bits + 7) / 8;
    const i64 pitch = pitch_bytes(t, unit.pitch);
    // A mask's tile is a few bits of a sector that its neighbours want too: what counts is its rows' padding.
    if (t.bits == 1) return ((r1 - r0) * ((c1 == t.cols ? 8 * pitch : c1) - c0) + 7) / 8;
    const i64 begin = c0 * t.bits / 8, last = (c1 * t.bits + 7) / 8 - 1;
    // Where a row starts within a unit, a power of two, repeats after `period` rows.
    const int shift = std::countr_zero(static_cast<std::uint64_t>(unit.bytes));
    const int log_period = shift - std::countr_zero(static_cast<std::uint64_t>(pitch | unit.bytes));
    const i64 period = i64{1} << log_period;
    i64 touched = 0;
    for (i64 p = 0; p < std::min(period, r1 - r0); ++p) {
        const i64 base = (r0 + p) * pitch & (unit.bytes - 1);
        touched +=
            ((r1 - r0 - p + period - 1) >> log_period) * (((base + last) >> shift) - ((base + begin) >> shift) + 1);
    }
    return touched << shift;
}

i64 sweep_moved_bytes(const Tensor& t, const MovedUnit& unit, i64 col_tile) {
    if (unit.tpu_layout) return (padded_rows(t) * padded_cols(t) * t.bits + 7) / 8;
    if (unit.bytes == 0) return t.bytes();
    if (t.bits == 1) return t.rows * pitch_bytes(t, unit.pitch);
    // Columns of tiles start at the same place within a unit every `period` columns; the last may be ragged.
    const i64 whole = ceil_div(t.cols, col_tile) - 1;
    const i64 period = 8 * unit.bytes / std::gcd(col_tile * t.bits, 8 * unit.bytes);
    i64 sum = moved_bytes(t, unit, 0, t.rows, whole * col_tile, t.cols);
    for (i64 j = 0; j < std::min(period, whole); ++j)
        sum += ceil_div(whole - j, period) * moved_bytes(t, unit, 0, t.rows, j * col_tile, (j + 1) * col_tile);
    return sum;
}

}  // namespace sim
