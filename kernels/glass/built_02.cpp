#include "kernels/device/02_coalesced.cuh"
#include "kernels/glass/built_table.hpp"

namespace kernels::glass {

namespace {

using namespace device;
MEMWALL_KERNEL(Coalesced, "02_coalesced.cuh", coalesced);

using Forward =
    TileList<Tile<8, 32, 1, 1, 32, 1, 1, 1>, Tile<16, 32, 1, 1, 32, 1, 1, 1>, Tile<32, 32, 1, 1, 32, 1, 1, 1>,
             Tile<4, 64, 1, 1, 32, 1, 1, 1>, Tile<8, 64, 1, 1, 32, 1, 1, 1>, Tile<16, 64, 1, 1, 32, 1, 1, 1>,
             Tile<4, 128, 1, 1, 32, 1, 1, 1>, Tile<8, 128, 1, 1, 32, 1, 1, 1>>;
constexpr auto table = built<Coalesced, float, float, nn, gate_none>(Forward());

}  // namespace

std::span<const Built> built_02() { return table; }

}  // namespace kernels::glass
