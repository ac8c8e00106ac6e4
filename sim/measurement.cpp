#include "sim/measurement.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>

#include "sim/csv.hpp"
#include "sim/embedded.hpp"
#include "sim/text.hpp"

namespace sim {

namespace {

constexpr std::size_t longest_file = std::size_t{1} << 28;  // B
constexpr i64 max_size = 2147483647;                        // 2^31 - 1, as an experiment's sizes
constexpr std::string_view pipelines[] = {"none", "double", "multistage", "warp_specialized", "pallas"};
constexpr std::string_view engines[] = {"simt", "mma", "wgmma", "tcgen05", "mxu", "cpu"};
constexpr std::string_view passes[] = {"forward", "dgrad", "wgrad", "train"};

/// Why a cell is not what its column holds; the caller adds where it stands.
struct BadCell {
    std::string expected;
};

double number(std::string_view text, double low, double high) {
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size() || !std::isfinite(value) || value < low ||
        value > high)
        throw BadCell{fmt::format("a number from {:g} to {:g}", low, high)};
    return value;
}
i64 whole(std::string_view text, i64 low, i64 high) {
    i64 value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size() || value < low || value > high)
        throw BadCell{fmt::format("a whole number from {} to {}", low, high)};
    return value;
}
template <class E, std::size_t N>
E one_of(std::string_view text, const std::string_view (&names)[N]) {
    const auto at = std::find(std::begin(names), std::end(names), text);
    if (at == std::end(names)) throw BadCell{"one of " + listed(names)};
    return static_cast<E>(at - std::begin(names));
}
bool flag(std::string_view text) {
    if (text == "0" || text == "no") return false;
    if (text == "1" || text == "yes") return true;
    throw BadCell{"0 or 1"};
}
std::map<std::string, std::string> tokens(std::string_view text) {
    std::map<std::string, std::string> out;
    std::size_t i = 0;
    while (i < text.size()) {
        const std::size_t end = std::min(text.find_first_of(" ;", i), text.size());
        const std::string_view token = text.substr(i, end - i);
        i = end + 1;
        if (token.empty()) continue;
        const std::size_t equals = token.find('=');
        if (equals == 0) throw BadCell{"words and key=value, separated by spaces"};
        const std::string_view value = equals == token.npos ? "1" : token.substr(equals + 1);
        out[std::string(token.substr(0, equals))] = value.empty() ? "1" : value;
    }
    return out;
}

/// A column of the schema and how a cell of it is read; an empty cell is not.
struct Column {
    std::string_view name;
    void (*read)(Measurement&, std::string_view);
    bool recorded_only = false;  ///< not in the shared schema: a recording appends it
};

constexpr Column columns[] = {
    {"id", [](Measurement& r, std::string_view t) { r.id = t; }},
    {"split", [](Measurement& r, std::string_view t) { r.split = t; }},
    {"source", [](Measurement& r, std::string_view t) { r.source = t; }},
    {"address", [](Measurement& r, std::string_view t) { r.address = t; }},
    {"device", [](Measurement& r, std::string_view t) { r.device = t; }},
    {"pass", [](Measurement& r, std::string_view t) { r.pass = one_of<Pass>(t, passes); }},
    {"dtype",
     [](Measurement& r, std::string_view t) {
         const auto dtype = parse_dtype(t);
         if (!dtype) throw BadCell{"one of f32, tf32, f16, bf16, e4m3"};
         r.dtype = *dtype;
     }},
    {"acc", [](Measurement&, std::string_view) {}},
    {"batch", [](Measurement& r, std::string_view t) { r.batch = whole(t, 1, max_size); }},
    {"m", [](Measurement& r, std::string_view t) { r.m = whole(t, 1, max_size); }},
    {"n", [](Measurement& r, std::string_view t) { r.n = whole(t, 1, max_size); }},
    {"k", [](Measurement& r, std::string_view t) { r.k = whole(t, 1, max_size); }},
    {"engine", [](Measurement& r, std::string_view t) { r.engine = one_of<Engine>(t, engines); }},
    {"pipeline", [](Measurement& r, std::string_view t) { r.pipeline = one_of<Pipeline>(t, pipelines); }},
    {"bm", [](Measurement& r, std::string_view t) { r.bm = whole(t, 1, max_size); }},
    {"bn", [](Measurement& r, std::string_view t) { r.bn = whole(t, 1, max_size); }},
    {"bk", [](Measurement& r, std::string_view t) { r.bk = whole(t, 1, max_size); }},
    {"stages", [](Measurement& r, std::string_view t) { r.stages = whole(t, 1, 64); }},
    {"threads", [](Measurement& r, std::string_view t) { r.threads = whole(t, 1, 1024); }},
    {"raster", [](Measurement& r, std::string_view t) { r.raster = t; }},
    {"persistent", [](Measurement& r, std::string_view t) { r.persistent = flag(t); }},
    {"epilogue", [](Measurement& r, std::string_view t) { r.epilogue = t; }},
    {"time_us", [](Measurement& r, std::string_view t) { r.time_us = number(t, 1e-3, 1e15); }},
    {"dram_bytes", [](Measurement& r, std::string_view t) { r.dram_bytes = number(t, 0, 1e19); }},
    {"l2_hit_pct", [](Measurement& r, std::string_view t) { r.l2_hit_pct = number(t, 0, 100); }},
    {"clock_mhz", [](Measurement& r, std::string_view t) { r.clock_mhz = number(t, 1, 1e5); }},
    {"confidence", [](Measurement& r, std::string_view t) { r.confidence = t; }},
    {"traits", [](Measurement& r, std::string_view t) { r.traits = tokens(t); }},
    {"note", [](Measurement& r, std::string_view t) { r.note = t; }},
    {"experiment", [](Measurement& r, std::string_view t) { r.experiment = t; }, true},
    {"min_us", [](Measurement& r, std::string_view t) { r.min_us = number(t, 0, 1e15); }, true},
    {"max_us", [](Measurement& r, std::string_view t) { r.max_us = number(t, 0, 1e15); }, true},
    {"samples", [](Measurement& r, std::string_view t) { r.samples = whole(t, 1, max_size); }, true},
    {"max_error", [](Measurement& r, std::string_view t) { r.max_error = number(t, 0, 1e300); }, true},
    {"cache", [](Measurement&, std::string_view) {}, true},
    {"data", [](Measurement&, std::string_view) {}, true},
    {"power_w", [](Measurement& r, std::string_view t) { r.power_w = number(t, 0, 1e6); }, true},
    {"machine", [](Measurement& r, std::string_view t) { r.machine = t; }, true},
    {"date", [](Measurement& r, std::string_view t) { r.date = t; }, true},
    {"driver", [](Measurement&, std::string_view) {}, true},
    {"git", [](Measurement&, std::string_view) {}, true},
};

const Column* find_column(std::string_view name) {
    for (const Column& c : columns)
        if (c.name == name) return &c;
    return nullptr;
}

bool contains(const std::vector<std::string>& names, std::string_view name) {
    return std::find(names.begin(), names.end(), name) != names.end();
}

void check_head(const CsvRecord& head, std::string_view file) {
    const auto bad = [&](std::string_view found, std::string_view expected) {
        throw BadInput(fmt::format("{}:{}: {}: expected {}", file, head.line, found, expected));
    };
    for (std::size_t i = 0; i < head.fields.size(); ++i) {
        if (head.fields[i].empty()) bad(fmt::format("column {} has no name", i + 1), "a name for each column");
        if (std::find(head.fields.begin(), head.fields.begin() + static_cast<std::ptrdiff_t>(i), head.fields[i]) !=
            head.fields.begin() + static_cast<std::ptrdiff_t>(i))
            bad("column " + quote(head.fields[i]), "each column once");
    }
    for (std::string_view must : {"device", "m", "n", "k"})
        if (!contains(head.fields, must))
            bad(fmt::format("no column {}", must), "the head of a measurements file (device, m, n, k, time_us, …)");
    if (!contains(head.fields, "time_us") && !contains(head.fields, "dram_bytes"))
        bad("no column time_us or dram_bytes", "at least one of them");
}

Measurement read_row(const std::vector<std::string>& head, CsvRecord&& record, std::string_view file) {
    if (record.fields.size() != head.size())
        throw BadInput(fmt::format("{}:{}: {} fields: expected {} as in the head", file, record.line,
                                   record.fields.size(), head.size()));
    Measurement r;
    r.line = record.line;
    for (std::size_t i = 0; i < head.size(); ++i) {
        const std::string& cell = record.fields[i];
        if (const Column* c = find_column(head[i]); c && !cell.empty()) {
            try {
                c->read(r, cell);
            } catch (const BadCell& bad) {
                throw BadInput(
                    fmt::format("{}:{}: {} {}: expected {}", file, record.line, c->name, quote(cell), bad.expected));
            }
        }
        r.cells.emplace(head[i], cell);
    }
    const auto missing = [&](std::string_view column) {
        throw BadInput(fmt::format("{}:{}: {} is empty: every row needs it", file, record.line, column));
    };
    if (r.device.empty()) missing("device");
    if (!r.m) missing("m");
    if (!r.n) missing("n");
    if (!r.k) missing("k");
    if (!r.time_us && !r.dram_bytes) missing("time_us (and dram_bytes)");
    if (r.bm.has_value() != r.bn.has_value())
        throw BadInput(
            fmt::format("{}:{}: {} is empty beside {} {}: expected both, or neither for a kernel whose tile "
                        "is not known",
                        file, record.line, r.bm ? "bn" : "bm", r.bm ? "bm" : "bn", r.bm ? *r.bm : *r.bn));
    return r;
}

std::string read_whole(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    std::string text{std::istreambuf_iterator<char>(in), {}};
    if (!in) throw BadInput(fmt::format("{}: cannot be read: expected a CSV of measurements", quote(path)));
    return text;
}

}  // namespace

MeasurementFile parse_measurements(std::string_view csv, std::string_view file_name) {
    const std::string file = one_line(file_name, 200);
    if (csv.size() > longest_file)
        throw BadInput(fmt::format("{}: {} bytes: expected at most {}", file, csv.size(), longest_file));
    std::vector<CsvRecord> records = parse_csv(csv, file);
    if (records.empty())
        throw BadInput(fmt::format("{}:1: the file is empty: expected the head of a measurements file", file));
    check_head(records[0], file);
    MeasurementFile out;
    out.columns = std::move(records[0].fields);
    for (std::size_t i = 1; i < records.size(); ++i)
        out.rows.push_back(read_row(out.columns, std::move(records[i]), file));
    return out;
}

MeasurementFile read_measurements(const std::string& path) {
    if (std::error_code e; !std::filesystem::is_regular_file(path, e))
        throw BadInput(fmt::format("{}: no such file: expected a CSV of measurements", quote(path)));
    return parse_measurements(read_whole(path), path);
}

const std::vector<std::string>& recorded_columns() {
    static const std::vector<std::string> names = [] {
        std::vector<std::string> all;
        for (const bool recorded : {false, true})
            for (const Column& c : columns)
                if (c.recorded_only == recorded) all.emplace_back(c.name);
        return all;
    }();
    return names;
}

void append_measurements(const std::string& path, const std::vector<std::map<std::string, std::string>>& rows) {
    namespace fs = std::filesystem;
    MeasurementFile file;
    std::error_code error;
    if (fs::exists(path, error))
        file = read_measurements(path);
    else
        file.columns = recorded_columns();
    for (const auto& row : rows)
        for (const auto& [name, cell] : row)
            if (!contains(file.columns, name)) file.columns.push_back(name);

    std::string text = csv_line(file.columns);
    const auto add = [&](const std::map<std::string, std::string>& cells) {
        std::vector<std::string> fields;
        for (const std::string& name : file.columns) {
            const auto at = cells.find(name);
            fields.push_back(at == cells.end() ? "" : at->second);
        }
        text += csv_line(fields);
    };
    for (const Measurement& r : file.rows) add(r.cells);
    for (const auto& row : rows) add(row);
    parse_measurements(text, path);  // a row that could not be read again is not written

    const std::string draft =
        fmt::format("{}.{:08x}.tmp", path, std::random_device{}());  // beside it, so that the rename is whole
    {
        std::ofstream out(draft, std::ios::binary | std::ios::trunc);
        out << text << std::flush;
        if (!out) {
            fs::remove(draft, error);
            throw BadInput(fmt::format("{}: cannot be written: expected a folder that may be written to", quote(path)));
        }
    }
    fs::rename(draft, path, error);
    if (error) {
        std::error_code ignored;
        fs::remove(draft, ignored);
        throw BadInput(fmt::format("{}: cannot be replaced ({}): expected a file that may be written", quote(path),
                                   error.message()));
    }
}

const std::vector<Measurement>& committed_rows() {
    static const std::vector<Measurement> all = [] {
        std::vector<Measurement> found;
        for (const EmbeddedFile& file : embedded_measurements()) {
            if (!file.text.starts_with("id,")) continue;  // a table of another schema
            std::vector<Measurement> rows = parse_measurements(file.text, file.name).rows;
            found.insert(found.end(), std::make_move_iterator(rows.begin()), std::make_move_iterator(rows.end()));
        }
        return found;
    }();
    return all;
}

}  // namespace sim
