#include "kernels/cpu/rung.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <chrono>
#include <string>

#include "kernels/cpu/machine.hpp"

namespace kernels::cpu {

using sim::Fusion;
using sim::Pass;
using sim::Residual;

namespace {

constexpr Pass all_passes[] = {Pass::forward, Pass::dgrad, Pass::wgrad, Pass::train};
constexpr Fusion all_fusions[] = {Fusion::none, Fusion::unfused, Fusion::fused, Fusion::upstream};
constexpr Dtype all_dtypes[] = {Dtype::f32, Dtype::f16, Dtype::bf16};

constexpr Rung table[] = {
    {"01_naive", "three loops, one dot product an output", false, false, all_passes, all_fusions, all_dtypes, naive},
    {"02_loop_order", "the inner loop runs along rows in memory", false, false, all_passes, all_fusions, all_dtypes,
     loop_order},
    {"03_cache_tile", "loops cut into tiles that stay in cache", true, false, all_passes, all_fusions, all_dtypes,
     cache_tile},
    {"04_packed", "packed tiles, vector registers, threads", true, true, all_passes, all_fusions, all_dtypes, packed},
};

Format format_of(Dtype dtype) {
    return dtype == Dtype::f16 ? Format::f16 : dtype == Dtype::bf16 ? Format::bf16 : Format::f32;
}

/// A matrix as source and sink, and what gates it, in problem b of the batch.
Source source_of(const Matrix& m, i64 b) { return {m.at(b, 0, 0), m.pitch, format_of(m.dtype)}; }

Sink sink_of(const Matrix& m, i64 b) { return {m.at(b, 0, 0), m.pitch, format_of(m.dtype)}; }

template <class To>
void set_gate(To& to, const Matrix& values, const BitMatrix& bits, Residual residual, i64 b) {
    to.gate = residual == Residual::mask ? Gate::bits : Gate::values;
    to.gate_data = residual == Residual::mask ? bits.row(b, 0) : values.at(b, 0, 0);
    to.gate_pitch = residual == Residual::mask ? bits.pitch : values.pitch;
}

void set_bits(Sink& to, const Op& op, const Operands& o, i64 b) {
    if (op.residual != Residual::mask) return;
    to.bits = reinterpret_cast<std::uint8_t*>(o.mask.row(b, 0));
    to.bits_pitch = o.mask.pitch;
}

/// The matmul of one pass (forward, dgrad or wgrad) in problem b.
Matmul matmul_of(const Op& op, Pass pass, const Operands& o, i64 b) {
    const sim::Extent e = sim::extent(op.dense, pass);
    Matmul mm{e.rows, e.cols, e.red, {}, {}, {}, false};
    if (pass == Pass::forward) {
        const bool fused = op.forward_fusion() == Fusion::fused;
        mm.a = {source_of(o.x, b), false};
        mm.b = {source_of(o.w, b), false};
        mm.c = sink_of(fused ? o.y : o.z, b);
        mm.c.bias = op.dense.bias ? o.bias.at(b, 0, 0) : nullptr;
        mm.c.relu = fused;
        if (fused) set_bits(mm.c, op, o, b);
        return mm;
    }
    Source dz = source_of(op.fusion == Fusion::fused ? o.dy : o.dz, b);
    if (op.fusion == Fusion::fused) set_gate(dz, o.y, o.mask, op.residual, b);
    if (pass == Pass::dgrad) {
        mm.a = {dz, false};
        mm.b = {source_of(o.w, b), true};
        mm.c = sink_of(o.dx, b);
        if (op.fusion == Fusion::upstream && op.drelu) set_gate(mm.c, o.x, o.x_mask, op.residual, b);
    } else {
        mm.a = {source_of(o.x, b), true};
        mm.b = {dz, false};
        mm.c = sink_of(o.dw, b);
        mm.accumulate = op.accumulate;
    }
    return mm;
}

/// Every row of every problem from source to sink, rows dealt out to the threads.
template <class Kernel>
void for_each_row(const Op& op, const Context& context, Kernel kernel) {
    const i64 rows = op.dense.m * op.dense.batch;
    pool().run(context.threads, [&](int thread) {
        const i64 end = rows * (thread + 1) / context.threads;
        for (i64 i = rows * thread / context.threads; i < end && !context.control.stopped(); i++)
            kernel(i / op.dense.m, i % op.dense.m);
    });
}

void relu_pass(const Op& op, const Operands& o, const Context& context) {
    for_each_row(op, context, [&](i64 b, i64 i) {
        Sink y = sink_of(o.y, b);
        y.relu = true;
        set_bits(y, op, o, b);
        context.isa.copy_row(source_of(o.z, b), y, i, op.dense.n);
    });
}

void mask_pass(const Op& op, const Operands& o, const Context& context) {
    for_each_row(op, context, [&](i64 b, i64 i) {
        Source dy = source_of(o.dy, b);
        set_gate(dy, o.y, o.mask, op.residual, b);
        context.isa.copy_row(dy, sink_of(o.dz, b), i, op.dense.n);
    });
}

std::string quoted_list(std::span<const Dtype> dtypes) {
    std::string text;
    for (const Dtype t : dtypes) text += (text.empty() ? "" : ", ") + std::string(to_string(t));
    return text;
}

}  // namespace

std::span<const Rung> rungs() { return table; }

const Rung* find_rung(std::string_view id) {
    const auto found = std::find_if(std::begin(table), std::end(table), [&](const Rung& r) { return r.id == id; });
    return found == std::end(table) ? nullptr : found;
}

sim::Tile usual_tile() { return {384, 1536, 256}; }

int Config::resolved_threads() const {
    if (!rung->threaded) return 1;
    return threads > 0 ? threads : usable_cores();
}

sim::Tile Config::resolved_tile(const Op& op, Pass pass) const {
    sim::Tile t = tile;
    if (op.pass == Pass::train && pass == Pass::dgrad) t = tile_dgrad.value_or(sim::Tile{});
    if (op.pass == Pass::train && pass == Pass::wgrad) t = tile_wgrad.value_or(sim::Tile{});
    if (t.is_best()) t = usual_tile();
    if (rung->threaded) t.bm = sim::round_up(t.bm, instructions->mr), t.bn = sim::round_up(t.bn, instructions->nr);
    return t;
}

sim::Fit fits(const Op& op, const Config& config) {
    const Rung& rung = *config.rung;
    const auto lists = [](auto span, auto value) { return std::find(span.begin(), span.end(), value) != span.end(); };
    for (const Dtype t : {op.dense.dtype, op.dense.out})
        if (!lists(rung.dtypes, t))
            return {fmt::format("{} has no {}; it takes {}", rung.id, to_string(t), quoted_list(rung.dtypes))};
    if (config.threads > 1 && !rung.threaded) return {fmt::format("{} runs on 1 thread", rung.id)};
    if (const int cores = usable_cores(); config.threads > cores)
        return {fmt::format("needs {} threads; this machine lets us use {} core{}", config.threads, cores,
                            cores == 1 ? "" : "s")};
    return {};
}

double scratch_bytes(const Op& op, const Config& config) {
    double most = 0;
    for (const Pass pass : {Pass::forward, Pass::dgrad, Pass::wgrad}) {
        if (!op.runs(pass) || !config.rung->tiled) continue;
        const sim::Extent e = sim::extent(op.dense, pass);
        const sim::Tile tile = config.resolved_tile(op, pass);
        const auto rows = static_cast<double>(std::min(tile.bm, e.rows)),
                   cols = static_cast<double>(std::min(tile.bn, e.cols)),
                   red = static_cast<double>(std::min(tile.bk, e.red));
        const double sums = cols * (config.rung->threaded ? static_cast<double>(e.rows) : rows);
        most = std::max(most, 4 * (2 * red * cols + config.resolved_threads() * rows * red + sums));
    }
    return most;
}

double multiply_adds(const Op& op) {
    const int matmuls = op.pass == Pass::train ? 3 : 1;
    return static_cast<double>(op.dense.m) * op.dense.n * op.dense.k * op.dense.batch * matmuls;
}

std::vector<KernelTime> execute(const Op& op, const Operands& operands, const Config& config, Control& control) {
    assert(!(op.pass == Pass::forward && op.fusion == Fusion::upstream));
    using Clock = std::chrono::steady_clock;
    std::vector<KernelTime> times;
    const auto timed = [&](std::string_view name, auto kernel) {
        const auto start = Clock::now();
        kernel();
        times.push_back({name, std::chrono::duration<double>(Clock::now() - start).count()});
    };
    const auto matmul = [&](std::string_view name, Pass pass) {
        const Context context{*config.instructions, config.resolved_tile(op, pass), config.resolved_threads(), control};
        timed(name, [&] {
            for (i64 b = 0; b < op.dense.batch; b++) config.rung->matmul(matmul_of(op, pass, operands, b), context);
        });
    };
    const Context elementwise{*config.instructions, {}, config.resolved_threads(), control};

    if (op.runs(Pass::forward)) {
        matmul("matmul", Pass::forward);
        if (op.fusion == Fusion::unfused) timed("relu", [&] { relu_pass(op, operands, elementwise); });
    }
    const bool dgrad = op.runs(Pass::dgrad), wgrad = op.runs(Pass::wgrad);
    if ((dgrad || wgrad) && op.fusion == Fusion::unfused) timed("mask", [&] { mask_pass(op, operands, elementwise); });
    if (dgrad) matmul("dgrad", Pass::dgrad);
    if (wgrad) matmul("wgrad", Pass::wgrad);
    return times;
}

Config config_of(const sim::Experiment& e) {
    Config c;
    if (const Rung* named = find_rung(e.rung)) c.rung = named;
    c.tile = e.tile;
    c.tile_dgrad = e.tile_dgrad;
    c.tile_wgrad = e.tile_wgrad;
    c.threads = e.threads;
    return c;
}

}  // namespace kernels::cpu
