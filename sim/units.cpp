#include "sim/units.hpp"

#include <fmt/format.h>

#include <cmath>
#include <span>
#include <string_view>

namespace sim {
namespace {

struct Step {
    double size;
    std::string_view name;
};

/// Rounds to three significant digits, so that the unit is chosen for what will be printed (999.9 kB is 1.00 MB).
double three_digits(double value) {
    if (value == 0) {
        return 0;
    }
    const double digits = std::floor(std::log10(std::fabs(value))) - 2;
    const double scale = std::pow(10.0, std::fabs(digits));  // a whole power: its inverse would not be exact
    const double rounded = digits >= 0 ? std::round(value / scale) * scale : std::round(value * scale) / scale;
    return std::isfinite(rounded) ? rounded : value;
}

/// Whether 35 is written "35.0" or "35".
enum class Zeros { kept, dropped };

/// `value` in the largest of `steps` (ascending) that leaves at least 1, with three significant digits.
std::string scaled(double value, std::span<const Step> steps, Zeros zeros = Zeros::kept) {
    if (!std::isfinite(value)) {
        return "unknown";
    }
    const double rounded = three_digits(value);
    const double magnitude = std::fabs(rounded);
    const Step* step = &steps.front();
    for (const Step& larger : steps) {
        if (magnitude >= larger.size) {
            step = &larger;
        }
    }
    const double shown = rounded / step->size;
    const double size = std::fabs(shown);
    const bool whole_bytes = step->name == "B" && shown == std::floor(shown);
    if (size < 1 || size >= 1e7 || whole_bytes || zeros == Zeros::dropped) {
        return fmt::format("{:.3g} {}", shown == 0 ? 0.0 : shown, step->name);
    }
    return fmt::format("{:.{}f} {}", shown, size < 10 ? 2 : size < 100 ? 1 : 0, step->name);
}

constexpr Step decimal_bytes[] = {{1, "B"}, {1e3, "kB"}, {1e6, "MB"}, {1e9, "GB"}, {1e12, "TB"}, {1e15, "PB"}};
constexpr Step binary_bytes[] = {{1.0, "B"}, {1024.0, "KiB"}, {1048576.0, "MiB"}, {1073741824.0, "GiB"}};
constexpr Step times[] = {{1, "µs"}, {1e3, "ms"}, {1e6, "s"}};
constexpr Step tiny_times[] = {{1e-6, "ps"}, {1e-3, "ns"}};
constexpr Step rates[] = {{1, "FLOP/s"},     {1e3, "kFLOP/s"},  {1e6, "MFLOP/s"}, {1e9, "GFLOP/s"},
                          {1e12, "TFLOP/s"}, {1e15, "PFLOP/s"}, {1e18, "EFLOP/s"}};

}  // namespace

std::string format_bytes(double bytes) { return scaled(bytes, decimal_bytes); }

std::string format_kib(double bytes) {
    if (!std::isfinite(bytes)) {
        return "unknown";
    }
    const double magnitude = std::fabs(bytes);
    // The largest unit in which quarters say it exactly, while that stays a number one can read.
    for (int i = std::size(binary_bytes) - 1; i >= 0; --i) {
        const auto& [size, name] = binary_bytes[i];
        const double quarters = 4 * bytes / size;
        if (magnitude >= size && quarters == std::floor(quarters) && magnitude / size < 10240) {
            return fmt::format("{:.8g} {}", bytes / size, name);
        }
    }
    const Step* step = &binary_bytes[0];
    for (const Step& larger : binary_bytes) {
        if (magnitude >= larger.size) {
            step = &larger;
        }
    }
    return fmt::format("{:.4g} {}", bytes == 0 ? 0.0 : bytes / step->size, step->name);
}

std::string format_us(double microseconds) {
    if (microseconds != 0 && std::fabs(microseconds) < 0.1) return scaled(microseconds, tiny_times);
    return scaled(microseconds, times);
}

std::string format_flops(double flops_per_second) { return scaled(flops_per_second, rates, Zeros::dropped); }

std::string format_bandwidth(double bytes_per_second) {
    const std::string text = scaled(bytes_per_second, decimal_bytes);
    return text == "unknown" ? text : text + "/s";
}

}  // namespace sim
