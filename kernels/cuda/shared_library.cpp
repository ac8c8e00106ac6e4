#include "kernels/cuda/shared_library.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <glob.h>

#include <algorithm>
#include <cstdlib>
#include <vector>

namespace kernels::cuda {
namespace {

/// Folders to look in, in order; * as a shell has it. Empty: wherever the loader looks.
constexpr std::string_view places[] = {
    "$CUDA_HOME/lib64",
    "$CUDA_HOME/lib",
    "$CUDA_HOME/extras/CUPTI/lib64",
    "$CUDA_PATH/lib64",
    "$CUDA_PATH/lib",
    "$CUDA_PATH/extras/CUPTI/lib64",
    "",
    "/usr/local/cuda/lib64",
    "/usr/local/cuda/extras/CUPTI/lib64",
    "/usr/local/cuda-*/lib64",
    "/usr/local/cuda-*/extras/CUPTI/lib64",
    "/opt/cuda/lib64",
    "/opt/cuda/extras/CUPTI/lib64",
    "$VIRTUAL_ENV/lib/python3*/site-packages/nvidia/*/lib",
    "$CONDA_PREFIX/lib",
    "$CONDA_PREFIX/lib/python3*/site-packages/nvidia/*/lib",
    "$HOME/.local/lib/python3*/site-packages/nvidia/*/lib",
    "/usr/local/lib/python3*/*-packages/nvidia/*/lib",
    "/usr/lib/python3*/*-packages/nvidia/*/lib",
};
constexpr int newest_major = 19;  // versions the loader is asked for by name, down to 1

/// `place` with its variable put in; empty where that is not set.
std::string expand(std::string_view place) {
    if (!place.starts_with('$')) return std::string(place);
    const std::size_t end = place.find('/');
    const char* value = std::getenv(std::string(place.substr(1, end - 1)).c_str());
    return value && *value ? value + std::string(place.substr(end)) : std::string();
}

/// The files that match, those of the highest version first.
std::vector<std::string> matches(const std::string& pattern) {
    glob_t found{};
    std::vector<std::string> files;
    if (::glob(pattern.c_str(), 0, nullptr, &found) == 0) files.assign(found.gl_pathv, found.gl_pathv + found.gl_pathc);
    ::globfree(&found);
    std::sort(files.begin(), files.end(),
              [](const std::string& a, const std::string& b) { return ::strverscmp(a.c_str(), b.c_str()) > 0; });
    return files;
}

}  // namespace

SharedLibrary SharedLibrary::open(std::string_view name) {
    SharedLibrary library;
    std::string refused;
    const auto try_file = [&](const std::string& file) {
        library.handle_ = ::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
        if (library.handle_) library.path_ = file;
        return library.handle_ != nullptr;
    };
    for (const std::string_view place : places) {
        if (place.empty()) {
            for (int major = newest_major; major >= 1; --major)
                if (try_file(fmt::format("lib{}.so.{}", name, major))) return library;
            continue;
        }
        const std::string folder = expand(place);
        if (folder.empty()) continue;
        for (const std::string& file : matches(fmt::format("{}/lib{}.so.[0-9]*", folder, name))) {
            if (try_file(file)) return library;
            if (const char* error = ::dlerror(); error && refused.empty()) refused = error;
        }
    }
    library.why_ = refused.empty()
                       ? fmt::format(
                             "lib{}.so was found neither in $CUDA_HOME, nor by the loader, nor in /usr/local/cuda, "
                             "nor among Python's packages",
                             name)
                       : refused;
    return library;
}

void* SharedLibrary::address(const char* symbol) const { return handle_ ? ::dlsym(handle_, symbol) : nullptr; }

}  // namespace kernels::cuda
