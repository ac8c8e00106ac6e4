#pragma once
// The narrow number formats, one value at a time. Kernels have their own vector forms; this is what checks them.

#include <bit>
#include <cstdint>

#include "sim/workload.hpp"

namespace kernels {

/// bf16 is the upper half of an f32.
inline float bf16_to_float(std::uint16_t h) { return std::bit_cast<float>(std::uint32_t{h} << 16); }

/// Round to nearest even; a NaN stays a (quiet) NaN.
inline std::uint16_t float_to_bf16(float f) {
    const auto u = std::bit_cast<std::uint32_t>(f);
    if (f != f) return static_cast<std::uint16_t>(u >> 16 | 0x40);
    return static_cast<std::uint16_t>((u + 0x7fff + (u >> 16 & 1)) >> 16);
}

inline float f16_to_float(std::uint16_t h) {
    const int exponent = h >> 10 & 31, fraction = h & 0x3ff;
    const float sign = h & 0x8000 ? -1.0f : 1.0f;
    if (exponent == 31) return std::bit_cast<float>((std::uint32_t{h} & 0x8000) << 16 | 0x7f800000u | fraction << 13);
    if (exponent == 0) return sign * static_cast<float>(fraction) * 0x1p-24f;
    return sign * std::bit_cast<float>(static_cast<std::uint32_t>((exponent + 112) << 23 | fraction << 13));
}

/// Round to nearest even; overflow becomes infinity, a NaN stays a (quiet) NaN.
inline std::uint16_t float_to_f16(float f) {
    const auto u = std::bit_cast<std::uint32_t>(f);
    const auto sign = static_cast<std::uint16_t>(u >> 16 & 0x8000);
    const std::uint32_t magnitude = u & 0x7fffffff;
    if (f != f) return static_cast<std::uint16_t>(sign | 0x7e00);
    if (magnitude >= 0x477ff000) return static_cast<std::uint16_t>(sign | 0x7c00);  // 65520 and up round to infinity
    if (magnitude < 0x38800000) {  // below 2^-14: a multiple of 2^-24, and f32 addition rounds it to nearest even
        const float shifted = std::bit_cast<float>(magnitude) + 0.5f;
        return static_cast<std::uint16_t>(sign | (std::bit_cast<std::uint32_t>(shifted) - 0x3f000000));
    }
    return static_cast<std::uint16_t>(sign | ((magnitude - 0x38000000 + 0xfff + (magnitude >> 13 & 1)) >> 13));
}

}  // namespace kernels
