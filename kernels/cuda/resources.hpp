#pragma once
// What a compiled kernel takes of an SM, from the two places that say so: the compiler's log and the cubin itself.

#include <map>
#include <string>
#include <string_view>

#include "sim/units.hpp"

namespace kernels::cuda {

/// Resources of one kernel, without the shared memory that a launch adds.
struct Resources {
    int registers = 0;  ///< a thread
    int barriers = 0;   ///< named barriers a CTA
    sim::i64 static_smem_bytes = 0;
    sim::i64 stack_bytes = 0;        ///< a thread
    sim::i64 spill_store_bytes = 0;  ///< a thread; only the log knows spills
    sim::i64 spill_load_bytes = 0;
    sim::i64 spill_bytes() const { return spill_store_bytes + spill_load_bytes; }
    bool operator==(const Resources&) const = default;
};

/// Resources by lowered name, from the log that `--ptxas-options=-v` writes.
std::map<std::string, Resources> read_log(std::string_view log);

/// A kernel as its cubin describes it. `code_bytes` is its machine code.
struct CubinKernel {
    int registers = 0;
    sim::i64 stack_bytes = 0;
    sim::i64 shared_bytes = 0;  ///< of its section: static, and from sm_90 on with the reserved bytes before it
    sim::i64 param_bytes = 0;
    sim::i64 code_bytes = 0;
    int max_threads = 0;  ///< of __launch_bounds__; 0 where there are none
};
/// The kernels of a cubin by lowered name. Throws std::runtime_error where the bytes are no cubin or cut short.
std::map<std::string, CubinKernel> read_cubin(std::string_view cubin);

}  // namespace kernels::cuda
