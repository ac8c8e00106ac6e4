// Rung 03: rung 02 on tiles. A tile of B (bk,bn) is used for all bm rows of a tile of C before it leaves the cache, so
// that B is read from memory rows/bm times instead of once a row.

#include <algorithm>
#include <vector>

#include "kernels/cpu/matmul.hpp"

namespace kernels::cpu {

void cache_tile(const Matmul& mm, const Context& context) {
    const i64 bm = std::min(context.tile.bm, mm.rows), bn = std::min(context.tile.bn, mm.cols);
    const i64 bk = std::min(context.tile.bk, mm.red);
    std::vector<float> sums(static_cast<std::size_t>(bm * bn));  // a tile of c
    std::vector<float> buffer(static_cast<std::size_t>(bk + std::max(bn, bk)));
    for (i64 i = 0; i < mm.rows; i += bm) {
        const i64 rows = std::min(bm, mm.rows - i);
        for (i64 j = 0; j < mm.cols; j += bn) {
            const i64 cols = std::min(bn, mm.cols - j);
            std::fill(sums.begin(), sums.end(), 0.0f);
            for (i64 k = 0; k < mm.red; k += bk) {
                if (context.control.stopped()) return;
                const i64 red = std::min(bk, mm.red - k);
                for (i64 r = 0; r < rows; r++)
                    add_product(mm, context.isa, i + r, j, k, cols, red, sums.data() + r * bn, buffer.data());
                context.control.advance(0, static_cast<double>(rows) * cols * red);
            }
            for (i64 r = 0; r < rows; r++) finish_row(mm, context.isa, i + r, j, cols, sums.data() + r * bn);
        }
    }
}

}  // namespace kernels::cpu
