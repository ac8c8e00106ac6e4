#pragma once
// The words every kernel is written in. One source, two readings: on a GPU lane<T> is T, a mask is a bool and each word
// is an instruction or two; on the CPU ("under glass") lane<T> is a warp's 32 values in lock step and each access is
// checked and counted by source line.

#ifdef __CUDACC__
#include "kernels/device/gpu.cuh"
#else
#include "kernels/glass/primitives.hpp"
#endif
