#include "kernels/glass/on_demand.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "kernels/glass/built.hpp"
#include "kernels/user_cache.hpp"
#include "sim/embedded.hpp"

extern char** environ;

namespace kernels::glass {

namespace fs = std::filesystem;

namespace {

constexpr const char* flags[] = {"-std=c++20", "-O2", "-DNDEBUG", "-w", "-fPIC", "-shared", "-fvisibility=hidden"};

/// The kernels and the executor's headers, by their names in the tree.
std::map<std::string, std::string_view> sources() {
    std::map<std::string, std::string_view> files;
    for (const sim::EmbeddedFile& f : sim::embedded_kernels()) files["kernels/device/" + std::string(f.name)] = f.text;
    for (const sim::EmbeddedFile& f : sim::embedded_glass()) files["kernels/glass/" + std::string(f.name)] = f.text;
    for (const sim::EmbeddedFile& f : sim::embedded_schedule()) files["sim/" + std::string(f.name)] = f.text;
    return files;
}

/// The translation unit of instances of one kernel source: entry i is that of the i-th.
std::string unit(std::span<const Instance> instances) {
    std::string text = fmt::format("#include \"{}\"\n#include \"kernels/glass/executor.hpp\"\n", instances[0].file);
    for (std::size_t i = 0; i < instances.size(); ++i)
        text += fmt::format(
            "\nextern \"C\" __attribute__((visibility(\"default\"))) const kernels::glass::Entry memwall_entry_{} =\n"
            "    kernels::glass::entry_of<&{}>();\n",
            i, name_expression(instances[i]));
    return text;
}

std::string read(const fs::path& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

/// Runs a program, its output to `log`. The exit status, or -1.
int spawn(const std::vector<std::string>& words, const fs::path& log) {
    std::vector<char*> argv;
    for (const std::string& w : words) argv.push_back(const_cast<char*>(w.c_str()));
    argv.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions, 1, log.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    posix_spawn_file_actions_adddup2(&actions, 1, 2);
    pid_t child = 0;
    const int failed = posix_spawnp(&child, argv[0], &actions, nullptr, argv.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    if (failed != 0) return -1;
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/// A folder of our own that goes when this does.
class Scratch {
public:
    Scratch() {
        std::string pattern = (fs::temp_directory_path() / "memwall-XXXXXX").string();
        if (const char* made = mkdtemp(pattern.data())) path_ = made;
    }
    ~Scratch() {
        std::error_code ignored;
        if (!path_.empty()) fs::remove_all(path_, ignored);
    }
    Scratch(const Scratch&) = delete;
    Scratch& operator=(const Scratch&) = delete;
    const fs::path& path() const { return path_; }

private:
    fs::path path_;
};

std::uint64_t mix(std::uint64_t hash, std::string_view text) {
    for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
    return hash * 0x100000001b3;
}

/// The first line that says "error", else the first.
std::string first_error(const std::string& log) {
    const auto at = log.find("error");
    const auto begin = at == std::string::npos ? 0 : log.rfind('\n', at) + 1;
    return log.substr(begin, log.find('\n', begin) - begin);
}

struct Compiler {
    std::string program, version;
};

const Compiler& compiler() {
    static const Compiler found = [] {
        const Scratch scratch;
        const char* said = std::getenv("CXX");
        for (const std::string& program :
             {std::string(said ? said : ""), std::string("c++"), std::string("g++"), std::string("clang++")}) {
            const fs::path log = scratch.path() / "version";
            if (!program.empty() && spawn({program, "--version"}, log) == 0) {
                const std::string text = read(log);
                return Compiler{program, text.substr(0, text.find('\n'))};
            }
        }
        return Compiler{};
    }();
    return found;
}

/// The entries of a compiled unit, open for as long as the program runs; none where the file is no such thing.
std::vector<Entry> open(const fs::path& file, std::size_t count) {
    std::vector<Entry> entries;
    void* const library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
    for (std::size_t i = 0; library && i < count; ++i)
        if (const void* entry = dlsym(library, fmt::format("memwall_entry_{}", i).c_str()))
            entries.push_back(*static_cast<const Entry*>(entry));
    if (entries.size() < count) entries.clear();
    return entries;
}

/// Compiles to `object`; throws NotAvailable with the compiler's first error.
void compile(std::span<const Instance> instances, const std::map<std::string, std::string_view>& files,
             const fs::path& object) {
    const Scratch scratch;
    if (scratch.path().empty()) throw NotAvailable("no folder for temporary files to compile a tile in");
    for (const auto& [name, text] : files) {
        fs::create_directories((scratch.path() / name).parent_path());
        std::ofstream(scratch.path() / name, std::ios::binary) << text;
    }
    const fs::path source = scratch.path() / "instance.cpp", built = scratch.path() / "instance.so",
                   log = scratch.path() / "log";
    std::ofstream(source) << unit(instances);
    std::vector<std::string> words = {compiler().program};
    words.insert(words.end(), std::begin(flags), std::end(flags));
    for (const std::string& w :
         {std::string("-I"), scratch.path().string(), source.string(), std::string("-o"), built.string()})
        words.push_back(w);
    if (spawn(words, log) != 0)
        throw NotAvailable(
            fmt::format("{} does not compile {}: {}", compiler().program, instances[0].file, first_error(read(log))));
    if (!write_whole(object, read(built)))
        throw NotAvailable(fmt::format("{} cannot be written, so a compiled tile cannot be kept", object.string()));
}

}  // namespace

std::string host_compiler() { return compiler().program; }

namespace {

using Sources = std::map<std::string, std::string_view>;

std::uint64_t hash_of(std::span<const Instance> instances, const Sources& files) {
    std::uint64_t hash = mix(mix(mix(0xcbf29ce484222325, unit(instances)), compiler().program), compiler().version);
    for (const char* flag : flags) hash = mix(hash, flag);
    for (const auto& [name, text] : files) hash = mix(mix(hash, name), text);
    return hash;
}

/// What has been opened so far, by the hash of each instance alone.
std::mutex opened_mutex;
std::map<std::uint64_t, Entry> opened;

std::optional<Entry> find_opened(std::uint64_t hash) {
    const std::lock_guard lock(opened_mutex);
    const auto found = opened.find(hash);
    return found == opened.end() ? std::nullopt : std::optional(found->second);
}

/// Opens instances of one kernel source, compiled where the cache has them not.
void open_all(std::span<const Instance> instances, const Sources& files) {
    fs::path folder = user_cache("glass");
    if (folder.empty()) folder = fs::temp_directory_path() / fmt::format("memwall-glass-{}", getuid());
    const fs::path object = folder / fmt::format("{:016x}.so", hash_of(instances, files));
    std::vector<Entry> entries;
    if (fs::exists(object)) entries = open(object, instances.size());
    if (entries.empty()) {
        compile(instances, files, object);
        entries = open(object, instances.size());
    }
    if (entries.empty()) throw NotAvailable(fmt::format("{} cannot be opened: {}", object.string(), dlerror()));
    const std::lock_guard lock(opened_mutex);
    for (std::size_t i = 0; i < instances.size(); ++i) opened[hash_of(instances.subspan(i, 1), files)] = entries[i];
}

/// The instance with the flags of its epilogue left to the parameters, as all are compiled.
Instance any_epilogue(Instance i) {
    i.epilogue = device::decided_at_run_time;
    return i;
}

Entry compiled(const Instance& instance, const Sources& files) {
    static std::mutex one_at_a_time;
    const std::lock_guard lock(one_at_a_time);
    const Instance any = any_epilogue(instance);
    if (compiler().program.empty())
        throw NotAvailable(
            fmt::format("tile {}x{}x{} of {} was not built in, and there is no C++ compiler here to build it; the "
                        "nearest built: {}",
                        any.bm, any.bn, any.bk, any.file, nearest_built(any)));
    const std::uint64_t hash = hash_of({&any, 1}, files);
    if (!find_opened(hash)) open_all({&any, 1}, files);
    return *find_opened(hash);
}

}  // namespace

Entry compile_on_demand(const Instance& instance) { return compiled(instance, sources()); }

void compile_ahead(std::span<const Instance> instances, unsigned threads) {
    constexpr std::size_t at_a_time = 8;
    std::map<std::string_view, std::vector<Instance>> by_file;
    for (const Instance& i : instances) {
        auto& same = by_file[i.file];
        const Instance any = any_epilogue(i);
        if (!find_built(any) && std::find(same.begin(), same.end(), any) == same.end()) same.push_back(any);
    }
    std::vector<std::span<const Instance>> units;
    for (const auto& [file, all] : by_file)
        for (std::size_t at = 0; at < all.size(); at += at_a_time)
            units.push_back(std::span(all).subspan(at, std::min(at_a_time, all.size() - at)));
    if (!units.empty() && compiler().program.empty()) throw NotAvailable("there is no C++ compiler here");
    const auto files = sources();
    std::atomic<std::size_t> next = 0;
    std::mutex mutex;
    std::exception_ptr fault;
    std::vector<std::jthread> workers;
    for (unsigned t = 0; t < std::max(1u, threads); ++t)
        workers.emplace_back([&] {
            for (std::size_t i = next++; i < units.size(); i = next++) try {
                    open_all(units[i], files);
                } catch (...) {
                    const std::lock_guard lock(mutex);
                    fault = std::current_exception();
                }
        });
    workers.clear();
    if (fault) std::rethrow_exception(fault);
}

Entry compile_changed(const Instance& instance, std::string_view file, std::string_view text) {
    auto files = sources();
    files[std::string(file)] = text;
    return compiled(instance, files);
}

}  // namespace kernels::glass
