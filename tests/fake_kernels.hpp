#pragma once
// What the kernels of the ladder compute, in plain loops: the fake GPU's arithmetic.

#include <cmath>

#include "kernels/ladder.hpp"
#include "kernels/matrix.hpp"

namespace fake_gpu {

using namespace kernels;
using sim::Dtype;

inline Matrix matrix(const device::Plane& p, Dtype dtype, sim::i64 rows, sim::i64 cols) {
    return {p.data, dtype, rows, cols, p.pitch, p.batch_pitch};
}
inline BitMatrix bits(const device::Plane& p, sim::i64 rows, sim::i64 cols) {
    return {static_cast<std::byte*>(p.data), rows, cols, p.pitch, p.batch_pitch};
}

/// What the launch of a kernel does to memory, element by element, by the words of params.cuh.
inline void compute(const DeviceKernel& k, const device::Params& p) {
    const bool tn = k.layout == device::tn, nt = k.layout == device::nt;
    const Matrix left = matrix(p.left, k.left, tn ? p.red : p.rows, tn ? p.rows : p.red);
    const Matrix right = matrix(p.right, k.pass == sim::Pass::wgrad ? k.dense.out : k.dense.dtype, 0, 0);
    const Dtype gate_type = k.dense.out;
    const auto open = [&](sim::i64 b, sim::i64 i, sim::i64 j) {
        if (k.gate == device::gate_values) return matrix(p.gate, gate_type, 0, 0).get(b, i, j) > 0;
        return k.gate == device::gate_none || bits(p.gate, 0, 0).get(b, i, j);
    };
    const auto finish = [&](sim::i64 b, sim::i64 i, sim::i64 j, double sum) {
        float v = static_cast<float>(sum);
        if (p.epilogue & device::with_bias) v += matrix(p.bias, k.dense.out, 1, p.cols).get(b, 0, j);
        if (p.epilogue & device::with_relu) v = std::isnan(v) ? v : v > 0 ? v : 0.0f;
        if (p.epilogue & device::test_values && !(matrix(p.test, k.dense.dtype, 0, 0).get(b, i, j) > 0)) v = 0;
        if (p.epilogue & device::test_bits && !bits(p.test, 0, 0).get(b, i, j)) v = 0;
        const Matrix out = matrix(p.out, k.out, p.rows, p.cols);
        if (p.epilogue & device::with_accumulate) v += out.get(b, i, j);
        out.set(b, i, j, v);
        if (p.epilogue & device::with_bits) bits(p.bits, p.rows, p.cols).set(b, i, j, out.get(b, i, j) > 0);
    };
    for (sim::i64 b = 0; b < p.batch; b++)
        for (sim::i64 i = 0; i < p.rows; i++)
            for (sim::i64 j = 0; j < p.cols; j++) {
                if (!k.matmul() && k.name != "reduce") {
                    const float v = left.get(b, i, j);
                    finish(b, i, j, open(b, i, j) ? v : 0.0f);
                    continue;
                }
                if (k.name == "reduce") {
                    double sum = 0;
                    for (int s = 0; s < k.splits; s++)
                        sum += matrix(p.partial, Dtype::f32, p.rows, p.cols).get(s * p.batch + b, i, j);
                    finish(b, i, j, sum);
                    continue;
                }
                const bool partial = (p.epilogue & device::as_partial) != 0;
                for (int s = 0; s < p.splits; s++) {
                    const sim::i64 from = k.tile.bk * (static_cast<sim::i64>(s) * p.k_steps / p.splits),
                                   to = std::min<sim::i64>(
                                       p.red, k.tile.bk * (static_cast<sim::i64>(s + 1) * p.k_steps / p.splits));
                    double sum = 0;
                    for (sim::i64 r = from; r < to; r++) {
                        double x = tn ? left.get(b, r, i) : left.get(b, i, r);
                        double w = nt ? right.get(b, j, r) : right.get(b, r, j);
                        if (nt && !open(b, i, r)) x = 0;
                        if (tn && !open(b, r, j)) w = 0;
                        sum += x * w;
                    }
                    if (partial)
                        matrix(p.partial, Dtype::f32, p.rows, p.cols)
                            .set(s * p.batch + b, i, j, static_cast<float>(sum));
                    else
                        finish(b, i, j, sum);
                }
            }
}

}  // namespace fake_gpu
