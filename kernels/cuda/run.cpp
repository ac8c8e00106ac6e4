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

/// The first reason why one of the experiment's kernels cannot run.
sim::Fit fit_of(const sim::Experiment& e, int capability) {
    for (const DeviceKernel& k : kernels_of(e))
        if (sim::Fit fit = fits(k, capability); !fit.ok()) return fit;
    return {};
}

/// Runs the launches once on fresh operands and compares. Returns the comparison.
cpu::Comparison check_once(const Runtime& r, const Executable& executable, const sim::Experiment& e,
                           const OperandSet& before, double most_work) {
    const Op op = op_of(e);
    OperandSet poisoned(op);
    poisoned.copy_from(before);
    poison_outputs(poisoned);
    const DeviceOperands on_device(r, poisoned);
    const DeviceMemory partial(r, std::max<sim::i64>(executable.partial_bytes(e), 1));
    partial.fill(0xff);
    executable.bind(e, on_device.operands(), partial.data()).launch_all();
    cuda::check(r, r.synchronize(), "cudaDeviceSynchronize");

    const std::string place = fmt::format("{} at {}", e.rung, size_text(e.dense));
    if (const std::string what = on_device.overwritten(poisoned); !what.empty())
        throw std::runtime_error(fmt::format("{}: the kernel wrote to {}, which is not its output", place, what));
    on_device.download(poisoned);
    cpu::Comparison c = cpu::compare(op, poisoned.operands(), before.operands().dw, most_work);
    if (!c.ok()) throw std::runtime_error(fmt::format("{}: {}", place, c.first_wrong));
    return c;
}

std::string check_ragged(const Runtime& r, const Executable& executable, const sim::Experiment& e, int capability,
                         std::uint64_t seed) {
    sim::Experiment small = ragged(e);
    if (!fit_of(small, capability).ok()) {  // rows that must start on 16 bytes
        small.dense.m = sim::round_up(small.dense.m, 16);
        small.dense.n = sim::round_up(small.dense.n, 16);
        small.dense.k = sim::round_up(small.dense.k, 16);
    }
    OperandSet before(op_of(small));
    fill_special(before, seed);
    check_once(r, executable, small, before, std::numeric_limits<double>::infinity());
    return size_text(small.dense);
}

/// One set of operands on the GPU and the launches bound to it.
struct Bound {
    DeviceOperands operands;
    BoundLaunches launches;
};

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

RunResult run(const sim::Experiment& asked, const RunOptions& options, const std::function<void(double)>& progress,
              std::stop_token stop, const Runtime& r) {
    if (const sim::Fit here = available(r); !here.ok()) throw NotAvailable(here.why);
    const Gpu here = gpu(r);
    const sim::Experiment e = resolved(asked);
    const Op op = op_of(e);
    RunResult result;
    result.machine = here.name;
    result.driver = "CUDA " + here.driver;
    result.instructions = arch_name(here.capability);
    result.tile = e.tile;
    result.fit = fit_of(e, here.capability);
    if (!result.fit.ok()) return result;

    const Executable executable(r, here, e);
    result.threads = executable.build().kernels.front().launch.block;
    const sim::i64 partial_bytes = executable.partial_bytes(e);
    const auto say = [&](double share) {
        if (progress) progress(share);
    };

    // Memory: one set must fit beside the slices; as many as exceed the L2 twice are wanted.
    OperandSet values(op);
    const sim::i64 set_bytes = DeviceOperands::bytes(values);
    const auto need = static_cast<double>(set_bytes + partial_bytes), free = static_cast<double>(here.free_bytes);
    if (need > 0.9 * free) {
        result.fit.why = fmt::format("needs {} for its operands; the GPU has {} free", sim::format_bytes(need),
                                     sim::format_bytes(free));
        return result;
    }

    result.checked = fmt::format("a {} instance with NaN, infinities, -0 and subnormals",
                                 check_ragged(r, executable, e, here.capability, options.seed));
    say(0.1);
    if (stop.stop_requested()) return result.cancelled = true, result;
    values.fill_normal(options.seed);
    if (const Matrix& dw = values.operands().dw; op.accumulate && dw)
        std::fill_n(static_cast<float*>(dw.data), dw.batch_pitch * op.dense.batch, 0.0f);
    const cpu::Comparison full = check_once(r, executable, e, values, check_work);
    result.max_error = full.max_error;
    result.checked += " and " + full.checked() + " at full size";
    say(0.3);

    RunOptions rotating = options;
    rotating.warm |= e.l2 == sim::L2Start::warm;
    const Rotation turn =
        rotation(set_bytes, here.l2_bytes, static_cast<sim::i64>(0.9 * free) - partial_bytes, rotating);
    result.sets = turn.sets;
    result.cold = turn.cold;
    const DeviceMemory partial(r, std::max<sim::i64>(partial_bytes, 1));
    std::vector<Bound> sets;
    for (int i = 0; i < turn.sets; i++) {
        DeviceOperands operands(r, values);
        BoundLaunches launches = executable.bind(e, operands.operands(), partial.data());
        sets.push_back({std::move(operands), std::move(launches)});
    }
    sample(
        r, turn.sets, [&](std::size_t set) { sets[set].launches.launch_all(); }, options,
        [&](double share) { say(0.3 + 0.65 * share); }, stop, result);
    if (result.cancelled) return result;

    const std::size_t count = executable.kernels().size();
    std::vector<double> parts = {result.median_us};
    if (count > 1)
        parts = sample_parts(r, count, std::min<int>(split_samples, static_cast<int>(result.samples_us.size())),
                             [&](std::size_t i, std::size_t k) { sets[i % sets.size()].launches.launch(k); });
    for (std::size_t k = 0; k < count; k++)
        result.kernels.push_back({std::string(executable.kernels()[k].name), parts[k]});
    if (options.counters) {
        const auto one = [&] { sets[0].launches.launch_all(); };
        try {
            result.counters = cuda::count(here, one, r);
        } catch (const CudaError& error) {
            result.counters_why = error.what();
        }
    }
    say(1);
    return result;
}

}  // namespace kernels::cuda
