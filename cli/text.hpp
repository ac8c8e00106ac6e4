#pragma once
// Text for people: tables that line up, wrapped prose, and numbers as they read best.

#include <string>
#include <string_view>
#include <vector>

namespace cli {

/// Columns that `text` takes on a terminal (UTF-8; a Chinese character takes two).
int display_width(std::string_view text);

/// Breaks prose at spaces and between Chinese characters, never before a mark that closes, so that no line is longer than
/// `width`; the first line gets `first` spaces before it, the others `rest`. Ends in a newline. A word longer than a line
/// stays whole.
std::string wrap(std::string_view text, int width, int first = 0, int rest = 0);

/// A table whose columns are as wide as they need.
class Table {
public:
    /// One letter a column: 'l' left, 'r' right, with two spaces between columns.
    explicit Table(std::string alignment) : alignment_(std::move(alignment)) {}

    /// Adds a row; missing cells are empty.
    void row(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }
    bool empty() const { return rows_.empty(); }
    /// The rows, each with `indent` spaces before it and no spaces at its end. Where `width` > 0, the last column is
    /// wrapped to it under itself.
    std::string text(int indent = 0, int width = 0) const;

private:
    std::string alignment_;
    std::vector<std::vector<std::string>> rows_;
};

/// A bar of `share` (0..1) of `width` characters.
std::string bar(double share, int width);

/// "64", "1.83": three significant digits, whole where whole.
std::string short_number(double value);
/// "64x", "1.83x".
std::string times(double factor);
/// "+3.1 %", "-0.04 %", "0 %".
std::string percent(double fraction, bool sign = true);
/// "94.2 %": a share near the whole, rounded down because up would claim too much.
std::string nearly(double fraction);
/// "1,234,567".
std::string grouped(long long number);
/// "1 tile", "2 tiles".
std::string counted(long long number, std::string_view noun);

/// A time as somebody writes it ("2107us", "35 ms", "1.2 s"), in µs; BadInput names it.
double parse_duration_us(std::string_view text);

/// "0.123456789" for JSON and CSV: the shortest text that reads back as the same number.
std::string plain(double value);

}  // namespace cli
