// Reading a device file. (What it may say: device_fields.hpp; writing one: device_write.cpp.)

#include "sim/device.hpp"

#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <iterator>
#include <optional>
#include <span>
#include <utility>

#include "sim/device_fields.hpp"
#include "sim/text.hpp"

namespace sim {
namespace {

using namespace device_file;

std::vector<std::string_view> names(std::span<const Unit> units) {
    std::vector<std::string_view> all;
    for (const Unit& unit : units) {
        all.push_back(unit.name);
    }
    return all;
}

/// What keeps a line from being a [section], a `key = …` with at most one inline table, or a comment; "" where nothing.
std::string_view misshapen(std::string_view line) {
    const std::size_t start = std::min(line.find_first_not_of(" \t"), line.size());
    int dots = 0, depth = 0;
    char open_quote = 0;
    for (std::size_t i = start; i < line.size() && (open_quote != 0 || line[i] != '#'); ++i) {
        const char c = line[i];
        if (open_quote != 0) {
            i += open_quote == '"' && c == '\\';
            open_quote = c == open_quote ? 0 : open_quote;
            continue;
        }
        if (c != '\t' && c != '\r' && (c < 0x20 || c > 0x7E)) {
            return "has a character that is not ASCII outside of a text";
        }
        if (c == '[' &&
            (i != start || i + 1 == line.size() || !std::isalnum(static_cast<unsigned char>(line[i + 1])))) {
            return "is not a section";
        }
        open_quote = c == '"' || c == '\'' ? c : 0;
        dots += c == '.';
        depth += c == '{' ? 1 : c == '}' ? -1 : 0;
        if (depth < 0 || depth > 1 || dots > 16) {
            return "is nested too deep";
        }
    }
    return open_quote != 0 ? "has a text that does not end on its line" : "";
}

class Reader {
public:
    Reader(std::string_view text, std::string_view file) : text_(text), file_(file) {}
    Device read();

private:
    [[noreturn]] void fail(std::size_t line, std::string_view what) const {
        throw BadInput(line == 0 ? fmt::format("{}: {}", shown_file(), what)
                                 : fmt::format("{}:{}: {}", shown_file(), line, what));
    }
    [[noreturn]] void fail(const toml::node& at, std::string_view what) const { fail(at.source().begin.line, what); }
    std::string shown_file() const { return one_line(file_, 200); }

    void check_shape() const;
    void entry(std::string_view section, const toml::key& key, const toml::node& node);
    void number(const std::string& path, const toml::node& node, std::span<const Unit> units, double low, double high,
                Quantity& into) const;
    std::string line(const std::string& path, const toml::node& node, std::size_t longest) const;
    template <class T, std::size_t N>
    T word(const std::string& path, const toml::node& node, const std::string_view (&words)[N]) const;
    void check_required() const;

    std::string_view text_, file_;
    Device device_;
};

/// toml++ 3.3 recurses into dotted keys without a limit, and asserts on some brackets and on some of Unicode outside of
/// texts: a hostile file could bring it down. A device file is small, shallow and plain; whatever is not is refused
/// before the library sees it.
void Reader::check_shape() const {
    constexpr std::size_t largest = 64 * 1024;
    if (text_.size() > largest) {
        fail(0, fmt::format("{} bytes; a device file has at most {}", text_.size(), largest));
    }
    std::size_t number = 0;
    for (std::size_t begin = 0; begin <= text_.size();) {
        const std::size_t end = std::min(text_.find('\n', begin), text_.size());
        if (const std::string_view why = misshapen(text_.substr(begin, end - begin)); !why.empty()) {
            fail(number + 1, fmt::format("{} {}; expected [section] or key = {{ value, unit, kind, source }}",
                                         quote(text_.substr(begin, end - begin)), why));
        }
        begin = end + 1;
        ++number;
    }
}

/// A one-line text of at most `longest` bytes.
std::string Reader::line(const std::string& path, const toml::node& node, std::size_t longest) const {
    const auto* text = node.as_string();
    if (text == nullptr) {
        fail(node, fmt::format("{} is not a text; expected one in double quotes", path));
    }
    const std::string& value = text->get();
    if (value.empty()) {
        fail(node, fmt::format("{} is empty; expected a text", path));
    }
    if (value.size() > longest) {
        fail(node, fmt::format("{} has {} bytes; expected at most {}", path, value.size(), longest));
    }
    if (std::any_of(value.begin(), value.end(),
                    [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; })) {
        fail(node, fmt::format("{} is {}; expected no control characters", path, quote(value)));
    }
    return value;
}

template <class T, std::size_t N>
T Reader::word(const std::string& path, const toml::node& node, const std::string_view (&words)[N]) const {
    const std::string value = line(path, node, 400);
    const auto* const found = std::find(std::begin(words), std::end(words), value);
    if (found == std::end(words)) {
        fail(node, fmt::format("{} is {}; expected {}", path, quote(value), listed(words)));
    }
    return static_cast<T>(found - std::begin(words));
}

void Reader::number(const std::string& path, const toml::node& node, std::span<const Unit> units, double low,
                    double high, Quantity& into) const {
    static constexpr std::string_view parts[] = {"value", "unit", "kind", "source"};
    const toml::table* table = node.as_table();
    if (table == nullptr) {
        fail(node, fmt::format("{} is not a table; expected {{ value = …, unit = \"{}\", kind = …, source = … }}", path,
                               units.front().name));
    }
    for (const auto& [key, part] : *table) {
        if (std::find(std::begin(parts), std::end(parts), key.str()) == std::end(parts)) {
            fail(part, fmt::format("{} has {}; expected value, unit, kind and source{}", path, quote(key.str()),
                                   did_you_mean(key.str(), parts)));
        }
    }
    for (const std::string_view part : parts) {
        if (table->get(part) == nullptr) {
            fail(*table, fmt::format("{} has no {}; expected {}", path, part,
                                     part == "value"  ? std::string("a number")
                                     : part == "unit" ? listed(names(units))
                                     : part == "kind" ? listed(evidence_names)
                                                      : std::string("where the number is from")));
        }
    }
    const toml::node& value = *table->get("value");
    if (!value.is_number()) {
        fail(value, fmt::format("{}.value is not a number; expected one in {}", path, units.back().name));
    }
    const double said =
        value.is_integer() ? static_cast<double>(value.as_integer()->get()) : value.as_floating_point()->get();
    if (!std::isfinite(said)) {
        fail(value, fmt::format("{}.value is {}; expected a finite number (leave out what is unknown)", path, said));
    }
    const toml::node& unit_node = *table->get("unit");
    const std::string unit_name = line(path + ".unit", unit_node, 20);
    const auto unit = std::find_if(units.begin(), units.end(), [&](const Unit& u) { return u.name == unit_name; });
    if (unit == units.end()) {
        fail(unit_node, fmt::format("{}.unit is {}; expected {}", path, quote(unit_name), listed(names(units))));
    }
    into.value = said * unit->times / unit->per;
    if (!(into.value >= low && into.value <= high)) {
        fail(value,
             fmt::format("{} is {} {}; expected {:g} to {:g} {}", path, said, unit_name, low, high, units.back().name));
    }
    into.kind = word<Evidence>(path + ".kind", *table->get("kind"), evidence_names);
    into.source = line(path + ".source", *table->get("source"), longest_source);
}

/// One `key = node` of a section ("" = the top of the file).
void Reader::entry(std::string_view section, const toml::key& key, const toml::node& node) {
    const std::string where = path(section, key.str());
    std::vector<std::string_view> known;
    for (const Text& text : texts) {
        if (text.section == section && text.key == key.str()) {
            text.of(device_) = line(where, node, text.longest);
            return;
        }
        if (text.section == section) {
            known.push_back(text.key);
        }
    }
    for (const Field& field : fields) {
        if (field.section == section && field.key == key.str() && may_say(field, device_.kind)) {
            // The table reads members of a const Device; this one is ours.
            number(where, node, field.units, field.low, field.high, const_cast<Quantity&>(field.of(device_)));
            return;
        }
        if (field.section == section && may_say(field, device_.kind)) {
            known.push_back(field.key);
        }
    }
    for (const Rates& rate : rates) {
        if (rate.section == section) {
            const std::optional<Dtype> dtype = parse_dtype(key.str());
            if (!dtype) {
                fail(node, fmt::format("{} is not a dtype; expected f32, tf32, f16, bf16, e4m3", quote(where)));
            }
            number(where, node, flops, rate_low, rate_high, (device_.*rate.of)[*dtype]);
            return;
        }
    }
    if (section.empty()) {
        known.insert(known.end(), {"kind", "year"});
        known.insert(known.end(), std::begin(sections) + 1, std::end(sections));
    }
    fail(node, fmt::format("{} is not a key of a {} file{}", quote(where), to_string(device_.kind),
                           did_you_mean(key.str(), known)));
}

void Reader::check_required() const {
    const Device& d = device_;
    const auto missing = [&](std::string_view key) {
        fail(0, fmt::format("{} is missing; a {} must say it", key, to_string(d.kind)));
    };
    for (const Text& text : texts) {
        if (text.required && text.of(const_cast<Device&>(d)).empty()) {
            missing(text.key);
        }
    }
    const std::string& capability = d.compute_capability;
    const auto digit = [&](std::size_t i) {
        return i < capability.size() && capability[i] >= '0' && capability[i] <= '9';
    };
    const std::size_t dot = capability.find('.');
    if (!capability.empty() &&
        !(digit(0) && (dot == 1 || (dot == 2 && digit(1))) && digit(dot + 1) && capability.size() == dot + 2)) {
        fail(0, fmt::format("compute_capability is {}; expected a number such as \"9.0\"", quote(capability)));
    }
    if (d.year == 0 && (d.kind == DeviceKind::gpu || d.kind == DeviceKind::tpu)) {
        missing("year");
    }
    for (const Field& field : fields) {
        if (must_say(field, d.kind) && !field.of(d).known()) {
            missing(path(field.section, field.key));
        }
    }
    if (!d.peak.contains(Dtype::f32)) {
        missing("peak.f32");
    }
}

Device Reader::read() {
    check_shape();
    toml::table root;
    try {
        root = toml::parse(text_);
    } catch (const toml::parse_error& e) {
        fail(e.source().begin.line, fmt::format("not TOML: {}", one_line(e.description(), 200)));
    }
    const toml::node* kind = root.get("kind");
    if (kind == nullptr) {
        fail(0, fmt::format("kind is missing; expected {}", listed(kind_names)));
    }
    device_.kind = word<DeviceKind>("kind", *kind, kind_names);
    for (const auto& [key, node] : root) {
        if (key == "kind") {
            continue;
        }
        if (key == "year") {
            const auto* year = node.as_integer();
            if (year == nullptr || year->get() < 1950 || year->get() > 2100) {
                fail(node, "year is not one; expected a whole number from 1950 to 2100");
            }
            device_.year = static_cast<int>(year->get());
            continue;
        }
        const bool is_section =
            std::find(std::begin(sections) + 1, std::end(sections), key.str()) != std::end(sections);
        if (!is_section) {
            entry("", key, node);
            continue;
        }
        const toml::table* section = node.as_table();
        if (section == nullptr) {
            fail(node, fmt::format("{} is not a section; expected [{}]", key.str(), key.str()));
        }
        for (const auto& [name, value] : *section) {
            entry(key.str(), name, value);
        }
    }
    const auto id_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-'; };
    if (const toml::node* id = root.get("id");
        id != nullptr && !std::all_of(device_.id.begin(), device_.id.end(), id_letter)) {
        fail(*id, fmt::format("id is {}; expected lower-case letters, digits and '-'", quote(device_.id)));
    }
    check_required();
    return std::move(device_);
}

}  // namespace

Device parse_device(std::string_view toml, std::string_view file_name) { return Reader(toml, file_name).read(); }

}  // namespace sim
