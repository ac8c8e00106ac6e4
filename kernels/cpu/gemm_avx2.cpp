// AVX2 + FMA, built with -mavx2 -mfma. 12 sums + 2 of b + 1 of a in 16 registers.
#define ISA_NAME isa_avx2
#define ISA_TEXT "avx2"
#define LANES 8
#define MR 6
#define NV 2
#include "kernels/cpu/kernel.inc"
