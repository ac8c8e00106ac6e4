#pragma once
// What an expression of a lesson is worth: a number with its unit, a truth or a word; and how it is written and read.

#include <string>
#include <string_view>
#include <variant>

namespace lessons {

/// Exponents of bytes, seconds and operations: B/s is {1, -1, 0}. All zero is a plain number.
struct Unit {
    int bytes = 0, seconds = 0, flops = 0;
    bool operator==(const Unit&) const = default;
};

inline constexpr Unit plain{}, in_bytes{1, 0, 0}, in_seconds{0, 1, 0}, in_flops{0, 0, 1};

/// A number (in bytes, seconds, operations and what they make), a truth or a word ("math").
struct Value {
    std::variant<double, bool, std::string> is = 0.0;
    Unit unit;

    bool is_number() const { return std::holds_alternative<double>(is); }
    /// The number; BadInput where it is none.
    double number() const;
    /// The truth; BadInput where it is none.
    bool truth() const;
    bool operator==(const Value&) const = default;
};

/// A value as it reads best ("17.2 GB", "4.52", "yes"), or in the format asked for: a unit ("MB", "KiB", "ms", "%",
/// "x") or a count of decimals (".2"). BadInput where unit and value do not go together.
std::string to_text(const Value& value, std::string_view format = {});
/// Whether a number of that unit can be written in that format.
bool can_format(Unit unit, std::string_view format);

/// A number somebody wrote: "553.6 MB", "1/2", "40 %", "2x"; one without a unit is in `unit` ("" = plain). BadInput
/// names the text and what was expected.
Value parse_number(std::string_view text, std::string_view unit);

/// What a unit's name stands for: "MB" = 1e6 bytes. Null for a name that is none.
const Value* find_unit(std::string_view name);

}  // namespace lessons
