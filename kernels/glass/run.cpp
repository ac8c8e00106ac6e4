#include "kernels/glass/run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>

#include "kernels/cpu/reference.hpp"
#include "kernels/device/shape.cuh"
#include "kernels/glass/built.hpp"
#include "kernels/glass/caches.hpp"
#include "kernels/glass/faults.hpp"
#include "kernels/glass/hopper.hpp"
#include "kernels/glass/on_demand.hpp"
#include "kernels/glass/sample.hpp"
#include "kernels/special_values.hpp"
#include "sim/count.hpp"

namespace kernels::glass {

using sim::Pass;

Entry entry_for(const Instance& instance) {
    if (const Entry* built = find_built(instance)) return *built;
    return compile_on_demand(instance);
}

device::TensorMaps box_maps(const DeviceKernel& k, const Operands& o) {
    device::TensorMaps maps{};
    if (!launch_of(k).tensor_maps) return maps;
    const auto packed = [](const TensorBox& b) {
        return BoxMap{static_cast<const std::byte*>(b.data),
                      b.length,
                      b.lines,
                      b.batch,
                      b.pitch_bytes,
                      b.batch_pitch_bytes,
                      b.box_length,
                      b.box_lines,
                      static_cast<std::int32_t>(sim::storage_bytes(b.dtype))}
            .packed();
    };
    const TensorBoxes boxes = tensor_boxes(k, o);
    maps.left = packed(boxes.left);
    maps.right = packed(boxes.right);
    if (boxes.gate.data) maps.gate = packed(boxes.gate);
    return maps;
}

namespace {

/// Elements whose multiples begin a sector in every operand: 32 bytes of 2, and of a mask 256 bits.
constexpr sim::i64 sector_elements = 16, mask_sector_elements = 256;

/// Global memory as the kernel may touch it: what it neither reads nor writes is not there.
void add_buffers(Machine& m, const DeviceKernel& k, const Operands& o, std::byte* partial, sim::i64 partial_bytes) {
    std::uint64_t address = std::uint64_t{1} << 32;
    const auto add = [&](const char* name, void* data, sim::i64 bytes) {
        if (data) m.buffers.push_back({name, static_cast<std::byte*>(data), bytes, address});
        address += static_cast<std::uint64_t>(sim::round_up(bytes, 256)) + 256;
    };
    const auto matrix = [&](const char* name, const Matrix& x) {
        add(name, x.data, k.dense.batch * x.batch_pitch * sim::storage_bytes(x.dtype));
    };
    const auto bits = [&](const char* name, const BitMatrix& x) { add(name, x.data, k.dense.batch * x.batch_pitch); };
    matrix("x", o.x);
    matrix("w", o.w);
    matrix("bias", o.bias);
    matrix("z", o.z);
    if (o.y.data != o.z.data) matrix("y", o.y);
    matrix("dy", o.dy);
    if (o.dz.data != o.dy.data) matrix("dz", o.dz);
    matrix("dx", o.dx);
    matrix("dw", o.dw);
    bits("mask", o.mask);
    bits("the bits of x", o.x_mask);
    add("partial", partial, partial_bytes);
}

/// A run of one experiment's kernels on one set of operands, in which each CTA may stand for several.
struct Part {
    sim::Experiment e;
    bool only_mask = false;  ///< count the mask kernel alone (train's, which both backward passes share)
    bool skip_mask = false;  ///< count all but the mask kernel
    Sample rows, cols;       ///< of the pass's matmul
    bool sampled = false;
};

/// Which dimension of the layer the rows and columns of a pass's matmul are.
sim::i64& rows_of(sim::Dense& d, Pass pass) { return pass == Pass::wgrad ? d.k : d.m; }
sim::i64& cols_of(sim::Dense& d, Pass pass) { return pass == Pass::dgrad ? d.k : d.n; }

class Run {
public:
    Run(const sim::Experiment& e, const sim::Device& device, const RunOptions& options,
        const std::function<void(double)>& progress, const std::stop_token& stop)
        : e_(e), device_(device), options_(options), progress_(progress), stop_(stop) {}

    Counted run() {
        const std::vector<DeviceKernel> all = kernels_of(e_, slots_of_matmul(e_));
        double work = 0;
        for (const DeviceKernel& k : all) {
            result_.fit = fits(k);
            if (result_.fit.ok() && k.cluster != sim::Shape2{1, 1})
                result_.fit.why = "glass runs one CTA at a time and has no clusters (cluster 1x1 is the way out)";
            if (!result_.fit.ok()) {
                if (all.size() > 1) result_.fit.why = std::string(k.name) + ": " + result_.fit.why;
                return result_;
            }
            entry(k);
            work += static_cast<double>(k.extent.rows) * static_cast<double>(k.extent.cols) *
                    static_cast<double>(k.extent.red) * static_cast<double>(k.dense.batch);
        }
        result_.sampled = work > options_.most_work;
        const std::vector<Part> parts =
            result_.sampled ? samples() : std::vector<Part>{Part{e_, false, false, {}, {}, false}};
        for (const Part& part : parts) ctas_ += ctas_of(part);
        for (const Part& part : parts) {
            if (stop_.stop_requested()) break;
            run_part(part);
        }
        result_.cancelled = stop_.stop_requested();
        finish();
        return result_;
    }

private:
    sim::i64 slots_of_matmul(const sim::Experiment& e) const {
        if (options_.slots) return *options_.slots;
        sim::i64 most = 1;
        for (const sim::i64 s : sim::slots_of(e, device_, sim::plan(e))) most = std::max(most, s);
        return most;
    }

    /// Each pass of the experiment on a stand-in of its own.
    std::vector<Part> samples() const {
        std::vector<Part> parts;
        for (const Pass pass : {Pass::forward, Pass::dgrad, Pass::wgrad}) {
            if (e_.pass != pass && e_.pass != Pass::train) continue;
            parts.push_back(sampled(sim::single_pass(e_, pass)));
            parts.back().skip_mask = e_.pass == Pass::train;
        }
        if (e_.pass == Pass::train && e_.fusion == sim::Fusion::unfused) {
            // The mask pass of train walks the forward's tiles: dgrad's kernel on a stand-in cut by those.
            sim::Experiment one = sim::single_pass(e_, Pass::dgrad);
            one.tile = {e_.tile.bm, one.tile.bn, e_.tile.bn};
            parts.push_back(sampled(one));
            parts.back().only_mask = true;
        }
        return parts;
    }

    Part sampled(sim::Experiment one) const {
        Part part;
        const bool bits = one.residual == sim::Residual::mask;
        const auto period = [&](sim::i64 tile) {
            return period_of(tile, bits ? mask_sector_elements : sector_elements);
        };
        part.rows = sample(rows_of(one.dense, one.pass), one.tile.bm, period(one.tile.bm));
        part.cols = sample(cols_of(one.dense, one.pass), one.tile.bn, period(one.tile.bn));
        rows_of(one.dense, one.pass) = part.rows.extent;
        cols_of(one.dense, one.pass) = part.cols.extent;
        // Problems of the batch begin at two places within a sector at most.
        one.dense.batch = sample(one.dense.batch, 1, 2).extent;
        one.schedule.kind =
            one.schedule.kind == sim::Schedule::persistent ? sim::Schedule::data_parallel : one.schedule.kind;
        part.e = one;
        part.sampled = true;
        return part;
    }

    bool counts(const Part& part, const DeviceKernel& k) const {
        return part.only_mask ? k.name == "mask" : !(part.skip_mask && k.name == "mask");
    }
    sim::i64 ctas_of(const Part& part) const {
        sim::i64 n = 0;
        for (const DeviceKernel& k : kernels_of(part.e)) n += k.work_items();
        return n;
    }

    void run_part(const Part& part) {
        const Op op = op_of(part.e);
        OperandSet set(op), before(op);
        if (options_.special_values)
            fill_special(before, options_.seed);
        else
            before.fill_normal(options_.seed);
        poison(op, before.operands());
        set.copy_from(before);
        const std::vector<DeviceKernel> kernels = kernels_of(part.e, part.sampled ? 0 : slots_of_matmul(part.e));
        sim::i64 partial_bytes = 0;
        for (const DeviceKernel& k : kernels) partial_bytes = std::max(partial_bytes, k.partial_bytes());
        const Pages partial = partial_bytes > 0 ? allocate_pages(partial_bytes) : Pages();

        Caches caches(part.sampled ? 0 : l2_bytes());
        for (const DeviceKernel& k : kernels) {
            if (stop_.stop_requested()) return;
            run_kernel(part, k, set.operands(), partial.get(), partial_bytes, caches);
            if (stopped_) return;
        }
        if (!part.sampled) {
            result_.dram = {caches.dram_read_bytes(), caches.dram_write_bytes()};
            result_.dram_dirty_bytes = caches.dirty_bytes();
        }
        if (!part.only_mask && !stop_.stop_requested()) check(part, op, set.operands(), before.operands().dw);
    }

    void run_kernel(const Part& part, const DeviceKernel& k, const Operands& o, std::byte* partial,
                    sim::i64 partial_bytes, Caches& caches) {
        Machine machine;
        add_buffers(machine, k, o, partial, partial_bytes);
        machine.observer = &caches;
        const bool direct = k.matmul() && smem_bytes(k) == 0;
        const sim::i64 slots = std::max<sim::i64>(1, part.sampled ? 1 : slots_of_matmul(part.e));
        const sim::i64 sms = static_cast<sim::i64>(device_.sm_count.or_else(1));
        const sim::i64 l1 = static_cast<sim::i64>(device_.l1.bytes_per_sm.or_else(128 << 10));
        const sim::i64 ctas_per_sm = std::max<sim::i64>(1, sim::ceil_div(slots, sms));
        caches.set_l1(direct ? l1 : 0, ctas_per_sm, part.sampled);
        const Launch launch = launch_of(k);
        const device::Params params = params_of(k, o, partial);
        Order order;
        order.slots = slots;
        order.seed = options_.warp_order;
        if (part.sampled) {
            const Sample batch = sample(e_.dense.batch, 1, 2), rows = grid_sample(part, k, true),
                         cols = grid_sample(part, k, false);
            order.weight = [=](std::int64_t i) -> std::uint64_t {
                const std::int64_t item = k.matmul() || !k.reverse ? i : params.work_items - 1 - i;
                device::Params p = params;
                if (!k.matmul()) p.raster = {}, p.splits = 1;
                const device::Work w = device::work_item(p, item, 1, 1);
                return batch.weight[static_cast<std::size_t>(w.problem)] *
                       rows.weight[static_cast<std::size_t>(w.row)] * cols.weight[static_cast<std::size_t>(w.col)];
            };
        }
        order.stop = [this] { return stop_.stop_requested(); };
        order.finished = [this](std::int64_t n) {
            done_ += n;
            if (progress_ && ctas_ > 0)
                progress_(std::min(1.0, static_cast<double>(done_) / static_cast<double>(ctas_)));
        };
        execute(machine, entry(k), params, box_maps(k, o), {launch.grid, launch.block / warp_lanes, launch.smem_bytes},
                order);
        const Caches::L2Sectors sectors = caches.take_l2_sectors();
        for (const Finding& f : machine.findings) {
            result_.findings.push_back(f);
            stopped_ |= f.kind == Finding::out_of_bounds || f.kind == Finding::deadlock;
        }
        if (counts(part, k)) collect(k, machine, direct, sectors);
    }

    /// How the tiles of a kernel stand for those of the full problem, along its rows or columns.
    Sample grid_sample(const Part& part, const DeviceKernel& k, bool along_rows) const {
        const sim::i64 extent = along_rows ? k.extent.rows : k.extent.cols, tile = along_rows ? k.tile.bm : k.tile.bn;
        const Pass pass = part.e.pass;
        // Which dimension of the pass's matmul this one is, if the stand-in is smaller there.
        const bool matmul_like = k.matmul() || k.name == "reduce" || k.name == "relu";
        if (matmul_like) return along_rows ? part.rows : part.cols;
        // The mask pass walks (m, n): dgrad's rows are m, wgrad's columns are n.
        if (pass == Pass::dgrad && along_rows) return part.rows;
        if (pass == Pass::wgrad && !along_rows) return part.cols;
        Sample whole;
        whole.extent = extent;
        whole.weight.assign(static_cast<std::size_t>(sim::ceil_div(extent, tile)), 1);
        return whole;
    }

    const Entry& entry(const DeviceKernel& k) {
        const Instance wanted = instance_of(k);
        for (const Known& known : entries_)
            if (known.instance == wanted) return known.entry;
        const Fault* fault = k.matmul() ? find_fault(options_.fault) : nullptr;
        entries_.push_back({wanted, fault ? entry_with(*fault, wanted) : entry_for(wanted)});
        return entries_.back().entry;
    }

    /// Outputs, and what pads the rows of inputs, hold NaN: what reads or keeps them shows.
    void poison(const Op& op, const Operands& o) const {
        const auto padding = [&](const Matrix& m) {
            if (!m) return;
            const sim::i64 size = sim::storage_bytes(m.dtype);
            for (sim::i64 b = 0; b < op.dense.batch; ++b)
                for (sim::i64 i = 0; i < m.rows; ++i)
                    std::memset(static_cast<void*>(m.at(b, i, m.cols)), 0xff,
                                static_cast<std::size_t>((m.pitch - m.cols) * size));
        };
        const auto whole = [&](const Matrix& m) {
            if (m)
                std::memset(m.data, 0xff,
                            static_cast<std::size_t>(op.dense.batch * m.batch_pitch * sim::storage_bytes(m.dtype)));
        };
        for (const Matrix* m : {&o.x, &o.w, &o.bias, &o.dy}) padding(*m);
        if (op.runs(Pass::forward)) {
            whole(o.z);
            whole(o.y);
            if (o.mask) std::memset(o.mask.data, 0xff, static_cast<std::size_t>(op.dense.batch * o.mask.batch_pitch));
        } else {
            padding(o.y);
        }
        if (op.fusion == sim::Fusion::unfused && o.dz && o.dz.data != o.dy.data)
            whole(o.dz);
        else
            padding(o.dz);
        whole(o.dx);
        if (!op.accumulate) whole(o.dw);
    }

    sim::i64 l2_bytes() const {
        if (options_.l2_bytes) return *options_.l2_bytes;
        return static_cast<sim::i64>(device_.l2.effective_bytes.or_else(device_.l2.bytes.or_else(0)));
    }

    void check(const Part& part, const Op& op, const Operands& after, const Matrix& dw_before) {
        const cpu::Comparison c = cpu::compare(op, after, dw_before, options_.most_check);
        result_.max_error = std::max(result_.max_error, c.max_error);
        if (result_.first_wrong.empty()) result_.first_wrong = c.first_wrong;
        std::string checked = c.checked();
        if (part.sampled) checked += fmt::format(" of a {}x{}x{} part", part.e.dense.m, part.e.dense.n, part.e.dense.k);
        result_.checked += (result_.checked.empty() ? "" : ", ") + checked;
    }

    void collect(const DeviceKernel& k, const Machine& m, bool direct, const Caches::L2Sectors& sectors) {
        Tally sum;
        for (std::size_t i = 0; i < m.sites(); ++i) {
            const Tally& t = m.total(i);
            sum.add(t);
            const Place place = m.place(static_cast<int>(i));
            lines_[{std::string(place.name()), place.line}].add(t);
        }
        const auto bytes = [](std::uint64_t bits) { return static_cast<i64>((bits + 7) / 8); };
        KernelCount c;
        c.name = k.name;
        c.l2 = {bytes(sum.global_read_bits), bytes(sum.global_write_bits)};
        if (direct) c.l2.read_bytes = sectors.read * sector_bytes;
        c.sram = {bytes(sum.shared_read_bits), bytes(sum.shared_write_bits)};
        c.sectors = static_cast<i64>(sum.sectors);
        c.wavefronts = static_cast<i64>(sum.wavefronts);
        c.ideal_wavefronts = static_cast<i64>(sum.ideal_wavefronts);
        result_.kernels.push_back(c);
    }

    void finish() {
        for (const KernelCount& c : result_.kernels) {
            result_.l2.read_bytes += c.l2.read_bytes;
            result_.l2.write_bytes += c.l2.write_bytes;
            result_.sram.read_bytes += c.sram.read_bytes;
            result_.sram.write_bytes += c.sram.write_bytes;
            result_.sectors += c.sectors;
            result_.wavefronts += c.wavefronts;
            result_.ideal_wavefronts += c.ideal_wavefronts;
        }
        for (const auto& [place, t] : lines_) {
            const auto n = [](std::uint64_t v) { return static_cast<i64>(v); };
            result_.lines.push_back({place.first, place.second, n(t.instructions), n(t.active_lanes),
                                     n((t.payload_bits + 7) / 8), n(t.sectors), n(t.ideal_sectors), n(t.wavefronts),
                                     n(t.ideal_wavefronts)});
        }
    }

    struct Known {
        Instance instance;
        Entry entry;
    };
    const sim::Experiment e_;
    const sim::Device& device_;
    const RunOptions& options_;
    const std::function<void(double)>& progress_;
    const std::stop_token& stop_;
    Counted result_;
    std::map<std::pair<std::string, int>, Tally> lines_;
    std::vector<Known> entries_;
    sim::i64 ctas_ = 0, done_ = 0;
    bool stopped_ = false;
};

}  // namespace

std::string per_instruction(i64 got, i64 fewest, i64 instructions, std::string_view between) {
    if (got == 0 || instructions == 0) return "";
    const auto per = [&](i64 n) {
        return fmt::format("{:.2f}", static_cast<double>(n) / static_cast<double>(instructions));
    };
    return got == fewest ? per(got) : fmt::format("{}{}{}", per(got), between, per(fewest));
}

std::vector<Finding> execute(const sim::Experiment& e, const Operands& o) {
    const std::vector<DeviceKernel> kernels = kernels_of(resolved(e));
    sim::i64 partial_bytes = 0;
    for (const DeviceKernel& k : kernels) {
        if (const sim::Fit fit = fits(k); !fit.ok()) throw NotAvailable(std::string(k.name) + ": " + fit.why);
        partial_bytes = std::max(partial_bytes, k.partial_bytes());
    }
    const Pages partial = partial_bytes > 0 ? allocate_pages(partial_bytes) : Pages();
    std::vector<Finding> findings;
    for (const DeviceKernel& k : kernels) {
        Machine machine;
        add_buffers(machine, k, o, partial.get(), partial_bytes);
        const Launch launch = launch_of(k);
        execute(machine, entry_for(instance_of(k)), params_of(k, o, partial.get()), box_maps(k, o),
                {launch.grid, launch.block / warp_lanes, launch.smem_bytes}, {});
        findings.insert(findings.end(), machine.findings.begin(), machine.findings.end());
    }
    return findings;
}

Counted run(const sim::Experiment& e, const sim::Device& device, const RunOptions& options,
            const std::function<void(double)>& progress, std::stop_token stop) {
    const sim::Experiment own = resolved(e);
    if (own.rung == "10_tcgen05") {
        Counted refused;
        refused.fit.why = "rung 10_tcgen05 is checked by the compiler only: glass has no tensor memory";
        return refused;
    }
    return Run(own, device, options, progress, stop).run();
}

}  // namespace kernels::glass
