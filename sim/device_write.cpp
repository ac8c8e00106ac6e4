// A device's constants, and its file as text.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <span>

#include "sim/device.hpp"
#include "sim/device_fields.hpp"

namespace sim {
namespace {

using namespace device_file;

std::string basic_string(std::string_view text) {
    std::string out = "\"";
    for (const char c : text) {
        if (c == '"' || c == '\\') {
            out += '\\';
        }
        out += c;
    }
    return out + '"';
}

/// The shortest way to say `value` in one of `units` that reads back as the same double.
std::string shortest(double value, std::span<const Unit> units) {
    std::string best;
    std::string_view unit_name;
    for (const Unit& unit : units) {
        for (const int digits : {9, 12, 15, 17}) {
            const std::string text = fmt::format("{:.{}g}", value * unit.per / unit.times, digits);
            if (std::strtod(text.c_str(), nullptr) * unit.times / unit.per == value) {
                if (best.empty() || text.size() < best.size()) {
                    best = text;
                    unit_name = unit.name;
                }
                break;
            }
        }
    }
    return fmt::format("value = {}, unit = \"{}\"", best, unit_name);
}

std::string number_line(std::string_view key, const Quantity& q, std::span<const Unit> units) {
    return fmt::format("{} = {{ {}, kind = \"{}\", source = {} }}\n", key, shortest(q.value, units), to_string(q.kind),
                       basic_string(q.source));
}

/// What a count of cores is called on each kind of device: the one list of units that are not ordered by size.
std::span<const Unit> core_name(DeviceKind kind) {
    const std::string_view name = kind == DeviceKind::tpu ? "TensorCore" : kind == DeviceKind::cpu ? "core" : "SM";
    const Unit* unit = std::find_if(std::begin(cores), std::end(cores), [&](const Unit& u) { return u.name == name; });
    return {unit, 1};
}

}  // namespace

std::string_view to_string(DeviceKind kind) { return kind_names[static_cast<int>(kind)]; }

std::string_view to_string(Evidence kind) { return evidence_names[static_cast<int>(kind)]; }

double Device::peak_flops(Dtype t) const {
    const auto found = peak.find(t);
    if (found != peak.end()) {
        return found->second.value;
    }
    return t == Dtype::tf32 ? peak_flops(Dtype::f32) : std::nan("");
}

std::string to_toml(const Device& device) {
    Device copy = device, usual;  // the text table reads non-const members
    std::string out;
    for (const std::string_view section : sections) {
        std::string body;
        for (const Text& text : texts) {
            if (text.section == section && text.of(copy) != text.of(usual)) {
                body += fmt::format("{} = {}\n", text.key, basic_string(text.of(copy)));
                if (text.key == "name") {
                    body += fmt::format("kind = \"{}\"\n", to_string(device.kind));
                }
            }
        }
        if (section.empty() && device.year != 0) {
            body += fmt::format("year = {}\n", device.year);
        }
        for (const Field& field : fields) {
            if (field.section == section && field.of(device).known()) {
                body += number_line(field.key, field.of(device),
                                    field.key == "sm_count" ? core_name(device.kind) : field.units);
            }
        }
        for (const Rates& rate : rates) {
            for (const auto& [dtype, q] : device.*rate.of) {
                if (rate.section == section && q.known()) {
                    body += number_line(to_string(dtype), q, flops);
                }
            }
        }
        if (!body.empty()) {
            out += section.empty() ? body : fmt::format("\n[{}]\n{}", section, body);
        }
    }
    return out;
}

std::vector<Constant> constants(const Device& device) {
    std::vector<Constant> all;
    for (const std::string_view section : sections) {
        for (const Field& field : fields) {
            if (field.section == section && field.of(device).known()) {
                all.push_back(
                    {path(section, field.key), field.units.back().name, field.low, field.high, field.of(device)});
            }
        }
        for (const Rates& rate : rates) {
            for (const auto& [dtype, q] : device.*rate.of) {
                if (rate.section == section && q.known()) {
                    all.push_back(
                        {path(section, to_string(dtype)), flops[std::size(flops) - 1].name, rate_low, rate_high, q});
                }
            }
        }
    }
    return all;
}

}  // namespace sim
