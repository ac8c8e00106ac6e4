#pragma once
// The warpgroup matrix multiply of sm_90a, one specialisation a width: the instruction names every register of its sum.

#define MEMWALL_8(i)                                                                                            \
    "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3]), "+f"(d[i + 4]), "+f"(d[i + 5]), "+f"(d[i + 6]), \
        "+f"(d[i + 7])

// The sums of a width: their names in the instruction, and the registers they are.
#define MEMWALL_NAMES_64                                                                         \
    "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, " \
    "%20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31"
#define MEMWALL_SUMS_64 MEMWALL_8(0), MEMWALL_8(8), MEMWALL_8(16), MEMWALL_8(24)
#define MEMWALL_NAMES_128                                                                            \
    MEMWALL_NAMES_64                                                                                 \
        ", "                                                                                         \
        "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, %48, %49, " \
        "%50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63"
#define MEMWALL_SUMS_128 MEMWALL_SUMS_64, MEMWALL_8(32), MEMWALL_8(40), MEMWALL_8(48), MEMWALL_8(56)
#define MEMWALL_NAMES_192                                                                            \
    MEMWALL_NAMES_128                                                                                \
        ", "                                                                                         \
        "%64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, %80, %81, " \
        "%82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95"
#define MEMWALL_SUMS_192 MEMWALL_SUMS_128, MEMWALL_8(64), MEMWALL_8(72), MEMWALL_8(80), MEMWALL_8(88)
#define MEMWALL_NAMES_256                                                                            \
    MEMWALL_NAMES_192                                                                                \
        ", "                                                                                         \
        "%96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, "     \
        "%111, %112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, " \
        "%126, %127"
#define MEMWALL_SUMS_256 MEMWALL_SUMS_192, MEMWALL_8(96), MEMWALL_8(104), MEMWALL_8(112), MEMWALL_8(120)

// One instruction: width, element types, how it names its operands, and those.
#define MEMWALL_WGMMA(N, TYPES, OPERANDS, ...)                                                                     \
    asm volatile("wgmma.mma_async.sync.aligned.m64n" #N "k16.f32." TYPES " {" MEMWALL_NAMES_##N "}, " OPERANDS ";" \
                 : MEMWALL_SUMS_##N                                                                                \
                 : __VA_ARGS__)
#define MEMWALL_WGMMA_OF(T, N, OPERANDS, ...)                 \
    if constexpr (T::is_bf16)                                 \
        MEMWALL_WGMMA(N, "bf16.bf16", OPERANDS, __VA_ARGS__); \
    else                                                      \
        MEMWALL_WGMMA(N, "f16.f16", OPERANDS, __VA_ARGS__)
// BOTH names two descriptors and their directions, ONE four registers, a descriptor and its direction.
#define MEMWALL_WIDTH(N, BOTH, ONE)                                                                             \
    template <>                                                                                                 \
    struct WarpgroupMultiply<N> {                                                                               \
        template <class T, bool LEFT_ALONG, bool RIGHT_ALONG>                                                   \
        DEVICE static void multiply(float (&d)[N / 2], unsigned long long a, unsigned long long b) {            \
            MEMWALL_WGMMA_OF(T, N, BOTH, "l"(a), "l"(b), "n"(!LEFT_ALONG), "n"(!RIGHT_ALONG));                  \
        }                                                                                                       \
        template <class T, bool RIGHT_ALONG>                                                                    \
        DEVICE static void multiply(float (&d)[N / 2], const unsigned (&a)[4], unsigned long long b) {          \
            MEMWALL_WGMMA_OF(T, N, ONE, "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "n"(!RIGHT_ALONG)); \
        }                                                                                                       \
    }

namespace kernels::device {

/// d (64,N) += a (64,16) · b (16,N), both described in shared memory, or a in the warps' registers as mma.sync m16n8k16
/// has it; ALONG: the reduction lies along the operand's rows.
template <int N>
struct WarpgroupMultiply;

MEMWALL_WIDTH(64, "%32, %33, 1, 1, 1, %34, %35", "{%32, %33, %34, %35}, %36, 1, 1, 1, %37");
MEMWALL_WIDTH(128, "%64, %65, 1, 1, 1, %66, %67", "{%64, %65, %66, %67}, %68, 1, 1, 1, %69");
MEMWALL_WIDTH(192, "%96, %97, 1, 1, 1, %98, %99", "{%96, %97, %98, %99}, %100, 1, 1, 1, %101");
MEMWALL_WIDTH(256, "%128, %129, 1, 1, 1, %130, %131", "{%128, %129, %130, %131}, %132, 1, 1, 1, %133");

}  // namespace kernels::device

#undef MEMWALL_WIDTH
#undef MEMWALL_WGMMA_OF
#undef MEMWALL_WGMMA
#undef MEMWALL_SUMS_256
#undef MEMWALL_NAMES_256
#undef MEMWALL_SUMS_192
#undef MEMWALL_NAMES_192
#undef MEMWALL_SUMS_128
#undef MEMWALL_NAMES_128
#undef MEMWALL_SUMS_64
#undef MEMWALL_NAMES_64
#undef MEMWALL_8
