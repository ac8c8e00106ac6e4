#include "kernels/ladder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <limits>

#include "kernels/device/shape.cuh"
#include "sim/plan.hpp"
#include "sim/units.hpp"

namespace kernels {

using device::Gate;
using device::Layout;
using sim::Engine;
using sim::Fit;
using sim::Fusion;
using sim::Pass;
using sim::Pipeline;
using sim::Residual;
using sim::Schedule;
using sim::Shape2;

namespace {

constexpr std::string_view elementwise_file = "kernels/device/elementwise.cuh";

// id, file, function, arch, simt, register tile, vector copies, async copies, tma
constexpr DeviceRung rung_table[] = {
    {"01_naive", "kernels/device/01_naive.cuh", "naive", 75, true, false, false, false, false},
    {"02_coalesced", "kernels/device/02_coalesced.cuh", "coalesced", 75, true, false, false, false, false},
    {"03_shared_tile", "kernels/device/03_shared_tile.cuh", "shared_tile", 75, true, false, false, false, false},
    {"04_register_tile", "kernels/device/04_register_tile.cuh", "register_tile", 75, true, true, false, false, false},
    {"05_vector_loads", "kernels/device/05_vector_loads.cuh", "vector_loads", 75, true, true, true, false, false},
    {"06_async_copy", "kernels/device/06_async_copy.cuh", "async_copy", 80, true, true, true, true, false},
    {"07_tensor_core", "kernels/device/07_tensor_core.cuh", "tensor_core", 80, false, true, true, true, false},
    {"08_grouped_persistent", "kernels/device/08_grouped_persistent.cuh", "grouped_persistent", 80, false, true, true,
     true, false},
    {"09_tma_wgmma", "kernels/device/09_tma_wgmma.cuh", "tma_wgmma", 90, false, true, true, true, true},
    {"10_tcgen05", "kernels/device/10_tcgen05.cuh", "tcgen05", 100, false, true, true, true, true},
};
constexpr int rung_count = std::size(rung_table);

constexpr sim::Dtype dtypes[] = {sim::Dtype::f32, sim::Dtype::bf16, sim::Dtype::f16};
constexpr Pass passes[] = {Pass::forward, Pass::dgrad, Pass::wgrad};

constexpr Layout layout_of(Pass pass) {
    return pass == Pass::dgrad ? device::nt : pass == Pass::wgrad ? device::tn : device::nn;
}

constexpr std::string_view needs_of(const DeviceRung& r, sim::Dtype dtype, Pass pass) {
    const bool narrow = dtype != sim::Dtype::f32;
    if (r.simt && narrow) return "f32 operands: its threads multiply f32 (07_tensor_core takes bf16 and f16)";
    if (!r.simt && !narrow) return "bf16 or f16 operands: tensor cores have no f32 (06_async_copy takes it)";
    if (r.simt && !r.register_tile && r.id < "03" && pass != Pass::forward)
        return "both operands as they lie in memory: a transpose of {transpose} (03_shared_tile turns its tiles)";
    if (r.id >= "10" && pass != Pass::forward)
        return "both operands as they lie in memory: a transpose of {transpose} (07_tensor_core turns its fragments)";
    return "";
}

constexpr auto make_legal() {
    std::array<Legal, static_cast<std::size_t>(rung_count) * std::size(dtypes) * std::size(passes)> table{};
    std::size_t i = 0;
    for (const DeviceRung& r : rung_table)
        for (const sim::Dtype dtype : dtypes)
            for (const Pass pass : passes) table[i++] = {r.id, dtype, pass, layout_of(pass), needs_of(r, dtype, pass)};
    return table;
}
constexpr auto legal_rows = make_legal();

int size_of(sim::Dtype t) { return static_cast<int>(sim::storage_bytes(t)); }

/// Rung from engine and pipeline where an experiment names none.
std::string_view usual_rung(const sim::Experiment& e) {
    switch (e.engine) {
        case Engine::mma: return e.schedule.kind == Schedule::persistent ? "08_grouped_persistent" : "07_tensor_core";
        case Engine::wgmma: return "09_tma_wgmma";
        case Engine::tcgen05: return "10_tcgen05";
        default: break;
    }
    return e.pipeline == Pipeline::none         ? "04_register_tile"
           : e.pipeline == Pipeline::multistage ? "06_async_copy"
                                                : "05_vector_loads";
}

/// How a warp's 32 lanes stand where a lane has one output, along the rows of the tile or its columns.
Shape2 warp_along(const sim::Tile& t, bool rows) {
    const int along = static_cast<int>(std::min<i64>(rows ? t.bm : t.bn, 32)), across = std::max(1, 32 / along);
    return rows ? Shape2{along, across} : Shape2{across, along};
}

/// Warp and thread tile of a matmul: what was said, else what suits the tile.
void resolve_shapes(const DeviceRung& r, const sim::Tile& t, Shape2& warp, Shape2& thread) {
    if (!r.simt) {
        if (warp.rows == 0)
            warp = {static_cast<int>(std::min<i64>(t.bm, 64)), static_cast<int>(std::min<i64>(t.bn, r.tma ? 256 : 64))};
        thread = {1, 1};
        return;
    }
    if (!r.register_tile) {
        thread = {1, 1};
        warp = warp_along(t, r.number() == 1);
        return;
    }
    // 4 x 8 lanes of the largest thread tile that leaves whole warps: 8x8 on a 128x128 tile.
    if (thread.rows == 0) {
        const int least = r.vector_copies ? 4 : 1;
        const auto largest = [&](i64 size, int lanes) {
            int n = 8;
            while (n > least && size % (lanes * n) != 0) n /= 2;
            return n;
        };
        const int lanes_m = warp.rows && warp.rows < 4 ? warp.rows : 4;
        thread = {largest(warp.rows ? warp.rows : t.bm, lanes_m), largest(warp.cols ? warp.cols : t.bn, 32 / lanes_m)};
    }
    if (warp.rows == 0) warp = {4 * thread.rows, 8 * thread.cols};
}

/// Elements that elementwise threads move at a time.
int vector_width(const DeviceKernel& k) {
    const int size = k.name == "reduce" ? 4 : size_of(k.left);
    const int n = 16 / size;
    return k.dense.pitch == sim::Pitch::padded && k.tile.bn % n == 0 ? n : 1;
}

std::string_view type_name(sim::Dtype t) {
    switch (t) {
        case sim::Dtype::bf16: return "kernels::device::bf16";
        case sim::Dtype::f16: return "kernels::device::f16";
        default: return "float";
    }
}

i64 round128(i64 bytes) { return sim::round_up(bytes, 128); }

}  // namespace

std::span<const DeviceRung> device_rungs() { return rung_table; }

const DeviceRung* find_device_rung(std::string_view id) {
    for (const DeviceRung& r : rung_table)
        if (r.id == id) return &r;
    return nullptr;
}

std::span<const Legal> legal_table() { return legal_rows; }

sim::Experiment resolved(const sim::Experiment& e) {
    sim::Experiment out = e;
    if (out.rung.empty()) out.rung = usual_rung(e);
    const DeviceRung* r = find_device_rung(out.rung);
    assert(r);
    const sim::Rung* known = sim::find_rung(out.rung, sim::DeviceKind::gpu);
    out.engine = known->engine;
    out.pipeline = known->pipeline;
    if (!r->async_copies) out.stages = r->number() == 5 ? 2 : 1;
    // Under train each pass has a tile of its own, and its warp tile follows from that.
    if (e.pass != Pass::train)
        resolve_shapes(*r, out.tile, out.warp, out.thread);
    else if (r->simt && !r->register_tile)
        out.thread = {1, 1};
    return out;
}

namespace {

/// The kernels of one experiment, made one after another in the order of sim::plan.
class Planner {
public:
    Planner(const sim::Experiment& e, i64 slots)
        : e_(e), rung_(find_device_rung(e.rung.empty() ? usual_rung(e) : std::string_view(e.rung))), slots_(slots) {
        assert(rung_);
    }

    std::vector<DeviceKernel> all() {
        for (const sim::Kernel& k : sim::plan(e_)) {
            if (k.matmul)
                matmul(k);
            else if (k.name == "reduce")
                reduce(k);
            else
                elementwise(k);
        }
        return std::move(out_);
    }

private:
    DeviceKernel base(const sim::Kernel& k) {
        DeviceKernel d;
        d.rung = rung_;
        d.name = name_of(k);
        d.pass = k.pass;
        d.dense = e_.dense;
        d.extent = k.extent;
        d.tile = k.tile;
        d.left = e_.dense.dtype;
        d.out = e_.dense.out;
        d.raster = e_.raster;
        return d;
    }
    static std::string_view name_of(const sim::Kernel& k) {
        for (const std::string_view name : {"matmul", "dgrad", "wgrad", "relu", "mask", "reduce"})
            if (k.name == name) return name;
        return "";
    }

    void matmul(const sim::Kernel& k) {
        DeviceKernel d = base(k);
        d.layout = layout_of(k.pass);
        if (k.pass != Pass::forward) d.left = e_.dense.out;  // the operand that must match is the gradient
        if (k.pass != Pass::forward) d.out = k.pass == Pass::wgrad && e_.accumulate ? sim::Dtype::f32 : e_.dense.dtype;
        if (k.pass != Pass::forward && e_.fusion == Fusion::fused)
            d.gate = e_.residual == Residual::mask ? device::gate_bits : device::gate_values;
        d.warp = e_.warp;
        d.thread = e_.thread;
        resolve_shapes(*rung_, d.tile, d.warp, d.thread);
        d.stages = rung_->async_copies ? std::max(e_.stages, rung_->tma ? 1 : 2) : rung_->number() == 5 ? 2 : 1;
        d.cluster = e_.cluster;
        d.consumers = e_.consumers;
        d.splits = k.splits;
        d.stream_k = e_.schedule.kind == Schedule::stream_k;
        d.persistent = e_.schedule.kind == Schedule::persistent;
        d.slots = d.persistent ? slots_ : 0;
        finish_ = flags(k.pass);
        d.epilogue = e_.schedule.kind == Schedule::split_k ? int{device::as_partial} : finish_;
        out_.push_back(d);
    }

    /// What happens to a finished sum of a pass.
    int flags(Pass pass) const {
        const bool masks = e_.residual == Residual::mask;
        int f = 0;
        if (pass == Pass::forward) {
            if (e_.dense.bias) f |= device::with_bias;
            const bool fused = e_.fusion == Fusion::fused || e_.fusion == Fusion::upstream;
            if (fused) f |= device::with_relu;
            if (fused && masks) f |= device::with_bits;
        }
        if (pass == Pass::dgrad && e_.fusion == Fusion::upstream && e_.drelu)
            f |= masks ? device::test_bits : device::test_values;
        if (pass == Pass::wgrad && e_.accumulate) f |= device::with_accumulate;
        return f;
    }

    void reduce(const sim::Kernel& k) {
        DeviceKernel d = base(k);
        d.out = out_.back().out;
        d.left = sim::Dtype::f32;
        d.splits = out_.back().splits;
        d.epilogue = finish_;
        d.thread = d.warp = {1, 1};
        out_.push_back(d);
    }

    void elementwise(const sim::Kernel& k) {
        DeviceKernel d = base(k);
        d.left = e_.dense.out;
        d.in_place = k.in_place;
        d.reverse = k.reverse;
        d.thread = d.warp = {1, 1};
        if (k.name == "relu") {
            d.epilogue = device::with_relu;
            if (e_.pass == Pass::train && e_.residual == Residual::mask) d.epilogue |= device::with_bits;
        } else {
            d.layout = device::nt;  // the gated operand is the left one
            d.gate = e_.residual == Residual::mask ? device::gate_bits : device::gate_values;
        }
        out_.push_back(d);
    }

    const sim::Experiment& e_;
    const DeviceRung* rung_;
    i64 slots_;
    int finish_ = 0;
    std::vector<DeviceKernel> out_;
};

}  // namespace

std::vector<DeviceKernel> kernels_of(const sim::Experiment& e, i64 slots) { return Planner(e, slots).all(); }

i64 DeviceKernel::partial_bytes() const {
    const bool touches = name == "reduce" || (epilogue & device::as_partial) != 0;
    return touches ? 4 * splits * dense.batch * extent.rows * sim::round_up(extent.cols, 4) : 0;
}

int block_threads(const DeviceKernel& k) {
    if (!k.matmul()) return 256;
    if (k.rung->tma) {
        const bool pingpong = k.consumers == sim::Consumers::pingpong;
        const int computing = pingpong ? 2 : static_cast<int>(std::clamp<i64>(k.tile.bm / 64, 1, 2));
        return k.rung->number() == 9 ? 128 * (computing + 1) : 192;
    }
    const i64 warps = k.tile.bm / std::max(1, k.warp.rows) * (k.tile.bn / std::max(1, k.warp.cols));
    return static_cast<int>(std::min<i64>(32 * warps, 1 << 20));
}

i64 smem_bytes(const DeviceKernel& k) {
    if (!k.matmul() || k.rung->id < "03") return 0;
    const i64 size = size_of(k.dense.dtype);
    i64 bytes = 0;
    const auto operand = [&](i64 outer, bool red_along, bool gated) {
        const i64 lines = red_along ? outer : k.tile.bk, length = red_along ? k.tile.bk : outer;
        i64 elements = lines * length;
        if (k.rung->simt && !k.rung->async_copies && red_along)  // turned: (BK, outer + skew)
            elements = k.tile.bk * (outer + device::skew(static_cast<int>(k.tile.bk), k.rung->vector_copies));
        const Gate gate = gated ? k.gate : device::gate_none;
        bytes += round128(k.stages * elements * size) * (gate == device::gate_values ? 2 : 1);
        if (gate == device::gate_bits)
            bytes += round128(k.stages * lines * device::bit_pitch(static_cast<int>(length)) / 8);
    };
    operand(k.tile.bm, k.layout != device::tn, k.layout == device::nt);
    operand(k.tile.bn, k.layout == device::nt, k.layout == device::tn);
    if (k.rung->number() == 9) bytes += 2 * round128(8 * k.stages) + 128;  // barriers: full, empty, turn
    if (k.rung->number() == 10) bytes += 1024 + 16 * k.stages + 64;        // aligned to the swizzle; the barriers
    return bytes;
}

Instance instance_of(const DeviceKernel& k) {
    Instance i{};
    i.in = k.left;
    i.out = (k.epilogue & device::as_partial) != 0 ? sim::Dtype::f32 : k.out;
    i.layout = k.layout;
    i.gate = k.gate;
    i.epilogue = k.epilogue;
    i.bm = i.bn = i.bk = i.wm = i.wn = i.tm = i.tn = i.stages = 1;
    i.cluster_rows = i.cluster_cols = 1;
    i.vector = 1;
    if (!k.matmul()) {
        i.file = elementwise_file;
        i.function = k.name == "relu" ? "relu_pass" : k.name == "mask" ? "mask_pass" : "reduce_slices";
        i.vector = vector_width(k);
        return i;
    }
    i.file = k.rung->file;
    i.function = k.rung->function;
    i.bm = static_cast<int>(k.tile.bm);
    i.bn = static_cast<int>(k.tile.bn);
    i.bk = k.rung->id < "03" ? 1 : static_cast<int>(k.tile.bk);
    i.wm = k.warp.rows;
    i.wn = k.warp.cols;
    i.tm = k.thread.rows;
    i.tn = k.thread.cols;
    i.stages = k.stages;
    i.cluster_rows = k.cluster.rows;
    i.cluster_cols = k.cluster.cols;
    i.pingpong = k.consumers == sim::Consumers::pingpong;
    return i;
}

std::string name_expression(const Instance& i) {
    constexpr std::string_view layouts[] = {"nn", "nt", "tn"}, gates[] = {"gate_none", "gate_values", "gate_bits"};
    const std::string form =
        fmt::format("kernels::device::Form<{}, {}, kernels::device::{}, kernels::device::{}, {}>", type_name(i.in),
                    type_name(i.out), layouts[i.layout], gates[i.gate], i.epilogue);
    if (i.file == elementwise_file) return fmt::format("kernels::device::{}<{}, {} >", i.function, i.vector, form);
    std::string tail;
    if (find_device_rung(i.file.substr(15, i.file.size() - 19))->tma)
        tail = fmt::format(", {}, {}, {}", i.cluster_rows, i.cluster_cols, i.pingpong);
    return fmt::format("kernels::device::{}<kernels::device::Tile<{}, {}, {}, {}, {}, {}, {}, {}>, {}{} >", i.function,
                       i.bm, i.bn, i.bk, i.wm, i.wn, i.tm, i.tn, i.stages, form, tail);
}

Launch launch_of(const DeviceKernel& k) {
    const Instance i = instance_of(k);
    Launch l;
    l.file = i.file;
    l.name_expression = name_expression(i);
    l.grid = k.work_items();
    const i64 size = i64{k.cluster.rows} * k.cluster.cols;  // whole clusters
    if (k.persistent && k.slots > 0) l.grid = std::min(l.grid, std::max(size, k.slots / size * size));
    l.block = block_threads(k);
    l.smem_bytes = smem_bytes(k);
    l.cluster = k.matmul() ? k.cluster : Shape2{1, 1};
    l.tensor_maps = k.matmul() && k.rung->tma;
    return l;
}

device::Params params_of(const DeviceKernel& k, const Operands& o, void* partial) {
    const auto plane = [](const Matrix& m) { return device::Plane{m.data, m.pitch, m.batch_pitch}; };
    const auto bit_plane = [](const BitMatrix& m) { return device::Plane{m.data, m.pitch, m.batch_pitch}; };
    device::Params p{};
    const Matrix& ready = k.gate == device::gate_none ? o.dz : o.dy;
    if (k.name == "matmul") p.left = plane(o.x), p.right = plane(o.w);
    if (k.name == "dgrad") p.left = plane(ready), p.right = plane(o.w);
    if (k.name == "wgrad") p.left = plane(o.x), p.right = plane(ready);
    if (k.name == "relu") p.left = plane(o.z);
    if (k.name == "mask") p.left = plane(o.dy);
    if (k.gate == device::gate_values) p.gate = plane(o.y);
    if (k.gate == device::gate_bits) p.gate = bit_plane(o.mask);
    p.bias = plane(o.bias);
    p.test = (k.epilogue & device::test_bits) != 0 ? bit_plane(o.x_mask) : plane(o.x);
    p.bits = bit_plane(o.mask);
    if (k.name == "relu")
        p.out = plane(o.y);
    else if (k.name == "mask")
        p.out = plane(o.dz);
    else if (k.pass == Pass::forward)
        p.out = plane((k.epilogue & device::with_relu) != 0 ? o.y : o.z);
    else
        p.out = plane(k.pass == Pass::dgrad ? o.dx : o.dw);
    const i64 slice_pitch = sim::round_up(k.extent.cols, 4);
    p.partial = {partial, slice_pitch, k.extent.rows * slice_pitch};
    p.rows = static_cast<int>(k.extent.rows);
    p.cols = static_cast<int>(k.extent.cols);
    p.red = static_cast<int>(k.extent.red);
    p.tile_rows = static_cast<int>(k.tile.bm);
    p.tile_cols = static_cast<int>(k.tile.bn);
    p.row_tiles = static_cast<int>(k.row_tiles());
    p.col_tiles = static_cast<int>(k.col_tiles());
    p.batch = static_cast<int>(k.dense.batch);
    p.k_steps = static_cast<int>(k.k_steps());
    p.splits = k.splits;
    p.epilogue = k.epilogue;
    p.reverse = k.reverse;
    p.work_items = k.work_items();
    p.raster = k.raster;
    return p;
}

TensorBoxes tensor_boxes(const DeviceKernel& k, const Operands& o) {
    // CTAs of a cluster that want the same tile load a part each.
    const auto box = [&](const Matrix& m, i64 outer, bool red_along, int parts) {
        const i64 size = size_of(m.dtype), row = 128 / size;  // elements of a swizzled row
        TensorBox b;
        b.data = m.data;
        b.dtype = m.dtype;
        b.length = m.cols;
        b.lines = m.rows;
        b.batch = k.dense.batch;
        b.pitch_bytes = m.pitch * size;
        b.batch_pitch_bytes = m.batch_pitch * size;
        b.box_length = static_cast<int>(row);
        b.box_lines = static_cast<int>((red_along ? outer : k.tile.bk) / parts);
        return b;
    };
    const Matrix& ready = k.gate == device::gate_none ? o.dz : o.dy;
    const bool left_along = k.layout != device::tn, right_along = k.layout == device::nt;
    TensorBoxes boxes;
    boxes.left = box(k.pass == Pass::dgrad ? ready : o.x, k.tile.bm, left_along, k.cluster.cols);
    boxes.right = box(k.pass == Pass::wgrad ? ready : o.w, k.tile.bn, right_along, k.cluster.rows);
    if (k.gate == device::gate_values)
        boxes.gate = k.layout == device::nt ? box(o.y, k.tile.bm, true, k.cluster.cols)
                                            : box(o.y, k.tile.bn, false, k.cluster.rows);
    return boxes;
}

}  // namespace kernels
