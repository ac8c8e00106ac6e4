#include "kernels/fused_dense.hpp"

#include <cstring>

namespace kernels {

namespace {

sim::Dense dense_of(sim::i64 m, sim::i64 n, sim::i64 k) {
    sim::Dense d;
    d.m = m, d.n = n, d.k = k;
    return d;
}

}  // namespace

void copy(const Matrix& from, const Matrix& to) {
    for (i64 i = 0; i < from.rows; i++)
        for (i64 j = 0; j < from.cols; j++) to.set(0, i, j, from.get(0, i, j));
}

FusedDense::FusedDense(i64 m, i64 n, i64 k, sim::Fusion fusion, sim::Residual residual, Execute execute)
    : dense_(dense_of(m, n, k)),
      fusion_(fusion),
      residual_(fusion == sim::Fusion::fused ? residual : sim::Residual::y),
      execute_(std::move(execute)),
      forward_(op(sim::Pass::forward)),
      dgrad_(op(sim::Pass::dgrad)),
      wgrad_(op(sim::Pass::wgrad)) {}

Op FusedDense::op(sim::Pass pass) const {
    Op o;
    o.dense = dense_;
    o.pass = pass;
    o.fusion = fusion_;
    o.residual = residual_;
    return o;
}

void FusedDense::forward(const Matrix& x, const Matrix& w) {
    copy(x, forward_.operands().x);
    copy(w, forward_.operands().w);
    execute_(forward_.op(), forward_);
}

void FusedDense::backward(const Matrix& dy) {
    const Operands& kept = forward_.operands();
    for (OperandSet* set : {&dgrad_, &wgrad_}) {
        const Operands& o = set->operands();
        copy(dy, fusion_ == sim::Fusion::none ? o.dz : o.dy);
        if (fusion_ != sim::Fusion::none) {
            if (residual_ == sim::Residual::y)
                copy(kept.y, o.y);
            else
                std::memcpy(o.mask.data, kept.mask.data, static_cast<std::size_t>(kept.mask.rows * kept.mask.pitch));
        }
    }
    copy(kept.w, dgrad_.operands().w);
    copy(kept.x, wgrad_.operands().x);
    execute_(dgrad_.op(), dgrad_);
    execute_(wgrad_.op(), wgrad_);
}

const Matrix& FusedDense::y() const {
    return fusion_ == sim::Fusion::none ? forward_.operands().z : forward_.operands().y;
}
const Matrix& FusedDense::dx() const { return dgrad_.operands().dx; }
const Matrix& FusedDense::dw() const { return wgrad_.operands().dw; }

}  // namespace kernels
