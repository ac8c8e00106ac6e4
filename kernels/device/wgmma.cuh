#pragma once
// The warpgroup matrix multiply of sm_90a, one specialisation a width: the instruction names every register of its sum.

#define MEMWALL_8(d, i)                                                                                         \
    "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3]), "+f"(d[i + 4]), "+f"(d[i + 5]), "+f"(d[i + 6]), \
        "+f"(d[i + 7])

namespace kernels::device {

/// d (64,N) += a (64,16) · b (16,N), both described in shared memory; ALONG: the reduction lies along the operand's
/// rows.
template <int N>
struct WarpgroupMultiply;

template <>
struct WarpgroupMultiply<64> {
    template <class T, bool LEFT_ALONG, bool RIGHT_ALONG>
    DEVICE static void multiply(float (&d)[32], unsigned long long a, unsigned long long b) {
        if constexpr (T::is_bf16)
            asm volatile(
                "wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 "
                "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, "
                "%20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}, "
                "%32, %33, 1, 1, 1, %34, %35;"
                : MEMWALL_8(d, 0), MEMWALL_8(d, 8), MEMWALL_8(d, 16), MEMWALL_8(d, 24)
                : "l"(a), "l"(b), "n"(!LEFT_ALONG), "n"(!RIGHT_ALONG));
        else
            asm volatile(
                "wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 "
                "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, "
                "%20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}, "
                "%32, %33, 1, 1, 1, %34, %35;"
                : MEMWALL_8(d, 0), MEMWALL_8(d, 8), MEMWALL_8(d, 16), MEMWALL_8(d, 24)
                : "l"(a), "l"(b), "n"(!LEFT_ALONG), "n"(!RIGHT_ALONG));
    }
};
template <>
struct WarpgroupMultiply<128> {
    template <class T, bool LEFT_ALONG, bool RIGHT_ALONG>
    DEVICE static void multiply(float (&d)[64], unsigned long long a, unsigned long long b) {
        if constexpr (T::is_bf16)
            asm volatile(
                "wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 "
                "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, "
                "%20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, %32, %33, %34, %35, %36, %37, %38, "
                "%39, %40, %41, %42, %43, %44, %45, %46, %47, %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, "
                "%58, %59, %60, %61, %62, %63}, "
                "%64, %65, 1, 1, 1, %66, %67;"
                : MEMWALL_8(d, 0), MEMWALL_8(d, 8), MEMWALL_8(d, 16), MEMWALL_8(d, 24), MEMWALL_8(d, 32),
                  MEMWALL_8(d, 40), MEMWALL_8(d, 48), MEMWALL_8(d, 56)
                : "l"(a), "l"(b), "n"(!LEFT_ALONG), "n"(!RIGHT_ALONG));
        else
            asm volatile(
                "wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16 "
                "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, "
                "%20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, %32, %33, %34, %35, %36, %37, %38, "
                "%39, %40, %41, %42, %43, %44, %45, %46, %47, %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, "
                "%58, %59, %60, %61, %62, %63}, "
                "%64, %65, 1, 1, 1, %66, %67;"
                : MEMWALL_8(d, 0), MEMWALL_8(d, 8), MEMWALL_8(d, 16), MEMWALL_8(d, 24), MEMWALL_8(d, 32),
                  MEMWALL_8(d, 40), MEMWALL_8(d, 48), MEMWALL_8(d, 56)
                : "l"(a), "l"(b), "n"(!LEFT_ALONG), "n"(!RIGHT_ALONG));
    }
};
template <>
struct WarpgroupMultiply<192> {
    template <class T, bool LEFT_ALONG, bool RIGHT_ALONG>
    DEVICE static void multiply(float (&d)[96], unsigned long long a, unsigned long long b) {
        if constexpr (T::is_bf16)
            asm volatile(
                "wgmma.mma_async.sync.aligned.m64n192k16.f32.bf16.bf16 "
                "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, "
                "%20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, %32, %33, %34, %35, %36, %37, %38, "
                "%39, %40, %41, %42, %43, %44, %45, %46, %47, %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, "
                "%58, %59, %60, %61, %62, %63, %64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, "
                "%77, %78, %79, %80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, "
                "%95}, "
                "%96, %97, 1, 1, 1, %98, %99;"
                : MEMWALL_8(d, 0), MEMWALL_8(d, 8), MEMWALL_8(d, 16), MEMWALL_8(d, 24), MEMWALL_8(d, 32),
                  MEMWALL_8(d, 40), MEMWALL_8(d, 48), MEMWALL_8(d, 56), MEMWALL_8(d, 64), MEMWALL_8(d, 72),
                  MEMWALL_8(d, 80), MEMWALL_8(d, 88)
                : "l"(a), "l"(b), "n"(!LEFT_ALONG), "n"(!RIGHT_ALONG));
        else
            asm volatile(
                "wgmma.mma_async.sync.aligned.m64n192k16.f32.f16.f16 "
                "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, "
                "%20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, %32, %33, %34, %35, %36, %37, %38, "
                "%39, %40, %41, %42, %43, %44, %45, %46, %47, %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, "
                "%58, %59, %60, %61, %62, %63, %64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, "
                "%77, %78, %79, %80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, "
                "%95}, "
                "%96, %97, 1, 1, 1, %98, %99;"
                : MEMWALL_8(d, 0), MEMWALL_8(d, 8), MEMWALL_8(d, 16), MEMWALL_8(d, 24), MEMWALL_8(d, 32),
                  MEMWALL_8(d, 40), MEMWALL_8(d, 48), MEMWALL_8(d, 56), MEMWALL_8(d, 64), MEMWALL_8(d, 72),
                  MEMWALL_8(d, 80), MEMWALL_8(d, 88)
                : "l"(a), "l"(b), "n"(!LEFT_ALONG), "n"(!RIGHT_ALONG));
    }
};
template <>
struct WarpgroupMultiply<256> {
    template <class T, bool LEFT_ALONG, bool RIGHT_ALONG>
    DEVICE static void multiply(float (&d)[128], unsigned long long a, unsigned long long b) {
        if constexpr (T::is_bf16)
            asm volatile(
                "wgmma.mma_async.sync.aligned.m64n256k16.f32.bf16.bf16 "
                "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, "
                "%20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, %32, %33, %34, %35, %36, %37, %38, "
                "%39, %40, %41, %42, %43, %44, %45, %46, %47, %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, "
                "%58, %59, %60, %61, %62, %63, %64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, "
                "%77, %78, %79, %80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95, "
                "%96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111, "
                "%112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, "
                "%127}, "
                "%128, %129, 1, 1, 1, %130, %131;"
                : MEMWALL_8(d, 0), MEMWALL_8(d, 8), MEMWALL_8(d, 16), MEMWALL_8(d, 24), MEMWALL_8(d, 32),
                  MEMWALL_8(d, 40), MEMWALL_8(d, 48), MEMWALL_8(d, 56), MEMWALL_8(d, 64), MEMWALL_8(d, 72),
                  MEMWALL_8(d, 80), MEMWALL_8(d, 88), MEMWALL_8(d, 96), MEMWALL_8(d, 104), MEMWALL_8(d, 112),
                  MEMWALL_8(d, 120)
                : "l"(a), "l"(b), "n"(!LEFT_ALONG), "n"(!RIGHT_ALONG));
        else
            asm volatile(
                "wgmma.mma_async.sync.aligned.m64n256k16.f32.f16.f16 "
                "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, "
                "%20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, %32, %33, %34, %35, %36, %37, %38, "
                "%39, %40, %41, %42, %43, %44, %45, %46, %47, %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, "
                "%58, %59, %60, %61, %62, %63, %64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, "
                "%77, %78, %79, %80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95, "
                "%96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111, "
                "%112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, "
                "%127}, "
                "%128, %129, 1, 1, 1, %130, %131;"
                : MEMWALL_8(d, 0), MEMWALL_8(d, 8), MEMWALL_8(d, 16), MEMWALL_8(d, 24), MEMWALL_8(d, 32),
                  MEMWALL_8(d, 40), MEMWALL_8(d, 48), MEMWALL_8(d, 56), MEMWALL_8(d, 64), MEMWALL_8(d, 72),
                  MEMWALL_8(d, 80), MEMWALL_8(d, 88), MEMWALL_8(d, 96), MEMWALL_8(d, 104), MEMWALL_8(d, 112),
                  MEMWALL_8(d, 120)
                : "l"(a), "l"(b), "n"(!LEFT_ALONG), "n"(!RIGHT_ALONG));
    }
};

}  // namespace kernels::device

#undef MEMWALL_8
