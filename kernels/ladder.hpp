#pragma once
// The ladder of GPU kernels as data: which rung runs which pass and dtype, an experiment as its launches, and a launch
// as file, template instance, grid and parameters. The glass executor and the CUDA backend both read this.

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/device/params.cuh"
#include "kernels/matrix.hpp"
#include "kernels/not_available.hpp"
#include "kernels/op.hpp"
#include "sim/error.hpp"
#include "sim/tiling.hpp"

namespace kernels {

/// A GPU kernel family. `sim::find_rung(id, gpu)` knows its engine, pipeline and idea.
struct DeviceRung {
    std::string_view id;        ///< "03_shared_tile"
    std::string_view file;      ///< "kernels/device/03_shared_tile.cuh"
    std::string_view function;  ///< the kernel template in kernels::device
    int arch_min;               ///< compute capability x 10 it compiles for; 90 and 100 mean sm_90a and sm_100a
    bool simt;                  ///< computes on the f32 units, else on tensor cores
    bool register_tile;         ///< a thread computes more than one output
    bool vector_copies;         ///< moves 16 bytes at a time: rows start on 16 bytes
    bool async_copies;          ///< cp.async or TMA: several stages in flight
    bool tma;                   ///< takes TensorMaps after Params

    /// 3 of "03_shared_tile".
    constexpr int number() const { return 10 * (id[0] - '0') + (id[1] - '0'); }
};
/// Every rung, in reading order.
std::span<const DeviceRung> device_rungs();
/// The rung of that id, or null.
const DeviceRung* find_device_rung(std::string_view id);

/// Whether a rung can run a pass in a dtype. `needs` is empty where it can, else what it would take; {transpose}
/// there stands for the bytes of a transposed copy.
struct Legal {
    std::string_view rung;
    sim::Dtype dtype;
    sim::Pass pass;
    device::Layout layout;
    std::string_view needs;
};
/// One row for each rung, dtype (f32, bf16, f16) and pass (forward, dgrad, wgrad).
std::span<const Legal> legal_table();

/// One kernel launch as a value.
struct DeviceKernel {
    const DeviceRung* rung = nullptr;  ///< of the matmul, also for the elementwise passes around it
    std::string_view name;             ///< matmul dgrad wgrad relu mask reduce
    sim::Pass pass = sim::Pass::forward;
    sim::Dense dense;  ///< the layer: dtypes, batch and pitch
    sim::Extent extent;
    device::Layout layout = device::nn;
    device::Gate gate = device::gate_none;
    int epilogue = 0;                   ///< device::Epilogue flags
    sim::Dtype left = sim::Dtype::f32;  ///< of the operands; an elementwise pass's input
    sim::Dtype out = sim::Dtype::f32;   ///< of what is stored
    sim::Tile tile;
    sim::Shape2 warp, thread;  ///< resolved
    int stages = 1;
    sim::Shape2 cluster{1, 1};
    sim::Consumers consumers = sim::Consumers::cooperative;
    sim::Raster raster;
    int splits = 1;           ///< split-K slices; a reduce sums as many
    bool persistent = false;  ///< CTAs stay and take tile after tile
    i64 slots = 0;            ///< persistent: CTAs launched; 0 = one a tile
    bool in_place = false, reverse = false;
    bool stream_k = false;  ///< tiles cut across CTAs: no rung does

    bool matmul() const { return name == "matmul" || name == "dgrad" || name == "wgrad"; }
    i64 row_tiles() const { return sim::ceil_div(extent.rows, tile.bm); }
    i64 col_tiles() const { return sim::ceil_div(extent.cols, tile.bn); }
    i64 k_steps() const { return matmul() ? sim::ceil_div(extent.red, tile.bk) : 1; }
    /// Tiles of all problems and slices, and those beyond the edge that fill up a cluster: what the grid, or a
    /// persistent CTA's loop, counts through.
    i64 work_items() const {
        const i64 rows = sim::round_up(row_tiles(), cluster.rows), cols = sim::round_up(col_tiles(), cluster.cols);
        return dense.batch * (matmul() ? splits : 1) * rows * cols;
    }
    /// Bytes of split-K slices it writes or reads; 0 where there are none.
    i64 partial_bytes() const;
    bool operator==(const DeviceKernel&) const = default;
};

/// The experiment with what the kernels will really do made explicit: rung, warp and thread tile, stages. The model's
/// counts of this one are those of the kernels.
sim::Experiment resolved(const sim::Experiment& e);

/// The launches of an experiment, in order. Tiles must not be "best"; `slots` = CTAs of a persistent launch.
std::vector<DeviceKernel> kernels_of(const sim::Experiment& e, i64 slots = 0);

/// Why a kernel cannot be compiled or launched, naming need and limit, or fits. `arch` is compute capability x 10
/// (75 80 86 89 90 100 …); 0 = any.
sim::Fit fits(const DeviceKernel& k, int arch = 0);
/// The same of all launches of an experiment (see `kernels_of`), naming the first that cannot; a device that runs no
/// CUDA has a reason too.
sim::Fit fits(const sim::Experiment& e, int arch);
sim::Fit fits(const sim::Experiment& e, const sim::Device& d);

/// Dynamic shared memory of one CTA, bytes: exactly what the kernel takes.
i64 smem_bytes(const DeviceKernel& k);
/// Threads of a CTA.
int block_threads(const DeviceKernel& k);

/// Which template instance a launch needs. Kernels that differ only here are different code.
struct Instance {
    std::string_view file, function;
    int bm, bn, bk, wm, wn, tm, tn, stages;  ///< Tile<…>; 1 where the code does not depend on it
    int cluster_rows, cluster_cols, pingpong;
    int vector;  ///< elements an elementwise thread moves at a time
    sim::Dtype in, out;
    device::Layout layout;
    device::Gate gate;
    int epilogue;  ///< flags, or decided_at_run_time
    bool operator==(const Instance&) const = default;
};
Instance instance_of(const DeviceKernel& k);
/// "kernels::device::shared_tile<kernels::device::Tile<…>, kernels::device::Form<…>>", as NVRTC takes it.
std::string name_expression(const Instance& i);

/// How a kernel is launched.
struct Launch {
    std::string file;             ///< the .cuh to compile, from the root
    std::string name_expression;  ///< the instance
    i64 grid = 1;                 ///< CTAs, one dimension
    int block = 0;                ///< threads
    i64 smem_bytes = 0;           ///< dynamic
    sim::Shape2 cluster{1, 1};    ///< rows x cols = CTAs of a cluster, consecutive in the grid
    bool tensor_maps = false;     ///< TensorMaps follow Params
};
Launch launch_of(const DeviceKernel& k);

/// The kernel's parameters with the addresses of `o` (host or device memory alike). `partial` = partial_bytes().
device::Params params_of(const DeviceKernel& k, const Operands& o, void* partial = nullptr);

/// What a TMA descriptor is encoded from. Dimensions innermost first: length, lines, batch.
struct TensorBox {
    void* data = nullptr;  ///< null: not used by this launch
    sim::Dtype dtype = sim::Dtype::bf16;
    i64 length = 0, lines = 0, batch = 1;
    i64 pitch_bytes = 0, batch_pitch_bytes = 0;
    int box_length = 0, box_lines = 0;
    int swizzle_bytes = 128;
};
struct TensorBoxes {
    TensorBox left, right, gate;
};
/// For the rungs whose launch says tensor_maps.
TensorBoxes tensor_boxes(const DeviceKernel& k, const Operands& o);

}  // namespace kernels
