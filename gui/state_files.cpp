#include "gui/state_files.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>

namespace gui {
namespace fs = std::filesystem;

std::string write_whole(const fs::path& path, std::string_view text) {
    std::error_code bad;
    fs::create_directories(path.parent_path(), bad);
    const fs::path temporary = path.string() + ".new";
    const int file = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (file < 0) return "could not write " + temporary.string() + ": " + std::strerror(errno);
    while (!text.empty()) {
        const ssize_t n = ::write(file, text.data(), text.size());
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) break;
        text.remove_prefix(static_cast<std::size_t>(n));
    }
    const bool whole = text.empty() && ::fsync(file) == 0;
    const int error = errno;
    ::close(file);
    if (whole) fs::rename(temporary, path, bad);
    if (whole && !bad) return {};
    fs::remove(temporary, bad);
    return "could not write " + path.string() + ": " + std::strerror(error);
}

std::optional<std::string> read_whole(const fs::path& path) {
    std::ifstream in(path, std::ios::binary);
    if (!in) return {};
    std::ostringstream text;
    text << in.rdbuf();
    return std::move(text).str();
}

std::string set_aside(const fs::path& path, std::string_view why) {
    const fs::path aside = path.string() + ".bad";
    std::error_code bad;
    fs::rename(path, aside, bad);
    return path.filename().string() + " could not be used (" + std::string(why) + "); it is kept as " + aside.string();
}

}  // namespace gui
