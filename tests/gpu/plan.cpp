#include "tests/gpu/plan.hpp"

#include <fmt/format.h>

#include <fstream>
#include <iterator>

#include "sim/build_info.hpp"
#include "sim/csv.hpp"
#include "sim/plan.hpp"
#include "sim/report.hpp"
#include "tests/gpu/draw.hpp"

namespace campaign {
namespace {

constexpr Step table[] = {
    {"check", "every rung, pass, fusion and tile of the table, ragged and with special values", 0.06, 0.10, false,
     false, 30},
    {"sanitize", "compute-sanitizer's memcheck and racecheck, a rung at a time", 8, 0.10, false, false, 120},
    {"counters", "the DRAM counters on copies of known bytes", 1, 0.02, false, false, 60},
    {"constants", "bandwidths, latencies, launch, clock and power under load", 2, 0.05, false, false, 60},
    {"bytes", "DRAM bytes counted, tile by raster", 1.2, 0.15, true, false, 90},
    {"time", "24 shapes, three passes, fused and unfused", 0.9, 0.22, true, false, 90},
    {"sweep", "every tile at 4096 and at 8192", 0.5, 0.12, true, false, 90},
    {"train", "the training step, ours and the library's", 4, 0.05, true, false, 120},
    {"mask", "the library's ReLU bits and ours, each decoded by the other", 0.5, 0.01, false, false, 60},
    {"log", "which CTA stored which tile, where and when, against tile_at", 0.5, 0.01, false, false, 60},
    {"rivals", "cuBLASLt, torch, torch.compile, Triton and JAX beside our kernel, in turn", 5, 0.17, true, true, 120},
};

const std::vector<std::string> columns = {"id",         "experiment",  "predicted_us",          "bound_us",
                                          "read_bytes", "write_bytes", "compulsory_read_bytes", "git"};

}  // namespace

std::span<const Step> steps() { return table; }

const Step& step_of(std::string_view name) {
    for (const Step& s : table)
        if (s.name == name) return s;
    std::string names;
    for (const Step& s : table) names += fmt::format("{}{}", names.empty() ? "" : " ", s.name);
    throw sim::BadInput(fmt::format("\"{}\" is no step; expected one of {}", name, names));
}

std::vector<Case> cases_of(const Step& step, const std::filesystem::path& folder) {
    if (!step.frozen) return drawn(step);
    const std::filesystem::path file = folder / fmt::format("{}.csv", step.name);
    std::ifstream in(file, std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(in), {}};
    if (!in) throw sim::BadInput(fmt::format("{}: cannot be read; expected frozen cases", file.string()));
    const auto records = sim::parse_csv(text, file.string());
    if (records.empty() || records[0].fields != columns)
        throw sim::BadInput(fmt::format("{}:1: expected the columns of frozen cases", file.string()));
    std::vector<Case> cases;
    for (std::size_t i = 1; i < records.size(); i++) {
        const auto& f = records[i].fields;
        if (f.size() != columns.size())
            throw sim::BadInput(
                fmt::format("{}:{}: {} fields; expected {}", file.string(), records[i].line, f.size(), columns.size()));
        Case c{std::string(step.name), f[0], f[1], {}};
        try {
            c.frozen = {std::stod(f[2]), std::stod(f[3]), std::stoll(f[4]), std::stoll(f[5]), std::stoll(f[6]), f[7]};
        } catch (const std::logic_error&) {
            throw sim::BadInput(fmt::format("{}:{}: expected numbers", file.string(), records[i].line));
        }
        cases.push_back(std::move(c));
    }
    return cases;
}

void freeze(std::vector<Case> cases, const std::filesystem::path& file) {
    const sim::Catalogue& devices = sim::Catalogue::builtin();
    std::string text = sim::csv_line(columns);
    for (const Case& c : cases) {
        const sim::Experiment e = sim::parse_experiment(c.experiment, devices);
        const sim::Report report = sim::predict(e, devices);
        if (!report.predicted) throw sim::BadInput(fmt::format("{}: {}", c.experiment, report.fit.why));
        const sim::i64 writes = report.traffic.at(sim::Level::dram).total().write_bytes;
        text += sim::csv_line({c.id, c.experiment, fmt::format("{:.3f}", report.predicted->time_us),
                               fmt::format("{:.3f}", report.bound.time_us),
                               std::to_string(report.dram_range.expected_bytes - writes), std::to_string(writes),
                               std::to_string(sim::compulsory(e).read_bytes), std::string(sim::build_info().git)});
    }
    std::ofstream out(file, std::ios::binary | std::ios::trunc);
    out << text << std::flush;
    if (!out) throw sim::BadInput(fmt::format("{}: cannot be written", file.string()));
}

}  // namespace campaign
