#include "kernels/device/05_vector_loads.cuh"
#include "kernels/glass/built_table.hpp"

namespace kernels::glass {

namespace {

using namespace device;
MEMWALL_KERNEL(VectorLoads, "05_vector_loads.cuh", vector_loads);

using Forward =
    TileList<Tile<128, 128, 8, 32, 64, 8, 8, 2>, Tile<128, 128, 16, 32, 64, 8, 8, 2>, Tile<64, 64, 8, 32, 64, 8, 8, 2>,
             Tile<64, 64, 16, 32, 64, 8, 8, 2>, Tile<128, 64, 8, 32, 64, 8, 8, 2>, Tile<64, 128, 8, 32, 64, 8, 8, 2>,
             Tile<256, 128, 8, 32, 64, 8, 8, 2>, Tile<32, 32, 8, 16, 32, 4, 4, 2>>;
using Backward = TileList<Tile<128, 128, 8, 32, 64, 8, 8, 2>, Tile<64, 64, 16, 32, 64, 8, 8, 2>>;
constexpr auto table = join(built<VectorLoads, float, float, nn, gate_none>(Forward()),
                            built_backward<VectorLoads, float, float>(Backward()));

}  // namespace

std::span<const Built> built_05() { return table; }

}  // namespace kernels::glass
