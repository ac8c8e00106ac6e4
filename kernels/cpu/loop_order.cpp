// Rung 02: the same multiply-adds with the inner loop along memory, so that every line is used whole and the compiler
// can form vectors. Where B's rows lie in memory (forward, wgrad) a row of C is built up from rows of B; where its
// columns do (dgrad) an output is a dot product kept in 16 partial sums.

#include <algorithm>
#include <vector>

#include "kernels/cpu/matmul.hpp"

namespace kernels::cpu {

void add_product(const Matmul& mm, const Isa& isa, i64 i, i64 j, i64 k, i64 cols, i64 red, float* sums, float* buffer) {
    float* const a = buffer;              // (red)
    float* const segment = buffer + red;  // (cols), or (red) of a column
    factor_row(mm.a, isa, i, k, red, a);
    if (!mm.b.transposed) {
        for (i64 p = 0; p < red; p++) {
            const float* b = row_segment(mm.b.source, isa, k + p, j, cols, segment);
            for (i64 q = 0; q < cols; q++) sums[q] += a[p] * b[q];
        }
        return;
    }
    constexpr i64 lanes = 16;
    for (i64 q = 0; q < cols; q++) {
        const float* b = row_segment(mm.b.source, isa, j + q, k, red, segment);
        float part[lanes] = {};
        i64 p = 0;
        for (; p + lanes <= red; p += lanes)
            for (i64 lane = 0; lane < lanes; lane++) part[lane] += a[p + lane] * b[p + lane];
        for (i64 width = lanes / 2; width > 0; width /= 2)
            for (i64 lane = 0; lane < width; lane++) part[lane] += part[lane + width];
        float sum = part[0];
        for (; p < red; p++) sum += a[p] * b[p];
        sums[q] += sum;
    }
}

void loop_order(const Matmul& mm, const Context& context) {
    std::vector<float> sums(static_cast<std::size_t>(mm.cols));
    std::vector<float> buffer(static_cast<std::size_t>(mm.red + std::max(mm.cols, mm.red)));
    for (i64 i = 0; i < mm.rows && !context.control.stopped(); i++) {
        std::fill(sums.begin(), sums.end(), 0.0f);
        add_product(mm, context.isa, i, 0, 0, mm.cols, mm.red, sums.data(), buffer.data());
        finish_row(mm, context.isa, i, 0, mm.cols, sums.data());
        context.control.advance(0, static_cast<double>(mm.cols) * mm.red);
    }
}

}  // namespace kernels::cpu
