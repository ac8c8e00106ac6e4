#pragma once
// Tiles that were not built in: compiled by the host's compiler into a shared object, kept in the user's cache.

#include <span>
#include <string>
#include <string_view>

#include "kernels/glass/executor.hpp"
#include "kernels/ladder.hpp"

namespace kernels::glass {

/// Compiles an instance, or finds it in the cache (keyed by the sources, the flags and the compiler). Throws
/// NotAvailable where there is no compiler, naming the nearest built tiles, or where the instance does not compile.
Entry compile_on_demand(const Instance& instance);

/// Compiles instances a file at a time (all of one kernel source) on as many threads, so that entry_for() finds each of
/// them; those in the cache are opened only. Throws as above.
void compile_ahead(std::span<const Instance> instances, unsigned threads);

/// compile_on_demand() with another text in place of one of the sources ("kernels/device/03_shared_tile.cuh"): what a person
/// changed.
Entry compile_changed(const Instance& instance, std::string_view file, std::string_view text);

/// The command line of the host's compiler: $CXX, c++, g++ or clang++, whichever is found first; empty where none is.
std::string host_compiler();

}  // namespace kernels::glass
