#include "kernels/device/06_async_copy.cuh"
#include "kernels/glass/built_table.hpp"

namespace kernels::glass {

namespace {

using namespace device;
MEMWALL_KERNEL(AsyncCopy, "06_async_copy.cuh", async_copy);

using Forward =
    TileList<Tile<128, 128, 8, 32, 64, 8, 8, 3>, Tile<128, 128, 16, 32, 64, 8, 8, 3>, Tile<64, 64, 8, 32, 64, 8, 8, 3>,
             Tile<64, 64, 16, 32, 64, 8, 8, 3>, Tile<128, 64, 8, 32, 64, 8, 8, 3>, Tile<64, 128, 8, 32, 64, 8, 8, 3>,
             Tile<256, 128, 8, 32, 64, 8, 8, 3>, Tile<32, 32, 8, 16, 32, 4, 4, 3>>;
using Backward = TileList<Tile<128, 128, 8, 32, 64, 8, 8, 3>, Tile<64, 64, 16, 32, 64, 8, 8, 3>>;
constexpr auto table =
    join(built<AsyncCopy, float, float, nn, gate_none>(Forward()), built_backward<AsyncCopy, float, float>(Backward()));

}  // namespace

std::span<const Built> built_06() { return table; }

}  // namespace kernels::glass
