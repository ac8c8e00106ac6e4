#include "cli/inside.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>
#include <vector>

#include "cli/page.hpp"
#include "cli/text.hpp"
#include "sim/formula.hpp"
#include "sim/onset.hpp"
#include "sim/residency.hpp"
#include "sim/text.hpp"
#include "sim/timeline.hpp"

namespace cli {
namespace {

using sim::i64;

std::string bytes(i64 b) { return sim::format_bytes(static_cast<double>(b)); }

constexpr std::string_view formula_names[] = {
    "bound: time", "bound: DRAM bytes", "predicted time", "DRAM bytes, requested",
    "L2 bytes",    "on-chip bytes",     "operations",     "waves",
    "intensity",   "energy, assumed"};

std::string_view outcome(sim::Touch::Outcome o) {
    static constexpr std::string_view names[] = {"fetched from DRAM", "found on chip", "written",
                                                 "partial sums read back"};
    return names[static_cast<int>(o)];
}

std::string tile_name(const sim::Touch& t) { return fmt::format("{} ({}, {})", to_string(t.operand), t.row, t.col); }

/// The output tiles in the order in which a sequential machine first works on them.
std::vector<std::pair<i64, i64>> sequential_order(const sim::Kernel& k, sim::Order order) {
    const std::string letters(to_string(order));
    const bool rows_first = letters.find('m') < letters.find('n');
    std::vector<std::pair<i64, i64>> out;
    const i64 outer = rows_first ? k.row_tiles() : k.col_tiles(), inner = rows_first ? k.col_tiles() : k.row_tiles();
    for (i64 a = 0; a < outer; ++a)
        for (i64 b = 0; b < inner; ++b) out.emplace_back(rows_first ? a : b, rows_first ? b : a);
    return out;
}

}  // namespace

std::string formulas_text(const sim::Report& r, const sim::Device& d, int width) {
    std::string out;
    for (const sim::Formula& f : sim::formulas(r, d)) {
        out += fmt::format("\n{}  {}\n", formula_names[f.number], f.value) + wrap(f.text, width, 2, 2);
        for (const std::string& line : f.lines) out += wrap(line, width, 4, 6);
        if (!f.metric.empty()) out += wrap("checked by " + f.metric, width, 2, 4);
    }
    return out;
}

std::string timeline_text(const sim::Report& r, const sim::Device& d) {
    if (!r.predicted) return "";
    constexpr std::size_t most = 16;
    std::string out;
    const sim::Timeline t = sim::timeline(r, d);
    const auto lanes = [&](const std::vector<sim::Lane>& all) {
        Table table("llrrrr");
        table.row({"lane", "does", "from", "to", "times", "busy"});
        for (const sim::Lane& lane : all) {
            std::string name = lane.units > 1 ? fmt::format("{} x {}", lane.units, lane.name) : lane.name;
            for (std::size_t i = 0; i < lane.spans.size(); ++i) {
                if (i == most) {
                    table.row({"", fmt::format("{} more", lane.spans.size() - most)});
                    break;
                }
                const sim::TimeSpan& s = lane.spans[i];
                table.row({std::exchange(name, ""), std::string(to_string(s.doing)), sim::format_us(s.begin_us),
                           sim::format_us(s.end_us), grouped(s.count), percent(s.busy, false)});
            }
        }
        return table.text(2);
    };
    for (const sim::KernelTimeline& k : t.kernels) {
        out += fmt::format("\n{}: {} to {}\n", k.name, sim::format_us(k.begin_us), sim::format_us(k.end_us)) +
               lanes(k.lanes);
        if (!k.close_up.empty())
            out += fmt::format("\n{}: {} from step {} on, {} each\n", k.name, counted(k.close_up_steps, "step"),
                               k.close_up_first, sim::format_us(k.step_us)) +
                   lanes(k.close_up);
    }
    return out;
}

std::string step_text(const sim::Experiment& e, const sim::Device& d, const std::string& asked) {
    i64 n = 0;
    const auto [end, error] = std::from_chars(asked.data(), asked.data() + asked.size(), n);
    const bool number = error == std::errc() && end == asked.data() + asked.size();
    const std::vector<sim::Kernel> kernels = sim::plan(e);
    const sim::StepState s = sim::step_at(e, d, kernels, n);
    if (!number || s.step != n)
        throw sim::BadInput(fmt::format("--step {}: expected a whole number from 0 to {}", sim::quote(asked), s.steps));
    std::string out = fmt::format("\nStep {} of {}", grouped(s.step), grouped(s.steps));
    if (s.step > 0 && s.kernel < static_cast<int>(kernels.size())) {
        const sim::Kernel& k = kernels[static_cast<std::size_t>(s.kernel)];
        out += fmt::format(": {}, output tile ({}, {}) of {} x {}, k-step {} of {}", k.name, s.tile.row, s.tile.col,
                           k.row_tiles(), k.col_tiles(), s.k + 1, k.k_steps());
        if (d.kind == sim::DeviceKind::gpu) out += fmt::format(", wave {}", s.wave + 1);
    }
    out += '\n';
    Table touched("lrl");
    for (const sim::Touch& t : s.touches) touched.row({tile_name(t), bytes(t.bytes), std::string(outcome(t.outcome))});
    out += touched.empty() ? "  nothing has been asked for yet\n" : touched.text(2);
    const sim::Residency on_chip = sim::residency_at(e, d, kernels, n);
    out += "\nHeld on chip after it: " + sim::format_kib(static_cast<double>(on_chip.used_bytes()));
    if (d.kind == sim::DeviceKind::gpu)  // elsewhere the tiles held are all there is room for
        out += " of " + sim::format_kib(static_cast<double>(on_chip.capacity_bytes));
    out += '\n';
    Table held("lr");
    for (int i = 0; i < sim::operand_count; ++i)
        if (const i64 b = on_chip.bytes[static_cast<std::size_t>(i)]; b > 0)
            held.row({std::string(to_string(static_cast<sim::Operand>(i))), bytes(b)});
    out += held.text(2);
    if (!on_chip.evicted.empty()) {
        constexpr std::size_t most = 6;
        out +=
            fmt::format("  dropped by this step: {}", counted(static_cast<long long>(on_chip.evicted.size()), "tile"));
        for (std::size_t i = 0; i < std::min(most, on_chip.evicted.size()); ++i)
            out += (i == 0 ? ": " : ", ") + tile_name(on_chip.evicted[i]);
        out += on_chip.evicted.size() > most ? ", …\n" : "\n";
    }
    return out + fmt::format("\nSo far: {} read from {} and {} written.\n", bytes(s.dram_read_bytes), d.dram.display,
                             bytes(s.dram_write_bytes));
}

std::string tiles_text(const sim::Experiment& e, const sim::Device& d) {
    constexpr i64 most = 12;  // rows and columns of a page
    std::string out;
    for (const sim::Kernel& k : sim::plan(e)) {
        if (!k.matmul) continue;
        const i64 rows = k.row_tiles(), cols = k.col_tiles();
        const bool gpu = d.kind == sim::DeviceKind::gpu;
        out += fmt::format(
            "\n{}: the order of its {} x {} output tiles, {}\n", k.name, grouped(rows), grouped(cols),
            gpu ? fmt::format("raster {}", to_string(e.raster)) : fmt::format("order {}", to_string(e.order)));
        const i64 shown_rows = std::min(rows, most), shown_cols = std::min(cols, most);
        std::vector<std::vector<std::string>> cells(static_cast<std::size_t>(shown_rows),
                                                    std::vector<std::string>(static_cast<std::size_t>(shown_cols)));
        const auto put = [&](i64 row, i64 col, i64 i) {
            if (row < shown_rows && col < shown_cols)
                cells[static_cast<std::size_t>(row)][static_cast<std::size_t>(col)] = std::to_string(i);
        };
        if (gpu) {
            const i64 down = sim::ceil_div(rows, e.cluster.rows), across = sim::ceil_div(cols, e.cluster.cols);
            for (i64 i = 0; i < down * across; ++i) {
                const sim::TileIndex t = sim::tile_at(e.raster, down, across, i);
                for (i64 r = 0; r < e.cluster.rows; ++r)
                    for (i64 c = 0; c < e.cluster.cols; ++c)
                        put(t.row * e.cluster.rows + r, t.col * e.cluster.cols + c, i);
            }
        } else {
            const auto order = sequential_order(k, e.order);
            for (std::size_t i = 0; i < order.size(); ++i) put(order[i].first, order[i].second, static_cast<i64>(i));
        }
        Table table(std::string(static_cast<std::size_t>(shown_cols), 'r'));
        for (std::vector<std::string>& row : cells) table.row(std::move(row));
        out += table.text(2);
        if (shown_rows < rows || shown_cols < cols) out += "  the first of them; the rest goes on likewise\n";
        if (gpu && e.cluster.rows * e.cluster.cols > 1) out += "  tiles of one cluster have one number\n";
    }
    return out;
}

std::string onset_text(const sim::Experiment& e, const sim::Catalogue& devices, int width) {
    const std::vector<sim::OnsetRow> rows = sim::onset(e, devices);
    const bool gpu = devices.at(e.device).kind == sim::DeviceKind::gpu;  // nothing else has a raster to choose
    Table table(gpu ? "rrrr" : "rrr");
    std::vector<std::string> head = {"rows", "unfused", "usual tile"};
    if (gpu) head.push_back("worst raster");
    table.row(std::move(head));
    for (const sim::OnsetRow& r : rows) {
        std::vector<std::string> cells = {grouped(r.rows), percent(r.fusing),
                                          std::isnan(r.tile) ? "does not fit" : percent(r.tile)};
        if (gpu) cells.push_back(percent(r.raster));
        table.row(std::move(cells));
    }
    std::string out =
        fmt::format("\nHow much longer than the best, by rows of X (predicted, by closed form)\n") + table.text(2);
    struct {
        std::string_view what;
        double sim::OnsetRow::*share;
        double least;
    } const kinds[] = {{"Fusing", &sim::OnsetRow::fusing, sim::fusing_matters},
                       {"The tile", &sim::OnsetRow::tile, sim::tile_matters},
                       {"The raster", &sim::OnsetRow::raster, sim::raster_matters}};
    for (const auto& k : kinds) {
        if (!gpu && k.share == &sim::OnsetRow::raster) continue;
        const sim::OnsetRange at = sim::where(rows, k.share, k.least);
        out += wrap(at.first == 0
                        ? fmt::format("{} matters nowhere by more than {}.", k.what, percent(k.least, false))
                        : fmt::format("{} matters by more than {} from {} to {} rows, most at {}: {}{}.", k.what,
                                      percent(k.least, false), grouped(at.first), grouped(at.last), grouped(at.at),
                                      percent(at.most, false), at.elsewhere ? "; and at other sizes of the table" : ""),
                    width, 2, 4);
    }
    return out;
}

}  // namespace cli
