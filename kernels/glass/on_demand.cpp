#include "kernels/glass/on_demand.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <mutex>
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

/// The translation unit of one instance.
std::string unit(const Instance& i) {
    return fmt::format(
        "#include \"{}\"\n#include \"kernels/glass/executor.hpp\"\n\nextern \"C\" "
        "__attribute__((visibility(\"default\"))) "
        "const kernels::glass::Entry memwall_entry =\n    kernels::glass::entry_of<&{}>();\n",
        i.file, name_expression(i));
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

/// Opens a compiled instance for as long as the program runs; null where the file is none.
const Entry* open(const fs::path& file) {
    void* const library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
    return library ? static_cast<const Entry*>(dlsym(library, "memwall_entry")) : nullptr;
}

/// Compiles to `object`; throws NotAvailable with the compiler's first error.
void compile(const Instance& instance, const std::map<std::string, std::string_view>& files, const fs::path& object) {
    const Scratch scratch;
    if (scratch.path().empty()) throw NotAvailable("no folder for temporary files to compile a tile in");
    for (const auto& [name, text] : files) {
        fs::create_directories((scratch.path() / name).parent_path());
        std::ofstream(scratch.path() / name, std::ios::binary) << text;
    }
    const fs::path source = scratch.path() / "instance.cpp", built = scratch.path() / "instance.so",
                   log = scratch.path() / "log";
    std::ofstream(source) << unit(instance);
    std::vector<std::string> words = {compiler().program};
    words.insert(words.end(), std::begin(flags), std::end(flags));
    for (const std::string& w :
         {std::string("-I"), scratch.path().string(), source.string(), std::string("-o"), built.string()})
        words.push_back(w);
    if (spawn(words, log) != 0)
        throw NotAvailable(
            fmt::format("{} does not compile {}: {}", compiler().program, instance.file, first_error(read(log))));
    if (!write_whole(object, read(built)))
        throw NotAvailable(fmt::format("{} cannot be written, so a compiled tile cannot be kept", object.string()));
}

}  // namespace

std::string host_compiler() { return compiler().program; }

namespace {

Entry compiled(const Instance& instance, const std::map<std::string, std::string_view>& files) {
    static std::mutex one_at_a_time;
    const std::lock_guard lock(one_at_a_time);
    Instance any = instance;
    any.epilogue = device::decided_at_run_time;
    if (compiler().program.empty())
        throw NotAvailable(
            fmt::format("tile {}x{}x{} of {} was not built in, and there is no C++ compiler here to build it; the "
                        "nearest built: {}",
                        any.bm, any.bn, any.bk, any.file, nearest_built(any)));
    std::uint64_t hash = mix(mix(mix(0xcbf29ce484222325, unit(any)), compiler().program), compiler().version);
    for (const char* flag : flags) hash = mix(hash, flag);
    for (const auto& [name, text] : files) hash = mix(mix(hash, name), text);
    static std::map<std::uint64_t, Entry> opened;
    if (const auto found = opened.find(hash); found != opened.end()) return found->second;

    fs::path folder = user_cache("glass");
    if (folder.empty()) folder = fs::temp_directory_path() / fmt::format("memwall-glass-{}", getuid());
    const fs::path object = folder / fmt::format("{:016x}.so", hash);
    const Entry* entry = fs::exists(object) ? open(object) : nullptr;
    if (!entry) {
        compile(any, files, object);
        entry = open(object);
    }
    if (!entry) throw NotAvailable(fmt::format("{} cannot be opened: {}", object.string(), dlerror()));
    return opened[hash] = *entry;
}

}  // namespace

Entry compile_on_demand(const Instance& instance) { return compiled(instance, sources()); }

Entry compile_changed(const Instance& instance, std::string_view file, std::string_view text) {
    auto files = sources();
    files[std::string(file)] = text;
    return compiled(instance, files);
}

}  // namespace kernels::glass
