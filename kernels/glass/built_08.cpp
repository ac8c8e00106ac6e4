#include "kernels/device/08_grouped_persistent.cuh"
#include "kernels/glass/built_table.hpp"

namespace kernels::glass {

namespace {

using namespace device;
MEMWALL_KERNEL(GroupedPersistent, "08_grouped_persistent.cuh", grouped_persistent);

using Forward = TileList<Tile<128, 128, 32, 64, 64, 1, 1, 3>, Tile<128, 128, 16, 64, 64, 1, 1, 3>,
                         Tile<128, 128, 64, 64, 64, 1, 1, 3>, Tile<64, 64, 32, 64, 64, 1, 1, 3>,
                         Tile<64, 128, 32, 64, 64, 1, 1, 3>, Tile<128, 64, 32, 64, 64, 1, 1, 3>,
                         Tile<128, 256, 32, 64, 64, 1, 1, 3>, Tile<32, 32, 32, 32, 32, 1, 1, 3>>;
using Backward = TileList<Tile<128, 128, 32, 64, 64, 1, 1, 3>, Tile<128, 128, 16, 64, 64, 1, 1, 3>>;
using Small = TileList<Tile<64, 64, 32, 64, 64, 1, 1, 3>>;
constexpr auto table = join(built<GroupedPersistent, bf16, bf16, nn, gate_none>(Forward()),
                            built_backward<GroupedPersistent, bf16, bf16>(Backward()),
                            // f32 out: partial slices, an accumulating wgrad, or as asked; and f16
                            built<GroupedPersistent, bf16, float, nn, gate_none>(Backward()),
                            built<GroupedPersistent, bf16, float, tn, gate_none>(Backward()),
                            built<GroupedPersistent, bf16, float, tn, gate_values>(Backward()),
                            built<GroupedPersistent, bf16, float, nt, gate_none>(Small()),
                            built<GroupedPersistent, f16, f16, nn, gate_none>(Backward()),
                            built_backward<GroupedPersistent, f16, f16>(Small()));

}  // namespace

std::span<const Built> built_08() { return table; }

}  // namespace kernels::glass
