#pragma once
// Kernels that were compiled into the program: a table of tiles a rung.

#include <span>

#include "kernels/glass/executor.hpp"
#include "kernels/ladder.hpp"

namespace kernels::glass {

/// A compiled instance. Its epilogue is decided at run time, so that one entry serves all.
struct Built {
    Instance instance;
    Entry entry;
};

/// Every built instance of a rung's file.
std::span<const Built> built_kernels(std::string_view file);
/// The entry of an instance, or null where it was not built.
const Entry* find_built(const Instance& wanted);
/// "128x128x8, 64x64x8 …": the built tiles of the rung, layout and types asked for, the nearest first.
std::string nearest_built(const Instance& wanted);

}  // namespace kernels::glass
