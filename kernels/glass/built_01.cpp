#include "kernels/device/01_naive.cuh"
#include "kernels/glass/built_table.hpp"

namespace kernels::glass {

namespace {

using namespace device;
MEMWALL_KERNEL(Naive, "01_naive.cuh", naive);

using Forward =
    TileList<Tile<32, 8, 1, 32, 1, 1, 1, 1>, Tile<32, 16, 1, 32, 1, 1, 1, 1>, Tile<32, 32, 1, 32, 1, 1, 1, 1>,
             Tile<64, 4, 1, 32, 1, 1, 1, 1>, Tile<64, 8, 1, 32, 1, 1, 1, 1>, Tile<64, 16, 1, 32, 1, 1, 1, 1>,
             Tile<128, 4, 1, 32, 1, 1, 1, 1>, Tile<128, 8, 1, 32, 1, 1, 1, 1>>;
constexpr auto table = built<Naive, float, float, nn, gate_none>(Forward());

}  // namespace

std::span<const Built> built_01() { return table; }

}  // namespace kernels::glass
