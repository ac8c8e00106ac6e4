#include "kernels/device/03_shared_tile.cuh"
#include "kernels/glass/built_table.hpp"

namespace kernels::glass {

namespace {

using namespace device;
MEMWALL_KERNEL(SharedTile, "03_shared_tile.cuh", shared_tile);

using Forward =
    TileList<Tile<32, 32, 8, 1, 32, 1, 1, 1>, Tile<32, 32, 16, 1, 32, 1, 1, 1>, Tile<32, 32, 32, 1, 32, 1, 1, 1>,
             Tile<16, 32, 16, 1, 32, 1, 1, 1>, Tile<16, 16, 16, 2, 16, 1, 1, 1>, Tile<8, 32, 32, 1, 32, 1, 1, 1>,
             Tile<16, 64, 16, 1, 32, 1, 1, 1>, Tile<8, 128, 8, 1, 32, 1, 1, 1>>;
using Backward = TileList<Tile<32, 32, 8, 1, 32, 1, 1, 1>, Tile<32, 32, 16, 1, 32, 1, 1, 1>>;
constexpr auto table = join(built<SharedTile, float, float, nn, gate_none>(Forward()),
                            built_backward<SharedTile, float, float>(Backward()));

}  // namespace

std::span<const Built> built_03() { return table; }

}  // namespace kernels::glass
