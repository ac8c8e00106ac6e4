#pragma once
// Files of the tree that travel inside the binary. The functions' bodies are written by cmake/write_embedded.cmake.

#include <span>
#include <string_view>

namespace sim {

/// One file as it was at build time; `name` has no folder ("h200-sxm.toml").
struct EmbeddedFile {
    std::string_view name, text;
};

/// sim/devices/*.toml, sorted by name.
std::span<const EmbeddedFile> embedded_devices();
/// kernels/measured/*.csv, sorted by name.
std::span<const EmbeddedFile> embedded_measurements();
/// lessons/en/*.md and lessons/zh/*.md, sorted by name (in the library of the lessons).
std::span<const EmbeddedFile> embedded_lessons_en();
std::span<const EmbeddedFile> embedded_lessons_zh();
/// kernels/device/*.cuh, sorted by name, and sim/schedule.hpp alone (in the library of the kernels).
std::span<const EmbeddedFile> embedded_kernels();
std::span<const EmbeddedFile> embedded_schedule();
/// kernels/glass/*.hpp, sorted by name: what the kernels are compiled with on the processor.
std::span<const EmbeddedFile> embedded_glass();
/// kernels/export_*.in: the templates of exported sources, sorted by name (in the library of the kernels).
std::span<const EmbeddedFile> embedded_exports();

}  // namespace sim
