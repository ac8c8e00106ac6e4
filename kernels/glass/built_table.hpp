#pragma once
// How built_NN.cpp writes its table: a kernel, tiles and forms; each combination becomes one Built.

#include <array>

#include "kernels/device/shape.cuh"
#include "kernels/glass/built.hpp"
#include "kernels/glass/primitives.hpp"

namespace kernels::glass {

template <class... Tiles>
struct TileList {};

template <class T>
constexpr sim::Dtype dtype_of() {
    if constexpr (std::is_same_v<T, device::bf16>)
        return sim::Dtype::bf16;
    else if constexpr (std::is_same_v<T, device::f16>)
        return sim::Dtype::f16;
    else
        return sim::Dtype::f32;
}

/// `Kernel<Tile, Form>` has `file`, `function` and `entry`.
template <class Kernel, class Tile, class In, class Out, device::Layout layout, device::Gate gate>
constexpr Built built() {
    Instance i{};
    i.file = Kernel::file;
    i.function = Kernel::function;
    i.bm = Tile::BM, i.bn = Tile::BN, i.bk = Tile::BK, i.wm = Tile::WM, i.wn = Tile::WN, i.tm = Tile::TM,
    i.tn = Tile::TN;
    i.stages = Tile::STAGES;
    i.cluster_rows = i.cluster_cols = i.vector = 1;
    i.in = dtype_of<In>();
    i.out = dtype_of<Out>();
    i.layout = layout;
    i.gate = gate;
    i.epilogue = device::decided_at_run_time;
    return {i, Kernel::entry};
}

/// One layout and gate, every tile.
template <template <class, class> class Kernel, class In, class Out, device::Layout layout, device::Gate gate,
          class... Tiles>
constexpr auto built(TileList<Tiles...>) {
    using device::Form;
    return std::array{built<Kernel<Tiles, Form<In, Out, layout, gate, device::decided_at_run_time>>, Tiles, In, Out,
                            layout, gate>()...};
}

/// dgrad and wgrad under every gate, every tile.
template <template <class, class> class Kernel, class In, class Out, class... Tiles>
constexpr auto built_backward(TileList<Tiles...> tiles);

template <class T, std::size_t... sizes>
constexpr auto join(const std::array<T, sizes>&... parts) {
    std::array<T, (sizes + ...)> all{};
    std::size_t at = 0;
    const auto add = [&](const auto& part) {
        for (const T& one : part) all[at++] = one;
    };
    (add(parts), ...);
    return all;
}

template <template <class, class> class Kernel, class In, class Out, class... Tiles>
constexpr auto built_backward(TileList<Tiles...> tiles) {
    using namespace device;
    return join(built<Kernel, In, Out, nt, gate_none>(tiles), built<Kernel, In, Out, nt, gate_values>(tiles),
                built<Kernel, In, Out, nt, gate_bits>(tiles), built<Kernel, In, Out, tn, gate_none>(tiles),
                built<Kernel, In, Out, tn, gate_values>(tiles), built<Kernel, In, Out, tn, gate_bits>(tiles));
}

}  // namespace kernels::glass

/// A kernel template of kernels/device/FILE as `Kernel<Tile, Form>`.
#define MEMWALL_KERNEL(Kernel, FILE, FUNCTION)                                                 \
    template <class Tile, class Form>                                                          \
    struct Kernel {                                                                            \
        static constexpr std::string_view file = "kernels/device/" FILE, function = #FUNCTION; \
        static constexpr ::kernels::glass::Entry entry =                                       \
            ::kernels::glass::entry_of<&::kernels::device::FUNCTION<Tile, Form>>();            \
    }
