#include "cli/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "lessons/line_breaks.hpp"
#include "sim/error.hpp"
#include "sim/text.hpp"

namespace cli {

int display_width(std::string_view text) {
    int columns = 0;
    for (lessons::Character c; !text.empty(); text.remove_prefix(c.text.size())) {
        c = lessons::first_character(text);
        columns += c.wide ? 2 : 1;
    }
    return columns;
}

std::string wrap(std::string_view text, int width, int first, int rest) {
    std::string out(static_cast<std::size_t>(first), ' '), piece;
    int column = first, piece_width = 0;
    bool begun = false, spaced = false;
    const auto put = [&] {
        const int gap = begun && spaced ? 1 : 0;
        if (begun && column + gap + piece_width > width) {
            out += '\n';
            out.append(static_cast<std::size_t>(rest), ' ');
            column = rest;
        } else if (gap) {
            out += ' ';
            ++column;
        }
        out += piece;
        column += piece_width;
        begun = begun || !piece.empty();
        piece.clear();
        piece_width = 0;
    };
    lessons::LineBreaks breaks;
    while (const auto c = breaks.next(text)) {
        if (c->begins) {
            put();
            spaced = c->spaced;
        }
        piece += c->text;
        piece_width += c->wide ? 2 : 1;
    }
    put();
    return out + '\n';
}

std::string Table::text(int indent, int width) const {
    std::vector<int> widths(alignment_.size());
    for (const auto& cells : rows_)
        for (std::size_t c = 0; c < cells.size() && c < widths.size(); ++c)
            widths[c] = std::max(widths[c], display_width(cells[c]));
    int last_column = indent;
    for (std::size_t c = 0; c + 1 < widths.size(); ++c) last_column += widths[c] + (widths[c] ? 2 : 0);
    std::string out;
    for (const auto& cells : rows_) {
        std::string line(static_cast<std::size_t>(indent), ' ');
        for (std::size_t c = 0; c < cells.size() && c < widths.size(); ++c) {
            const auto gap = static_cast<std::size_t>(widths[c] - display_width(cells[c]));
            if (c + 1 == widths.size() && alignment_[c] == 'l' && width > last_column + 20) {
                line += wrap(cells[c], width - last_column);
                line.pop_back();
                for (std::size_t at = line.find('\n'); at != line.npos; at = line.find('\n', at + 1))
                    line.insert(at + 1, static_cast<std::size_t>(last_column), ' ');
                continue;
            }
            if (alignment_[c] == 'r') line.append(gap, ' ');
            line += cells[c];
            if (c + 1 == widths.size()) continue;
            if (alignment_[c] == 'l') line.append(gap, ' ');
            if (widths[c]) line += "  ";
        }
        line.erase(line.find_last_not_of(' ') + 1);
        out += line + '\n';
    }
    return out;
}

std::string bar(double share, int width) {
    const double cells = std::clamp(share, 0.0, 1.0) * width;
    return std::string(static_cast<std::size_t>(std::lround(cells)), '#');
}

std::string short_number(double value) {
    if (value >= 1e7) return fmt::format("{:.3g}", value);
    if (value == std::round(value) || value >= 100) return fmt::format("{:.0f}", value);
    return fmt::format("{:#.3g}", value);
}

std::string times(double factor) { return short_number(factor) + "x"; }

std::string percent(double fraction, bool sign) {
    const double value = fraction * 100;
    const double size = std::abs(value);
    if (size < 0.005) return "0 %";
    const int digits = size >= 99.5 ? 0 : size >= 9.95 ? 0 : size >= 0.995 ? 1 : 2;
    return sign ? fmt::format("{:+.{}f} %", value, digits) : fmt::format("{:.{}f} %", value, digits);
}

std::string nearly(double fraction) { return fmt::format("{:.1f} %", std::floor(1000 * fraction) / 10); }

std::string grouped(long long number) {
    std::string digits = std::to_string(number);
    for (int at = static_cast<int>(digits.size()) - 3; at > (number < 0 ? 1 : 0); at -= 3)
        digits.insert(static_cast<std::size_t>(at), ",");
    return digits;
}

std::string counted(long long number, std::string_view noun) {
    return fmt::format("{} {}{}", grouped(number), noun, number == 1 ? "" : "s");
}

double parse_duration_us(std::string_view text) {
    const auto refuse = [&] {
        return sim::BadInput(fmt::format(
            "{} is no time; expected a number above 0 and its unit, such as 2107us, 35ms or 1.2s", sim::quote(text)));
    };
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || !(value > 0) || !std::isfinite(value)) throw refuse();
    std::string_view unit(end, static_cast<std::size_t>(text.data() + text.size() - end));
    unit.remove_prefix(std::min(unit.find_first_not_of(' '), unit.size()));
    struct {
        std::string_view name;
        double us;
    } const units[] = {{"ns", 1e-3}, {"us", 1}, {"\u00b5s", 1}, {"\u03bcs", 1}, {"ms", 1e3}, {"s", 1e6}};
    for (const auto& u : units)
        if (u.name == unit && value * u.us > 0 && std::isfinite(value * u.us)) return value * u.us;
    throw refuse();
}

std::string plain(double value) {
    char buffer[32];
    const auto [end, error] = std::to_chars(buffer, buffer + sizeof buffer, value);
    return error == std::errc() ? std::string(buffer, end) : std::string();
}

}  // namespace cli
