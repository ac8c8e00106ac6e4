#include "sim/plan.hpp"

#include <algorithm>

#include "sim/traits.hpp"

namespace sim {

namespace {

/// The tensors of a layer as they lie in memory.
Tensor tensor(const Experiment& e, Operand o) {
    const Dense& d = e.dense;
    const i64 in = 8 * storage_bytes(d.dtype), out = 8 * storage_bytes(d.out);
    switch (o) {
        case Operand::x: return {o, d.m, d.k, in, 0};
        case Operand::w: return {o, d.k, d.n, in, 0};
        case Operand::bias: return {o, 1, d.n, out, 0};
        case Operand::mask: return {o, d.m, d.n, 1, 0};
        case Operand::dx: return {o, d.m, d.k, in, 0};
        case Operand::dw: return {o, d.k, d.n, e.accumulate ? 32 : in, 0};
        default: return {o, d.m, d.n, out, 0};  // z y dy dz
    }
}

/// The operands that the operation itself must read, whatever its fusion.
bool reads_compulsorily(const Experiment& e, Operand o) {
    const bool ready =
        e.fusion == Fusion::none || e.fusion == Fusion::upstream;  // dZ stands in for dY and its residual
    const bool gradient = ready ? o == Operand::dz : o == Operand::dy;
    const bool residual = !ready && o == (e.residual == Residual::mask ? Operand::mask : Operand::y);
    switch (e.pass) {
        case Pass::forward: return o == Operand::x || o == Operand::w || o == Operand::bias;
        case Pass::dgrad:
            return gradient || residual || o == Operand::w ||
                   (e.drelu && o == (e.residual == Residual::mask ? Operand::mask : Operand::x));
        case Pass::wgrad: return gradient || residual || o == Operand::x || (e.accumulate && o == Operand::dw);
        case Pass::train: return gradient || o == Operand::x || o == Operand::w || (e.accumulate && o == Operand::dw);
    }
    return false;
}

Access access(const Experiment& whole, Operand o, Axis row_axis, Axis col_axis) {
    return {tensor(whole, o), row_axis, col_axis, reads_compulsorily(whole, o), 1};
}

Operand residual_of(const Experiment& e) { return e.residual == Residual::mask ? Operand::mask : Operand::y; }

/// The pass over Z or dY that an unfused run adds: reads `in`, writes `out`, tiled rows x cols.
Kernel elementwise(const Experiment& whole, const char* name, Pass pass, i64 rows_tile, i64 cols_tile,
                   std::initializer_list<Operand> in, Operand out) {
    Kernel k;
    k.name = name;
    k.matmul = false;
    k.pass = pass;
    k.extent = {whole.dense.m, whole.dense.n, 1};
    k.tile = {rows_tile, cols_tile, 1};
    k.batch = whole.dense.batch;
    for (Operand o : in) k.epilogue.push_back(access(whole, o, Axis::rows, Axis::cols));
    k.outputs.push_back(access(whole, out, Axis::rows, Axis::cols));
    k.in_place = whole.in_place;
    k.reverse = has_trait(whole, "relu", "reverse");
    return k;
}

Kernel matmul(const Experiment& one, const char* name) {
    Kernel k;
    k.name = name;
    k.pass = one.pass;
    k.extent = extent(one.dense, one.pass);
    k.tile = one.tile;
    k.batch = one.dense.batch;
    return k;
}

/// Partial sums of a kernel's outputs, `slices` of each.
Access partials(const Kernel& k, int slices) {
    return {{Operand::partial, k.extent.rows, k.extent.cols, 32, static_cast<int>(k.pass)},
            Axis::rows,
            Axis::cols,
            false,
            slices};
}

/// Cuts the last matmul's reduction as the schedule says: split-K slices and a kernel that reduces them and writes what
/// the matmul would have written, or partial sums within a stream-K matmul.
void cut_reduction(const Experiment& one, std::vector<Kernel>& kernels) {
    Kernel& k = kernels.back();
    if (one.schedule.kind == Schedule::stream_k) k.partial = partials(k, 1);
    if (one.schedule.kind != Schedule::split_k) return;
    Kernel reduce;
    reduce.name = "reduce";
    reduce.matmul = false;
    reduce.pass = k.pass;
    reduce.extent = {k.extent.rows, k.extent.cols, 1};
    reduce.tile = {k.tile.bm, k.tile.bn, 1};
    reduce.batch = k.batch;
    k.splits = static_cast<int>(std::min<i64>(one.schedule.splits, k.k_steps()));
    const Access slices = partials(k, k.splits);
    reduce.epilogue = {slices};
    reduce.epilogue.insert(reduce.epilogue.end(), k.epilogue.begin(), k.epilogue.end());
    reduce.outputs = std::move(k.outputs);
    k.epilogue.clear();
    k.outputs = {slices};
    kernels.push_back(std::move(reduce));
}

void add_forward(const Experiment& whole, const Experiment& one, std::vector<Kernel>& kernels) {
    Kernel k = matmul(one, "matmul");
    k.left = {access(whole, Operand::x, Axis::rows, Axis::red)};
    k.right = {access(whole, Operand::w, Axis::red, Axis::cols)};
    if (one.dense.bias) k.epilogue = {access(whole, Operand::bias, Axis::one, Axis::cols)};
    k.outputs = {access(whole, one.fusion == Fusion::fused ? Operand::y : Operand::z, Axis::rows, Axis::cols)};
    if (one.fusion == Fusion::fused && one.residual == Residual::mask)
        k.outputs.push_back(access(whole, Operand::mask, Axis::rows, Axis::cols));
    kernels.push_back(std::move(k));
    cut_reduction(one, kernels);
    if (one.fusion == Fusion::unfused)
        kernels.push_back(
            elementwise(whole, "relu", Pass::forward, one.tile.bm, one.tile.bn, {Operand::z}, Operand::y));
}

void add_dgrad(const Experiment& whole, const Experiment& one, std::vector<Kernel>& kernels) {
    Kernel k = matmul(one, "dgrad");
    const bool masks_on_load = one.fusion == Fusion::fused;
    k.left = {access(whole, masks_on_load ? Operand::dy : Operand::dz, Axis::rows, Axis::red)};
    if (masks_on_load) k.left.push_back(access(whole, residual_of(one), Axis::rows, Axis::red));
    k.right = {access(whole, Operand::w, Axis::cols, Axis::red)};
    if (one.drelu) {
        Access positive =
            access(whole, one.residual == Residual::mask ? Operand::mask : Operand::x, Axis::rows, Axis::cols);
        if (one.residual == Residual::mask) {
            positive.tensor = {Operand::mask, whole.dense.m, whole.dense.k, 1, 1};
            positive.compulsory = whole.pass == Pass::dgrad;
        }
        k.epilogue = {positive};
    }
    k.outputs = {access(whole, Operand::dx, Axis::rows, Axis::cols)};
    kernels.push_back(std::move(k));
    cut_reduction(one, kernels);
}

void add_wgrad(const Experiment& whole, const Experiment& one, std::vector<Kernel>& kernels) {
    Kernel k = matmul(one, "wgrad");
    const bool masks_on_load = one.fusion == Fusion::fused;
    k.left = {access(whole, Operand::x, Axis::red, Axis::rows)};
    k.right = {access(whole, masks_on_load ? Operand::dy : Operand::dz, Axis::red, Axis::cols)};
    if (masks_on_load) k.right.push_back(access(whole, residual_of(one), Axis::red, Axis::cols));
    if (one.accumulate) k.epilogue = {access(whole, Operand::dw, Axis::rows, Axis::cols)};
    k.outputs = {access(whole, Operand::dw, Axis::rows, Axis::cols)};
    kernels.push_back(std::move(k));
    cut_reduction(one, kernels);
}

void add_mask(const Experiment& whole, Pass pass, i64 rows_tile, i64 cols_tile, std::vector<Kernel>& kernels) {
    kernels.push_back(
        elementwise(whole, "mask", pass, rows_tile, cols_tile, {Operand::dy, residual_of(whole)}, Operand::dz));
}

}  // namespace

std::vector<Kernel> plan(const Experiment& e) {
    const auto unknown = [](const std::optional<Tile>& t) { return !t || t->is_best(); };
    if (e.tile.is_best() || (e.pass == Pass::train && (unknown(e.tile_dgrad) || unknown(e.tile_wgrad)))) return {};
    std::vector<Kernel> kernels;
    const bool unfused = e.fusion == Fusion::unfused;
    switch (e.pass) {
        case Pass::forward: add_forward(e, e, kernels); break;
        case Pass::dgrad:
            if (unfused) add_mask(e, e.pass, e.tile.bm, e.tile.bk, kernels);  // in the tiles dgrad reads dZ by
            add_dgrad(e, e, kernels);
            break;
        case Pass::wgrad:
            if (unfused) add_mask(e, e.pass, e.tile.bk, e.tile.bn, kernels);
            add_wgrad(e, e, kernels);
            break;
        case Pass::train: {
            add_forward(e, single_pass(e, Pass::forward), kernels);
            if (unfused) add_mask(e, Pass::forward, e.tile.bm, e.tile.bn, kernels);  // in the tiles forward wrote Y by
            add_dgrad(e, single_pass(e, Pass::dgrad), kernels);
            add_wgrad(e, single_pass(e, Pass::wgrad), kernels);
            break;
        }
    }
    return kernels;
}

Compulsory compulsory(const Experiment& e) {
    Compulsory c;
    for (int i = 0; i < operand_count; ++i) {
        const auto o = static_cast<Operand>(i);
        if (o == Operand::bias && !e.dense.bias) continue;
        if (!reads_compulsorily(e, o)) continue;
        Tensor t = tensor(e, o);
        if (o == Operand::mask && e.drelu) t.cols = e.dense.k;  // the bits of X
        c.read_bytes += t.bytes(e.dense.batch);
    }
    const auto write = [&](Operand o) { c.write_bytes += tensor(e, o).bytes(e.dense.batch); };
    if (e.pass == Pass::forward || e.pass == Pass::train) write(e.fusion == Fusion::none ? Operand::z : Operand::y);
    if (e.pass == Pass::dgrad || e.pass == Pass::train) write(Operand::dx);
    if (e.pass == Pass::wgrad || e.pass == Pass::train) write(Operand::dw);
    return c;
}

}  // namespace sim
