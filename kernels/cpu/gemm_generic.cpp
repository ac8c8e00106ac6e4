// Any processor: 128-bit vectors as the compiler lowers them. 12 sums + 2 of b + 1 of a in 16 registers.
#define ISA_NAME isa_generic
#define ISA_TEXT "generic"
#define LANES 4
#define MR 6
#define NV 2
#include "kernels/cpu/kernel.inc"
