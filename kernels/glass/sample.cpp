#include "kernels/glass/sample.hpp"

#include <numeric>

namespace kernels::glass {

using sim::i64;

i64 period_of(i64 tile, i64 unit) { return unit / std::gcd(tile, unit); }

Sample sample(i64 extent, i64 tile, i64 period) {
    const i64 tiles = sim::ceil_div(extent, tile);
    // The last tile is a class of its own; the whole ones before it repeat with the period.
    const i64 whole = tiles - 1, dropped = whole > period ? (whole - period) / period : 0;
    Sample s;
    s.extent = extent - dropped * period * tile;
    s.weight.assign(static_cast<std::size_t>(tiles - dropped * period), 1);
    if (dropped > 0)
        for (i64 i = 0; i < period; ++i) s.weight[static_cast<std::size_t>(i)] += static_cast<std::uint64_t>(dropped);
    return s;
}

}  // namespace kernels::glass
