#include "kernels/cpu/isa.hpp"

namespace kernels::cpu {

int supported_isas(const Isa** to) {
    int count = 0;
    to[count++] = &isa_generic;
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) to[count++] = &isa_avx2;
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("fma"))
        to[count++] = &isa_avx512;
#endif
    return count;
}

const Isa& isa() {
    static const Isa& widest = []() -> const Isa& {
        const Isa* all[3];
        return *all[supported_isas(all) - 1];
    }();
    return widest;
}

}  // namespace kernels::cpu
