#pragma once
// Integers wide enough for bytes, and how quantities are written: decimal MB/GB for memory traffic,
// KiB/MiB for on-chip capacity, µs/ms for time. One convention for text, plots and lessons.

#include <cstdint>
#include <string>

namespace sim {

using i64 = std::int64_t;

/// ceil(a / b) for a >= 0, b > 0.
constexpr i64 ceil_div(i64 a, i64 b) { return (a + b - 1) / b; }
/// Smallest multiple of b that is >= a.
constexpr i64 round_up(i64 a, i64 b) { return ceil_div(a, b) * b; }

/// "17.2 GB", "268 MB", "512 B": traffic and DRAM sizes, decimal, three significant digits.
std::string format_bytes(double bytes);
/// "227 KiB", "50 MiB": on-chip capacities, binary, exact when whole.
std::string format_kib(double bytes);
/// "35.0 ms", "812 µs", "0.27 µs"; below a tenth of one "9.90 ns", "15.6 ps".
std::string format_us(double microseconds);
/// "197 TFLOP/s", "3.2 GFLOP/s".
std::string format_flops(double flops_per_second);
/// "819 GB/s".
std::string format_bandwidth(double bytes_per_second);

}  // namespace sim
