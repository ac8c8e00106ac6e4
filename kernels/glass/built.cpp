#include "kernels/glass/built.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

namespace kernels::glass {

std::span<const Built> built_01();
std::span<const Built> built_02();
std::span<const Built> built_03();
std::span<const Built> built_04();
std::span<const Built> built_05();
std::span<const Built> built_06();
std::span<const Built> built_07();
std::span<const Built> built_08();
std::span<const Built> built_09();
std::span<const Built> built_elementwise();

std::span<const Built> built_kernels(std::string_view file) {
    struct Row {
        std::string_view file;
        std::span<const Built> (*table)();
    };
    static constexpr Row rows[] = {
        {"kernels/device/01_naive.cuh", built_01},        {"kernels/device/02_coalesced.cuh", built_02},
        {"kernels/device/03_shared_tile.cuh", built_03},  {"kernels/device/04_register_tile.cuh", built_04},
        {"kernels/device/05_vector_loads.cuh", built_05}, {"kernels/device/06_async_copy.cuh", built_06},
        {"kernels/device/07_tensor_core.cuh", built_07},  {"kernels/device/08_grouped_persistent.cuh", built_08},
        {"kernels/device/09_tma_wgmma.cuh", built_09},    {"kernels/device/elementwise.cuh", built_elementwise},
    };
    for (const Row& r : rows)
        if (r.file == file) return r.table();
    return {};
}

const Entry* find_built(const Instance& wanted) {
    for (const Built& b : built_kernels(wanted.file)) {
        Instance same = b.instance;
        same.epilogue = wanted.epilogue;
        if (same == wanted) return &b.entry;
    }
    return nullptr;
}

std::string nearest_built(const Instance& wanted) {
    std::vector<const Instance*> like;
    for (const Built& b : built_kernels(wanted.file)) {
        const Instance& i = b.instance;
        if (i.layout == wanted.layout && i.gate == wanted.gate && i.in == wanted.in && i.out == wanted.out)
            like.push_back(&i);
    }
    const auto distance = [&](const Instance& i) {
        const auto apart = [](int a, int b) { return std::fabs(std::log2(static_cast<double>(a) / b)); };
        return apart(i.bm, wanted.bm) + apart(i.bn, wanted.bn) + apart(i.bk, wanted.bk);
    };
    std::stable_sort(like.begin(), like.end(),
                     [&](const Instance* a, const Instance* b) { return distance(*a) < distance(*b); });
    std::string text;
    for (const Instance* i : like) {
        const int stages = i->stages;
        text += fmt::format("{}{}x{}x{}{}", text.empty() ? "" : ", ", i->bm, i->bn, i->bk,
                            stages > 2 ? fmt::format(" stages {}", stages) : std::string());
    }
    return text;
}

}  // namespace kernels::glass
