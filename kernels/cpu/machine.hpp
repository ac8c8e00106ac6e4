#pragma once
// What the system says of the machine this runs on.

#include <string>
#include <vector>

#include "sim/units.hpp"

namespace kernels::cpu {

/// The processor's model name.
std::string processor_name();

/// Cores this process may use: those of its affinity mask, siblings of one core counted once, within its CPU quota.
int usable_cores();
/// The first CPU of each core of that mask; empty where the system does not say.
const std::vector<int>& core_cpus();

/// Bytes of main memory.
sim::i64 memory_bytes();
/// Bytes of the first core's data or unified cache of a level; 0 where the system does not say. A virtual machine may
/// be told nonsense.
sim::i64 cache_bytes(int level);

}  // namespace kernels::cpu
