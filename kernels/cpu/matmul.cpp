#include "kernels/cpu/matmul.hpp"

namespace kernels::cpu {

void factor_row(const Factor& factor, const Isa& isa, i64 i, i64 k, i64 n, float* to) {
    if (!factor.transposed) return isa.read_row(factor.source, i, k, n, to);
    const Source& s = factor.source;
    if (s.format == Format::f32 && s.gate == Gate::none)
        for (i64 p = 0; p < n; p++) to[p] = static_cast<const float*>(s.data)[(k + p) * s.pitch + i];
    else
        for (i64 p = 0; p < n; p++) isa.read_row(s, k + p, i, 1, to + p);
}

const float* row_segment(const Source& source, const Isa& isa, i64 row, i64 col, i64 n, float* buffer) {
    if (source.format == Format::f32 && source.gate == Gate::none)
        return static_cast<const float*>(source.data) + row * source.pitch + col;
    isa.read_row(source, row, col, n, buffer);
    return buffer;
}

void finish_row(const Matmul& mm, const Isa& isa, i64 i, i64 j, i64 n, float* sums) {
    if (mm.accumulate) {
        const float* c = static_cast<const float*>(mm.c.data) + i * mm.c.pitch + j;
        for (i64 q = 0; q < n; q++) sums[q] += c[q];
    }
    isa.write_row(mm.c, i, j, n, sums);
}

float* Scratch::floats(i64 n) {
    if (n > size_) {
        pages_.reset();
        size_ = 0;
        pages_ = allocate_pages(n * static_cast<i64>(sizeof(float)));
        size_ = n;
    }
    return reinterpret_cast<float*>(pages_.get());
}

}  // namespace kernels::cpu
