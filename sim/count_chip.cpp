// The levels of a GPU above DRAM: what SMs read from the L2 and write to it, what crosses shared memory, and, where a
// rung has no shared tile, what threads ask their L1 for.

#include "sim/count_gpu.hpp"
#include "sim/direct.hpp"

namespace sim {

namespace {

/// Rows that one matrix instruction of a warpgroup multiplies: each such band reads the right operand anew.
constexpr i64 wgmma_rows = 64;

i64 clamp64(__int128 v) { return v > INT64_MAX / 16 ? INT64_MAX / 16 : static_cast<i64>(v); }
i64 bytes_of(__int128 elements, const Access& a) { return clamp64((elements * a.tensor.bits + 7) / 8); }
__int128 elements_of(const Access& a) { return static_cast<__int128>(a.tensor.rows) * a.tensor.cols; }

/// Times one tensor is requested whole by a kernel: the trips of the loops it does not lie along.
i64 sweeps(const Kernel& k, const Access& a) {
    i64 n = 1;
    for (Axis axis : {Axis::rows, Axis::cols})
        if (a.row_axis != axis && a.col_axis != axis) n *= axis_trips(k, axis);
    return n;
}

enum class Side { left, right };

/// What one operand of a matmul costs in SMEM: fills, clipped, and what the compute units read, whole tiles (padding
/// counts) each k-step.
class SmemOperand {
public:
    SmemOperand(const Experiment& e, const Device& d, const Kernel& k, const Access& a, Side side)
        : e_(e),
          k_(k),
          a_(a),
          left_(side == Side::left),
          is_residual_(&a != (left_ ? &k.left[0] : &k.right[0])),
          rewritten_(!left_ && k.right.size() > 1 && takes_smem_only()),
          tile_((left_ ? __int128{k.tile.bm} : __int128{k.tile.bn}) * k.tile.bk) {
        const CtaShape cta = cta_shape(e, d, k);
        warps_across_ = left_ ? ceil_div(k.tile.bn, cta.warp.cols) : ceil_div(k.tile.bm, cta.warp.rows);
    }

    Flow flow() const {
        const __int128 steps = static_cast<__int128>(k_.row_tiles()) * k_.col_tiles() * k_.k_steps() * k_.batch;
        // Two CTAs that multiply as a pair hold half of the right tile each.
        const bool halved = !left_ && multiplies_in_pairs(e_);
        const __int128 filled = elements_of(a_) * sweeps(k_, a_) * k_.batch;
        Flow s;
        s.write_bytes = bytes_of(halved ? (filled + 1) / 2 : filled, a_);
        s.read_bytes = bytes_of(steps * elements_read() / (halved ? 2 : 1), a_);
        if (rewritten_ && !is_residual_) {  // masked in place: read, select, written back, each k-step
            s.read_bytes += s.write_bytes;
            s.write_bytes += s.write_bytes;
        }
        // Eight rows of a fragment are read at a time; in an unswizzled layout they lie in the same banks.
        s.moved_read_bytes = clamp64(static_cast<__int128>(s.read_bytes) * bank_conflicts(e_, k_));
        s.moved_write_bytes = s.write_bytes;
        s.causes.write = s.write_bytes;
        s.causes.capacity = s.read_bytes;
        s.causes.padding = s.moved_read_bytes - s.read_bytes;
        return s;
    }

private:
    /// The right operand, and dgrad's and forward's left one unless it comes from registers, are taken from SMEM by the
    /// instruction itself: what is masked must be there.
    bool takes_smem_only() const { return e_.engine == Engine::wgmma || e_.engine == Engine::tcgen05; }
    /// Elements that the compute units read of one tile.
    __int128 elements_read() const {
        if (rewritten_ && is_residual_) return tile_;  // by the threads that mask, once
        switch (e_.engine) {
            case Engine::wgmma: return left_ ? tile_ : ceil_div(k_.tile.bm, wgmma_rows) * tile_;
            case Engine::tcgen05: return tile_;
            default: return warps_across_ * tile_;  // each warp reads its strip
        }
    }

    const Experiment& e_;
    const Kernel& k_;
    const Access& a_;
    bool left_, is_residual_, rewritten_;
    __int128 tile_;
    i64 warps_across_ = 1;
};

/// What one CTA has of its SM's L1: the array without the SMEM carved from it, shared among the resident CTAs.
i64 l1_bytes_of_cta(const Experiment& e, const Device& d, const Kernel& k) {
    const CtaShape cta = cta_shape(e, d, k);
    const i64 ctas = std::max(1, occupancy(e, d, cta).ctas_per_sm);
    const i64 carved = ctas * (cta.smem_bytes + static_cast<i64>(d.sram.reserved_per_cta.or_else(0)));
    return std::max<i64>(0, static_cast<i64>(d.l1.bytes_per_sm.or_else(0)) - carved) / ctas;
}

/// What threads ask their L1 for, and what that asks the L2 for: whole sectors either way.
void direct_traffic(const Experiment& e, const Device& d, const Kernel& k, Direct direct, Traffic& t) {
    const MovedUnit unit = moved_unit(d, e);
    const Lanes lanes = lanes_of(direct, k.tile);
    const i64 share = l1_bytes_of_cta(e, d, k);
    t.at(Level::l1).present = true;
    each_input(k, [&](const Access& a) {
        const L1Flow f = l1_read(k, a, lanes, unit, share);
        Flow asked, served;
        asked.read_bytes = asked.causes.capacity = clamp64(f.requested_bytes);
        asked.moved_read_bytes = clamp64(f.sector_bytes);
        asked.causes.padding = asked.moved_read_bytes - asked.read_bytes;
        served.read_bytes = served.moved_read_bytes = clamp64(f.l2_bytes);
        served.causes.compulsory = a.compulsory ? std::min(served.read_bytes, a.tensor.bytes(k.batch)) : 0;
        served.causes.capacity = served.read_bytes - served.causes.compulsory;
        t.at(Level::l1).of(a.tensor.name) += asked;
        t.at(Level::l2).of(a.tensor.name) += served;
    });
    for (const Access& a : k.outputs) {
        const L1Flow f = l1_write(k, a, lanes, unit);
        Flow written;
        written.write_bytes = written.causes.write = clamp64(f.requested_bytes);
        written.moved_write_bytes = clamp64(f.sector_bytes);
        written.causes.padding = written.moved_write_bytes - written.write_bytes;
        t.at(Level::l1).of(a.tensor.name) += written;
        t.at(Level::l2).of(a.tensor.name) += written;
    }
}

/// Tiles through SMEM (a matmul's operands) or straight to registers.
void tile_traffic(const Experiment& e, const Device& d, const Kernel& k, Traffic& t) {
    const MovedUnit unit = moved_unit(d, e);
    LevelTraffic& l2 = t.at(Level::l2);
    const auto read = [&](const Access& a, i64 multicast) {
        const i64 times = ceil_div(sweeps(k, a), multicast) * a.slices * k.batch;
        Flow f;
        f.read_bytes = bytes_of(elements_of(a) * times, a);
        f.moved_read_bytes =
            clamp64(static_cast<__int128>(sweep_moved_bytes(a.tensor, unit, axis_tile(k, a.col_axis))) * times);
        f.causes.compulsory = a.compulsory ? std::min(f.read_bytes, a.tensor.bytes(k.batch)) : 0;
        f.causes.capacity = f.read_bytes - f.causes.compulsory;
        f.causes.padding = f.moved_read_bytes - f.read_bytes;
        l2.of(a.tensor.name) += f;
    };
    for (const Access& a : k.left) read(a, e.cluster.cols);
    for (const Access& a : k.right) read(a, e.cluster.rows);
    for (const Access& a : k.epilogue) read(a, 1);
    for (const Access& a : k.outputs) {
        Flow f;
        f.write_bytes = bytes_of(elements_of(a) * a.slices * k.batch, a);
        f.moved_write_bytes = a.slices * k.batch * sweep_moved_bytes(a.tensor, unit, axis_tile(k, a.col_axis));
        f.causes.write = f.write_bytes;
        f.causes.padding = f.moved_write_bytes - f.write_bytes;
        l2.of(a.tensor.name) += f;
    }
    LevelTraffic& sram = t.at(Level::sram);
    sram.present = k.matmul;  // elementwise kernels stream through registers
    if (!k.matmul) return;
    for (const Access& a : k.left) sram.of(a.tensor.name) += SmemOperand(e, d, k, a, Side::left).flow();
    for (const Access& a : k.right) sram.of(a.tensor.name) += SmemOperand(e, d, k, a, Side::right).flow();
}

}  // namespace

Traffic chip_traffic(const Experiment& e, const Device& d, const Kernel& k, i64 slots) {
    Traffic t;
    t.at(Level::l2).present = true;
    if (const Direct direct = k.matmul ? direct_access(e) : Direct::no; direct != Direct::no)
        direct_traffic(e, d, k, direct, t);
    else
        tile_traffic(e, d, k, t);
    if (const Slices slices = slices_of(e, d, k, slots); slices.bits > 0) {
        Flow f;
        f.read_bytes = f.write_bytes = f.causes.capacity = f.causes.write = slices.bits / 8;
        f.moved_read_bytes = f.moved_write_bytes = slices.moved_bytes;
        f.causes.padding = f.moved_read_bytes + f.moved_write_bytes - f.read_bytes - f.write_bytes;
        t.at(Level::l2).of(Operand::partial) += f;
    }
    return t;
}

}  // namespace sim
