#include "kernels/device/09_tma_wgmma.cuh"
#include "kernels/glass/built_table.hpp"

namespace kernels::glass {

namespace {

using namespace device;

template <class Tile, class Form, int PINGPONG>
struct TmaWgmma {
    static constexpr std::string_view file = "kernels/device/09_tma_wgmma.cuh", function = "tma_wgmma";
    static constexpr Entry entry = entry_of<&tma_wgmma<Tile, Form, 1, 1, PINGPONG>>();
};
template <class Tile, class Form>
using Cooperative = TmaWgmma<Tile, Form, 0>;
template <class Tile, class Form>
using Pingpong = TmaWgmma<Tile, Form, 1>;

using Forward = TileList<Tile<128, 256, 64, 64, 256, 1, 1, 4>, Tile<128, 128, 64, 64, 128, 1, 1, 4>,
                         Tile<64, 128, 64, 64, 128, 1, 1, 4>, Tile<64, 64, 64, 64, 64, 1, 1, 4>,
                         Tile<128, 64, 64, 64, 64, 1, 1, 1>, Tile<64, 256, 64, 64, 256, 1, 1, 4>,
                         Tile<128, 192, 64, 64, 192, 1, 1, 3>, Tile<128, 128, 128, 64, 128, 1, 1, 2>>;
using Backward = TileList<Tile<128, 128, 64, 64, 128, 1, 1, 4>, Tile<64, 128, 64, 64, 128, 1, 1, 4>>;
using Usual = TileList<Tile<128, 128, 64, 64, 128, 1, 1, 4>>;
using OneStage = TileList<Tile<64, 64, 64, 64, 64, 1, 1, 1>>;
using InTurn = TileList<Tile<64, 128, 64, 64, 128, 1, 1, 4>>;

/// The same instances whose warpgroups take tiles in turn.
template <std::size_t n>
constexpr auto in_turn(std::array<Built, n> table) {
    for (Built& b : table) b.instance.pingpong = 1;
    return table;
}

constexpr auto table = join(
    built<Cooperative, bf16, bf16, nn, gate_none>(Forward()), built_backward<Cooperative, bf16, bf16>(Backward()),
    // f32 out: partial slices, an accumulating wgrad, or as asked; and f16
    built<Cooperative, bf16, float, nn, gate_none>(Usual()), built<Cooperative, bf16, float, tn, gate_none>(Usual()),
    built<Cooperative, bf16, float, tn, gate_values>(Usual()), built<Cooperative, f16, f16, nn, gate_none>(Usual()),
    in_turn(built<Pingpong, bf16, bf16, nn, gate_none>(InTurn())),
    in_turn(built<Pingpong, bf16, bf16, nn, gate_none>(OneStage())),
    in_turn(built<Pingpong, bf16, bf16, nt, gate_values>(InTurn())),
    in_turn(built<Pingpong, bf16, bf16, tn, gate_values>(InTurn())));

}  // namespace

std::span<const Built> built_09() { return table; }

}  // namespace kernels::glass
