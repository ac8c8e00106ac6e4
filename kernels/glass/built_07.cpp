#include "kernels/device/07_tensor_core.cuh"
#include "kernels/glass/built_table.hpp"

namespace kernels::glass {

namespace {

using namespace device;
MEMWALL_KERNEL(TensorCore, "07_tensor_core.cuh", tensor_core);

using Forward = TileList<Tile<128, 128, 32, 64, 64, 1, 1, 3>, Tile<128, 128, 16, 64, 64, 1, 1, 3>,
                         Tile<128, 128, 64, 64, 64, 1, 1, 3>, Tile<64, 64, 32, 64, 64, 1, 1, 3>,
                         Tile<64, 128, 32, 64, 64, 1, 1, 3>, Tile<128, 64, 32, 64, 64, 1, 1, 3>,
                         Tile<128, 256, 32, 64, 64, 1, 1, 3>, Tile<32, 32, 32, 32, 32, 1, 1, 3>>;
using Backward = TileList<Tile<128, 128, 32, 64, 64, 1, 1, 3>, Tile<128, 128, 16, 64, 64, 1, 1, 3>>;
using Small = TileList<Tile<64, 64, 32, 64, 64, 1, 1, 3>>;
constexpr auto table = join(
    built<TensorCore, bf16, bf16, nn, gate_none>(Forward()), built_backward<TensorCore, bf16, bf16>(Backward()),
    // f32 out: partial slices, an accumulating wgrad, or as asked; and f16
    built<TensorCore, bf16, float, nn, gate_none>(Backward()),
    built<TensorCore, bf16, float, tn, gate_none>(Backward()),
    built<TensorCore, bf16, float, tn, gate_values>(Backward()), built<TensorCore, bf16, float, nt, gate_none>(Small()),
    built<TensorCore, f16, f16, nn, gate_none>(Backward()), built_backward<TensorCore, f16, f16>(Small()));

}  // namespace

std::span<const Built> built_07() { return table; }

}  // namespace kernels::glass
