#include "sim/time.hpp"

#include <algorithm>
#include <cmath>

#include "sim/coverage.hpp"
#include "sim/time_work.hpp"

namespace sim {

namespace {

constexpr TimeTermInfo terms[term_count] = {
    {"math", "multiply-adds at the peak rate, whole tiles"},
    {"smem", "shared memory and load/store unit; on a TPU, f32 operands turned into bf16"},
    {"l2", "L2 to SMs, all together and into one SM"},
    {"dram", "DRAM bytes, as expected between the lockstep and the staggered count"},
    {"latency", "waiting for loads: bytes in flight over latency (Little), and barriers"},
    {"waves", "whole waves of CTAs, and a last one that leaves SMs idle"},
    {"fill", "the first loads of a CTA or a grid, beside which nothing runs"},
    {"epilogue", "outputs stored while no multiply runs"},
    {"power", "what the machine sustains under a long GEMM"},
    {"launch", "starting a kernel"},
    {"dispatch", "a framework's call, as a host's clock sees it"},
    {"step_overhead", "starting a grid step of a sequential machine"},
};

/// The source of constants that a refit of the published rows set.
constexpr std::string_view fitted =
    "fitted on the rows with a tile of kernels/measured/published.csv, all devices at once, the Keras guide left out";

constexpr EngineConstant constant_table[] = {
    {"mma_overlap",
     "exponent per warp and scheduler",
     Evidence::assumed,
     fitted,
     &EngineConstants::mma_overlap,
     {0.4, 0.5, 0.6, 0.75, 1}},
    {"gpu_softness", "exponent", Evidence::assumed, fitted, &EngineConstants::gpu_softness, {3, 3.5, 4, 5, 6}},
    {"dma_softness", "exponent", Evidence::assumed, fitted, &EngineConstants::dma_softness, {3, 4, 5, 6, 8}},
    {"bulk_copy_clocks",
     "clk beyond a plain load",
     Evidence::assumed,
     fitted,
     &EngineConstants::bulk_copy_clocks,
     {1000, 1200, 1300, 1400, 1600}},
    {"epilogue_bytes_per_clock",
     "B/clk/SM",
     Evidence::assumed,
     fitted,
     &EngineConstants::epilogue_bytes_per_clock,
     {14, 20, 28, 40, 56}},
    {"port_bytes_per_clock",
     "B/clk/SM",
     Evidence::assumed,
     "64 B per clock from L2 into an SM since Volta; not measured apart",
     &EngineConstants::port_bytes_per_clock,
     {64, 64, 64, 64, 64}},
};

constexpr EngineConstants in_use() {
    EngineConstants c{};
    for (const EngineConstant& row : constant_table) c.*row.member = row.candidates[2];
    return c;
}
constexpr EngineConstants values_in_use = in_use();

/// Measured over predicted, 10th to 90th percentile, each source's rows predicted with constants fitted without it.
constexpr struct {
    Engine engine;
    ErrorBand band;
} error_bands[] = {
    {Engine::simt, {0.77, 1.39}},    {Engine::mma, {1.00, 1.20}}, {Engine::wgmma, {0.95, 1.06}},
    {Engine::tcgen05, {0.67, 1.21}}, {Engine::mxu, {0.93, 1.05}},
};
/// For an engine without rows, as far as the widest of the others is from one.
constexpr ErrorBand unknown_band = {0.67, 1.39};

/// One kernel's numbers, whatever its machine.
struct Work {
    enum Kind { cta, stream, grid } kind = grid;
    CtaWork of_cta;
    StreamWork of_stream;
    GridWork of_grid;
    double seconds(const TimeModel& m) const {
        return kind == cta      ? sim::seconds(of_cta, m)
               : kind == stream ? sim::seconds(of_stream, m)
                                : sim::seconds(of_grid, m);
    }
};

/// DRAM bytes that kernel i is expected to move: what was counted in lockstep, and its share of what drift adds.
class ExpectedDram {
public:
    ExpectedDram(const std::vector<Kernel>& kernels, const Counts& counts) : kernels_(kernels), counts_(counts) {
        double matmuls = 0;
        for (std::size_t i = 0; i < kernels.size(); ++i)
            if (kernels[i].matmul) matmuls += reads(i);
        const double extra = static_cast<double>(counts.dram_range.expected_bytes) -
                             static_cast<double>(counts.dram_range.lockstep_bytes);
        scale_ = matmuls > 0 ? std::max(-1.0, extra / matmuls) : 0;
    }
    double bytes(std::size_t i) const {
        return static_cast<double>(counts_.kernels[i].at(Level::dram).total().bytes()) +
               (kernels_[i].matmul ? scale_ * reads(i) : 0);
    }

private:
    double reads(std::size_t i) const {
        return static_cast<double>(counts_.kernels[i].at(Level::dram).total().read_bytes);
    }
    const std::vector<Kernel>& kernels_;
    const Counts& counts_;
    double scale_ = 0;
};

Work work_of(const Experiment& e, const Device& d, const Kernel& k, const Traffic& t, double dram_bytes,
             const EngineConstants& c) {
    Work w;
    if (d.kind != DeviceKind::gpu) {
        w.of_grid = grid_work(e, d, k, t, c);
    } else if (k.matmul) {
        w.kind = Work::cta;
        w.of_cta = cta_work(e, d, k, t, dram_bytes, c);
    } else {
        w.kind = Work::stream;
        w.of_stream = stream_work(d, t, dram_bytes);
    }
    return w;
}

double total_us(std::span<const Work> work, const TimeModel& model) {
    double sum = 0;
    for (const Work& w : work) sum += w.seconds(model);
    return 1e6 * sum;
}

/// The resource that a doubling of would save most.
Limiter limiter_of(std::span<const Work> work, const TimeModel& model, std::array<double, limiter_count>& if_twice) {
    int best = 0;
    for (int l = 0; l < limiter_count; ++l) {
        TimeModel faster = model;
        faster.speed[static_cast<std::size_t>(l)] = 2;
        if_twice[static_cast<std::size_t>(l)] = total_us(work, faster);
        if (if_twice[static_cast<std::size_t>(l)] < if_twice[static_cast<std::size_t>(best)]) best = l;
    }
    return static_cast<Limiter>(best);
}

/// Which resources a kind of machine has at all.
bool has(DeviceKind kind, Limiter l) {
    switch (l) {
        case Limiter::math:
        case Limiter::dram: return true;
        case Limiter::sram: return kind == DeviceKind::gpu || kind == DeviceKind::tpu;
        case Limiter::l2: return kind == DeviceKind::gpu || kind == DeviceKind::cpu;
        case Limiter::latency:
        case Limiter::power: return kind == DeviceKind::gpu;
        case Limiter::launch: return kind != DeviceKind::scratchpad;
        case Limiter::step_overhead: return kind == DeviceKind::tpu || kind == DeviceKind::cpu;
    }
    return false;
}

/// Time by term: what each adds to those before it. Sums to the time.
std::vector<TimeTerm> split(const Work& w, const TimeModel& model) {
    std::vector<TimeTerm> out;
    TimeModel partial = model;
    partial.terms = 0;
    double before = 0;
    for (int t = 0; t < term_count; ++t) {
        partial.terms |= model.terms & (1u << t);
        if (!(model.terms & (1u << t))) continue;
        const double now = 1e6 * w.seconds(partial);
        if (now != before) out.push_back({std::string(terms[t].name), now - before});
        before = now;
    }
    return out;
}

}  // namespace

std::span<const TimeTermInfo> time_terms() { return terms; }

TimeModel TimeModel::without(const std::set<std::string>& names) {
    TimeModel model;
    for (int t = 0; t < term_count; ++t)
        if (names.contains(std::string(sim::terms[t].name))) model.terms &= ~(1u << t);
    return model;
}

std::span<const EngineConstant> engine_constant_table() { return constant_table; }
const EngineConstants& engine_constants() { return values_in_use; }

ErrorBand error_band(Engine engine) {
    for (const auto& row : error_bands)
        if (row.engine == engine) return row.band;
    return unknown_band;
}

double time_us(const Experiment& e, const Device& d, const std::vector<Kernel>& kernels, const Counts& counts,
               const TimeModel& model) {
    const ExpectedDram dram(kernels, counts);
    double sum = 0;
    for (std::size_t i = 0; i < kernels.size(); ++i)
        sum += work_of(e, d, kernels[i], counts.kernels[i], dram.bytes(i), *model.constants).seconds(model);
    return 1e6 * sum;
}

Prediction predict_time(const Experiment& e, const Device& d, const std::vector<Kernel>& kernels, const Counts& counts,
                        const Bound& bound, const std::set<std::string>& without) {
    const TimeModel model = TimeModel::without(without);
    const ExpectedDram dram(kernels, counts);
    std::vector<Work> work;
    for (std::size_t i = 0; i < kernels.size(); ++i)
        work.push_back(work_of(e, d, kernels[i], counts.kernels[i], dram.bytes(i), *model.constants));

    Prediction p;
    for (std::size_t i = 0; i < kernels.size(); ++i) {
        KernelReport r;
        r.name = kernels[i].name;
        r.flops = kernels[i].flops();
        r.traffic = counts.kernels[i];
        r.terms = split(work[i], model);
        for (const TimeTerm& t : r.terms) r.time_us += t.time_us;
        std::array<double, limiter_count> unused{};
        r.limiter = limiter_of({&work[i], 1}, model, unused);
        p.time_us += r.time_us;
        p.kernels.push_back(std::move(r));
    }
    std::array<double, limiter_count> if_twice{};
    p.limiter = limiter_of(work, model, if_twice);
    // What the bound knows and the terms do not (a level that no term waits for) is waited for where the limit is.
    const double missing = bound.time_us - p.time_us;
    if (missing > 0 && without.empty()) {
        KernelReport& last =
            *std::max_element(p.kernels.begin(), p.kernels.end(),
                              [](const KernelReport& a, const KernelReport& b) { return a.time_us < b.time_us; });
        last.terms.push_back({"bound", missing});
        last.time_us += missing;
        p.time_us += missing;
    }
    for (int l = 0; l < limiter_count; ++l)
        if (has(d.kind, static_cast<Limiter>(l)))
            p.if_twice[std::string(to_string(static_cast<Limiter>(l)))] =
                std::min(p.time_us, if_twice[static_cast<std::size_t>(l)]);

    const ErrorBand band = error_band(e.engine);
    p.interval_us[0] = std::max(without.empty() ? bound.time_us : 0, p.time_us * band.low);
    p.interval_us[1] = p.time_us * band.high;
    p.validated = is_covered(e);
    for (const Work& w : work) {
        if (w.kind == Work::cta && !p.occupancy) {
            p.occupancy = static_cast<int>(w.of_cta.ctas);
            p.slots = static_cast<i64>(w.of_cta.ctas * w.of_cta.sms);
            p.waves = w.of_cta.tiles / (w.of_cta.ctas * w.of_cta.sms);
        }
        if (w.kind == Work::grid) p.pipelined = p.pipelined && w.of_grid.pipelined;
        if (w.kind == Work::cta) p.pipelined = p.pipelined && w.of_cta.stages > 1;
    }
    return p;
}

}  // namespace sim
