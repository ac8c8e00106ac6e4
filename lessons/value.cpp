#include "lessons/value.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "sim/error.hpp"
#include "sim/text.hpp"
#include "sim/units.hpp"

namespace lessons {
namespace {

struct Name {
    std::string_view name;
    Value worth;
};

const Name names[] = {
    {"B", {1.0, in_bytes}},          {"KB", {1e3, in_bytes}},        {"MB", {1e6, in_bytes}},
    {"GB", {1e9, in_bytes}},         {"TB", {1e12, in_bytes}},       {"KiB", {0x1p10, in_bytes}},
    {"MiB", {0x1p20, in_bytes}},     {"GiB", {0x1p30, in_bytes}},    {"ns", {1e-9, in_seconds}},
    {"us", {1e-6, in_seconds}},      {"µs", {1e-6, in_seconds}},     {"ms", {1e-3, in_seconds}},
    {"s", {1.0, in_seconds}},        {"FLOP", {1.0, in_flops}},      {"GFLOP", {1e9, in_flops}},
    {"TFLOP", {1e12, in_flops}},     {"GFLOP/s", {1e9, {0, -1, 1}}}, {"TFLOP/s", {1e12, {0, -1, 1}}},
    {"PFLOP/s", {1e15, {0, -1, 1}}}, {"GB/s", {1e9, {1, -1, 0}}},    {"TB/s", {1e12, {1, -1, 0}}},
    {"FLOP/B", {1.0, {-1, 0, 1}}},   {"%", {0.01, plain}},           {"x", {1.0, plain}},
};

std::string trimmed(std::string_view text) {
    const auto begin = text.find_first_not_of(" \t"), end = text.find_last_not_of(" \t\r");
    return begin == text.npos ? std::string() : std::string(text.substr(begin, end - begin + 1));
}

/// Three digits; whole numbers in full, from a million on with their thousands apart (a size of a matrix has none).
std::string number_text(double v) {
    if (v != std::round(v) || std::fabs(v) > 1e15) {
        const double size = std::fabs(v);
        return size >= 100 ? fmt::format("{:.0f}", v) : fmt::format("{:#.3g}", v);
    }
    std::string digits = fmt::format("{:.0f}", v);
    if (std::fabs(v) < 1e6) return digits;
    for (int at = static_cast<int>(digits.size()) - 3; at > (v < 0 ? 1 : 0); at -= 3)
        digits.insert(static_cast<std::size_t>(at), ",");
    return digits;
}

std::string auto_text(double v, Unit unit) {
    if (unit == in_bytes) return v < 0 ? "-" + sim::format_bytes(-v) : sim::format_bytes(v);
    if (unit == in_seconds) return v < 0 ? "-" + sim::format_us(-v * 1e6) : sim::format_us(v * 1e6);
    if (unit == Unit{0, -1, 1}) return sim::format_flops(v);
    if (unit == Unit{1, -1, 0}) return sim::format_bandwidth(v);
    if (unit == in_flops) {
        const std::string rate = sim::format_flops(v);  // the same number and prefix, without "/s"
        return rate.substr(0, rate.rfind("/s"));
    }
    if (unit == Unit{-1, 0, 1}) return number_text(v) + " FLOP/B";
    return number_text(v);
}

bool is_decimals(std::string_view format) { return format.size() == 2 && format[0] == '.' && std::isdigit(format[1]); }

}  // namespace

double Value::number() const {
    if (const double* v = std::get_if<double>(&is)) return *v;
    throw sim::BadInput(fmt::format("{} is no number", to_text(*this)));
}

bool Value::truth() const {
    if (const bool* v = std::get_if<bool>(&is)) return *v;
    throw sim::BadInput(fmt::format("{} is neither true nor false; expected a comparison", to_text(*this)));
}

const Value* find_unit(std::string_view name) {
    const auto at = std::find_if(std::begin(names), std::end(names), [&](const Name& n) { return n.name == name; });
    return at == std::end(names) ? nullptr : &at->worth;
}

bool can_format(Unit unit, std::string_view format) {
    if (format.empty() || is_decimals(format)) return true;
    const Value* worth = find_unit(format);
    return worth && worth->unit == unit;
}

std::string to_text(const Value& value, std::string_view format) {
    if (const bool* v = std::get_if<bool>(&value.is)) return *v ? "yes" : "no";
    if (const std::string* v = std::get_if<std::string>(&value.is)) return *v;
    const double v = std::get<double>(value.is);
    if (std::isnan(v)) return "?";
    if (format.empty()) return auto_text(v, value.unit);
    if (is_decimals(format)) return fmt::format("{:.{}f}", v, format[1] - '0');
    const Value* worth = find_unit(format);
    if (!worth || worth->unit != value.unit)
        throw sim::BadInput(fmt::format("{} cannot be written in {}; expected a unit of its own kind, such as {}",
                                        auto_text(v, value.unit), sim::quote(format), auto_text(v, value.unit)));
    const double scaled = v / std::get<double>(worth->is);
    if (format == "x") return number_text(v) + "x";
    return fmt::format("{} {}", number_text(scaled), format == "us" ? "µs" : format);
}

Value parse_number(std::string_view said, std::string_view unit) {
    const std::string text = trimmed(said);
    const auto refuse = [&] {
        return sim::BadInput(fmt::format("{} is no answer here; expected a number{}{}, such as 1.5{}{}",
                                         sim::quote(text), unit.empty() ? "" : " in ", unit, unit.empty() ? "" : " ",
                                         unit));
    };
    const auto read = [&](std::string_view from, double& value) {
        const auto [end, error] = std::from_chars(from.data(), from.data() + from.size(), value);
        if (error != std::errc() || !std::isfinite(value)) throw refuse();
        return std::string_view(end, static_cast<std::size_t>(from.data() + from.size() - end));
    };
    std::string digits;  // "1,234" is a thousand and some
    for (const char c : text)
        if (c != ',') digits += c;
    Value value{0.0, plain};
    double number = 0;
    std::string rest = trimmed(read(digits, number));
    if (rest.starts_with("/") && rest.size() > 1 && std::isdigit(static_cast<unsigned char>(rest[1]))) {
        double below = 0;
        rest = trimmed(read(std::string_view(rest).substr(1), below));
        if (below == 0) throw refuse();
        number /= below;
    }
    const Value* worth = find_unit(rest.empty() ? unit : std::string_view(rest));
    if (!worth && !(rest.empty() && unit.empty())) throw refuse();
    const Value* wanted = find_unit(unit);
    if (worth && (wanted ? wanted->unit : plain) != worth->unit) throw refuse();
    value.is = worth ? number * std::get<double>(worth->is) : number;
    value.unit = worth ? worth->unit : plain;
    return value;
}

}  // namespace lessons
