#include "sim/energy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace sim {

namespace {

constexpr double pico = 1e-12;

// What the one figure of a device file becomes a range by. On-chip figures are of 45 nm: CACTI gives an 8 KB array of
// 28 nm 0.22 of Horowitz' (0.035 against 0.156 pJ/bit), and later nodes less. DRAM figures are of the devices alone:
// whole boards that stream draw 19 to 38 pJ/bit (RRZE's roofline runs), 3.8 to 5.4 times as much.
constexpr double on_chip_low = 0.1, board_over_device = 5;
constexpr std::string_view tenth = "low: a tenth of it, as the figure is of 45 nm";
constexpr std::string_view board = "high: 5 times it, as whole boards draw when they stream";

/// Where a device file says nothing.
struct Usual {
    double picojoules;
    std::string_view source;
};
constexpr Usual usual_hbm = {5, "between HBM2 (3.9) and HBM2E (6)"};
constexpr Usual usual_ddr = {20, "640 pJ for 32 bits of DDR3, as often quoted"};
constexpr Usual usual_l2 = {1.6, "Horowitz, ISSCC 2014, 45 nm: 100 pJ for 64 bits of 1 MB of SRAM"};
constexpr Usual usual_sram = {0.31, "Horowitz, ISSCC 2014, 45 nm: 20 pJ for 64 bits of 32 KB of SRAM"};

/// pJ a FLOP of a multiply-add with an f32 sum, 45 nm (Horowitz, ISSCC 2014): half of multiply + add.
double multiply_add(Dtype t) {
    constexpr double add_f32 = 0.9, mul_f32 = 3.7, mul_f16 = 1.1, mul_8bit = 0.2;
    const double multiply = t == Dtype::f32 ? mul_f32 : t == Dtype::e4m3 ? mul_8bit : mul_f16;
    return (multiply + add_f32) / 2;
}

struct Price {
    Span each;
    std::string source;
};

Price of_level(Level level, const Device& d) {
    const bool on_chip = level != Level::dram;
    const Quantity& said = level == Level::dram ? d.energy.dram_per_bit
                           : level == Level::l2 ? d.energy.l2_per_bit
                                                : d.energy.sram_per_bit;
    const bool ddr = d.kind == DeviceKind::cpu || d.kind == DeviceKind::scratchpad;
    const Usual& usual = level == Level::dram ? (ddr ? usual_ddr : usual_hbm)
                         : level == Level::l2 ? usual_l2
                                              : usual_sram;
    const double one = said.or_else(usual.picojoules * pico);
    const std::string source = said.known() ? said.source : std::string(usual.source);
    if (on_chip) return {{one * on_chip_low, one}, fmt::format("{}; {}", source, tenth)};
    return {{one, one * board_over_device}, fmt::format("{}; {}", source, board)};
}

/// High: the whole board's draw during a long GEMM of 16 bits, which holds its memory and idle power too, for as much
/// longer as this type takes. Low: the multipliers and adders alone.
Price of_math(Dtype t, const Device& d) {
    constexpr double usual_gross = 1.6;  // pJ/FLOP: the A100's, the most of the big chips with a figure
    const double wide = std::max({d.peak_flops(Dtype::bf16), d.peak_flops(Dtype::f16), d.peak_flops(Dtype::f32)});
    const double slower = std::isfinite(wide / d.peak_flops(t)) ? wide / d.peak_flops(t) : 1;
    const double high = d.energy.per_flop.or_else(usual_gross * pico) * slower;
    const std::string gross =
        d.energy.per_flop.known() ? d.energy.per_flop.source : "400 W / 257 TFLOP/s of an A100's bf16 GEMM";
    return {{std::min(high, multiply_add(t) * on_chip_low * pico), high},
            fmt::format("high: {}{}; low: a tenth of multiplier and adder of 45 nm (Horowitz, ISSCC 2014)", gross,
                        slower > 1 ? fmt::format(", {:.3g} times for the slower {}", slower, to_string(t)) : "")};
}

EnergyPart part(std::string name, double flops, const Traffic& traffic, double longest_us, const Experiment& e,
                const Device& d) {
    EnergyPart out;
    out.name = std::move(name);
    const auto add = [&](std::string_view of, double amount, Price price) {
        if (amount > 0) out.terms.push_back({of, amount, price.each, std::move(price.source)});
    };
    add("math", flops, of_math(e.dense.dtype, d));
    for (const Level level : {Level::sram, Level::l1, Level::l2, Level::dram}) {
        const Flow f = traffic.at(level).total();
        const i64 moved = std::max(f.bytes(), f.moved_read_bytes + f.moved_write_bytes);
        if (traffic.at(level).present) add(to_string(level), static_cast<double>(moved), of_level(level, d));
    }
    for (const EnergyTerm& t : out.terms) {
        out.joules.low += t.joules().low;
        out.joules.high += t.joules().high;
    }
    const double limit = d.energy.tdp.value * longest_us * 1e-6;  // NaN where the power limit is not known
    out.capped = limit < out.joules.high;
    if (out.capped) out.joules.high = std::max(limit, out.joules.low);
    return out;
}

struct Prefix {
    double size;
    std::string_view name;
};
constexpr std::array prefixes = {Prefix{1e6, "MJ"},  Prefix{1e3, "kJ"},  Prefix{1, "J"},     Prefix{1e-3, "mJ"},
                                 Prefix{1e-6, "µJ"}, Prefix{1e-9, "nJ"}, Prefix{1e-12, "pJ"}};
const Prefix& prefix_of(double joules) {
    const auto at = std::find_if(prefixes.begin(), prefixes.end(),
                                 [&](const Prefix& p) { return std::abs(joules) >= 0.9995 * p.size; });
    return at == prefixes.end() ? prefixes.back() : *at;
}
/// Three significant digits, never in powers of ten.
std::string three(double value) {
    const double size = std::abs(value);
    return size >= 99.95 ? fmt::format("{:.0f}", value) : fmt::format("{:.3g}", value);
}

}  // namespace

Span EnergyTerm::joules() const {
    const double times = name == "math" ? amount : 8 * amount;
    return {times * each.low, times * each.high};
}

Energy energy(const Report& r, const Device& d) {
    Energy out;
    out.limit_watts = d.energy.tdp.value;
    if (!r.predicted) return out;
    const Prediction& p = *r.predicted;
    const double longer = p.time_us > 0 ? p.interval_us[1] / p.time_us : 1;
    for (const KernelReport& k : p.kernels)
        out.kernels.push_back(
            part(k.name, static_cast<double>(k.flops), k.traffic, k.time_us * longer, r.experiment, d));
    out.all = part("", static_cast<double>(r.flops), r.traffic, p.interval_us[1], r.experiment, d);
    return out;
}

std::string format_joules(double joules) {
    const Prefix& p = prefix_of(joules);
    return fmt::format("{} {}", three(joules / p.size), p.name);
}

std::string format_joules(const Span& joules, std::string_view between) {
    const Prefix &low = prefix_of(joules.low), &high = prefix_of(joules.high);
    if (&low != &high) return fmt::format("{}{}{}", format_joules(joules.low), between, format_joules(joules.high));
    return fmt::format("{}{}{}", three(joules.low / low.size), between, format_joules(joules.high));
}

std::string format_each(const EnergyTerm& t, std::string_view between) {
    const auto two = [](double pj) { return pj >= 99.5 ? fmt::format("{:.0f}", pj) : fmt::format("{:.2g}", pj); };
    return fmt::format("{}{}{} pJ/{}", two(t.each.low / pico), between, two(t.each.high / pico),
                       t.name == "math" ? "FLOP" : "bit");
}

}  // namespace sim
