#include "kernels/device/04_register_tile.cuh"
#include "kernels/glass/built_table.hpp"

namespace kernels::glass {

namespace {

using namespace device;
MEMWALL_KERNEL(RegisterTile, "04_register_tile.cuh", register_tile);

using Forward =
    TileList<Tile<128, 128, 8, 32, 64, 8, 8, 1>, Tile<128, 128, 16, 32, 64, 8, 8, 1>, Tile<64, 64, 8, 32, 64, 8, 8, 1>,
             Tile<64, 64, 16, 32, 64, 8, 8, 1>, Tile<128, 64, 8, 32, 64, 8, 8, 1>, Tile<64, 128, 8, 32, 64, 8, 8, 1>,
             Tile<256, 128, 8, 32, 64, 8, 8, 1>, Tile<32, 32, 8, 16, 32, 4, 4, 1>>;
using Backward = TileList<Tile<128, 128, 8, 32, 64, 8, 8, 1>, Tile<64, 64, 16, 32, 64, 8, 8, 1>>;
constexpr auto table = join(built<RegisterTile, float, float, nn, gate_none>(Forward()),
                            built_backward<RegisterTile, float, float>(Backward()));

}  // namespace

std::span<const Built> built_04() { return table; }

}  // namespace kernels::glass
