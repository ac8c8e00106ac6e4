#pragma once
// The layer Y = relu(X·W) with its gradient written by hand: what a framework's custom rule for a fused kernel does.

#include <functional>

#include "kernels/matrix.hpp"

namespace kernels {

/// Runs one operation on operands in this machine's memory: what a backend has to offer. Throws where it cannot.
using Execute = std::function<void(const Op&, OperandSet&)>;

/// A dense layer in f32: X (m,k), W (k,n), Y (m,n). Fused: the ReLU is the matmul's epilogue, and the backward pass
/// applies its mask while dY is loaded; unfused: each is a kernel of its own; none: Y = X·W.
class FusedDense {
public:
    /// Throws std::bad_alloc. `residual` is what a fused forward keeps for the backward pass.
    FusedDense(sim::i64 m, sim::i64 n, sim::i64 k, sim::Fusion fusion, sim::Residual residual, Execute execute);

    /// Y, and the residual kept, from x (m,k) and w (k,n).
    void forward(const Matrix& x, const Matrix& w);
    /// dX and dW from dy (m,n) and what forward kept.
    void backward(const Matrix& dy);

    const Matrix& y() const;   ///< (m,n)
    const Matrix& dx() const;  ///< (m,k)
    const Matrix& dw() const;  ///< (k,n)

private:
    Op op(sim::Pass pass) const;

    sim::Dense dense_;
    sim::Fusion fusion_;
    sim::Residual residual_;
    Execute execute_;
    OperandSet forward_, dgrad_, wgrad_;
};

/// Copies values; both have the same rows and columns.
void copy(const Matrix& from, const Matrix& to);

}  // namespace kernels
