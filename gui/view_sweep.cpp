// Every tile of the space as a heat map over bm and bn; a click takes the tile.

#include <imgui.h>
#include <imgui_internal.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "gui/context.hpp"
#include "gui/draw.hpp"
#include "gui/lab.hpp"
#include "gui/views.hpp"

namespace gui {
namespace {

enum class Metric { time, bytes };

struct Map {
    const Sweep& sweep;
    Metric metric;
    bool this_bk;    // only the scene's bk, else the best over all
    std::size_t bk;  // its place

    std::size_t rows() const { return sweep.space.bm.size(); }
    std::size_t cols() const { return sweep.space.bn.size(); }
    const sim::SweepRow* at(std::size_t row, std::size_t col) const {
        return this_bk ? sweep.at(row, col, bk) : sweep.best_over_bk(row, col);
    }
    double value(const sim::SweepRow& r) const {
        return metric == Metric::time ? r.time_us : static_cast<double>(r.dram_bytes);
    }
    std::string text(double v) const { return metric == Metric::time ? sim::format_us(v) : sim::format_bytes(v); }
};

struct Range {
    double low = INFINITY, high = 0;
    /// 0 = best, on a logarithmic scale.
    float share(double v) const {
        if (!(high > low)) return 0;
        return static_cast<float>((std::log(v) - std::log(low)) / (std::log(high) - std::log(low)));
    }
};

/// Good is bright: a scale runs from its bright end, and each metric has its own.
ImU32 heat(Metric metric, float share) { return metric == Metric::time ? viridis(1 - share) : cividis(1 - share); }

std::string describe(const Map& map, const sim::SweepRow& r) {
    const sim::Tile& t = r.experiment.tile;
    std::string text = fmt::format("{}×{}×{}", t.bm, t.bn, t.bk);
    if (r.rank == 0) return text + "\n" + r.fit.why;
    text += fmt::format("\n{} {}", tr(Str::predicted), sim::format_us(r.time_us));
    text += fmt::format("\n{} {}", tr(Str::dram_bytes), sim::format_bytes(static_cast<double>(r.dram_bytes)));
    text += fmt::format("\n{} {}", tr(Str::on_chip), sim::format_kib(static_cast<double>(r.sram_bytes)));
    text += "\n" + say(r.tie ? Str::rank_tie : Str::rank_of, r.rank, map.sweep.rows.size());
    return text;
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

/// What the frames and marks on the cells mean, at the right end of the line if there is room.
void legend(Metric metric) {
    const float line = ImGui::GetTextLineHeight(), gap = em(0.9f), inner = em(0.3f);
    const auto width = [&](Str s) { return line * 0.8f + inner + ImGui::CalcTextSize(tr(s)).x; };
    const float need = width(Str::cell_now) + width(Str::cell_best) + width(Str::measured) + 2 * gap;
    ImGui::SameLine();
    const float room = ImGui::GetContentRegionAvail().x;
    if (room < need) {
        ImGui::NewLine();
    } else {
        ImGui::SetCursorPosX(ImGui::GetCursorPosX() + room - need);
        ImGui::AlignTextToFramePadding();
    }
    const auto framed = [&](Str name, ImU32 fill, ImU32 outer, ImU32 inner_edge) {
        chip(
            [&](ImDrawList& list, ImVec2 c, float size) {
                const float half = size * 0.36f;
                list.AddRectFilled({c.x - half, c.y - half}, {c.x + half, c.y + half}, outer);
                list.AddRectFilled({c.x - half + 1.5f, c.y - half + 1.5f}, {c.x + half - 1.5f, c.y + half - 1.5f},
                                   inner_edge);
                list.AddRectFilled({c.x - half + 3, c.y - half + 3}, {c.x + half - 3, c.y + half - 3}, fill);
            },
            tr(name));
        ImGui::SameLine(0, gap);
    };
    framed(Str::cell_now, heat(metric, 0.55f), IM_COL32_BLACK, IM_COL32_WHITE);
    framed(Str::cell_best, heat(metric, 0), heat(metric, 0), IM_COL32_BLACK);
    mark_chip(Mark::measured, tr(Str::measured));
}

void controls(Lab& lab, Metric& metric, bool& this_bk, bool bk_is_known, sim::i64 bk) {
    if (ImGui::RadioButton(label(Str::by_time), metric == Metric::time)) metric = Metric::time;
    ImGui::SameLine();
    if (ImGui::RadioButton(label(Str::by_bytes), metric == Metric::bytes)) metric = Metric::bytes;
    ImGui::SameLine(0, em(1.2f));
    ImGui::BeginDisabled(!bk_is_known);
    ImGui::Checkbox(say(Str::only_bk, bk).append("###only_bk").c_str(), &this_bk);
    ImGui::EndDisabled();
    tip(bk_is_known ? tr(Str::only_bk_tip) : say(Str::bk_outside, bk));
    if (lab.sweeping()) {
        ImGui::SameLine();
        ImGui::ProgressBar(static_cast<float>(lab.sweep_progress()), {em(6), ImGui::GetFrameHeight() * 0.8f});
    } else {
        legend(metric);
    }
}

void draw_map(Lab& lab, const Map& map, const Range& range) {
    const float line = ImGui::GetTextLineHeight();
    float label_width = ImGui::CalcTextSize("bm").x;
    for (sim::i64 bm : map.sweep.space.bm)
        label_width = std::max(label_width, ImGui::CalcTextSize(std::to_string(bm).c_str()).x);
    label_width += em(0.5f);
    const float bar_width = em(0.9f), bar_label = ImGui::CalcTextSize("888 GB").x + em(1.2f);
    const ImVec2 room = ImGui::GetContentRegionAvail(), origin = ImGui::GetCursorScreenPos();
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
    const sim::Tile now = lab.is_current() ? lab.analysis()->report.experiment.tile : lab.document.experiment().tile;

    const auto every = [&](float need, float have) {
        return std::max<std::size_t>(1, static_cast<std::size_t>(std::ceil(need / have)));
    };
    const std::string first = std::to_string(map.sweep.space.bn.front());
    if (ImGui::CalcTextSize("bm \\ bn ").x < label_width + (cell_w - ImGui::CalcTextSize(first.c_str()).x) / 2)
        list.AddText({origin.x, origin.y}, colours().dim, "bm \\ bn");
    const std::size_t skip_c = every(ImGui::CalcTextSize("8888 ").x, cell_w), skip_r = every(line, cell_h);
    for (std::size_t c = 0; c < map.cols(); c += skip_c)
        draw_text(list, {cell(0, c).x - cell_w, origin.y}, {cell(0, c).x + 2 * cell_w, origin.y + line}, colours().dim,
                  std::to_string(map.sweep.space.bn[c]), {0.5f, 0});
    for (std::size_t r = 0; r < map.rows(); r += skip_r)
        draw_text(list, {origin.x, cell(r, 0).y}, {low.x - em(0.4f), cell(r, 0).y + cell_h}, colours().dim,
                  std::to_string(map.sweep.space.bm[r]), {1, 0.5f});

    std::optional<std::pair<std::size_t, std::size_t>> at_mouse, at_now;
    const ImVec2 mouse = ImGui::GetIO().MousePos;
    for (std::size_t r = 0; r < map.rows(); ++r)
        for (std::size_t c = 0; c < map.cols(); ++c) {
            const sim::SweepRow* row = map.at(r, c);
            const ImVec2 a = cell(r, c), b{a.x + cell_w - 1, a.y + cell_h - 1};
            if (map.sweep.space.bm[r] == now.bm && map.sweep.space.bn[c] == now.bn) at_now = {r, c};
            if (hovered && mouse.x >= a.x && mouse.x < a.x + cell_w && mouse.y >= a.y && mouse.y < a.y + cell_h)
                at_mouse = {r, c};
            if (!row || row->rank == 0) {
                list.AddRectFilled(a, b, colours().raised);
                if (row) draw_hatch(list, a, b, colours().border, em(0.4f));
                continue;
            }
            const double v = map.value(*row);
            const ImU32 fill = heat(map.metric, range.share(v));
            list.AddRectFilled(a, b, fill);
            const std::string text = map.text(v);
            if (cell_h > line && ImGui::CalcTextSize(text.c_str()).x + em(0.3f) < cell_w)
                draw_text(list, a, b, ink_on(fill), text, {0.5f, 0.5f});
            if (row->rank == 1) list.AddRect({a.x + 1, a.y + 1}, {b.x - 1, b.y - 1}, ink_on(fill), 0, 0, 2);
        }
    for (std::size_t i : lab.measured.like(lab.document.experiment())) {
        const sim::Tile& t = lab.measured.rows()[i].experiment.tile;
        for (std::size_t r = 0; r < map.rows(); ++r)
            for (std::size_t c = 0; c < map.cols(); ++c)
                if (map.sweep.space.bm[r] == t.bm && map.sweep.space.bn[c] == t.bn) {
                    const ImVec2 a = cell(r, c);
                    const ImVec2 at{a.x + cell_w - std::min(em(0.6f), cell_w / 2),
                                    a.y + std::min(em(0.6f), cell_h / 2)};
                    draw_mark(list, at, em(0.36f), Mark::measured);
                    list.AddQuad({at.x - em(0.4f), at.y}, {at.x, at.y - em(0.4f)}, {at.x + em(0.4f), at.y},
                                 {at.x, at.y + em(0.4f)}, IM_COL32_BLACK, 1);
                }
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
            ImGui::SetTooltip("%s", describe(map, *row).c_str());
            if (ImGui::IsMouseClicked(0)) lab.take_tile(row->experiment.tile);
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
                lab.take_tile(row->experiment.tile, id);
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
    static bool this_bk = false;
    const Sweep* sweep = lab.sweep();
    if (!lab.sweep_error().empty()) {
        coloured(colours().error, lab.sweep_error());
        return;
    }
    if (!sweep || sweep->space.bm.empty() || sweep->space.bn.empty() || sweep->space.bk.empty()) {
        hint(tr(Str::computing));
        return;
    }
    const auto& bks = sweep->space.bk;
    const sim::i64 bk =
        lab.is_current() ? lab.analysis()->report.experiment.tile.bk : lab.document.experiment().tile.bk;
    const auto at = std::find(bks.begin(), bks.end(), bk);
    controls(lab, metric, this_bk, at != bks.end(), bk);
    const Map map{*sweep, metric, this_bk && at != bks.end(), static_cast<std::size_t>(at - bks.begin())};
    Range range;
    for (std::size_t r = 0; r < map.rows(); ++r)
        for (std::size_t c = 0; c < map.cols(); ++c)
            if (const sim::SweepRow* row = map.at(r, c); row && row->rank > 0) {
                range.low = std::min(range.low, map.value(*row));
                range.high = std::max(range.high, map.value(*row));
            }
    // Tiles within a few percent are ties: a scale too short would paint them as winners and losers.
    constexpr double shortest = 1.3;
    range.high = std::max(range.high, range.low * shortest);
    draw_map(lab, map, range);
}

Sheet sweep_sheet(Lab& lab) {
    const Sweep* sweep = lab.sweep();
    if (!sweep) return {};
    Sheet sheet = {{"rank", "bm", "bn", "bk", "predicted_us", "dram_bytes", "on_chip_bytes", "why_not"}};
    for (const sim::SweepRow& r : sweep->rows) {
        const sim::Tile& t = r.experiment.tile;
        const bool ok = r.rank > 0;
        sheet.push_back({ok ? std::to_string(r.rank) : "", std::to_string(t.bm), std::to_string(t.bn),
                         std::to_string(t.bk), ok ? fmt::format("{:.6g}", r.time_us) : "",
                         ok ? std::to_string(r.dram_bytes) : "", std::to_string(r.sram_bytes), r.fit.why});
    }
    return sheet;
}

}  // namespace gui
