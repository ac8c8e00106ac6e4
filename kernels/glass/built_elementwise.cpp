#include "kernels/device/elementwise.cuh"
#include "kernels/glass/built_table.hpp"

namespace kernels::glass {

namespace {

using namespace device;

/// An elementwise kernel, N elements a thread.
template <class In, class Out, int N, Layout layout, Gate gate, auto kernel>
constexpr Built pass(std::string_view function) {
    Instance i{};
    i.file = "kernels/device/elementwise.cuh";
    i.function = function;
    i.bm = i.bn = i.bk = i.wm = i.wn = i.tm = i.tn = i.stages = i.cluster_rows = i.cluster_cols = 1;
    i.vector = N;
    i.in = dtype_of<In>();
    i.out = dtype_of<Out>();
    i.layout = layout;
    i.gate = gate;
    i.epilogue = decided_at_run_time;
    return {i, entry_of<kernel>()};
}
template <class In, class Out, Layout layout, Gate gate>
using AnyForm = Form<In, Out, layout, gate, decided_at_run_time>;

/// The passes of an element type, N elements a thread: relu, mask by either residual, the sum of slices.
template <class T, int N, int SUM_N>
constexpr auto passes() {
    return std::array{
        pass<T, T, N, nn, gate_none, &relu_pass<N, AnyForm<T, T, nn, gate_none>>>("relu_pass"),
        pass<T, T, N, nt, gate_values, &mask_pass<N, AnyForm<T, T, nt, gate_values>>>("mask_pass"),
        pass<T, T, N, nt, gate_bits, &mask_pass<N, AnyForm<T, T, nt, gate_bits>>>("mask_pass"),
        pass<float, T, SUM_N, nn, gate_none, &reduce_slices<SUM_N, AnyForm<float, T, nn, gate_none>>>("reduce_slices"),
    };
}
constexpr auto table = join(passes<float, 4, 4>(), passes<float, 1, 1>(), passes<bf16, 8, 4>(), passes<bf16, 1, 1>(),
                            passes<f16, 8, 4>(), passes<f16, 1, 1>());

}  // namespace

std::span<const Built> built_elementwise() { return table; }

}  // namespace kernels::glass
