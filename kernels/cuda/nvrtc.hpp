#pragma once
// NVRTC, NVIDIA's run-time compiler: its entry points as they are called here, by their documented C interface.

#include <cstddef>
#include <string>

#include "kernels/cuda/shared_library.hpp"

namespace kernels::cuda {

struct Nvrtc {
    using Program = struct _nvrtcProgram*;

    SharedLibrary library;
    std::string why;  ///< empty exactly when every function is here
    int major = 0, minor = 0;

    int (*version)(int* major, int* minor) = nullptr;
    const char* (*error_string)(int) = nullptr;
    int (*supported_arch_count)(int* count) = nullptr;
    int (*supported_archs)(int* archs) = nullptr;
    int (*create)(Program*, const char* text, const char* name, int headers, const char* const* header_texts,
                  const char* const* header_names) = nullptr;
    int (*destroy)(Program*) = nullptr;
    int (*add_name)(Program, const char* expression) = nullptr;
    int (*lowered_name)(Program, const char* expression, const char** lowered) = nullptr;
    int (*compile)(Program, int options, const char* const* option) = nullptr;
    int (*log_size)(Program, std::size_t*) = nullptr;
    int (*log)(Program, char*) = nullptr;
    int (*cubin_size)(Program, std::size_t*) = nullptr;
    int (*cubin)(Program, char*) = nullptr;
};

/// The compiler of this machine, opened when first asked for.
const Nvrtc& nvrtc();

}  // namespace kernels::cuda
