#pragma once
// What a check puts into operands beside normal values.

#include <cstdint>

#include "kernels/matrix.hpp"

namespace kernels {

/// Normal values from `seed` in every input, and among them a NaN, infinities, zeros of both signs and subnormals in a
/// few places: each meets every row or column of the other operand once.
void fill_special(OperandSet& set, std::uint64_t seed);

}  // namespace kernels
