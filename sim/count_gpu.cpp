#include "sim/count_gpu.hpp"

#include "sim/replay.hpp"

namespace sim {

namespace {

i64 clamp64(__int128 v) { return v > INT64_MAX / 16 ? INT64_MAX / 16 : static_cast<i64>(v); }

/// Times one tensor is requested whole by a kernel: the trips of the loops it does not lie along.
i64 sweeps(const Kernel& k, const Access& a) {
    i64 n = 1;
    for (Axis axis : {Axis::rows, Axis::cols})
        if (a.row_axis != axis && a.col_axis != axis) n *= axis_trips(k, axis);
    return n;
}

/// Bytes the compute units read from SMEM for one operand: whole tiles (padding counts), every k-step.
__int128 operand_reads(const Experiment& e, const Device& d, const Kernel& k, const Access& a, bool is_left) {
    const __int128 steps = static_cast<__int128>(k.row_tiles()) * k.col_tiles() * k.k_steps() * k.batch;
    const CtaShape cta = cta_shape(e, d, k);
    __int128 elements = 0;  // per CTA and k-step
    const __int128 bm = k.tile.bm, bn = k.tile.bn, bk = k.tile.bk;
    const __int128 warp_rows = ceil_div(k.tile.bm, cta.warp.rows), warp_cols = ceil_div(k.tile.bn, cta.warp.cols);
    switch (e.engine) {
        case Engine::wgmma: elements = is_left ? bm * bk : ceil_div(k.tile.bm, 64) * bn * bk; break;
        case Engine::tcgen05: elements = is_left ? bm * bk : bn * bk; break;
        default: elements = is_left ? warp_cols * bm * bk : warp_rows * bn * bk; break;  // each warp reads its strips
    }
    return (steps * elements * a.tensor.bits + 7) / 8;
}

}  // namespace

i64 effective_bits(const Device& d) {
    return 8 * static_cast<i64>(d.l2.effective_bytes.or_else(d.l2.bytes.or_else(0)));
}
i64 whole_bits(const Device& d) { return 8 * static_cast<i64>(d.l2.bytes.or_else(0)); }

void add(DramFlows& sum, const DramFlows& flows) {
    for (int i = 0; i < operand_count; ++i) {
        sum[i].read_bits += flows[i].read_bits;
        sum[i].write_bits += flows[i].write_bits;
        sum[i].moved_read_bytes += flows[i].moved_read_bytes;
        sum[i].moved_write_bytes += flows[i].moved_write_bytes;
    }
}

i64 dram_bytes(const DramFlows& flows) {
    i64 sum = 0;
    for (const DramFlow& f : flows) sum += (f.read_bits + 7) / 8 + (f.write_bits + 7) / 8;
    return sum;
}

Traffic gpu_traffic(const Experiment& e, const Device& d, const Kernel& k, const DramFlows& dram, Ledger& ledger) {
    Traffic t;
    LevelTraffic &sram = t.at(Level::sram), &l2 = t.at(Level::l2), &hbm = t.at(Level::dram);
    l2.present = hbm.present = true;
    sram.present = k.matmul;  // elementwise kernels stream through registers
    const MovedUnit unit = moved_unit(d, e);

    const auto read = [&](const Access& a, i64 multicast, bool fills_sram, bool is_left) {
        const i64 times = sweeps(k, a) * a.slices * k.batch,
                  from_l2 = ceil_div(sweeps(k, a), multicast) * a.slices * k.batch;
        const i64 moved = sweep_moved_bytes(a.tensor, unit, axis_tile(k, a.col_axis));
        Flow f;
        f.read_bytes =
            clamp64((static_cast<__int128>(a.tensor.rows) * a.tensor.cols * from_l2 * a.tensor.bits + 7) / 8);
        f.moved_read_bytes = clamp64(static_cast<__int128>(moved) * from_l2);
        f.causes.compulsory = a.compulsory ? std::min(f.read_bytes, a.tensor.bytes(k.batch)) : 0;
        f.causes.capacity = f.read_bytes - f.causes.compulsory;
        f.causes.padding = f.moved_read_bytes - f.read_bytes;
        l2.of(a.tensor.name) += f;
        if (!fills_sram) return;
        Flow s;
        s.write_bytes = clamp64((static_cast<__int128>(a.tensor.rows) * a.tensor.cols * times * a.tensor.bits + 7) / 8);
        s.read_bytes = clamp64(operand_reads(e, d, k, a, is_left));
        // wgmma takes wgrad's operands from SMEM only: masking rewrites the dY tile there (read, mask, write) each
        // k-step.
        const bool masked = !is_left && k.right.size() > 1 && a.tensor.name == Operand::dy;
        if (masked && e.engine == Engine::wgmma && k.pass == Pass::wgrad) {
            s.read_bytes += s.write_bytes;
            s.write_bytes += s.write_bytes;
        }
        s.moved_read_bytes = s.read_bytes;
        s.moved_write_bytes = s.write_bytes;
        s.causes.write = s.write_bytes;
        s.causes.capacity = s.read_bytes;
        sram.of(a.tensor.name) += s;
    };
    for (const Access& a : k.left) read(a, e.cluster.cols, k.matmul, true);
    for (const Access& a : k.right) read(a, e.cluster.rows, k.matmul, false);
    for (const Access& a : k.epilogue) read(a, 1, false, false);
    for (const Access& a : k.outputs) {
        Flow f;
        f.write_bytes = static_cast<i64>(
            (static_cast<__int128>(a.tensor.rows) * a.tensor.cols * a.slices * k.batch * a.tensor.bits + 7) / 8);
        f.moved_write_bytes = a.slices * k.batch * sweep_moved_bytes(a.tensor, unit, axis_tile(k, a.col_axis));
        f.causes.write = f.write_bytes;
        f.causes.padding = f.moved_write_bytes - f.write_bytes;
        l2.of(a.tensor.name) += f;
    }

    for (int i = 0; i < operand_count; ++i) {
        const auto o = static_cast<Operand>(i);
        Flow& f = hbm.operands[i];
        f.read_bytes = ledger.read_bytes(o, dram[i].read_bits);
        f.write_bytes = ledger.write_bytes(o, dram[i].write_bits);
        f.moved_read_bytes = std::max(f.read_bytes, dram[i].moved_read_bytes);
        f.moved_write_bytes = std::max(f.write_bytes, dram[i].moved_write_bytes);
        f.causes.compulsory = ledger.settle(o, f.read_bytes);
        f.causes.capacity = f.read_bytes - f.causes.compulsory;
        f.causes.write = f.write_bytes;
        f.causes.padding = f.moved_read_bytes + f.moved_write_bytes - f.read_bytes - f.write_bytes;
    }
    return t;
}

Counts replay_gpu(const Experiment& e, const Device& d, const std::vector<Kernel>& kernels, const Slots& slots) {
    Counts c;
    c.replayed = c.exact = true;
    const MovedUnit unit = moved_unit(d, e);
    for (const bool staggered : {false, true}) {
        Replay<> replay(effective_bits(d), whole_bits(d), unit);
        const auto run = [&](std::size_t i) {
            return replay.run(kernels[i], e.raster, e.cluster, slots[i], staggered);
        };
        if (e.l2 == L2Start::warm)  // the run before this one
            for (std::size_t i = 0; i < kernels.size(); ++i) run(i);
        Ledger ledger(kernels);
        DramFlows all{};
        for (std::size_t i = 0; i < kernels.size(); ++i) {
            const DramFlows flows = run(i);
            add(all, flows);
            if (!staggered) c.kernels.push_back(gpu_traffic(e, d, kernels[i], flows, ledger));
        }
        (staggered ? c.dram_range.staggered_bytes : c.dram_range.lockstep_bytes) = dram_bytes(all);
        if (!staggered) c.kernels.back().at(Level::dram).dirty_at_end_bytes = (replay.dirty_bits() + 7) / 8;
    }
    for (const Kernel& k : kernels)
        c.requests +=
            k.row_tiles() * k.col_tiles() * k.k_steps() * k.batch * static_cast<i64>(k.left.size() + k.right.size());
    return c;
}

}  // namespace sim
