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

}  // namespace sim
