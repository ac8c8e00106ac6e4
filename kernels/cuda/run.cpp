#include "kernels/cuda/run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <limits>
#include <memory>
#include <set>

#include "kernels/cpu/reference.hpp"
#include "kernels/cuda/counters.hpp"
#include "kernels/cuda/device_operands.hpp"
#include "kernels/cuda/executable.hpp"
#include "kernels/cuda/sample.hpp"
#include "kernels/special_values.hpp"

namespace kernels::cuda {
namespace {

constexpr double check_work = 1 << 27;  // multiply-adds of a full-size check on the processor
constexpr int split_samples = 20;       // runs whose kernels are timed apart

std::string size_text(const sim::Dense& d) { return fmt::format("{}x{}x{}", d.m, d.n, d.k); }

/// The experiment at a size that crosses tile edges in every dimension and divides by nothing.
sim::Experiment ragged(const sim::Experiment& e) {
    sim::Experiment small = e;
    const sim::Tile f = e.tile, d = e.tile_dgrad.value_or(e.tile), w = e.tile_wgrad.value_or(e.tile);
    sim::i64 m = 0, n = 0, k = 0;
    const auto cover = [&](sim::Pass pass, const sim::Tile& t) {
        if (e.pass != pass && e.pass != sim::Pass::train) return;
        const sim::i64 rows = t.bm + 37, cols = t.bn + 29, red = 2 * t.bk + 13;
        if (pass == sim::Pass::dgrad) m = std::max(m, rows), k = std::max(k, cols), n = std::max(n, red);
        if (pass == sim::Pass::wgrad) k = std::max(k, rows), n = std::max(n, cols), m = std::max(m, red);
        if (pass == sim::Pass::forward) m = std::max(m, rows), n = std::max(n, cols), k = std::max(k, red);
    };
    cover(sim::Pass::forward, f);
    cover(sim::Pass::dgrad, e.pass == sim::Pass::train ? d : f);
    cover(sim::Pass::wgrad, e.pass == sim::Pass::train ? w : f);
    small.dense.m = m | 1;
    small.dense.n = n | 1;
    small.dense.k = k | 1;
    small.dense.batch = std::min<sim::i64>(e.dense.batch, 2);
    return small;
}

/// What the launches of an experiment left on the GPU, against the reference on the set that was uploaded. `after`
/// holds the same inputs and takes the outputs.
cpu::Comparison compare_outputs(const Runtime& r, const sim::Experiment& e, const DeviceOperands& on_device,
                                const OperandSet& uploaded, OperandSet& after, double most_work) {
    cuda::check(r, r.synchronize(), "cudaDeviceSynchronize");
    const std::string place = fmt::format("{} at {}", e.rung, size_text(e.dense));
    if (const std::string what = on_device.overwritten(uploaded); !what.empty())
        throw std::runtime_error(fmt::format("{}: the kernel wrote to {}, which is not its output", place, what));
    on_device.download(after);
    cpu::Comparison c = cpu::compare(op_of(e), after.operands(), uploaded.operands().dw, most_work);
    if (!c.ok()) throw std::runtime_error(fmt::format("{}: {}", place, c.first_wrong));
    return c;
}

std::string check_ragged(const Runtime& r, const Executable& executable, const sim::Experiment& e, int capability,
                         std::uint64_t seed) {
    sim::Experiment small = ragged(e);
    if (!fits(small, capability).ok()) {  // rows that must start on 16 bytes
        small.dense.m = sim::round_up(small.dense.m, 16);
        small.dense.n = sim::round_up(small.dense.n, 16);
        small.dense.k = sim::round_up(small.dense.k, 16);
    }
    OperandSet before(op_of(small)), after(op_of(small));
    fill_special(before, seed);
    after.copy_from(before);
    const DeviceOperands on_device(r, before);
    on_device.poison();
    const DeviceMemory partial(r, std::max<sim::i64>(executable.partial_bytes(small), 1));
    partial.fill(0xff);
    executable.bind(small, on_device.operands(), partial.data()).launch_all();
    compare_outputs(r, small, on_device, before, after, std::numeric_limits<double>::infinity());
    return size_text(small.dense);
}

}  // namespace

sim::Fit same_gpu(const sim::Device& device, const Gpu& gpu) {
    // Words of letters and digits, in small letters: "nvidia", "h200".
    const auto words = [](std::string_view text) {
        std::set<std::string> out;
        std::string word;
        for (const char c : std::string(text) + ' ')
            if (std::isalnum(static_cast<unsigned char>(c))) {
                word += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
            } else if (!word.empty()) {
                out.insert(std::exchange(word, {}));
            }
        return out;
    };
    const auto asked = words(device.id), here = words(gpu.name);
    const auto digits = [](const std::string& w) { return w.find_first_of("0123456789") != std::string::npos; };
    const auto form = [](const std::string& w) { return w.starts_with("sxm") || w.ends_with("gb"); };
    bool same = device.sm_count.kind != sim::Evidence::spec || device.sm_count.value == gpu.sm_count;
    for (const std::string& w : asked)  // the model: h200, a6000, 4090, l40s
        if (digits(w) && !form(w)) same &= here.count(w) == 1;
    for (const char* w : {"nvl", "pcie", "ti", "super"}) same &= asked.count(w) == here.count(w);
    same &= std::fabs(static_cast<double>(gpu.memory_bytes) / device.dram.bytes.or_else(0) - 1) < 0.15;
    if (same) return {};
    return {fmt::format("{} was asked for; the GPU here is {} ({} SMs, {} of memory, compute capability {}.{})",
                        device.id, gpu.name, gpu.sm_count, sim::format_bytes(static_cast<double>(gpu.memory_bytes)),
                        gpu.capability / 10, gpu.capability % 10)};
}

struct Bench::State {
    const Runtime& r;
    Gpu here;
    Op op;
    sim::L2Start l2;
    RunOptions options;
    sim::Fit fit;
    OperandSet values, after;
    Rotation turn;
    std::vector<DeviceOperands> sets;
};

struct Bench::Ready::State {
    Bench::State& bench;
    Executable executable;
    DeviceMemory partial;
    std::vector<BoundLaunches> launches;  // by set of operands
};

Bench::Bench(Bench&&) noexcept = default;
Bench::~Bench() = default;
Bench::Ready::Ready(std::unique_ptr<State> state) : state_(std::move(state)) {}
Bench::Ready::Ready(Ready&&) noexcept = default;
Bench::Ready::~Ready() = default;
const sim::Fit& Bench::fit() const { return state_->fit; }
bool Bench::takes(const sim::Experiment& e) const { return op_of(resolved(e)) == state_->op && e.l2 == state_->l2; }

Bench::Bench(const sim::Experiment& asked, const RunOptions& options, const Runtime& r) {
    if (const sim::Fit available = cuda::available(r); !available.ok()) throw NotAvailable(available.why);
    const sim::Experiment e = resolved(asked);
    const Gpu here = gpu(r);
    const Op op = op_of(e);
    sim::i64 partial_bytes = 0;
    for (const DeviceKernel& k : kernels_of(e)) partial_bytes = std::max(partial_bytes, k.partial_bytes());

    // One set must fit beside the slices; as many as exceed the L2 twice are wanted.
    OperandSet values(op);
    const sim::i64 set_bytes = DeviceOperands::bytes(values);
    const auto need = static_cast<double>(set_bytes + partial_bytes), free = static_cast<double>(here.free_bytes);
    state_ = std::make_unique<State>(State{r, here, op, e.l2, options, {}, std::move(values), OperandSet(op), {}, {}});
    State& s = *state_;
    if (need > 0.9 * free) {
        s.fit.why = fmt::format("needs {} for its operands; the GPU has {} free", sim::format_bytes(need),
                                sim::format_bytes(free));
        return;
    }
    RunOptions rotating = options;
    rotating.warm |= e.l2 == sim::L2Start::warm;
    s.turn = rotation(set_bytes, here.l2_bytes, static_cast<sim::i64>(0.9 * free) - partial_bytes, rotating);
    s.values.fill_normal(options.seed);
    if (const Matrix& dw = s.values.operands().dw; op.accumulate && dw)
        std::fill_n(static_cast<float*>(dw.data), dw.batch_pitch * op.dense.batch, 0.0f);
    s.after.copy_from(s.values);
    for (int i = 0; i < s.turn.sets; i++) s.sets.emplace_back(r, s.values);
}

Bench::Ready Bench::ready(const sim::Experiment& asked, const std::function<void(double)>& progress,
                          std::stop_token stop) {
    State& s = *state_;
    const sim::Experiment e = resolved(asked);
    RunResult result;
    result.machine = s.here.name;
    result.driver = "CUDA " + s.here.driver;
    result.instructions = arch_name(s.here.capability);
    result.tile = e.tile;
    result.sets = s.turn.sets;
    result.cold = s.turn.cold;
    result.fit = s.fit.ok() ? fits(e, s.here.capability) : s.fit;
    Ready ready(nullptr);
    const auto answer = [&]() -> Ready& { return ready.checked = std::move(result), ready; };
    if (!result.fit.ok()) return std::move(answer());

    Executable executable(s.r, s.here, e);
    result.threads = executable.build().kernels.front().launch.block;
    result.checked = fmt::format("a {} instance with NaN, infinities, -0 and subnormals",
                                 check_ragged(s.r, executable, e, s.here.capability, s.options.seed));
    if (progress) progress(0.1);
    result.cancelled = stop.stop_requested();
    if (result.cancelled) return std::move(answer());

    DeviceMemory partial(s.r, std::max<sim::i64>(executable.partial_bytes(e), 1));
    partial.fill(0xff);
    ready.state_ = std::make_unique<Ready::State>(Ready::State{s, std::move(executable), std::move(partial), {}});
    Ready::State& state = *ready.state_;
    for (const DeviceOperands& set : s.sets)
        state.launches.push_back(state.executable.bind(e, set.operands(), state.partial.data()));
    s.sets[0].upload(s.values);  // what it adds to or writes over has been worked on
    s.sets[0].poison();
    state.launches[0].launch_all();
    const cpu::Comparison full = compare_outputs(s.r, e, s.sets[0], s.values, s.after, check_work);
    if (const std::string what = s.sets[0].unwritten(s.after); !what.empty())
        throw std::runtime_error(fmt::format("{} at {}: {} was not written", e.rung, size_text(e.dense), what));
    result.max_error = full.max_error;
    result.checked += " and " + full.checked() + " at full size";
    if (progress) progress(0.3);
    return std::move(answer());
}

RunResult Bench::Ready::time(const RunOptions& options, const std::function<void(double)>& progress,
                             std::stop_token stop) {
    RunResult result = checked;
    if (!result.fit.ok() || result.cancelled) return result;
    const Runtime& r = state_->bench.r;
    auto& launches = state_->launches;
    sample(
        r, static_cast<int>(launches.size()), [&](std::size_t set) { launches[set].launch_all(); }, options,
        [&](double share) {
            if (progress) progress(0.3 + 0.65 * share);
        },
        stop, result);
    if (result.cancelled) return result;

    const std::vector<DeviceKernel>& kernels = state_->executable.kernels();
    std::vector<double> parts = {result.median_us};
    if (kernels.size() > 1)
        parts =
            sample_parts(r, kernels.size(), std::min<int>(split_samples, static_cast<int>(result.samples_us.size())),
                         [&](std::size_t i, std::size_t k) { launches[i % launches.size()].launch(k); });
    for (std::size_t k = 0; k < kernels.size(); k++) result.kernels.push_back({std::string(kernels[k].name), parts[k]});
    if (options.counters) {
        try {
            result.counters = cuda::count(
                state_->bench.here, [&] { launches[0].launch_all(); }, r);
        } catch (const CudaError& error) {
            result.counters_why = error.what();
        }
    }
    if (progress) progress(1);
    return result;
}

RunResult run(const sim::Experiment& e, const RunOptions& options, const std::function<void(double)>& progress,
              std::stop_token stop, const Runtime& r) {
    Bench bench(e, options, r);
    return bench.ready(e, progress, stop).time(options, progress, stop);
}

}  // namespace kernels::cuda
