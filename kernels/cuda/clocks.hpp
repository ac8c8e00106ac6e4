#pragma once
// The clocks and the power of the GPU as NVML, which comes with the driver, tells them.

#include "kernels/run.hpp"

namespace kernels::cuda {

/// GPU 0 at this moment; what NVML does not tell is 0.
ClockState clock_state();

}  // namespace kernels::cuda
