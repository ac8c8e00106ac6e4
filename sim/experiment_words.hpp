#pragma once
// The words of the text form, one row each; what reads and writes experiments and scenes shares. Not for other users.

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/experiment.hpp"

namespace sim::words {

inline constexpr i64 max_size = 2147483647;  // 2^31 - 1
inline constexpr i64 max_work = INT64_MAX;

/// Throws BadInput: WORD "TEXT": expected EXPECTED.
[[noreturn]] void bad(std::string_view word, std::string_view text, std::string_view expected);
/// A whole number in [low, high], or BadInput.
i64 read_integer(std::string_view word, std::string_view text, i64 low, i64 high);
/// "AxB" or "AxBxC" with `count` parts of 1 to `high`, or BadInput.
std::vector<i64> read_sizes(std::string_view word, std::string_view text, int count, i64 high);
/// The words of a line, split at white space.
std::vector<std::string_view> split(std::string_view text);

/// Kinds of device as bits.
inline constexpr unsigned on_gpu = 1, on_tpu = 2, on_cpu = 4, on_scratchpad = 8, everywhere = 15;
constexpr unsigned bit(DeviceKind k) { return 1u << static_cast<int>(k); }

/// A keyword and its argument: where it applies, how it is read and how it is written. Canonical order is table order.
struct Word {
    std::string_view name;
    unsigned kinds;
    std::function<void(Experiment&, std::string_view)> read;
    std::function<std::string(const Experiment&)> write;
    /// Empty, or why the word means nothing for this experiment's pass and fusion.
    std::function<std::string_view(const Experiment&)> refuses = [](const Experiment&) { return std::string_view{}; };
};
const std::vector<Word>& table();
const Word* find(std::string_view name);

}  // namespace sim::words
