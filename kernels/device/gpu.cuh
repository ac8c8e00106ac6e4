#pragma once
// The words of primitives.cuh as a GPU reads them. No toolkit header: narrow types are raw bits, what CUDA C++ has no
// word for is inline PTX.

#define DEVICE __device__ __forceinline__
#define UNROLL _Pragma("unroll")
#define UNROLL_8 _Pragma("unroll 8")
#define UNROLL_2 _Pragma("unroll 2")
#define KERNEL(...) __global__ void __launch_bounds__(__VA_ARGS__)
#define KERNEL_END
#define GRID_CONSTANT const __grid_constant__
#define SYNC() __syncthreads()

namespace kernels::device {

inline constexpr int warp_size = 32;
template <class T>
using lane = T;
using mask = bool;
inline constexpr bool all_lanes = true;

/// Where an access stands in the source: of use under glass only.
struct Place {
    DEVICE static constexpr Place here() { return {}; }
};

// ---- who am I
// --------------------------------------------------------------------------------------------------------

DEVICE long long block_index() { return blockIdx.x; }
DEVICE long long grid_size() { return gridDim.x; }
DEVICE int thread_index() { return static_cast<int>(threadIdx.x); }
DEVICE int lane_index() { return static_cast<int>(threadIdx.x % warp_size); }
/// The same in all lanes, and the compiler knows.
DEVICE int warp_index() { return __shfl_sync(~0u, static_cast<int>(threadIdx.x / warp_size), 0); }

// ---- values
// ----------------------------------------------------------------------------------------------------------

struct bf16 {
    unsigned short bits;
    static constexpr bool is_bf16 = true;
};
struct f16 {
    unsigned short bits;
    static constexpr bool is_bf16 = false;
};

template <class T>
DEVICE T select(bool m, T a, T b) {
    return m ? a : b;
}
DEVICE void multiply_add(float& c, float a, float b) { c = fmaf(a, b, c); }
template <class T>
DEVICE T shuffle_xor(T a, int by) {
    return __shfl_xor_sync(~0u, a, by);
}
DEVICE unsigned as_unsigned(bool m) { return m; }
DEVICE unsigned as_unsigned(int a) { return static_cast<unsigned>(a); }

DEVICE float to_float(float x) { return x; }
DEVICE float to_float(bf16 x) { return __uint_as_float(static_cast<unsigned>(x.bits) << 16); }
DEVICE float to_float(f16 x) {
    float f;
    asm("cvt.f32.f16 %0, %1;" : "=f"(f) : "h"(x.bits));
    return f;
}

template <class T>
struct Rounded;
template <>
struct Rounded<float> {
    DEVICE static float from(float x) { return x; }
};
template <>
struct Rounded<bf16> {
    DEVICE static bf16 from(float x) {
        const unsigned u = __float_as_uint(x);
        if (x != x) return {static_cast<unsigned short>(u >> 16 | 0x40)};
        return {static_cast<unsigned short>((u + 0x7fff + (u >> 16 & 1)) >> 16)};
    }
};
template <>
struct Rounded<f16> {
    DEVICE static f16 from(float x) {
        f16 h;
        asm("cvt.rn.f16.f32 %0, %1;" : "=h"(h.bits) : "f"(x));
        return h;
    }
};
/// Rounds to nearest even; NaN stays NaN.
template <class T>
DEVICE T round_to(float x) {
    return Rounded<T>::from(x);
}
/// x > 0; false for NaN.
template <class T>
DEVICE bool is_positive(T x) {
    return to_float(x) > 0.0f;
}
/// NaN stays NaN, both zeros become +0.
DEVICE float relu(float x) { return x <= 0.0f ? 0.0f : x; }

// ---- global memory
// ---------------------------------------------------------------------------------------------------

/// BYTES bytes as the register that moves them.
template <int BYTES>
struct Word;
template <>
struct Word<1> {
    using type = unsigned char;
};
template <>
struct Word<2> {
    using type = unsigned short;
};
template <>
struct Word<4> {
    using type = unsigned;
};
template <>
struct Word<8> {
    using type = uint2;
};
template <>
struct Word<16> {
    using type = uint4;
};

/// N elements that move as one word.
template <class T, int N>
union Pack {
    typename Word<N * sizeof(T)>::type word;
    T v[N];
    DEVICE Pack() {}
};

/// p[i] where ok, T{} elsewhere.
template <class T>
DEVICE T ld_global(const T* p, int i, bool ok = true, Place = {}) {
    return ok ? p[i] : T{};
}
/// v[j] = p[i + j] for the first `count` of N, T{} for the rest. One access of N elements where all are there.
template <class T, int N>
DEVICE void ld_global(T (&v)[N], const T* p, int i, int count, Place = {}) {
    if (count >= N) {
        Pack<T, N> pack;
        pack.word = *reinterpret_cast<const typename Word<N * sizeof(T)>::type*>(p + i);
        UNROLL for (int j = 0; j < N; ++j) v[j] = pack.v[j];
    } else {
        UNROLL for (int j = 0; j < N; ++j) v[j] = j < count ? p[i + j] : T{};
    }
}
/// The same of a small read-only array that many threads of a CTA want: it stays in L1.
template <class T, int N>
DEVICE void ld_cached(T (&v)[N], const T* p, int i, int count, Place = {}) {
    ld_global(v, p, i, count);
}
template <class T>
DEVICE void st_global(T* p, int i, T v, bool ok = true, Place = {}) {
    if (ok) p[i] = v;
}
/// p[i + j] = v[j] for the first `count` of N.
template <class T, int N>
DEVICE void st_global(T* p, int i, const T (&v)[N], int count, Place = {}) {
    if (count >= N) {
        Pack<T, N> pack;
        UNROLL for (int j = 0; j < N; ++j) pack.v[j] = v[j];
        *reinterpret_cast<typename Word<N * sizeof(T)>::type*>(p + i) = pack.word;
    } else {
        UNROLL for (int j = 0; j < N; ++j) if (j < count) p[i + j] = v[j];
    }
}
DEVICE unsigned low_bits(unsigned word, int count) { return count < 32 ? word & ((1u << count) - 1) : word; }
/// The BITS bits (1 to 32, a power of two) from bit `i` on (a multiple of BITS) of a bit row, those beyond `count` 0.
template <int BITS>
DEVICE unsigned ld_global_bits(const void* p, int i, int count, Place = {}) {
    if (count <= 0) return 0;
    using W = typename Word<BITS <= 8 ? 1 : BITS / 8>::type;
    const unsigned word = *reinterpret_cast<const W*>(static_cast<const unsigned char*>(p) + i / 8);
    return low_bits(BITS < 8 ? word >> i % 8 : word, count < BITS ? count : BITS);
}
/// Stores the byte that holds bits [i, i + 8) of a bit row where `count` > 0; its bits beyond `count` are padding.
DEVICE void st_global_bits(void* p, int i, unsigned v, int count, Place = {}) {
    if (count > 0) static_cast<unsigned char*>(p)[i / 8] = static_cast<unsigned char>(v);
}

// ---- shared memory
// ---------------------------------------------------------------------------------------------------

extern __shared__ __align__(1024) unsigned char dynamic_shared_memory[];

/// An array in the CTA's shared memory.
template <class T>
struct Shared {
    T* p;
    DEVICE Shared from(int first) const { return {p + first}; }
};
/// Hands out the CTA's shared memory, 128 bytes aligned.
struct SharedMemory {
    int used = 0;
    template <class T>
    DEVICE Shared<T> take(int n) {
        const int at = used;
        used += (n * static_cast<int>(sizeof(T)) + 127) / 128 * 128;
        return {reinterpret_cast<T*>(dynamic_shared_memory + at)};
    }
};
DEVICE unsigned shared_address(const void* p) { return static_cast<unsigned>(__cvta_generic_to_shared(p)); }

template <class T>
DEVICE T ld_shared(Shared<T> s, int i, Place = {}) {
    return s.p[i];
}
/// v[j] = s[i + j], N·sizeof(T) bytes at once.
template <class T, int N>
DEVICE void ld_shared(T (&v)[N], Shared<T> s, int i, Place = {}) {
    Pack<T, N> pack;
    pack.word = *reinterpret_cast<const typename Word<N * sizeof(T)>::type*>(s.p + i);
    UNROLL for (int j = 0; j < N; ++j) v[j] = pack.v[j];
}
/// The same of a tile of which the first `count` elements are valid, the others padding, which only glass wants to know.
template <class T, int N>
DEVICE void ld_shared(T (&v)[N], Shared<T> s, int i, int, Place = {}) {
    ld_shared(v, s, i);
}
/// Stores a tile's element where `where`; it is padding (zero) where not `valid`, which only glass wants to know.
template <class T>
DEVICE void fill_shared(Shared<T> s, int i, T v, bool, bool where = true, Place = {}) {
    if (where) s.p[i] = v;
}
/// The same for N elements at once, of which the first `count` are valid.
template <class T, int N>
DEVICE void fill_shared(Shared<T> s, int i, const T (&v)[N], int, bool where = true, Place = {}) {
    Pack<T, N> pack;
    UNROLL for (int j = 0; j < N; ++j) pack.v[j] = v[j];
    if (where) *reinterpret_cast<typename Word<N * sizeof(T)>::type*>(s.p + i) = pack.word;
}
/// Stores a word of bits, `count` of them valid.
DEVICE void fill_shared_bits(Shared<unsigned> s, int i, unsigned v, int, bool where = true, Place = {}) {
    if (where) s.p[i] = v;
}
/// The BITS bits from bit `i` on (a multiple of BITS).
template <int BITS>
DEVICE unsigned ld_shared_bits(Shared<unsigned> s, int i, Place = {}) {
    return low_bits(s.p[i / 32] >> i % 32, BITS);
}

// ---- asynchronous copies (sm_80)
// -------------------------------------------------------------------------------------

/// Begins to copy N elements (16 bytes) from g + gi to s + si where `where`; those beyond `count` become zero.
template <int N, class T>
DEVICE void copy_async(Shared<T> s, int si, const T* g, int gi, int count, bool where = true, Place = {}) {
    static_assert(N * sizeof(T) == 16);
    const int bytes = (count < 0 ? 0 : count > N ? N : count) * static_cast<int>(sizeof(T));
    if (where)
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(shared_address(s.p + si)),
                     "l"(g + (bytes > 0 ? gi : 0)), "r"(bytes)
                     : "memory");
}
/// The copies begun since the last call are one group.
DEVICE void copy_commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }
/// All groups but the newest N have arrived, as this thread sees it.
template <int N>
DEVICE void copy_wait() {
    asm volatile("cp.async.wait_group %0;" ::"n"(N) : "memory");
}

// ---- tensor cores (sm_80)
// --------------------------------------------------------------------------------------------

/// Four 8x8 matrices of 16-bit elements: lane l gives the address of row l % 8 of matrix l / 8; r[j] of lane l is row
/// l / 4, columns l % 4 · 2 and the next, of matrix j (TRANSPOSED: column l / 4, those rows).
template <bool TRANSPOSED, class T>
DEVICE void ldmatrix(unsigned (&r)[4], Shared<T> s, int i, Place = {}) {
    const unsigned address = shared_address(s.p + i);
    if constexpr (TRANSPOSED)
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                     : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                     : "r"(address)
                     : "memory");
    else
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                     : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                     : "r"(address)
                     : "memory");
}

template <class T>
struct MatrixType;
template <>
struct MatrixType<bf16> {
    DEVICE static void multiply(float (&c)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) {
        asm volatile(
            "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
            "{%0, %1, %2, %3};"
            : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
            : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
    }
    static constexpr unsigned infinity = 0x7f80;
};
template <>
struct MatrixType<f16> {
    DEVICE static void multiply(float (&c)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) {
        asm volatile(
            "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
            "{%0, %1, %2, %3};"
            : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
            : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
    }
    static constexpr unsigned infinity = 0x7c00;
};

/// c (16,8) += a (16,16) · b (16,8), spread over the warp as mma.sync m16n8k16 has it.
template <class T>
DEVICE void mma_m16n8k16(float (&c)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) {
    MatrixType<T>::multiply(c, a, b0, b1);
}

/// Each half of `pair` where its bit (0, 1) of `open` is set, else 0.
DEVICE unsigned gate_pair_by_bits(unsigned pair, unsigned open) {
    return pair & ((open & 1 ? 0xffffu : 0u) | (open & 2 ? 0xffff0000u : 0u));
}
/// Each half of `pair` where the same half of `by` is > 0 (1 to infinity, as bits go), else 0.
template <class T>
DEVICE unsigned gate_pair(unsigned pair, unsigned by) {
    const unsigned low = (by & 0xffff) - 1 < MatrixType<T>::infinity, high = (by >> 16) - 1 < MatrixType<T>::infinity;
    return gate_pair_by_bits(pair, low | high << 1);
}

}  // namespace kernels::device
