// AVX-512, built with -mavx512f -mavx512vl -mfma. 24 sums + 3 of b in 32 registers; a is broadcast from memory.
#define ISA_NAME isa_avx512
#define ISA_TEXT "avx512"
#define LANES 16
#define MR 8
#define NV 3
#include "kernels/cpu/kernel.inc"
