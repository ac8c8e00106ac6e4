#include "sim/count_gpu.hpp"

#include "sim/gpu_work.hpp"
#include "sim/replay.hpp"

namespace sim {

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

Slices slices_of(const Experiment& e, const Device& d, const Kernel& k, i64 slots) {
    Slices sum;
    if (!k.partial) return sum;
    const Tensor& t = k.partial->tensor;
    const MovedUnit unit = moved_unit(d, e);
    each_slice(GpuWork(k, e.raster, e.cluster, slots), [&](i64, i64 row, i64 col) {
        const i64 rows = clipped(t.rows, k.tile.bm, row), cols = clipped(t.cols, k.tile.bn, col);
        sum.bits += rows * cols * t.bits;
        sum.moved_bytes +=
            moved_bytes(t, unit, row * k.tile.bm, row * k.tile.bm + rows, col * k.tile.bn, col * k.tile.bn + cols);
    });
    return sum;
}

Traffic gpu_traffic(const Experiment& e, const Device& d, const Kernel& k, i64 slots, const DramFlows& dram,
                    Ledger& ledger) {
    Traffic t = chip_traffic(e, d, k, slots);
    LevelTraffic& hbm = t.at(Level::dram);
    hbm.present = true;
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
            if (!staggered) c.kernels.push_back(gpu_traffic(e, d, kernels[i], slots[i], flows, ledger));
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
