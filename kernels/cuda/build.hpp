#pragma once
// Kernels of the ladder as cubins: which source a launch needs, compiled for an architecture, with its resources.

#include <span>
#include <string>
#include <vector>

#include "kernels/cuda/compile.hpp"
#include "kernels/ladder.hpp"
#include "sim/fit.hpp"

namespace kernels::cuda {

/// A file of kernels/device by its name from the root, with all that it includes. It is part of the program.
Source device_source(std::string_view file);

/// One launch's code.
struct BuiltKernel {
    Launch launch;
    std::string lowered;  ///< its name in programs[program]
    Resources resources;
    std::size_t program = 0;

    /// What a CTA takes, as the occupancy rules ask for it: the compiler's registers, all shared memory.
    sim::CtaShape cta() const;
};
struct Build {
    std::vector<Program> programs;
    std::vector<BuiltKernel> kernels;  ///< one for each that was asked for, in order

    double compile_ms() const;  ///< of all programs, when they were compiled
    sim::i64 spill_bytes() const;
};
/// Compiles what the launches need, one program a source file. Throws CompileError.
Build build(std::span<const DeviceKernel> kernels, const std::string& arch);

/// A rung's architecture as a compiler takes it: 80 is sm_80, 90 sm_90a, 100 sm_100a.
std::string arch_name(int capability);
/// The other way: 90 of "sm_90a"; 0 where it is none.
int capability_of(std::string_view arch);

}  // namespace kernels::cuda
