#pragma once
// What an operation should have produced, in double precision, and how far a kernel's outputs are from it. Shares no
// code with the kernels.

#include <string>

#include "kernels/matrix.hpp"
#include "kernels/op.hpp"

namespace kernels::cpu {

/// How outputs compare with the reference.
struct Comparison {
    double max_error = 0;       ///< largest |got - expected|, as a share of the largest finite |expected| of its matrix
    std::string first_wrong;    ///< the first element off by more than rounding explains; empty: none
    i64 rows = 0, of_rows = 0;  ///< rows of outputs that were compared, and those there are
    bool ok() const { return first_wrong.empty(); }
    /// "every element" or "24 of 4096 rows".
    std::string checked() const;
};

/// Compares every output of an operation that has run on `after`. Work beyond `most_multiply_adds` is cut down to some
/// rows of each output: the first, the last and others between. `dw_before` is what dW held, for an accumulating wgrad
/// (empty: zeros). An element may be off by (8 + 2 sqrt(red)) units in the last place of an f32 of size sum |a·b|,
/// plus the rounding of its own type; NaN equals NaN; a mask's bits equal those of the stored Y.
Comparison compare(const Op& op, const Operands& after, const Matrix& dw_before, double most_multiply_adds);

}  // namespace kernels::cpu
