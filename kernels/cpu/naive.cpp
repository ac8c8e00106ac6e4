// Rung 01: the definition. One output after another, each a dot product over the whole reduction. In forward the walk
// down a column of W uses 4 bytes of each 64-byte line it touches.

#include <vector>

#include "kernels/cpu/matmul.hpp"
#include "kernels/numeric.hpp"

namespace kernels::cpu {

namespace {

template <Format F>
float load(const void* data, i64 at) {
    if constexpr (F == Format::f32)
        return static_cast<const float*>(data)[at];
    else if constexpr (F == Format::f16)
        return f16_to_float(static_cast<const std::uint16_t*>(data)[at]);
    else
        return bf16_to_float(static_cast<const std::uint16_t*>(data)[at]);
}

/// Element (i, j) of a factor, behind its gate.
template <Format F, Gate G>
struct Elements {
    Factor factor;
    float operator()(i64 i, i64 j) const {
        const Source& s = factor.source;
        const i64 row = factor.transposed ? j : i, col = factor.transposed ? i : j;
        if constexpr (G == Gate::values)
            if (!(load<F>(s.gate_data, row * s.gate_pitch + col) > 0)) return 0;
        if constexpr (G == Gate::bits)
            if (!(static_cast<const std::uint8_t*>(s.gate_data)[row * s.gate_pitch + col / 8] >> (col % 8) & 1))
                return 0;
        return load<F>(s.data, row * s.pitch + col);
    }
};

template <class Call>
void with_elements(const Factor& factor, Call call) {
    const auto with_gate = [&]<Format F>() {
        switch (factor.source.gate) {
            case Gate::none: return call(Elements<F, Gate::none>{factor});
            case Gate::values: return call(Elements<F, Gate::values>{factor});
            case Gate::bits: return call(Elements<F, Gate::bits>{factor});
        }
    };
    switch (factor.source.format) {
        case Format::f32: return with_gate.template operator()<Format::f32>();
        case Format::f16: return with_gate.template operator()<Format::f16>();
        case Format::bf16: return with_gate.template operator()<Format::bf16>();
    }
}

}  // namespace

void naive(const Matmul& mm, const Context& context) {
    std::vector<float> sums(static_cast<std::size_t>(mm.cols));  // a row of c
    with_elements(mm.a, [&](auto a) {
        with_elements(mm.b, [&](auto b) {
            for (i64 i = 0; i < mm.rows && !context.control.stopped(); i++) {
                for (i64 j = 0; j < mm.cols; j++) {
                    float sum = 0;
                    for (i64 k = 0; k < mm.red; k++) sum += a(i, k) * b(k, j);
                    sums[static_cast<std::size_t>(j)] = sum;
                }
                finish_row(mm, context.isa, i, 0, mm.cols, sums.data());
                context.control.advance(0, static_cast<double>(mm.cols) * mm.red);
            }
        });
    });
}

}  // namespace kernels::cpu
