#include "tests/skips.hpp"

#include <cstdlib>
#include <set>

#include "kernels/cuda/compile.hpp"
#include "kernels/cuda/runtime.hpp"

namespace skips {
namespace {

bool has_variable(const char* name) {
    const char* value = std::getenv(name);
    return value && *value;
}

struct Row {
    Need need;
    const char* name;
    int tests;  // test cases that ask for it
    bool (*here)();
    const char* why;  // where it is not here
    std::set<std::string> asked = {}, skipped = {};
};

// One row a Need, in its order.
Row table[] = {
    {Need::nvrtc, "nvrtc", 19, [] { return kernels::cuda::compiler_available().ok(); }, "no NVRTC on this machine"},
    {Need::gpu, "gpu", 0, [] { return kernels::cuda::available().ok(); }, "no NVIDIA GPU that kernels can run on"},
    {Need::display, "display", MEMWALL_HAS_GUI ? 1 : 0,
     [] { return has_variable("DISPLAY") && std::system("command -v xdotool >/dev/null") == 0; },
     "no X display, or no xdotool to click on it"},
    {Need::jax, "jax", 2, [] { return std::system("python3 -c 'import jax' >/dev/null 2>&1") == 0; },
     "python3 has no JAX"},
};

}  // namespace

std::string missing(Need need, const char* file, int line) {
    Row& row = table[static_cast<int>(need)];
    const std::string place = std::string(file) + ":" + std::to_string(line);  // subcases enter a test case again
    row.asked.insert(place);
    if (row.here()) return "";
    row.skipped.insert(place);
    return row.why;
}

int skipped() {
    int sum = 0;
    for (const Row& row : table) sum += static_cast<int>(row.skipped.size());
    return sum;
}

std::string disagreement() {
    std::string lines;
    for (const Row& row : table) {
        const int asked = static_cast<int>(row.asked.size());
        const int expected = row.here() ? 0 : row.tests;
        if (asked == row.tests && static_cast<int>(row.skipped.size()) == expected) continue;
        lines += std::string("skips: ") + std::to_string(asked) + " test cases ask for '" + row.name + "' and " +
                 std::to_string(row.skipped.size()) + " were skipped; the table in tests/skips.cpp says " +
                 std::to_string(row.tests) + " and " + std::to_string(expected) + "\n";
    }
    return lines;
}

}  // namespace skips
