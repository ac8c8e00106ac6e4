#include "kernels/user_cache.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <fstream>

namespace kernels {

namespace fs = std::filesystem;

fs::path user_cache(std::string_view folder) {
    if (const char* cache = std::getenv("XDG_CACHE_HOME"); cache && *cache == '/')
        return fs::path(cache) / "memwall" / folder;
    if (const char* home = std::getenv("HOME"); home && *home == '/') return fs::path(home) / ".cache/memwall" / folder;
    return {};
}

bool write_whole(const fs::path& file, std::string_view bytes) {
    static std::atomic<int> count = 0;  // two threads may write the same file
    std::error_code error;
    fs::create_directories(file.parent_path(), error);
    const fs::path part = fmt::format("{}.{}.{}", file.string(), getpid(), count++);
    std::ofstream out(part, std::ios::binary | std::ios::trunc);
    out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    out.close();
    const bool written = static_cast<bool>(out);
    if (written) fs::rename(part, file, error);
    if (written && !error) return true;
    fs::remove(part, error);
    return false;
}

}  // namespace kernels
