#pragma once
// Device source text to a cubin, by NVRTC, with nothing read from disk: headers travel with the source.

#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "kernels/cuda/resources.hpp"
#include "sim/error.hpp"

namespace kernels::cuda {

/// A device source and what it may include.
struct Source {
    std::string name;                                          ///< as errors call it: "07_tensor_core.cuh"
    std::string text;                                          ///
    std::vector<std::pair<std::string, std::string>> headers;  ///< name as #include says it, text
};

struct CompiledKernel {
    std::string expression;  ///< "gemm<128, 128, 8>", as asked for
    std::string lowered;     ///< its name in the cubin
    Resources resources;
    bool operator==(const CompiledKernel&) const = default;
};

/// A cubin and the kernels in it, in the order they were asked for.
struct Program {
    std::string arch;  ///< "sm_90a"
    std::string cubin;
    std::vector<CompiledKernel> kernels;
    std::string log;
    double compile_ms = 0;    ///< when it was compiled
    bool from_cache = false;  ///< and that was before
};

/// The compiler refused the source: one line, "FILE:LINE: what", with the whole log beside it.
struct CompileError : std::runtime_error {
    CompileError(const std::string& line, std::string whole) : std::runtime_error(line), log(std::move(whole)) {}
    std::string log;
};

/// Whether NVRTC is on this machine.
sim::Fit compiler_available();
/// "13.0"; empty where there is none.
std::string compiler_version();
/// Whether the compiler here knows the architecture ("sm_90a").
sim::Fit arch_available(const std::string& arch);

/// The flags every kernel is compiled with. (Not --split-compile: the code it makes depends on how many threads there
/// are, and registers would differ between machines. Several programs at a time use the cores as well.)
std::vector<std::string> compile_flags(const std::string& arch);

/// Compiles the kernels that `expressions` name; callable from several threads. Throws CompileError, or
/// std::runtime_error where there is no compiler.
Program compile(const Source& source, std::span<const std::string> expressions, const std::string& arch);

/// The same through the cache in the user's cache folder, which is keyed by source, expressions, flags, architecture
/// and compiler. A cache that cannot be read or written only costs time.
Program compile_cached(const Source& source, std::span<const std::string> expressions, const std::string& arch);

}  // namespace kernels::cuda
