// What a campaign found: rows of the shared schema, failures, a proposed device file, and the five numbers of a README.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <functional>
#include <map>
#include <set>

#include "kernels/run.hpp"
#include "sim/csv.hpp"
#include "sim/measurement.hpp"
#include "tests/gpu/campaign.hpp"

namespace campaign {
namespace {

using Cells = std::map<std::string, std::string>;

std::string text_at(const Record& r, const char* key) {
    const auto at = r.find(key);
    return at != r.end() && at->is_string() ? at->get<std::string>() : std::string();
}
/// A number by its path; nullopt where it is not there.
std::optional<double> number(const Record& r, const std::string& path) {
    const Record::json_pointer at(path);
    if (!r.contains(at) || !r.at(at).is_number()) return std::nullopt;
    return r.at(at).get<double>();
}
std::optional<double> cell(const Record& r, const char* column) {
    if (!r.contains("row") || !r["row"].contains(column)) return std::nullopt;
    return std::stod(r["row"][column].get<std::string>());
}
bool is(const Record& r, const char* step) { return text_at(r, "step") == step && text_at(r, "status") == "ok"; }

// ---- rows -----------------------------------------------------------------------------------------------------------

/// A library's or a compiler's time, which has no tile we know of.
Cells rival_row(const Record& r, const std::string& name, const Record& rival) {
    Cells row = {{"split", "recorded"}, {"source", "tests/gpu"}, {"device", std::string(device_id)},
                 {"acc", "f32"},        {"pass", "forward"},     {"batch", "1"},
                 {"epilogue", "relu"},  {"confidence", "high"}};
    for (const char* column : {"dtype", "m", "n", "k", "machine", "date", "driver", "git", "data"})
        if (r.contains("ours") && r["ours"].contains(column)) row[column] = r["ours"][column].get<std::string>();
    const auto take = [&](const char* column, const char* key) {
        if (const auto v = number(rival, std::string("/") + key)) row[column] = fmt::format("{}", *v);
    };
    take("time_us", "us");
    take("min_us", "min_us");
    take("max_us", "max_us");
    take("samples", "samples");
    take("max_error", "max_error");
    take("clock_mhz", "clock_mhz");
    row["cache"] = text_at(rival, "cache");
    row["note"] = name + ", in turn with the others";
    return row;
}

std::vector<Cells> rows_of(const Journal& journal) {
    std::vector<Cells> rows;
    const auto add = [&](Cells row, const std::string& id) {
        if (row["time_us"].empty() && row["dram_bytes"].empty()) return;
        row["id"] = fmt::format("h200-{}", id);
        rows.push_back(std::move(row));
    };
    for (const Record& r : journal.records()) {
        const std::string step = text_at(r, "step"), id = step + "-" + text_at(r, "id");
        if (text_at(r, "status") != "ok" || step == "check") continue;
        if (r.contains("row")) add(r["row"].get<Cells>(), id);
        if (step != "rivals" || !r.contains("rivals")) continue;
        for (const auto& [name, rival] : r["rivals"].items()) {
            if (!rival.contains("us")) continue;
            Cells row = name == "ours" ? r["ours"].get<Cells>() : rival_row(r, name, rival);
            if (name == "ours")
                for (const auto& [column, cell_of] : rival_row(r, name, rival))
                    if (column != "note" && column != "epilogue") row[column] = cell_of;
            add(std::move(row), id + "-" + name);
        }
    }
    return rows;
}

void write(const std::filesystem::path& file, const std::string& text) {
    std::ofstream out(file, std::ios::binary | std::ios::trunc);
    if (!(out << text << std::flush)) throw sim::BadInput(fmt::format("{}: cannot be written", file.string()));
}

std::string failures_of(const Journal& journal) {
    std::string text = sim::csv_line({"step", "id", "status", "why", "experiment", "at"});
    for (const Record& r : journal.records()) {
        if (text_at(r, "status") != "ok")
            text += sim::csv_line({text_at(r, "step"), text_at(r, "id"), text_at(r, "status"), text_at(r, "why"),
                                   text_at(r, "experiment"), text_at(r, "at")});
        const Record more = r.value("more", Record::object());
        if (const std::string why = text_at(more, "counters_why"); !why.empty())
            text += sim::csv_line(
                {text_at(r, "step"), text_at(r, "id"), "no counters", why, text_at(r, "experiment"), text_at(r, "at")});
        for (const auto& [name, rival] : r.value("rivals", Record::object()).items())
            if (rival.contains("why"))
                text += sim::csv_line({"rivals", text_at(r, "id") + "-" + name, "failed", text_at(rival, "why"),
                                       text_at(r, "experiment"), text_at(r, "at")});
    }
    return text;
}

// ---- the device -----------------------------------------------------------------------------------------------------

/// A constant of the device file and where its measurement is kept.
struct Measured {
    const char *key, *id, *path;
    double factor;  // from the record's unit to the device's
    sim::Quantity& (*of)(sim::Device&);
};
constexpr Measured measured_constants[] = {
    {"dram.bandwidth", "dram", "/read_gbps", 1e9, [](sim::Device& d) -> auto& {return d.dram.bandwidth;
}  // namespace
}  // namespace campaign
, {"dram.latency", "latency", "/dram/ns", 1e-9, [](sim::Device& d) -> auto& {return d.dram.latency;
}
}
, {"l2.bandwidth", "l2", "/read_gbps", 1e9, [](sim::Device& d) -> auto& {return d.l2.bandwidth;
}
}
, {"l2.effective_bytes", "l2", "/effective_mib", 1048576, [](sim::Device& d) -> auto& {return d.l2.effective_bytes;
}
}
, {"l2.latency", "latency", "/l2/ns", 1e-9, [](sim::Device& d) -> auto& {return d.l2.latency;
}
}
, {"sram.bytes_per_clock", "smem", "/bytes_per_clock", 1, [](sim::Device& d) -> auto& {return d.sram.bytes_per_clock;
}
}
, {"overhead.launch", "launch", "/launch_us", 1e-6, [](sim::Device& d) -> auto& {return d.overhead.launch;
}
}
, {"clock.sustained", "power", "/matmul/sm_mhz", 1e6, [](sim::Device& d) -> auto& {return d.clock.sustained;
}
}
,
}
;

std::string device_file(const Journal& journal) {
    sim::Device d = sim::Catalogue::builtin().at(std::string(device_id));
    std::string said = "# Proposed: h200-sxm with what tests/gpu measured. Look at each before it is taken over.\n";
    for (const Measured& m : measured_constants) {
        std::optional<double> value;
        std::string at;
        for (const Record& r : journal.records())
            if (is(r, "constants") && text_at(r, "id") == m.id)
                value = number(r["more"], m.path), at = text_at(r, "at");
        sim::Quantity& q = m.of(d);
        if (!value || !(*value > 0)) {
            said += fmt::format("# {}: not measured yet, {:.6g} as before\n", m.key, q.value);
            continue;
        }
        said += fmt::format("# {}: {:.6g} measured, {:.6g} before\n", m.key, *value * m.factor, q.value);
        q = {*value * m.factor, sim::Evidence::measured, "tests/gpu, one machine, " + at.substr(0, 10)};
    }
    return said + sim::to_toml(d);
}

// ---- five numbers ---------------------------------------------------------------------------------------------------

constexpr std::string_view not_yet = "not measured yet";

std::string percent(double share) { return fmt::format("{:.1f} %", 100 * share); }

double geometric_mean(const std::vector<double>& v) {
    double sum = 0;
    for (const double x : v) sum += std::log(x);
    return std::exp(sum / static_cast<double>(v.size()));
}

struct Found {
    std::string text = std::string(not_yet), null = "";
    std::size_t n = 0;
};

/// Errors of the frozen predictions and of a rule that knows nothing.
Found errors(const Journal& journal, const char* step, const std::function<std::optional<double>(const Record&)>& got,
             const char* predicted, const char* rule, const char* rule_name) {
    std::vector<double> model, null;
    for (const Record& r : journal.records()) {
        if (!is(r, step)) continue;
        const auto value = got(r), said = number(r, predicted), known = number(r, rule);
        if (!value || !said || !known || *value <= 0) continue;
        model.push_back(std::fabs(*said / *value - 1));
        null.push_back(std::fabs(*known / *value - 1));
    }
    if (model.empty()) return {};
    return {fmt::format("median error {}", percent(kernels::median(model))),
            fmt::format("{}: {}", rule_name, percent(kernels::median(null))), model.size()};
}

/// Speed of the tile that the model chose, as a share of the best measured one, by size.
Found choice(const Journal& journal) {
    std::map<double, std::vector<const Record*>> by_size;
    for (const Record& r : journal.records())
        if (is(r, "sweep") && cell(r, "time_us")) by_size[cell(r, "m").value_or(0)].push_back(&r);
    std::string text, null;
    std::size_t n = 0;
    for (const auto& [size, rows] : by_size) {
        double best = INFINITY, chosen = 0, least = INFINITY, sum = 0, fixed = 0;
        for (const Record* r : rows) {
            const double us = *cell(*r, "time_us"), said = number(*r, "/frozen/time_us").value_or(INFINITY);
            best = std::min(best, us);
            sum += us;
            if (said < least) least = said, chosen = us;
            const bool usual = cell(*r, "bm") == 128.0 && cell(*r, "bn") == 128.0 && cell(*r, "bk") == 64.0;
            if (usual) fixed = fixed > 0 ? std::min(fixed, us) : us;
        }
        n += rows.size();
        text += fmt::format("{}{} at {:.0f}", text.empty() ? "" : ", ", percent(best / chosen), size);
        null += fmt::format("{}{} / {} at {:.0f}", null.empty() ? "128x128x64 / the mean tile: " : ", ",
                            fixed > 0 ? percent(best / fixed) : std::string("-"),
                            percent(best / (sum / static_cast<double>(rows.size()))), size);
    }
    if (n == 0) return {};
    return {text + " of the best measured tile's speed", null, n};
}

/// Our fused kernel's speed against a rival's, shape by shape in turn.
Found kernels_found(const Journal& journal) {
    std::map<std::string, std::vector<double>> ratios;
    for (const Record& r : journal.records()) {
        const auto ours = is(r, "rivals") ? number(r, "/rivals/ours/us") : std::nullopt;
        if (!ours) continue;
        for (const auto& [name, rival] : r["rivals"].items())
            if (const auto us = number(rival, "/us"); us && name != "ours") ratios[name].push_back(*us / *ours);
    }
    if (!ratios.count("cublaslt")) return {};
    std::string null;
    for (const auto& [name, values] : ratios)
        if (name != "cublaslt")
            null += fmt::format("{}{} {:.2f}x (n {})", null.empty() ? "against " : ", ", name, geometric_mean(values),
                                values.size());
    return {fmt::format("{:.2f}x cuBLASLt RELU", geometric_mean(ratios["cublaslt"])), null, ratios["cublaslt"].size()};
}

/// The story on this machine: the guide's tile against the plain two operations, 8192 cubed.
Found seed(const Journal& journal) {
    for (const Record& r : journal.records()) {
        if (!is(r, "rivals") || text_at(r, "id") != "square-8192") continue;
        const auto plain = number(r, "/rivals/jax two ops/us"), guide = number(r, "/rivals/pallas 128x128 whole K/us"),
                   ours = number(r, "/rivals/pallas our tile/us");
        if (!plain) continue;
        const auto ratio = [&](const std::optional<double>& us, const char* name) {
            const std::string why = text_at(r["rivals"].value(name, Record::object()), "why");
            return us ? fmt::format("{:.2f}x the time of the plain two operations", *us / *plain)
                      : "does not run: " + why;
        };
        return {fmt::format("the guide's tile {}; the same kernel with K cut {}",
                            ratio(guide, "pallas 128x128 whole K"), ratio(ours, "pallas our tile")),
                "1x (bytes alone cannot tell them apart)", 1};
    }
    return {};
}

std::string numbers(const Journal& journal) {
    std::set<std::string> machines, dates;
    for (const Record& r : journal.records()) {
        if (r.contains("row")) machines.insert(text_at(r["row"], "machine"));
        dates.insert(text_at(r, "at").substr(0, 10));
    }
    const auto listed = [](const std::set<std::string>& s) {
        std::string all;
        for (const std::string& one : s) all += (all.empty() ? "" : ", ") + one;
        return all.empty() ? std::string(not_yet) : all;
    };
    std::string text =
        fmt::format("Machine: {}; date: {}.\n\n| number | measured | n | beside it |\n|---|---|---|---|\n",
                    listed(machines), listed(dates));
    const auto row = [&](const char* name, const Found& f) {
        text += fmt::format("| {} | {} | {} | {} |\n", name, f.text, f.n, f.null);
    };
    row("seed", seed(journal));
    row("bytes", errors(
                     journal, "bytes", [](const Record& r) { return number(r, "/more/counters/dram_read_bytes"); },
                     "/frozen/read_bytes", "/frozen/compulsory_read_bytes", "each operand once"));
    row("time", errors(
                    journal, "time", [](const Record& r) { return cell(r, "time_us"); }, "/frozen/time_us",
                    "/frozen/bound_us", "roofline alone"));
    row("tile choice", choice(journal));
    row("kernels", kernels_found(journal));

    text += "\n| step | ok | refused | failed |\n|---|---|---|---|\n";
    for (const Step& s : steps()) {
        std::map<std::string, int> count;
        for (const Record& r : journal.records())
            if (text_at(r, "step") == s.name) count[text_at(r, "status")]++;
        if (count.empty())
            text += fmt::format("| {} | {} | | |\n", s.name, not_yet);
        else
            text += fmt::format("| {} | {} | {} | {} |\n", s.name, count["ok"], count["refused"], count["failed"]);
    }
    return text;
}

}  // namespace

void report(const Journal& journal, const std::filesystem::path& folder) {
    const std::filesystem::path csv = folder / "h200.csv";
    std::filesystem::remove(csv);
    if (const std::vector<Cells> rows = rows_of(journal); !rows.empty()) sim::append_measurements(csv.string(), rows);
    write(folder / "failures.csv", failures_of(journal));
    write(folder / "h200-sxm.proposed.toml", device_file(journal));
    write(folder / "numbers.md", numbers(journal));
}

}  // namespace campaign
