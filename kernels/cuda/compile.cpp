#include "kernels/cuda/compile.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>

#include "kernels/cuda/cubin_cache.hpp"
#include "kernels/cuda/nvrtc.hpp"

namespace kernels::cuda {
namespace {

/// The first error of a log as "FILE:LINE: what": the compiler writes `gemm.cuh(12): error: what`, the assembler
/// `ptxas application ptx input, line 35; error   : what`.
std::string first_error(std::string_view log, const std::string& file) {
    while (!log.empty()) {
        const std::string_view line = log.substr(0, log.find('\n'));
        log.remove_prefix(std::min(line.size() + 1, log.size()));
        const std::size_t error = std::min(line.find("error"), line.find("fatal"));
        const std::size_t colon = line.find(':', error);
        if (error == std::string_view::npos || colon == std::string_view::npos) continue;
        const std::string_view what = line.substr(std::min(line.find_first_not_of(' ', colon + 1), line.size()));
        const std::string_view place = line.substr(0, error);
        if (const auto at = place.find("("), end = place.find("): "); at < end && end != std::string_view::npos)
            return fmt::format("{}:{}: {}", place.substr(0, at), place.substr(at + 1, end - at - 1), what);
        if (const auto at = place.find(", line "); at != std::string_view::npos)
            return fmt::format("{}: line {} of its PTX: {}", file, place.substr(at + 7, place.find(';') - at - 7),
                               what);
        return fmt::format("{}: {}", file, what);
    }
    return file + ": the compiler refused it";
}

/// A program that is destroyed with its scope.
struct Handle {
    const Nvrtc& n;
    Nvrtc::Program program = nullptr;
    ~Handle() {
        if (program) n.destroy(&program);
    }
    void check(int result, const char* what) const {
        if (result != 0) throw std::runtime_error(fmt::format("{}: {}", what, n.error_string(result)));
    }
};

}  // namespace

sim::Fit compiler_available() { return {nvrtc().why}; }

std::string compiler_version() {
    const Nvrtc& n = nvrtc();
    return n.why.empty() ? fmt::format("{}.{}", n.major, n.minor) : std::string();
}

sim::Fit arch_available(const std::string& arch) {
    const Nvrtc& n = nvrtc();
    if (!n.why.empty()) return {n.why};
    int count = 0, number = 0;
    n.supported_arch_count(&count);
    std::vector<int> known(static_cast<std::size_t>(count));
    n.supported_archs(known.data());
    const bool named = arch.starts_with("sm_");
    const auto [end, error] = std::from_chars(arch.data() + (named ? 3 : 0), arch.data() + arch.size(), number);
    const std::string_view rest(end, static_cast<std::size_t>(arch.data() + arch.size() - end));
    if (named && error == std::errc() && (rest.empty() || rest == "a" || rest == "f") &&
        std::find(known.begin(), known.end(), number) != known.end())
        return {};
    std::string list;
    for (const int k : known) list += fmt::format("{}sm_{}", list.empty() ? "" : " ", k);
    return {fmt::format("NVRTC {} does not compile for \"{}\"; it knows {}", compiler_version(), arch, list)};
}

std::vector<std::string> compile_flags(const std::string& arch) {
    return {"--gpu-architecture=" + arch, "--std=c++20", "-lineinfo", "--ptxas-options=-v"};
}

Program compile(const Source& source, std::span<const std::string> expressions, const std::string& arch) {
    const Nvrtc& n = nvrtc();
    if (!n.why.empty()) throw std::runtime_error(n.why);
    const auto start = std::chrono::steady_clock::now();

    std::vector<const char*> header_texts, header_names;
    for (const auto& [name, text] : source.headers) {
        header_names.push_back(name.c_str());
        header_texts.push_back(text.c_str());
    }
    Handle handle{n};
    handle.check(n.create(&handle.program, source.text.c_str(), source.name.c_str(),
                          static_cast<int>(source.headers.size()), header_texts.data(), header_names.data()),
                 "nvrtcCreateProgram");
    for (const std::string& e : expressions) handle.check(n.add_name(handle.program, e.c_str()), e.c_str());

    const std::vector<std::string> flags = compile_flags(arch);
    std::vector<const char*> flag_texts;
    for (const std::string& f : flags) flag_texts.push_back(f.c_str());
    const int result = n.compile(handle.program, static_cast<int>(flag_texts.size()), flag_texts.data());

    Program program;
    program.arch = arch;
    std::size_t size = 0;
    n.log_size(handle.program, &size);
    program.log.resize(size);
    n.log(handle.program, program.log.data());
    while (!program.log.empty() && program.log.back() == '\0') program.log.pop_back();
    if (result != 0) {
        if (program.log.find_first_not_of(" \n") == std::string::npos) program.log = n.error_string(result);
        throw CompileError(first_error(program.log, source.name), program.log);
    }

    handle.check(n.cubin_size(handle.program, &size), "nvrtcGetCUBINSize");
    program.cubin.resize(size);
    handle.check(n.cubin(handle.program, program.cubin.data()), "nvrtcGetCUBIN");
    const auto resources = read_log(program.log);
    for (const std::string& e : expressions) {
        const char* lowered = nullptr;
        handle.check(n.lowered_name(handle.program, e.c_str(), &lowered), e.c_str());
        const auto found = resources.find(lowered);
        if (found == resources.end())
            throw std::runtime_error(fmt::format("{}: the compiler's log does not speak of {}", source.name, e));
        program.kernels.push_back({e, lowered, found->second});
    }
    program.compile_ms = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
    return program;
}

Program compile_cached(const Source& source, std::span<const std::string> expressions, const std::string& arch) {
    const CubinCache cache;
    const std::string key = cache_key(source, expressions, compile_flags(arch), compiler_version());
    if (auto kept = cache.load(key)) return *std::move(kept);
    Program program = compile(source, expressions, arch);
    cache.store(key, program);
    return program;
}

}  // namespace kernels::cuda
