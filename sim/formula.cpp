#include "sim/formula.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sim/energy.hpp"
#include "sim/plan.hpp"

namespace sim {

namespace {

std::string bytes(i64 b) { return format_bytes(static_cast<double>(b)); }

std::string joined(const std::vector<std::string>& parts, std::string_view between) {
    std::string out;
    for (const std::string& p : parts) out += (out.empty() ? std::string() : std::string(between)) + p;
    return out;
}

/// Bytes of a whole operand in memory, 0 where no kernel has it as an input or an output of its own.
i64 whole_bytes(const std::vector<Kernel>& kernels, Operand o) {
    for (const Kernel& k : kernels)
        for (const auto* side : {&k.left, &k.right, &k.epilogue, &k.outputs})
            for (const Access& a : *side)
                if (a.tensor.name == o) return a.tensor.bytes(k.batch) * a.slices;
    return 0;
}

/// "16 × 268 MB", or the bytes alone where they are no more than the whole once.
std::string times_whole(i64 moved, i64 whole) {
    if (whole <= 0 || moved == whole) return bytes(moved);
    const double times = static_cast<double>(moved) / static_cast<double>(whole);
    return fmt::format("{} × {}",
                       times == std::round(times) ? fmt::format("{:.0f}", times) : fmt::format("{:.3g}", times),
                       bytes(whole));
}

/// One line an operand and direction, then the sum.
std::vector<std::string> by_operand(const LevelTraffic& t, const std::vector<Kernel>& kernels) {
    std::vector<std::string> lines;
    for (int i = 0; i < operand_count; ++i) {
        const auto o = static_cast<Operand>(i);
        const Flow& f = t.of(o);
        const i64 whole = whole_bytes(kernels, o);
        const auto line = [&](const char* verb, i64 b) {
            if (b == 0) return;
            const std::string product = times_whole(b, whole), sum = bytes(b);
            lines.push_back(fmt::format("{} {}: {}{}", to_string(o), verb, product, product == sum ? "" : " = " + sum));
        };
        line("read", f.read_bytes);
        line("written", f.write_bytes);
    }
    lines.push_back(fmt::format("together {}", bytes(t.total().bytes())));
    return lines;
}

void add_bounds(std::vector<Formula>& out, const Report& r, const Device& d) {
    const Bound& b = r.bound;
    std::vector<std::string> parts = {fmt::format("{} FLOP at the highest rate: {}", r.flops, format_us(b.math_us))};
    if (b.dram_us > 0)
        parts.push_back(fmt::format("{} at {} of {}: {}", bytes(b.dram_bytes),
                                    format_bandwidth(d.dram.bandwidth_spec.or_else(d.dram.bandwidth.or_else(0))),
                                    d.dram.display, format_us(b.dram_us)));
    if (b.l2_us > 0)
        parts.push_back(fmt::format("{} from {}: {}", bytes(b.l2_bytes), d.l2.display, format_us(b.l2_us)));
    parts.push_back(fmt::format("the longest, {}: {}", to_string(b.ceiling), format_us(b.time_us)));
    out.push_back({Formula::bound_time, format_us(b.time_us), "max(FLOP / peak, bytes / bandwidth of each level)",
                   parts, "gpu__time_duration.sum is never less"});
    const Compulsory must = compulsory(r.experiment);
    out.push_back({Formula::bound_bytes,
                   bytes(b.dram_bytes),
                   "max(compulsory, 2·rows·cols·red/√S + rows·cols elements), S = elements that fit on chip",
                   {fmt::format("compulsory: {} in, {} out", bytes(must.read_bytes), bytes(must.write_bytes)),
                    b.dram_bytes > must.read_bytes + must.write_bytes
                        ? fmt::format("what fits on chip asks for more: {}", bytes(b.dram_bytes))
                        : fmt::format("what fits on chip asks for no more: {}", bytes(b.dram_bytes))},
                   "dram__bytes.sum is never less from a cold start"});
}

void add_energy(std::vector<Formula>& out, const Report& r, const Device& d) {
    const Energy e = energy(r, d);
    std::vector<std::string> lines;
    for (const EnergyTerm& t : e.all.terms)
        lines.push_back(fmt::format("{}: {} × {} = {} ({})", t.name,
                                    t.name == "math" ? fmt::format("{:.4g} FLOP", t.amount) : format_bytes(t.amount),
                                    format_each(t), format_joules(t.joules()), t.source));
    if (e.all.capped)
        lines.push_back(fmt::format("at most {:.0f} W over the longest expected time, {}: {}", e.limit_watts,
                                    format_us(r.predicted->interval_us[1]), format_joules(e.all.joules.high)));
    lines.push_back(fmt::format("together {}, all of it assumed", format_joules(e.all.joules)));
    out.push_back({Formula::energy, format_joules(e.all.joules),
                   "FLOP × J per FLOP + bits moved of each level × J per bit", lines,
                   "NVML's total energy before and after many runs, idle power taken off"});
}

}  // namespace

std::vector<Formula> formulas(const Report& r, const Device& d) {
    std::vector<Formula> out;
    add_bounds(out, r, d);
    if (!r.fit.ok()) return out;
    const std::vector<Kernel> kernels = plan(r.experiment);
    if (r.predicted) {
        std::vector<std::string> lines;
        for (const KernelReport& k : r.predicted->kernels) {
            std::vector<std::string> terms;
            for (const TimeTerm& t : k.terms) terms.push_back(fmt::format("{} {}", t.name, format_us(t.time_us)));
            lines.push_back(fmt::format("{}: {} = {}", k.name, joined(terms, " + "), format_us(k.time_us)));
        }
        lines.push_back(fmt::format("together {}", format_us(r.predicted->time_us)));
        out.push_back({Formula::predicted_time, format_us(r.predicted->time_us),
                       "what each term adds to those before it, kernel by kernel", lines, "gpu__time_duration.sum"});
    }
    const auto level = [&](Formula::Number number, Level l, const char* text, const char* metric) {
        const LevelTraffic& t = r.traffic.at(l);
        if (t.present) out.push_back({number, bytes(t.total().bytes()), text, by_operand(t, kernels), metric});
    };
    level(Formula::dram_bytes, Level::dram,
          d.kind == DeviceKind::gpu ? "tiles asked for that the L2 did not have, and every output tile once"
                                    : "tiles whose index changes from one grid step to the next, clipped at the edge",
          "dram__bytes_read.sum + dram__bytes_write.sum");
    level(Formula::l2_bytes, Level::l2, "tiles × k-steps × bytes of a tile; a multicast counts once",
          "lts__t_sectors_op_read.sum × 32");
    level(Formula::sram_bytes, Level::sram, "fills, once a CTA, and operand reads at the warp tile's size",
          "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared.sum");
    std::vector<std::string> products;
    for (const Kernel& k : kernels)
        if (k.matmul)
            products.push_back(fmt::format("{}: 2·{}·{}·{}{} = {}", k.name, k.extent.rows, k.extent.cols, k.extent.red,
                                           k.batch > 1 ? fmt::format("·{}", k.batch) : "", k.flops()));
    out.push_back({Formula::flops, fmt::format("{} FLOP", r.flops), "2·rows·cols·red a matmul", products,
                   "sm__ops_path_tensor_src_*.sum, or smsp__sass_thread_inst_executed_op_ffma_pred_on.sum × 2"});
    const auto k = std::find_if(kernels.begin(), kernels.end(), [](const Kernel& x) { return x.matmul; });
    if (r.predicted && r.predicted->waves && k != kernels.end()) {
        const i64 tiles = k->row_tiles() * k->col_tiles() * k->batch * k->splits;
        out.push_back(
            {Formula::waves,
             fmt::format("{:.2f} waves", *r.predicted->waves),
             "⌈rows/bm⌉·⌈cols/bn⌉ / (SMs · CTAs an SM)",
             {fmt::format("{}·{}{} tiles / {} CTAs at once ({} an SM) = {:.2f}", k->row_tiles(), k->col_tiles(),
                          k->batch * k->splits > 1 ? fmt::format("·{}", k->batch * k->splits) : "", *r.predicted->slots,
                          *r.predicted->occupancy,
                          static_cast<double>(tiles) / static_cast<double>(*r.predicted->slots))},
             "launch__waves_per_multiprocessor"});
    }
    if (const i64 dram = r.traffic.at(Level::dram).total().bytes(); dram > 0)
        out.push_back({Formula::intensity,
                       fmt::format("{:.4g} FLOP/B", static_cast<double>(r.flops) / static_cast<double>(dram)),
                       "FLOP / DRAM bytes",
                       {fmt::format("{} / {}", r.flops, dram)},
                       "as above, divided by dram__bytes.sum"});
    if (r.predicted) add_energy(out, r, d);
    if (d.kind != DeviceKind::gpu)  // what checks them is a GPU profiler's
        for (Formula& f : out) f.metric.clear();
    return out;
}

}  // namespace sim
