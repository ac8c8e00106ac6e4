// Includes go one way (the table below), and sim/schedule.hpp needs nobody: it compiles freestanding and under NVRTC.

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/cuda/compile.hpp"
#include "tests/skips.hpp"

namespace fs = std::filesystem;
using Strings = std::vector<std::string>;

namespace {

struct Layer {
    std::string folder;
    Strings ours;    // folders of ours it may include from
    Strings others;  // libraries it may include, by the start of the header's name
    bool system;     // headers of the operating system and the compiler (<unistd.h>, <immintrin.h>)
};

const std::vector<Layer> layers = {
    {"sim", {"sim"}, {"fmt/", "toml++/"}, false},
    {"kernels", {"sim", "kernels"}, {"fmt/"}, true},
    {"lessons", {"sim", "lessons"}, {"fmt/", "toml++/"}, false},
    {"gui", {"sim", "kernels", "lessons", "gui"}, {"fmt/", "imgui", "implot", "GLFW/"}, true},
    {"cli", {"sim", "kernels", "lessons", "cli"}, {"fmt/", "CLI/", "nlohmann/"}, true},
};
const Strings libraries = {"fmt/",   "toml++/", "CLI/",     "nlohmann/", "imgui",
                           "implot", "GLFW/",   "doctest/", "benchmark/"};
const Strings open_or_draw_the_lab = {"cli/main.cpp", "cli/screenshot.cpp"};

bool contains(const Strings& list, std::string_view s) { return std::find(list.begin(), list.end(), s) != list.end(); }
bool starts_with_any(const Strings& list, std::string_view s) {
    return std::any_of(list.begin(), list.end(), [&](const std::string& start) { return s.starts_with(start); });
}

/// Whether `file` ("cli/main.cpp") may include `header` ("gui/lab.hpp", "vector").
bool may_include(const std::string& file, std::string_view header) {
    const auto layer =
        std::find_if(layers.begin(), layers.end(), [&](const Layer& l) { return file.starts_with(l.folder + "/"); });
    const std::string folder(header.substr(0, header.find('/')));
    const bool ours = folder == "tests" ||
                      std::any_of(layers.begin(), layers.end(), [&](const Layer& l) { return l.folder == folder; });
    if (folder == "gui" && contains(open_or_draw_the_lab, file)) return true;
    if (ours) return contains(layer->ours, folder);
    if (starts_with_any(libraries, header)) return starts_with_any(layer->others, header);
    const bool standard = header.find_first_of("./") == std::string_view::npos;  // <vector>
    return standard || (layer->system && header.ends_with(".h"));
}

std::string read(const fs::path& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

/// The names between <> or "" of the #include lines.
Strings included(const std::string& text) {
    Strings names;
    for (std::size_t start = 0; start < text.size();) {
        const std::size_t end = std::min(text.find('\n', start), text.size());
        std::string_view line(text.data() + start, end - start);
        start = end + 1;
        auto drop = [&](std::string_view what) {
            line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
            const bool there = line.starts_with(what);
            if (there) line.remove_prefix(what.size());
            return there;
        };
        if (!drop("#") || !drop("include")) continue;
        line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
        const std::size_t close = line.find_first_of(">\"", 1);
        names.emplace_back(close == std::string_view::npos ? line : line.substr(1, close - 1));
    }
    return names;
}

const fs::path root = MEMWALL_SOURCE_DIR;

}  // namespace

TEST_CASE("layers: the rule lets the allowed edges pass and stops the others") {
    struct {
        const char *file, *header;
        bool allowed;
    } const cases[] = {
        {"sim/time.cpp", "sim/time.hpp", true},
        {"sim/time.cpp", "kernels/kernel.hpp", false},
        {"sim/time.cpp", "algorithm", true},
        {"sim/time.cpp", "unistd.h", false},
        {"sim/time.cpp", "fmt/format.h", true},
        {"sim/time.cpp", "nlohmann/json.hpp", false},
        {"kernels/cpu/naive.cpp", "immintrin.h", true},
        {"kernels/cpu/naive.cpp", "imgui.h", false},
        {"kernels/cpu/naive.cpp", "sim/fit.hpp", true},
        {"kernels/cpu/naive.cpp", "lessons/lesson.hpp", false},
        {"lessons/lesson.cpp", "sim/fit.hpp", true},
        {"lessons/lesson.cpp", "kernels/kernel.hpp", false},
        {"gui/lab.cpp", "kernels/kernel.hpp", true},
        {"gui/lab.cpp", "cli/verbs.hpp", false},
        {"cli/main.cpp", "gui/lab.hpp", true},
        {"cli/explain.cpp", "gui/lab.hpp", false},
        {"cli/explain.cpp", "nlohmann/json.hpp", true},
        {"cli/explain.cpp", "tests/skips.hpp", false},
        {"gui/lab.cpp", "../sim/fit.hpp", false},
        {"gui/lab.cpp", "lab.hpp", false},
    };
    for (const auto& edge : cases) {
        CAPTURE(edge.file);
        CAPTURE(edge.header);
        CHECK(may_include(edge.file, edge.header) == edge.allowed);
    }
    CHECK(included("#include <a>\n  #  include \"b/c.hpp\"  // #include <d>\n// #include <e>\n#include <f>") ==
          Strings{"a", "b/c.hpp", "f"});
}

TEST_CASE("layers: every source includes only what its folder may") {
    int edges = 0;
    for (const Layer& layer : layers) {
        if (!fs::exists(root / layer.folder)) continue;
        for (const auto& entry : fs::recursive_directory_iterator(root / layer.folder)) {
            const std::string file = fs::relative(entry.path(), root).generic_string();
            if (!contains({".hpp", ".cpp", ".cuh", ".cu", ".h", ".inc"}, entry.path().extension().string())) continue;
            for (const std::string& header : included(read(entry.path()))) {
                ++edges;
                CHECK_MESSAGE(may_include(file, header), file << " may not include " << header);
            }
        }
    }
    CHECK(edges > 50);  // the tree was found and read
}

TEST_CASE("layers: sim/schedule.hpp includes nothing and compiles freestanding") {
    CHECK(included(read(root / "sim/schedule.hpp")).empty());
    const std::string command = "echo '#include \"sim/schedule.hpp\"' | '" MEMWALL_CXX
                                "' -x c++ - -std=c++20 -ffreestanding "
                                "-nostdinc -nostdinc++ -fsyntax-only -Wall -Wextra -Werror -I'" MEMWALL_SOURCE_DIR "'";
    CHECK(std::system(command.c_str()) == 0);
}

TEST_CASE("layers: sim/schedule.hpp compiles under NVRTC as device code") {
    SKIP_WITHOUT(skips::Need::nvrtc);
    const kernels::cuda::Source source = {"tiles.cu", R"(#include "sim/schedule.hpp"
        __global__ void tiles(sim::Raster raster, long long tm, long long tn, sim::TileIndex* out) {
            const long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
            if (i < tm * tn) out[i] = sim::tile_at(raster, tm, tn, i);
        })",
                                          {{"sim/schedule.hpp", read(root / "sim/schedule.hpp")}}};
    const std::string kernel = "tiles";
    CHECK(!kernels::cuda::compile(source, {&kernel, 1}, "sm_90").cubin.empty());
}

#if MEMWALL_X86 && defined(NDEBUG)  // without optimisation small functions are not inlined
TEST_CASE("layers: a file compiled for a wider instruction set leaves no shared function behind") {
    // The linker keeps one copy of an inline function for the whole program: here, one that older CPUs cannot run.
    const std::string objects = MEMWALL_ISA_OBJECTS;
    REQUIRE(objects.find("_avx") != std::string::npos);
    CHECK(std::system(("nm --defined-only " + objects + " | grep ' [WVu] '").c_str()) != 0);
}
#endif
