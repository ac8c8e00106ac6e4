#include "sim/lint.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <string_view>

namespace sim {
namespace {

/// Multiply-adds count two. Dense, f32 accumulate; `half` marks parts sold in two speeds (GeForce and export parts run
/// tensor math with f32 accumulate at half rate).
struct Rate {
    std::string_view family;  // compute capability, or arch where a part has none
    Dtype dtype;
    double flops_per_clock;  // per SM
    bool half = false;
};
constexpr Rate rates[] = {
    {"7.0", Dtype::f32, 128},          {"7.0", Dtype::f16, 1024},         {"7.5", Dtype::f32, 128},
    {"7.5", Dtype::f16, 1024},         {"8.0", Dtype::f32, 128},          {"8.0", Dtype::tf32, 1024},
    {"8.0", Dtype::f16, 2048},         {"8.0", Dtype::bf16, 2048},        {"8.6", Dtype::f32, 256},
    {"8.6", Dtype::tf32, 512, true},   {"8.6", Dtype::f16, 1024, true},   {"8.6", Dtype::bf16, 1024, true},
    {"8.9", Dtype::f32, 256},          {"8.9", Dtype::tf32, 512, true},   {"8.9", Dtype::f16, 1024, true},
    {"8.9", Dtype::bf16, 1024, true},  {"8.9", Dtype::e4m3, 2048, true},  {"9.0", Dtype::f32, 256},
    {"9.0", Dtype::tf32, 2048},        {"9.0", Dtype::f16, 4096},         {"9.0", Dtype::bf16, 4096},
    {"9.0", Dtype::e4m3, 8192},        {"10.0", Dtype::f32, 256},         {"10.0", Dtype::tf32, 4096},
    {"10.0", Dtype::f16, 8192},        {"10.0", Dtype::bf16, 8192},       {"10.0", Dtype::e4m3, 16384},
    {"12.0", Dtype::f32, 256},         {"12.0", Dtype::tf32, 512, true},  {"12.0", Dtype::f16, 1024, true},
    {"12.0", Dtype::bf16, 1024, true}, {"12.0", Dtype::e4m3, 2048, true}, {"gfx942", Dtype::f32, 256},
    {"gfx942", Dtype::tf32, 1024},     {"gfx942", Dtype::f16, 2048},      {"gfx942", Dtype::bf16, 2048},
    {"gfx942", Dtype::e4m3, 4096},
};

/// `smaller` may be at most `slack` times `larger`, where both are known.
struct Order {
    std::string_view smaller, larger;
    double slack = 1;
};
constexpr Order orders[] = {
    {"clock.boost", "clock.max"},
    {"clock.sustained", "clock.max"},
    {"dram.bandwidth", "dram.bandwidth_spec", 1.02},  // a datasheet rounds; a clock may be a little high
    {"dram.bandwidth", "l2.bandwidth"},
    {"l2.effective_bytes", "l2.bytes"},
    {"l2.bytes", "dram.bytes"},
    {"l2.latency", "dram.latency"},
    {"sram.latency", "l2.latency"},
    {"sram.bytes_per_cta", "sram.bytes_per_sm"},
    {"sram.reserved_per_cta", "sram.bytes_per_cta"},
    {"energy.sram_per_bit", "energy.l2_per_bit"},
    {"energy.l2_per_bit", "energy.dram_per_bit"},
    {"peak.f32", "peak.tf32"},
    {"peak.tf32", "peak.bf16"},
    {"peak.f16", "peak.e4m3"},
    {"peak.bf16", "peak.e4m3"},
};

bool near(double a, double b) { return std::fabs(a - b) <= 0.03 * std::fabs(b); }

double find(const std::vector<Constant>& all, std::string_view key) {
    const auto found = std::find_if(all.begin(), all.end(), [&](const Constant& c) { return c.key == key; });
    return found == all.end() ? std::nan("") : found->quantity.value;
}

/// What the part's width and clock give for `dtype`, or NaN where they are not known. f32 runs on the ordinary cores,
/// whose peak is quoted at the highest clock; tensor peaks are quoted at clock.boost.
double computed_peak(const Device& d, const Rate& rate) {
    const double clock = rate.dtype == Dtype::f32 ? d.clock.max.or_else(d.clock.boost.value) : d.clock.boost.value;
    return d.sm_count.value * rate.flops_per_clock * clock;
}

void check_gpu_peaks(const Device& d, std::vector<std::string>& found) {
    const std::string_view family = d.compute_capability.empty() ? d.arch : d.compute_capability;
    for (const Rate& rate : rates) {
        const auto peak = d.peak.find(rate.dtype);
        if (rate.family != family || peak == d.peak.end()) {
            continue;
        }
        // A part that boosts past its quoted clock still quotes f32 at the latter.
        const double at_max = computed_peak(d, rate);
        const double at_boost = at_max * d.clock.boost.value / d.clock.max.or_else(d.clock.boost.value);
        const double said = peak->second.value;
        if (!std::isfinite(at_max)) {
            continue;
        }
        const bool right = near(said, at_max) || (rate.half && near(said, at_max / 2)) ||
                           (rate.dtype == Dtype::f32 && near(said, at_boost));
        if (!right) {
            found.push_back(fmt::format("peak.{} ({}) is not SMs x rate x clock ({} SM x {} FLOP: {})",
                                        to_string(rate.dtype), format_flops(said), d.sm_count.value,
                                        rate.flops_per_clock, format_flops(at_max)));
        }
    }
}

/// The MXUs of one TensorCore, where the clock is known (some clocks are not published).
void check_tpu_peak(const Device& d, std::vector<std::string>& found) {
    const auto peak = d.peak.find(Dtype::bf16);
    if (peak == d.peak.end() || !d.clock.boost.known()) {
        return;
    }
    const double computed = 2 * d.mxu.dim.value * d.mxu.dim.value * d.mxu.count.value * d.clock.boost.value;
    if (!near(peak->second.value, computed)) {
        found.push_back(fmt::format("peak.bf16 ({}) is not MXUs x 2 dim^2 x clock ({})",
                                    format_flops(peak->second.value), format_flops(computed)));
    }
}

}  // namespace

std::vector<std::string> lint_device(const Device& d) {
    std::vector<std::string> found;
    const std::vector<Constant> all = constants(d);
    for (const Constant& c : all) {
        if (!(c.quantity.value >= c.low && c.quantity.value <= c.high)) {
            found.push_back(
                fmt::format("{} is {:g}; expected {:g} to {:g} {}", c.key, c.quantity.value, c.low, c.high, c.unit));
        }
        if (c.quantity.source.empty()) {
            found.push_back(fmt::format("{} is {} without a source", c.key, to_string(c.quantity.kind)));
        }
    }
    for (const auto& [smaller, larger, slack] : orders) {
        const double low = find(all, smaller), high = find(all, larger);
        if (low > high * slack) {
            found.push_back(fmt::format("{} ({:g}) is above {} ({:g})", smaller, low, larger, high));
        }
    }
    for (const auto& [dtype, rate] : d.sustained) {
        const double most = d.peak_flops(dtype) * d.clock.max.or_else(1) / d.clock.boost.or_else(1);
        if (rate.value > most) {
            found.push_back(fmt::format("sustained.{} ({}) is above the peak at the highest clock ({})",
                                        to_string(dtype), format_flops(rate.value), format_flops(most)));
        }
    }
    if (d.kind == DeviceKind::gpu) {
        if (std::fabs(d.per_sm.threads.value - 32 * d.per_sm.warps.value) > 0) {
            found.push_back(fmt::format("per_sm.threads ({:g}) is not 32 x per_sm.warps ({:g})", d.per_sm.threads.value,
                                        d.per_sm.warps.value));
        }
        if (d.sram.bytes_per_sm.value > d.l1.bytes_per_sm.value) {
            found.push_back(
                fmt::format("sram.bytes_per_sm ({}) is above the array it is carved from, l1.bytes_per_sm ({})",
                            format_kib(d.sram.bytes_per_sm.value), format_kib(d.l1.bytes_per_sm.value)));
        }
        if (d.sram.bytes_per_cta.value + d.sram.reserved_per_cta.value > d.sram.bytes_per_sm.value) {
            found.push_back(
                fmt::format("sram.bytes_per_cta and its reserved_per_cta ({}) are above sram.bytes_per_sm ({})",
                            format_kib(d.sram.bytes_per_cta.value + d.sram.reserved_per_cta.value),
                            format_kib(d.sram.bytes_per_sm.value)));
        }
        check_gpu_peaks(d, found);
    }
    if (d.kind == DeviceKind::tpu) {
        check_tpu_peak(d, found);
    }
    return found;
}

}  // namespace sim
