#pragma once
// What is computed: the dense layer, the pass through it and where its ReLU is applied.

#include <optional>
#include <string_view>

#include "sim/units.hpp"

namespace sim {

/// Element type in memory. tf32 is stored as f32.
enum class Dtype { f32, tf32, f16, bf16, e4m3 };
/// forward Y = relu(X·W); dgrad dX = dZ·Wᵀ; wgrad dW = Xᵀ·dZ; train = all three.
enum class Pass { forward, dgrad, wgrad, train };
/// Where the ReLU (forward) or its mask (backward) is applied. none = the matmul alone.
enum class Fusion { none, unfused, fused, upstream };
/// What the backward pass keeps of the forward: Y itself or one bit an element.
enum class Residual { y, mask };
/// Row pitch in memory: rows padded to 16 bytes, or none.
enum class Pitch { padded, tight };

constexpr i64 storage_bytes(Dtype t) {
    switch (t) {
        case Dtype::f32:
        case Dtype::tf32: return 4;
        case Dtype::f16:
        case Dtype::bf16: return 2;
        case Dtype::e4m3: return 1;
    }
    return 4;
}

std::string_view to_string(Dtype);
std::string_view to_string(Pass);
std::string_view to_string(Fusion);
std::string_view to_string(Residual);
std::optional<Dtype> parse_dtype(std::string_view);
std::optional<Pass> parse_pass(std::string_view);
std::optional<Fusion> parse_fusion(std::string_view);

/// The layer Y = relu(X·W [+ bias]): X (m,k), W (k,n), Z and Y (m,n), row-major, `batch` independent times.
/// X, W, dX, dW have `dtype`; Z, Y, dY, dZ and the bias have `out`; partial sums are f32.
struct Dense {
    i64 m = 1, n = 1, k = 1;
    Dtype dtype = Dtype::f32;
    Dtype out = Dtype::f32;
    i64 batch = 1;
    bool bias = false;
    Pitch pitch = Pitch::padded;
    bool operator==(const Dense&) const = default;
};

/// A matmul as a pass sees it: rows x cols outputs, each a sum over `red`.
/// forward (m,n,k), dgrad (m,k,n), wgrad (k,n,m).
struct Extent {
    i64 rows = 1, cols = 1, red = 1;
    bool operator==(const Extent&) const = default;
};
/// Extent of one pass's own matmul. `pass` must not be train.
constexpr Extent extent(const Dense& d, Pass pass) {
    switch (pass) {
        case Pass::dgrad: return {d.m, d.k, d.n};
        case Pass::wgrad: return {d.k, d.n, d.m};
        default: return {d.m, d.n, d.k};
    }
}

}  // namespace sim
