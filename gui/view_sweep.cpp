// Every choice of the sweep as a heat map over two of its words, or as time against on-chip bytes; a click takes it.

#include <imgui.h>
#include <imgui_internal.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "gui/context.hpp"
#include "gui/draw.hpp"
#include "gui/lab.hpp"
#include "gui/sweep_front.hpp"
#include "gui/views.hpp"

namespace gui {
namespace {

using sim::SweepWord;

enum class Metric { time, bytes, measured, front };

/// The choices of a sweep on two axes.
struct Map {
    const Sweep& sweep;
    Metric metric;
    std::vector<const sim::SweepRow*> cells;        // the best that counts at each place, row by row
    std::vector<const MeasuredRow*> measured_ones;  // likewise the fastest measured

    std::size_t rows() const { return sweep.values(0).size(); }
    std::size_t cols() const { return sweep.values(1).size(); }
    const sim::SweepRow* at(std::size_t row, std::size_t col) const { return cells[row * cols() + col]; }
    const MeasuredRow* measured(std::size_t row, std::size_t col) const { return measured_ones[row * cols() + col]; }
    /// What the cell is painted by; NaN where it has none.
    double value(std::size_t row, std::size_t col) const {
        const sim::SweepRow* r = at(row, col);
        if (metric == Metric::measured) return measured(row, col) ? *measured(row, col)->row.time_us : std::nan("");
        if (!r || r->rank == 0) return std::nan("");
        return metric == Metric::time ? r->time_us : static_cast<double>(r->dram_bytes);
    }
    std::string text(double v) const { return metric == Metric::bytes ? sim::format_bytes(v) : sim::format_us(v); }
    std::string label(int axis, std::size_t at) const {
        return sim::value_text(sweep.axes[static_cast<std::size_t>(axis)], sweep.values(axis)[at]);
    }
    std::string corner() const {
        return fmt::format("{} \\ {}", sim::to_string(sweep.axes[0]), sim::to_string(sweep.axes[1]));
    }
};

/// Words of the tile that are on no axis.
std::vector<SweepWord> rest_of(const Sweep& sweep) {
    std::vector<SweepWord> out;
    for (const SweepWord w : {SweepWord::bm, SweepWord::bn, SweepWord::bk})
        if (w != sweep.axes[0] && w != sweep.axes[1]) out.push_back(w);
    return out;
}

bool alike(const sim::Experiment& a, const sim::Experiment& b, const std::vector<SweepWord>& words) {
    return std::all_of(words.begin(), words.end(),
                       [&](SweepWord w) { return sim::value_of(a, w) == sim::value_of(b, w); });
}

/// `only`: those choices alone whose other words are the scene's.
Map map_of(Lab& lab, const Sweep& sweep, Metric metric, bool only, const sim::Experiment& now) {
    const std::size_t places = sweep.values(0).size() * sweep.values(1).size();
    Map map{sweep, metric, std::vector<const sim::SweepRow*>(places), std::vector<const MeasuredRow*>(places)};
    const std::vector<SweepWord> rest = rest_of(sweep);
    for (std::size_t i = 0; i < sweep.rows.size(); ++i) {  // ranked: the first at a place is the best
        if (sweep.cells[i] < 0 || (only && !alike(sweep.rows[i].experiment, now, rest))) continue;
        const sim::SweepRow*& cell = map.cells[static_cast<std::size_t>(sweep.cells[i])];
        if (!cell) cell = &sweep.rows[i];
    }
    const auto place = [&](int axis, const sim::Experiment& e) {
        const auto& all = sweep.values(axis);
        return static_cast<std::size_t>(
            std::find(all.begin(), all.end(), sim::value_of(e, sweep.axes[static_cast<std::size_t>(axis)])) -
            all.begin());
    };
    for (const std::size_t i : lab.measured.like(lab.document.experiment())) {
        const MeasuredRow& m = lab.measured.rows()[i];
        const std::size_t down = place(0, m.experiment), across = place(1, m.experiment);
        if (down >= map.rows() || across >= map.cols() || (only && !alike(m.experiment, now, rest))) continue;
        sim::Experiment there = now;  // with what a sweep may vary
        there.tile = m.experiment.tile;
        there.stages = m.experiment.stages;
        there.raster = m.experiment.raster;
        if (!sim::same_experiment(m.experiment, there)) continue;
        const MeasuredRow*& cell = map.measured_ones[down * map.cols() + across];
        if (!cell || *m.row.time_us < *cell->row.time_us) cell = &m;
    }
    return map;
}

/// The choice becomes the scene's: its tile, and what else was varied.
void take(Lab& lab, const Sweep& sweep, const sim::SweepRow& row, unsigned gesture = 0) {
    const sim::Tile& t = row.experiment.tile;
    std::vector<Word> words = {{"tile", fmt::format("{}x{}x{}", t.bm, t.bn, t.bk)}};
    for (const SweepWord w : sweep.axes)
        if (w == SweepWord::stages || w == SweepWord::raster)
            words.emplace_back(sim::to_string(w), sim::value_text(w, sim::value_of(row.experiment, w)));
    lab.change(words, gesture);
}

struct Range {
    double low = INFINITY, high = 0;
    /// 0 = best, on a logarithmic scale.
    float share(double v) const {
        if (!(high > low)) return 0;
        return static_cast<float>((std::log(v) - std::log(low)) / (std::log(high) - std::log(low)));
    }
};

/// Good is bright: a scale runs from its bright end, and bytes have their own.
ImU32 heat(Metric metric, float share) { return metric == Metric::bytes ? cividis(1 - share) : viridis(1 - share); }

std::string describe(const Sweep& sweep, const sim::SweepRow& r, const MeasuredRow* measured) {
    const sim::Tile& t = r.experiment.tile;
    std::string text = fmt::format("{}×{}×{}", t.bm, t.bn, t.bk);
    for (const SweepWord w : sweep.axes)
        if (w == SweepWord::stages || w == SweepWord::raster)
            text += fmt::format("  {} {}", sim::to_string(w), sim::value_text(w, sim::value_of(r.experiment, w)));
    if (r.rank == 0) return text + "\n" + translated(r.fit.why);
    text += fmt::format("\n{} {} ({} – {})", tr(Str::predicted), sim::format_us(r.time_us),
                        sim::format_us(r.interval_us[0]), sim::format_us(r.interval_us[1]));
    text += fmt::format("\n{} {}", tr(Str::dram_bytes), sim::format_bytes(static_cast<double>(r.dram_bytes)));
    text += fmt::format("\n{} {}", tr(Str::on_chip), sim::format_kib(static_cast<double>(r.sram_bytes)));
    text += "\n" + say(r.tie ? Str::rank_tie : Str::rank_of, r.rank, sweep.rows.size());
    if (r.pareto) text += std::string("\n") + tr(Str::cell_front_tip);
    if (measured)
        text += fmt::format("\n{} {}  {}", tr(Str::measured), sim::format_us(*measured->row.time_us),
                            measured->row.source.empty() ? measured->row.machine : measured->row.source);
    return text;
}

/// In a cell's corners: a triangle where it is on the front, a double line where it ties with the best.
void draw_cell_marks(ImDrawList& list, ImVec2 a, ImVec2 b, ImU32 ink, const sim::SweepRow& r) {
    const float size = std::min({em(0.5f), (b.x - a.x) / 3, (b.y - a.y) / 3});
    if (size < 2) return;
    if (r.pareto) list.AddTriangleFilled({a.x, b.y}, {a.x, b.y - size}, {a.x + size, b.y}, ink);
    if (r.tie)
        for (const float y : {a.y + size * 0.5f, a.y + size})
            list.AddLine({a.x + size * 0.4f, y}, {a.x + size * 1.5f, y}, ink, std::max(1.0f, em(0.08f)));
}

/// Vertical scale with its unit, best on top.
void colour_bar(const Map& map, const Range& range, ImVec2 at, float width, float height) {
    ImDrawList& list = *ImGui::GetWindowDrawList();
    constexpr int bands = 48;
    for (int i = 0; i < bands; ++i) {
        const float y0 = at.y + height * static_cast<float>(i) / bands,
                    y1 = at.y + height * static_cast<float>(i + 1) / bands;
        list.AddRectFilled({at.x, y0}, {at.x + width, y1 + 0.5f},
                           heat(map.metric, (static_cast<float>(i) + 0.5f) / bands));
    }
    const float line = ImGui::GetTextLineHeight(), x = at.x + width + em(0.4f);
    const int ticks = std::clamp(static_cast<int>(height / (2.2f * line)), 2, 5);
    for (int i = 0; i < ticks; ++i) {
        const double share = static_cast<double>(i) / (ticks - 1);
        const double v = std::exp(std::log(range.low) + share * (std::log(range.high) - std::log(range.low)));
        const float y = std::clamp(at.y + height * static_cast<float>(share) - line / 2, at.y - line * 0.1f,
                                   at.y + height - line * 0.9f);
        list.AddText({x, y}, colours().dim, map.text(v).c_str());
    }
}

/// What the frames and marks on the cells mean.
void legend(Metric metric, bool validated, bool any_rejected, bool any_measured) {
    const float gap = em(0.9f);
    bool first = true;
    const auto next = [&](Str name) {
        if (!first) same_line_if_room(chip_width(tr(name)) + gap);
        first = false;
    };
    const auto framed = [&](Str name, ImU32 fill, ImU32 outer, ImU32 inner_edge) {
        next(name);
        chip(
            [&](ImDrawList& list, ImVec2 c, float size) {
                const float half = size * 0.36f;
                list.AddRectFilled({c.x - half, c.y - half}, {c.x + half, c.y + half}, outer);
                list.AddRectFilled({c.x - half + 1.5f, c.y - half + 1.5f}, {c.x + half - 1.5f, c.y + half - 1.5f},
                                   inner_edge);
                list.AddRectFilled({c.x - half + 3, c.y - half + 3}, {c.x + half - 3, c.y + half - 3}, fill);
            },
            tr(name));
    };
    if (metric != Metric::measured) {
        first = false;
        predicted_chip(validated);
    }
    framed(Str::cell_now, heat(metric, 0.55f), IM_COL32_BLACK, IM_COL32_WHITE);
    framed(Str::cell_best, heat(metric, 0), heat(metric, 0), IM_COL32_BLACK);
    for (const Str name : {Str::cell_tie, Str::cell_front}) {
        next(name);
        sim::SweepRow row;
        row.tie = name == Str::cell_tie;
        row.pareto = name == Str::cell_front;
        chip(
            [&](ImDrawList& list, ImVec2 c, float size) {
                const float half = size * 0.36f;
                const ImU32 fill = heat(metric, 0.1f);
                list.AddRectFilled({c.x - half, c.y - half}, {c.x + half, c.y + half}, fill);
                draw_cell_marks(list, {c.x - half, c.y - half}, {c.x + 2 * half, c.y + half}, ink_on(fill), row);
            },
            tr(name));
        if (name == Str::cell_front) tip(tr(Str::cell_front_tip));
    }
    if (any_rejected) {
        next(Str::does_not_fit);
        chip(
            [&](ImDrawList& list, ImVec2 c, float size) {
                const float half = size * 0.36f;
                list.AddRectFilled({c.x - half, c.y - half}, {c.x + half, c.y + half}, colours().raised);
                draw_hatch(list, {c.x - half, c.y - half}, {c.x + half, c.y + half}, colours().dim, em(0.3f));
            },
            tr(Str::does_not_fit));
    }
    if (!any_measured) return;
    next(Str::measured);
    mark_chip(Mark::measured, tr(Str::measured));
}

void axis_combo(Lab& lab, const Sweep& sweep, int axis, Str name) {
    const SweepWord now = sweep.axes[static_cast<std::size_t>(axis)];
    ImGui::SetNextItemWidth(em(5.2f));
    if (ImGui::BeginCombo(axis == 0 ? "##rows" : "##cols", sim::to_string(now).data())) {
        for (const SweepWord w : sim::all_sweep_words) {
            if (sweep.space.of(w).empty()) continue;
            if (!ImGui::Selectable(sim::to_string(w).data(), w == now)) continue;
            Sweep::Axes axes = sweep.axes;
            if (axes[static_cast<std::size_t>(1 - axis)] == w) axes[static_cast<std::size_t>(1 - axis)] = now;
            axes[static_cast<std::size_t>(axis)] = w;
            lab.sweep_axes = axes;
        }
        ImGui::EndCombo();
    }
    tip(tr(name));
}

void controls(Lab& lab, const Sweep& sweep, Metric& metric, bool& only, const std::string& rest, bool rest_is_known,
              bool any_measured) {
    axis_combo(lab, sweep, 0, Str::sweep_rows);
    ImGui::SameLine(0, em(0.4f));
    ImGui::TextUnformatted("×");
    ImGui::SameLine(0, em(0.4f));
    axis_combo(lab, sweep, 1, Str::sweep_cols);
    struct {
        Metric metric;
        Str name;
    } const metrics[] = {{Metric::time, Str::by_time},
                         {Metric::bytes, Str::by_bytes},
                         {Metric::measured, Str::measured},
                         {Metric::front, Str::by_front}};
    const float button = ImGui::GetFrameHeight() + ImGui::GetStyle().ItemInnerSpacing.x;
    for (const auto& m : metrics) {
        same_line_if_room(button + ImGui::CalcTextSize(tr(m.name)).x);
        ImGui::BeginDisabled(m.metric == Metric::measured && !any_measured);
        if (ImGui::RadioButton(label(m.name), metric == m.metric)) metric = m.metric;
        ImGui::EndDisabled();
        if (m.metric == Metric::measured && !any_measured) tip(tr(Str::none_measured));
        if (m.metric == Metric::front) tip(tr(Str::by_front_tip));
    }
    const std::string only_text = say(Str::only_rest, rest);
    same_line_if_room(button + ImGui::CalcTextSize(only_text.c_str()).x);
    ImGui::BeginDisabled(!rest_is_known || metric == Metric::front);
    ImGui::Checkbox((only_text + "###only_rest").c_str(), &only);
    ImGui::EndDisabled();
    tip(rest_is_known ? tr(Str::only_rest_tip) : say(Str::rest_outside, rest));
    if (!lab.sweeping()) return;
    same_line_if_room(em(6));
    ImGui::ProgressBar(static_cast<float>(lab.sweep_progress()), {em(6), ImGui::GetFrameHeight() * 0.8f});
}

void draw_map(Lab& lab, const Map& map, const Range& range, const sim::Experiment& now) {
    const float line = ImGui::GetTextLineHeight();
    float label_width = ImGui::CalcTextSize("bm").x, head_width = em(1);
    for (std::size_t r = 0; r < map.rows(); ++r)
        label_width = std::max(label_width, ImGui::CalcTextSize(map.label(0, r).c_str()).x);
    for (std::size_t c = 0; c < map.cols(); ++c)
        head_width = std::max(head_width, ImGui::CalcTextSize(map.label(1, c).c_str()).x);
    const float bar_width = em(0.9f), bar_label = ImGui::CalcTextSize("888 GB").x + em(1.2f);
    const ImVec2 room = ImGui::GetContentRegionAvail(), origin = ImGui::GetCursorScreenPos();
    const std::string corner = map.corner();
    const float corner_width = ImGui::CalcTextSize(corner.c_str()).x;
    const bool with_corner = room.x > 5 * corner_width;  // else the boxes above say it
    if (with_corner) label_width = std::max(label_width, corner_width);
    label_width += em(0.5f);
    const ImVec2 low{origin.x + label_width, origin.y + line + em(0.3f)};
    const ImVec2 size{std::max(em(4), room.x - label_width - bar_width - bar_label),
                      std::max(em(3), room.y - line - em(0.3f))};
    const float cell_w = size.x / static_cast<float>(map.cols()), cell_h = size.y / static_cast<float>(map.rows());
    const auto cell = [&](std::size_t r, std::size_t c) {
        return ImVec2{low.x + cell_w * static_cast<float>(c), low.y + cell_h * static_cast<float>(r)};
    };

    ImGui::SetCursorScreenPos(low);
    ImGui::InvisibleButton("##map", size, ImGuiButtonFlags_EnableNav);
    const ImGuiID id = ImGui::GetItemID();
    const bool hovered = ImGui::IsItemHovered(), focused = ImGui::IsItemFocused();
    ImDrawList& list = *ImGui::GetWindowDrawList();

    const auto every = [&](float need, float have) {
        return std::max<std::size_t>(1, static_cast<std::size_t>(std::ceil(need / have)));
    };
    const std::size_t skip_c = every(head_width + em(0.5f), cell_w), skip_r = every(line, cell_h);
    if (with_corner) list.AddText({origin.x, origin.y}, colours().dim, corner.c_str());
    for (std::size_t c = 0; c < map.cols(); c += skip_c) {  // in the middle of its cell where that is inside
        const float w = ImGui::CalcTextSize(map.label(1, c).c_str()).x;
        const float x = std::clamp(cell(0, c).x + (cell_w - w) / 2, low.x,
                                   std::max(low.x, low.x + size.x + bar_width + bar_label - w));
        list.AddText({x, origin.y}, colours().dim, map.label(1, c).c_str());
    }
    for (std::size_t r = 0; r < map.rows(); r += skip_r)
        draw_text(list, {origin.x, cell(r, 0).y}, {low.x - em(0.4f), cell(r, 0).y + cell_h}, colours().dim,
                  map.label(0, r), {1, 0.5f});

    std::optional<std::pair<std::size_t, std::size_t>> at_mouse, at_now;
    const ImVec2 mouse = ImGui::GetIO().MousePos;
    for (std::size_t r = 0; r < map.rows(); ++r)
        for (std::size_t c = 0; c < map.cols(); ++c) {
            const sim::SweepRow* row = map.at(r, c);
            const ImVec2 a = cell(r, c), b{a.x + cell_w - 1, a.y + cell_h - 1};
            if (map.sweep.values(0)[r] == sim::value_of(now, map.sweep.axes[0]) &&
                map.sweep.values(1)[c] == sim::value_of(now, map.sweep.axes[1]))
                at_now = {r, c};
            if (hovered && mouse.x >= a.x && mouse.x < a.x + cell_w && mouse.y >= a.y && mouse.y < a.y + cell_h)
                at_mouse = {r, c};
            const double v = map.value(r, c);
            const ImU32 fill = std::isnan(v) ? colours().raised : heat(map.metric, range.share(v));
            list.AddRectFilled(a, b, fill);
            if (!std::isnan(v)) {
                const std::string text = map.text(v);
                const bool marked = row && row->rank > 0 && (row->tie || row->pareto);
                const float marks = marked && cell_h < line + em(1.6f) ? em(0.75f) : em(0.15f);  // else above and below
                if (cell_h > line && ImGui::CalcTextSize(text.c_str()).x + marks + em(0.15f) < cell_w)
                    draw_text(list, {a.x + marks, a.y}, b, ink_on(fill), text, {0.5f, 0.5f});
            }
            if (row && row->rank == 0) draw_hatch(list, a, b, colours().border, em(0.4f));
            if (row && row->rank > 0 && !std::isnan(v)) draw_cell_marks(list, a, b, ink_on(fill), *row);
            if (row && row->rank == 1) list.AddRect({a.x + 1, a.y + 1}, {b.x - 1, b.y - 1}, ink_on(fill), 0, 0, 2);
            if (!map.measured(r, c)) continue;
            const ImVec2 at{b.x - std::min(em(0.6f), cell_w / 2), a.y + std::min(em(0.6f), cell_h / 2)};
            draw_mark(list, at, em(0.36f), Mark::measured);
            list.AddQuad({at.x - em(0.4f), at.y}, {at.x, at.y - em(0.4f)}, {at.x + em(0.4f), at.y},
                         {at.x, at.y + em(0.4f)}, IM_COL32_BLACK, 1);
        }
    const auto frame = [&](std::pair<std::size_t, std::size_t> rc, float thickness) {
        const ImVec2 a = cell(rc.first, rc.second), b{a.x + cell_w - 1, a.y + cell_h - 1};
        list.AddRect(a, b, IM_COL32_BLACK, 0, 0, thickness + 3);
        list.AddRect(a, b, IM_COL32_WHITE, 0, 0, thickness);
    };
    if (at_now) frame(*at_now, 2.5f);
    if (at_mouse) {
        frame(*at_mouse, 1);
        if (const sim::SweepRow* row = map.at(at_mouse->first, at_mouse->second)) {
            ImGui::SetTooltip("%s", describe(map.sweep, *row, map.measured(at_mouse->first, at_mouse->second)).c_str());
            if (ImGui::IsMouseClicked(0)) take(lab, map.sweep, *row);
        }
    }
    if (focused) {
        constexpr std::array<std::array<int, 3>, 4> arrows = {{{ImGuiKey_LeftArrow, 0, -1},
                                                               {ImGuiKey_RightArrow, 0, 1},
                                                               {ImGuiKey_UpArrow, -1, 0},
                                                               {ImGuiKey_DownArrow, 1, 0}}};
        for (const auto& [key, down, right] : arrows) {
            ImGui::SetKeyOwner(static_cast<ImGuiKey>(key), id);
            if (!ImGui::IsKeyPressed(static_cast<ImGuiKey>(key), ImGuiInputFlags_Repeat, id)) continue;
            const auto from = at_now.value_or(std::pair<std::size_t, std::size_t>{0, 0});
            const auto clamp = [](std::size_t v, int by, std::size_t count) {
                return static_cast<std::size_t>(
                    std::clamp<int>(static_cast<int>(v) + by, 0, static_cast<int>(count) - 1));
            };
            if (const sim::SweepRow* row =
                    map.at(clamp(from.first, down, map.rows()), clamp(from.second, right, map.cols())))
                take(lab, map.sweep, *row, id);
        }
    }
    if (std::isfinite(range.high) && range.high > 0)
        colour_bar(map, range, {low.x + size.x + em(0.6f), low.y}, bar_width, size.y);
    ImGui::SetCursorScreenPos(origin);
    ImGui::Dummy(room);
}

}  // namespace

void draw_sweep(Lab& lab) {
    static Metric metric = Metric::time;
    static bool only = false;
    const Sweep* sweep = lab.sweep();
    if (!lab.sweep_error().empty()) {
        coloured(colours().error, translated(lab.sweep_error()));
        return;
    }
    if (!sweep || sweep->rows.empty() || sweep->values(0).empty() || sweep->values(1).empty()) {
        hint(tr(Str::computing));
        return;
    }
    const sim::Experiment& now = lab.is_current() ? lab.analysis()->report.experiment : lab.document.experiment();
    std::string rest;
    bool rest_is_known = true;
    for (const SweepWord w : rest_of(*sweep)) {
        rest += fmt::format("{}{} {}", rest.empty() ? "" : " ", sim::to_string(w), sim::value_of(now, w));
        const auto& all = sweep->space.of(w);
        rest_is_known &= std::find(all.begin(), all.end(), sim::value_of(now, w)) != all.end();
    }
    const Map map = map_of(lab, *sweep, metric, only && rest_is_known, now);
    const bool any_measured =
        std::any_of(map.measured_ones.begin(), map.measured_ones.end(), [](auto* m) { return m; });
    if (metric == Metric::measured && !any_measured) metric = Metric::time;
    controls(lab, *sweep, metric, only, rest, rest_is_known, any_measured);
    const Analysis* a = lab.analysis();
    const bool validated = a && a->report.predicted && a->report.predicted->validated;
    if (metric == Metric::front)
        return draw_front(
            *sweep, now, validated, [&](const sim::SweepRow& r) { return describe(*sweep, r, nullptr); },
            [&](const sim::SweepRow& r) { take(lab, *sweep, r); });
    if (metric != map.metric) return;  // the next frame paints by it
    const bool any_rejected =
        std::any_of(map.cells.begin(), map.cells.end(), [](auto* r) { return r && r->rank == 0; });
    legend(metric, validated, any_rejected, any_measured);
    Range range;
    for (std::size_t r = 0; r < map.rows(); ++r)
        for (std::size_t c = 0; c < map.cols(); ++c)
            if (const double v = map.value(r, c); !std::isnan(v)) {
                range.low = std::min(range.low, v);
                range.high = std::max(range.high, v);
            }
    // Choices within a few percent are ties: a scale too short would paint them as winners and losers.
    constexpr double shortest = 1.3;
    range.high = std::max(range.high, range.low * shortest);
    draw_map(lab, map, range, now);
}

Sheet sweep_sheet(Lab& lab) {
    const Sweep* sweep = lab.sweep();
    if (!sweep) return {};
    Sheet sheet = {{"rank", "bm", "bn", "bk", "stages", "raster", "predicted_us", "dram_bytes", "on_chip_bytes", "tie",
                    "pareto", "why_not"}};
    for (const sim::SweepRow& r : sweep->rows) {
        const sim::Tile& t = r.experiment.tile;
        const bool ok = r.rank > 0;
        sheet.push_back({ok ? std::to_string(r.rank) : "", std::to_string(t.bm), std::to_string(t.bn),
                         std::to_string(t.bk), std::to_string(r.experiment.stages), sim::to_string(r.experiment.raster),
                         ok ? fmt::format("{:.6g}", r.time_us) : "", ok ? std::to_string(r.dram_bytes) : "",
                         std::to_string(r.sram_bytes), r.tie ? "1" : "0", r.pareto ? "1" : "0", r.fit.why});
    }
    return sheet;
}

}  // namespace gui
