#include "kernels/cpu/run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <memory>
#include <stdexcept>

#include "kernels/cpu/reference.hpp"
#include "kernels/special_values.hpp"

namespace kernels::cpu {

namespace {

constexpr i64 usual_bytes = i64{512} << 20;  // of operands to rotate through
constexpr double check_work = 1 << 27;       // multiply-adds of a full-size check: 0.2-0.5 s

void require(const Comparison& c, const Config& config, const std::string& instance) {
    if (!c.ok())
        throw std::runtime_error(std::string(config.rung->id) + " (" + config.instructions->name + ") at " + instance +
                                 ": " + c.first_wrong);
}

std::string size_text(const sim::Dense& d) {
    return std::to_string(d.m) + "x" + std::to_string(d.n) + "x" + std::to_string(d.k);
}

/// Operand sets that a run rotates through.
std::vector<std::unique_ptr<OperandSet>> make_sets(const Op& op, int count, std::uint64_t seed) {
    std::vector<std::unique_ptr<OperandSet>> sets;
    for (int i = 0; i < count; i++) {
        sets.push_back(std::make_unique<OperandSet>(op));
        if (i == 0)
            sets[0]->fill_normal(seed);
        else
            sets[static_cast<std::size_t>(i)]->copy_from(*sets[0]);
    }
    return sets;
}

}  // namespace

std::string check_ragged(const Op& op, const Config& config, std::uint64_t seed) {
    Op small = op;
    // Off every register tile and mask byte, and across a tile edge where that costs little.
    small.dense.m = std::min<i64>(op.dense.m, 131);
    small.dense.n = std::min<i64>(op.dense.n, 89);
    small.dense.k = std::min<i64>(op.dense.k, 70);
    small.dense.batch = std::min<i64>(op.dense.batch, 2);
    Config tiles = config;
    const auto shrink = [](sim::Tile t) {
        if (t.is_best()) t = usual_tile();
        return sim::Tile{std::min<i64>(t.bm, 50), std::min<i64>(t.bn, 50), std::min<i64>(t.bk, 33)};
    };
    tiles.tile = shrink(config.tile);
    tiles.tile_dgrad = shrink(config.tile_dgrad.value_or(sim::Tile{}));
    tiles.tile_wgrad = shrink(config.tile_wgrad.value_or(sim::Tile{}));

    OperandSet before(small), after(small);
    fill_special(before, seed);
    after.copy_from(before);
    Control control;
    execute(small, after.operands(), tiles, control);
    const Comparison c =
        compare(small, after.operands(), before.operands().dw, std::numeric_limits<double>::infinity());
    require(c, config, size_text(small.dense) + " with special values");
    return size_text(small.dense);
}

RunResult run(const Op& op, const Config& config, const RunOptions& options,
              const std::function<void(double)>& progress, std::stop_token stop) {
    using Clock = std::chrono::steady_clock;
    RunResult result;
    result.machine = processor_name();
    result.instructions = config.instructions->name;
    result.threads = config.resolved_threads();
    result.tile = config.resolved_tile(op, op.pass == sim::Pass::train ? sim::Pass::forward : op.pass);
    result.fit = fits(op, config);
    const i64 set_bytes = OperandSet::bytes(op);
    const double need = static_cast<double>(set_bytes) + scratch_bytes(op, config),
                 here = static_cast<double>(memory_bytes());
    if (result.fit.ok() && need > 0.75 * here)
        result.fit.why =
            fmt::format("needs {} for its operands and tiles; of the {} of memory here a run may use three quarters",
                        sim::format_bytes(need), sim::format_bytes(here));
    if (!result.fit.ok()) return result;

    result.checked =
        "a " + check_ragged(op, config, options.seed) + " instance with NaN, infinities, -0 and subnormals";

    const i64 cache =
        options.cache_bytes > 0 ? options.cache_bytes : std::max({cache_bytes(3), cache_bytes(2), i64{1} << 20});
    const i64 wanted = sim::ceil_div(2 * cache + 1, set_bytes);
    const i64 allowed = std::max<i64>(
        1, std::min(options.most_bytes ? options.most_bytes : usual_bytes, memory_bytes() / 4) / set_bytes);
    result.sets = options.warm ? 1 : static_cast<int>(std::min(wanted, allowed));
    result.cold = result.sets * set_bytes > 2 * cache;
    const auto sets = make_sets(op, result.sets, options.seed);
    // dW of an accumulating run starts from zero here, so that the check needs no copy of it.
    for (const auto& set : sets)
        if (const Matrix& dw = set->operands().dw; op.accumulate && dw)
            std::fill_n(static_cast<float*>(dw.data), dw.batch_pitch * op.dense.batch, 0.0f);

    // The warm-up says how long a run takes, and with that how many samples there will be.
    int planned = options.least_samples, taken = 0;
    std::vector<KernelTime> kernels;
    const auto once = [&](const OperandSet& set) {
        const double step = 1.0 / (planned + 1);
        Control control(
            stop, progress ? [&](double share) { progress((taken + share) * step); } : std::function<void(double)>{},
            multiply_adds(op));
        const auto start = Clock::now();
        kernels = execute(op, set.operands(), config, control);
        const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
        taken++;
        if (progress) progress(taken * step);
        return seconds;
    };
    const double warm_up = once(*sets[0]);
    if (stop.stop_requested()) {
        result.cancelled = true;
        return result;
    }
    const Comparison full = compare(op, sets[0]->operands(), {}, check_work);
    require(full, config, size_text(op.dense));
    result.max_error = full.max_error;
    result.checked += " and " + full.checked() + " at full size";

    const auto samples_in = [&](double seconds) {
        return static_cast<int>(std::min<double>(seconds / std::max(warm_up, 1e-9), options.most_samples));
    };
    planned = std::max(std::min(options.least_samples, samples_in(options.most_seconds)), samples_in(options.seconds));
    planned = std::max(planned, 1);
    std::vector<std::vector<double>> kernel_us;
    for (int i = 0; i < planned; i++) {
        const double seconds = once(*sets[static_cast<std::size_t>(1 + i) % sets.size()]);
        if (stop.stop_requested()) break;
        result.samples_us.push_back(seconds * 1e6);
        kernel_us.resize(kernels.size());
        for (std::size_t k = 0; k < kernels.size(); k++) kernel_us[k].push_back(kernels[k].seconds * 1e6);
    }
    if (result.samples_us.empty()) {
        result.cancelled = true;
        return result;
    }
    result.summarise();
    for (std::size_t k = 0; k < kernel_us.size(); k++)
        result.kernels.push_back({std::string(kernels[k].name), median(kernel_us[k])});
    return result;
}

}  // namespace kernels::cpu
