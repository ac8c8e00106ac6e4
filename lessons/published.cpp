#include "lessons/published.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>

#include "sim/csv.hpp"
#include "sim/embedded.hpp"
#include "sim/measurement.hpp"
#include "sim/text.hpp"

namespace lessons {
namespace {

using Measured = std::map<std::string, sim::Measurement, std::less<>>;
const Measured& measured_rows() {
    static const Measured all = [] {
        Measured found;
        for (const sim::Measurement& m : sim::committed_rows()) found.emplace(m.id, m);
        return found;
    }();
    return all;
}

/// Published figures that cannot be true, in µs by row number.
const std::map<std::string, double, std::less<>>& impossible_rows() {
    static const std::map<std::string, double, std::less<>> all = [] {
        std::map<std::string, double, std::less<>> found;
        for (const sim::EmbeddedFile& file : sim::embedded_measurements()) {
            if (file.name != "impossible.csv") continue;
            const auto records = sim::parse_csv(file.text, file.name);
            const auto& head = records.at(0).fields;
            const auto column = static_cast<std::size_t>(std::find(head.begin(), head.end(), "time_us") - head.begin());
            for (std::size_t i = 1; i < records.size(); ++i)
                found[records[i].fields.at(0)] = std::stod(records[i].fields.at(column));
        }
        return found;
    }();
    return all;
}

Value of_measured(std::string_view name, std::string_view id) {
    const auto row = measured_rows().find(id);
    if (row == measured_rows().end())
        throw sim::BadInput(fmt::format("{}: {} is no row of kernels/measured/published.csv", name, sim::quote(id)));
    const sim::Measurement& m = row->second;
    const auto number = [&](const std::optional<double>& v, std::string_view column) {
        if (!v) throw sim::BadInput(fmt::format("{}: row {} has no {}", name, id, column));
        return *v;
    };
    if (name == "measured.time") return {number(m.time_us, "time_us") * 1e-6, in_seconds};
    if (name == "measured.dram") return {number(m.dram_bytes, "dram_bytes"), in_bytes};
    if (name == "measured.rate")
        return {2.0 * static_cast<double>(m.m) * static_cast<double>(m.n) * static_cast<double>(m.k) *
                    static_cast<double>(m.batch) / number(m.time_us, "time_us") * 1e6,
                Unit{0, -1, 1}};
    throw sim::BadInput(fmt::format("{}: expected measured.time, measured.dram or measured.rate", sim::quote(name)));
}

}  // namespace

Value published(std::string_view name, std::string_view row) {
    if (name != "impossible.time") return of_measured(name, row);
    const auto at = impossible_rows().find(row);
    if (at == impossible_rows().end())
        throw sim::BadInput(fmt::format("{}: {} is no row of kernels/measured/impossible.csv", name, sim::quote(row)));
    return {at->second * 1e-6, in_seconds};
}

}  // namespace lessons
