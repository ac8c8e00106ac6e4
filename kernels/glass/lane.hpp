#pragma once
// A warp's registers on the CPU: lane<T> is 32 values in lock step, mask one bit a lane. What is the same for the whole
// warp stays a plain int or float. A mask does not convert to bool, so that a branch on it, which would part the lanes
// of a warp, is a compile error: select between values instead.

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <type_traits>

// Lanes are wider than any register; they are passed between functions of one object only.
#pragma GCC diagnostic ignored "-Wpsabi"

namespace kernels::device {

inline constexpr int warp_size = 32;

/// One bit a lane.
struct mask {
    std::uint32_t bits = 0;
    explicit operator bool() const = delete;
};
inline constexpr mask all_lanes{~std::uint32_t{0}};

inline mask operator&(mask a, mask b) { return {a.bits & b.bits}; }
inline mask operator|(mask a, mask b) { return {a.bits | b.bits}; }
inline mask operator&(mask a, bool b) { return {b ? a.bits : 0}; }
inline mask operator&(bool a, mask b) { return b & a; }
inline mask operator!(mask a) { return {~a.bits}; }

/// 32 values, one a lane.
template <class T>
struct alignas(64) lane {
    T v[warp_size];

    lane() = default;
    lane(T same) {
        for (T& x : v) x = same;
    }
    T& operator[](int i) { return v[i]; }
    const T& operator[](int i) const { return v[i]; }
};

template <class F>
inline auto each_lane(F f) {
    lane<decltype(f(0))> r;
    for (int i = 0; i < warp_size; ++i) r.v[i] = f(i);
    return r;
}
template <class F>
inline mask each_bit(F f) {
    mask m;
    for (int i = 0; i < warp_size; ++i) m.bits |= static_cast<std::uint32_t>(f(i)) << i;
    return m;
}

#define MEMWALL_LANE_OPERATOR(op)                                                      \
    template <class T>                                                                 \
    inline lane<T> operator op(const lane<T>& a, const lane<T>& b) {                   \
        lane<T> r;                                                                     \
        for (int i = 0; i < warp_size; ++i) r.v[i] = static_cast<T>(a.v[i] op b.v[i]); \
        return r;                                                                      \
    }                                                                                  \
    template <class T>                                                                 \
    inline lane<T> operator op(const lane<T>& a, std::type_identity_t<T> b) {          \
        lane<T> r;                                                                     \
        for (int i = 0; i < warp_size; ++i) r.v[i] = static_cast<T>(a.v[i] op b);      \
        return r;                                                                      \
    }                                                                                  \
    template <class T>                                                                 \
    inline lane<T> operator op(std::type_identity_t<T> a, const lane<T>& b) {          \
        lane<T> r;                                                                     \
        for (int i = 0; i < warp_size; ++i) r.v[i] = static_cast<T>(a op b.v[i]);      \
        return r;                                                                      \
    }
#define MEMWALL_LANE_COMPARISON(op)                                        \
    template <class T>                                                     \
    inline mask operator op(const lane<T>& a, const lane<T>& b) {          \
        return each_bit([&](int i) { return a.v[i] op b.v[i]; });          \
    }                                                                      \
    template <class T>                                                     \
    inline mask operator op(const lane<T>& a, std::type_identity_t<T> b) { \
        return each_bit([&](int i) { return a.v[i] op b; });               \
    }
MEMWALL_LANE_OPERATOR(+)
MEMWALL_LANE_OPERATOR(-)
MEMWALL_LANE_OPERATOR(*)
MEMWALL_LANE_OPERATOR(/)
MEMWALL_LANE_OPERATOR(%)
MEMWALL_LANE_OPERATOR(&)
MEMWALL_LANE_OPERATOR(|)
MEMWALL_LANE_OPERATOR(^)
MEMWALL_LANE_OPERATOR(<<)
MEMWALL_LANE_OPERATOR(>>)
MEMWALL_LANE_COMPARISON(<)
MEMWALL_LANE_COMPARISON(<=)
MEMWALL_LANE_COMPARISON(>)
MEMWALL_LANE_COMPARISON(>=)
MEMWALL_LANE_COMPARISON(==)
MEMWALL_LANE_COMPARISON(!=)
#undef MEMWALL_LANE_OPERATOR
#undef MEMWALL_LANE_COMPARISON

/// a where the mask is set, b elsewhere.
template <class T>
inline lane<T> select(mask m, const lane<T>& a, const lane<T>& b) {
    lane<T> r;
    for (int i = 0; i < warp_size; ++i) r.v[i] = (m.bits >> i & 1) != 0 ? a.v[i] : b.v[i];
    return r;
}
template <class T>
inline lane<T> select(mask m, const lane<T>& a, std::type_identity_t<T> b) {
    return select(m, a, lane<T>(b));
}
template <class T>
inline T select(bool m, T a, std::type_identity_t<T> b) {
    return m ? a : b;
}

/// c += a·b, rounded after the product and after the sum (a GPU rounds once).
inline void multiply_add(lane<float>& c, const lane<float>& a, const lane<float>& b) {
    for (int i = 0; i < warp_size; ++i) c.v[i] += a.v[i] * b.v[i];
}

/// The value of the lane whose number differs in the bits of `by`.
template <class T>
inline lane<T> shuffle_xor(const lane<T>& a, int by) {
    lane<T> r;
    for (int i = 0; i < warp_size; ++i) r.v[i] = a.v[i ^ by];
    return r;
}
inline lane<unsigned> as_unsigned(mask m) {
    return each_lane([&](int i) { return unsigned{m.bits >> i & 1}; });
}
inline lane<unsigned> as_unsigned(const lane<int>& a) {
    return each_lane([&](int i) { return static_cast<unsigned>(a.v[i]); });
}

// ---- element types -------------------------------------------------------------------------------------------------

struct bf16 {
    std::uint16_t bits;
};
struct f16 {
    std::uint16_t bits;
};

inline float to_float(float x) { return x; }
inline float to_float(bf16 x) { return std::bit_cast<float>(std::uint32_t{x.bits} << 16); }
inline float to_float(f16 x) {
    // The exponent moves by 112 where there is one; subnormals come out of a subtraction, infinity and NaN keep all
    // ones.
    const std::uint32_t magnitude = (std::uint32_t{x.bits} & 0x7fff) << 13, sign = std::uint32_t{x.bits} >> 15 << 31;
    const std::uint32_t exponent = magnitude & 0x0f800000;
    std::uint32_t u = magnitude + 0x38000000;
    if (exponent == 0x0f800000) u += 0x38000000;
    if (exponent == 0)
        u = std::bit_cast<std::uint32_t>(std::bit_cast<float>(u + 0x00800000) - std::bit_cast<float>(0x38800000u));
    return std::bit_cast<float>(u | sign);
}

/// Rounds to nearest even; NaN stays NaN.
template <class T>
inline T round_to(float x) {
    const auto u = std::bit_cast<std::uint32_t>(x);
    if constexpr (std::is_same_v<T, float>) {
        return x;
    } else if constexpr (std::is_same_v<T, bf16>) {
        if (x != x) return {static_cast<std::uint16_t>(u >> 16 | 0x40)};
        return {static_cast<std::uint16_t>((u + 0x7fff + (u >> 16 & 1)) >> 16)};
    } else {
        const auto sign = static_cast<std::uint16_t>(u >> 16 & 0x8000);
        const std::uint32_t size = u & 0x7fffffff;
        std::uint32_t h = (size - 0x38000000 + 0xfff + (size >> 13 & 1)) >> 13;
        if (size < 0x38800000) h = std::bit_cast<std::uint32_t>(std::bit_cast<float>(size) + 0.5f) - 0x3f000000;
        if (size >= 0x477ff000) h = size > 0x7f800000 ? 0x7e00 : 0x7c00;
        return {static_cast<std::uint16_t>(sign | h)};
    }
}

template <class T>
inline lane<float> to_float(const lane<T>& a) {
    return each_lane([&](int i) { return to_float(a.v[i]); });
}
template <class T>
inline lane<T> round_to(const lane<float>& a) {
    return each_lane([&](int i) { return round_to<T>(a.v[i]); });
}
/// x > 0; false for NaN.
template <class T>
inline mask is_positive(const lane<T>& a) {
    return each_bit([&](int i) { return to_float(a.v[i]) > 0; });
}
/// NaN stays NaN, both zeros become +0.
inline lane<float> relu(const lane<float>& a) {
    return each_lane([&](int i) { return a.v[i] <= 0 ? 0.0f : a.v[i]; });
}

}  // namespace kernels::device
