#pragma once
// Compiled programs on disk, so that a tile that was compiled once is ready at once.

#include <filesystem>
#include <optional>
#include <span>
#include <string>

#include "kernels/cuda/compile.hpp"
#include "kernels/user_cache.hpp"

namespace kernels::cuda {

/// 32 hexadecimal digits for all that a program depends on.
std::string cache_key(const Source& source, std::span<const std::string> expressions,
                      std::span<const std::string> flags, const std::string& compiler);

/// One file a program. Any number of processes may share a folder: files appear whole, and are never changed.
class CubinCache {
public:
    explicit CubinCache(std::filesystem::path folder = user_cache("cubins"),
                        std::uintmax_t most_bytes = std::uintmax_t{256} << 20)
        : folder_(std::move(folder)), most_bytes_(most_bytes) {}

    /// The program of that key, or none. A file that is damaged is removed.
    std::optional<Program> load(const std::string& key) const;
    /// Keeps a program, and removes the files unused the longest while there are more than the most bytes.
    void store(const std::string& key, const Program& program) const;

private:
    std::filesystem::path file(const std::string& key) const { return folder_ / (key + ".cubin"); }
    void make_room() const;

    std::filesystem::path folder_;
    std::uintmax_t most_bytes_;
};

}  // namespace kernels::cuda
