#include "sim/bound.hpp"

#include <algorithm>
#include <cmath>

namespace sim {

namespace {

struct Operation {
    double read = 0, write = 0;  ///< compulsory bytes
    double narrowest = 4;        ///< bytes of the narrowest matrix element
};

/// The operation's own operands, once each (bits of a mask included, whatever its padding).
Operation operands_of(const Experiment& e) {
    const Dense& d = e.dense;
    const double m = static_cast<double>(d.m), n = static_cast<double>(d.n), k = static_cast<double>(d.k);
    const double in = 8.0 * static_cast<double>(storage_bytes(d.dtype)),
                 out = 8.0 * static_cast<double>(storage_bytes(d.out));
    const double batch = static_cast<double>(d.batch);
    const auto matrix = [&](double rows, double cols, double bits) {
        return std::ceil(batch * rows * cols * bits / 8);
    };
    const double x = matrix(m, k, in), w = matrix(k, n, in), y = matrix(m, n, out);
    const double dw = matrix(k, n, e.accumulate ? 32 : in);
    const bool ready = e.fusion == Fusion::none || e.fusion == Fusion::upstream;  // a given dZ replaces dY and residual
    const double residual = ready ? 0 : e.residual == Residual::mask ? matrix(m, n, 1) : y;
    const double mask_below = e.drelu ? (e.residual == Residual::mask ? matrix(m, k, 1) : x) : 0;
    Operation o;
    switch (e.pass) {
        case Pass::forward:
            o.read = x + w + (d.bias ? matrix(1, n, out) : 0);
            o.write = y;
            break;
        case Pass::dgrad:
            o.read = y + residual + w + mask_below;
            o.write = x;
            break;
        case Pass::wgrad:
            o.read = x + y + residual + (e.accumulate ? dw : 0);
            o.write = dw;
            break;
        case Pass::train:
            o.read = x + w + y + (e.accumulate ? dw : 0);
            o.write = y + x + dw;
            break;
    }
    o.narrowest = std::min(in, out) / 8;
    return o;
}

/// Bytes that one matmul must move across the boundary of `fast_bytes` of fast memory held by `parts` units.
double io_bytes(const Extent& x, double fast_bytes, double parts, double element) {
    const double s = fast_bytes / element;
    const double r = static_cast<double>(x.rows), c = static_cast<double>(x.cols), d = static_cast<double>(x.red);
    const double formula = io_bound_elements(x, s);
    // The formula assumes a reduction long enough that keeping outputs is best. Keeping a part of one operand instead
    // and streaming the rest past it costs this much; where that is less, only the unconditional bound holds (Smith et
    // al., "A tight I/O lower bound for matrix multiplication", 2017: 2rcd/sqrt(S) - 2S).
    const double keep_left = r * d + c * d * std::max(1.0, r * d / s) + r * c;
    const double keep_right = c * d + r * d * std::max(1.0, c * d / s) + r * c;
    if (formula <= std::min(keep_left, keep_right)) return formula * element;
    return std::max(0.0, 2 * r * c * d / std::sqrt(s) - 2 * s * parts) * element;
}

}  // namespace

double io_bound_elements(const Extent& x, double fast_elements) {
    const double r = static_cast<double>(x.rows), c = static_cast<double>(x.cols), d = static_cast<double>(x.red);
    return 2 * r * c * d / std::sqrt(fast_elements) + r * c;
}

Bound bound(const Experiment& e, const Device& d) {
    const Operation op = operands_of(e);
    const double batch = static_cast<double>(e.dense.batch);
    const double units = d.sm_count.or_else(1);
    const double per_unit = d.sram.bytes_per_sm.or_else(0) + d.registers.bytes_per_sm.or_else(0);
    const double on_chip = d.l2.bytes.or_else(0) + per_unit * (d.kind == DeviceKind::tpu ? 1 : units);
    const double compulsory = op.read + op.write;

    double dram = compulsory, l2 = compulsory, flops = 0;
    for (Pass p : {Pass::forward, Pass::dgrad, Pass::wgrad}) {
        if (e.pass != Pass::train && e.pass != p) continue;
        const Extent x = extent(e.dense, p);
        flops += 2.0 * batch * static_cast<double>(x.rows) * static_cast<double>(x.cols) * static_cast<double>(x.red);
        if (on_chip > 0) dram = std::max(dram, batch * io_bytes(x, on_chip, 1, op.narrowest));
        const double cluster = static_cast<double>(e.cluster.rows) * e.cluster.cols;  // multicast shares a read
        if (per_unit > 0) l2 = std::max(l2, batch * io_bytes(x, per_unit * cluster, units / cluster, op.narrowest));
    }

    Bound b;
    b.dram_bytes = static_cast<i64>(std::min(dram, 9e18));
    const double passes = e.precision == Precision::highest ? 6 : e.precision == Precision::high ? 3 : 1;
    const double fastest =
        d.clock.max.known() && d.clock.boost.known() ? std::max(1.0, d.clock.max.value / d.clock.boost.value) : 1;
    const double peak = d.peak_flops(e.dense.dtype) * fastest;
    b.math_us = std::isnan(peak) ? 0 : 1e6 * flops * (e.dense.dtype == Dtype::f32 ? passes : 1) / peak;
    b.dram_us = 1e6 * dram / d.dram.bandwidth_spec.or_else(d.dram.bandwidth.or_else(INFINITY));
    if (d.kind == DeviceKind::gpu && d.l2.bandwidth.known()) {
        b.l2_bytes = static_cast<i64>(std::min(l2, 9e18));
        b.l2_us = 1e6 * l2 / (1.05 * d.l2.bandwidth.value);  // measured, not a datasheet's: the margin of a probe
    }
    b.time_us = std::max({b.math_us, b.dram_us, b.l2_us});
    b.ceiling = b.time_us == b.math_us   ? Bound::Ceiling::math
                : b.time_us == b.dram_us ? Bound::Ceiling::dram
                                         : Bound::Ceiling::l2;
    return b;
}

}  // namespace sim
