#include "sim/tiling.hpp"

#include <fmt/format.h>

namespace sim {

namespace {
constexpr Rung rung_table[] = {
    {"01_naive", DeviceKind::gpu, Engine::simt, Pipeline::none, "one thread computes one output", 70},
    {"02_coalesced", DeviceKind::gpu, Engine::simt, Pipeline::none, "neighbouring threads read neighbouring columns",
     70},
    {"03_shared_tile", DeviceKind::gpu, Engine::simt, Pipeline::none, "a CTA shares its tiles through SMEM", 70},
    {"04_register_tile", DeviceKind::gpu, Engine::simt, Pipeline::none, "a thread keeps a tile of outputs in registers",
     70},
    {"05_vector_loads", DeviceKind::gpu, Engine::simt, Pipeline::double_buffered,
     "128-bit loads, next tile fetched early", 70},
    {"06_async_copy", DeviceKind::gpu, Engine::simt, Pipeline::multistage, "cp.async keeps several stages in flight",
     80},
    {"07_tensor_core", DeviceKind::gpu, Engine::mma, Pipeline::multistage, "mma.sync on swizzled SMEM", 80},
    {"08_grouped_persistent", DeviceKind::gpu, Engine::mma, Pipeline::multistage, "grouped raster, CTAs that stay", 80},
    {"09_tma_wgmma", DeviceKind::gpu, Engine::wgmma, Pipeline::warp_specialized, "TMA feeds warpgroup matrix units",
     90},
    {"10_tcgen05", DeviceKind::gpu, Engine::tcgen05, Pipeline::warp_specialized, "fifth-generation tensor cores", 100},
    {"01_naive", DeviceKind::cpu, Engine::cpu, Pipeline::none, "three loops, one dot product an output", 0,
     Inner::dependent_sum},
    {"02_loop_order", DeviceKind::cpu, Engine::cpu, Pipeline::none, "the inner loop runs along rows in memory", 0,
     Inner::row_update},
    {"03_cache_tile", DeviceKind::cpu, Engine::cpu, Pipeline::none, "loops cut into tiles that stay in cache", 0,
     Inner::row_update},
    {"04_packed", DeviceKind::cpu, Engine::cpu, Pipeline::none, "packed tiles, vector registers, threads", 0},
};
}  // namespace

std::span<const Rung> rungs() { return rung_table; }

const Rung* find_rung(std::string_view id, DeviceKind kind) {
    for (const Rung& r : rung_table)
        if (r.id == id && r.device == kind) return &r;
    return nullptr;
}

std::string_view to_string(Engine e) {
    constexpr std::string_view names[] = {"simt", "mma", "wgmma", "tcgen05", "mxu", "cpu"};
    return names[static_cast<int>(e)];
}
std::string_view to_string(Pipeline p) {
    constexpr std::string_view names[] = {"none", "double", "multistage", "warp_specialized", "pallas"};
    return names[static_cast<int>(p)];
}
std::string_view to_string(Consumers c) { return c == Consumers::cooperative ? "cooperative" : "pingpong"; }
std::string_view to_string(Order o) {
    constexpr std::string_view names[] = {"mnk", "nmk", "kmn", "mkn", "knm", "nkm"};
    return names[static_cast<int>(o)];
}
std::string to_string(Raster r) {
    switch (r.kind) {
        case Raster::along_n: return "along_n";
        case Raster::along_m: return "along_m";
        case Raster::hilbert: return "hilbert";
        case Raster::grouped: break;
    }
    return "grouped:" + std::to_string(r.group);
}

std::string to_string(const Tile& t) { return t.is_best() ? "best" : fmt::format("{}x{}x{}", t.bm, t.bn, t.bk); }

}  // namespace sim
