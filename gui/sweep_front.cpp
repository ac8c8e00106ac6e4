#include "gui/sweep_front.hpp"

#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>
#include <cmath>

#include "gui/draw.hpp"
#include "gui/plot.hpp"

namespace gui {
namespace {

struct Limits {
    double x0 = INFINITY, x1 = 0, y0 = INFINITY, y1 = 0;
};

Limits limits_of(const Sweep& sweep) {
    Limits l;
    for (const sim::SweepRow& r : sweep.rows) {
        if (r.rank == 0 || r.sram_bytes <= 0) continue;
        const double x = static_cast<double>(r.sram_bytes);
        l = {std::min(l.x0, x), std::max(l.x1, x), std::min(l.y0, r.time_us), std::max(l.y1, r.time_us)};
    }
    return l;
}

void legend(bool validated) {
    const Palette& p = colours();
    predicted_chip(validated);
    const struct {
        Str name;
        ImU32 colour;
        bool ring;
    } marks[] = {{Str::cell_now, p.text, true}, {Str::cell_front, p.accent, false}, {Str::cell_tie, p.text, false}};
    for (const auto& m : marks) {
        same_line_if_room(chip_width(tr(m.name)));
        chip(
            [&](ImDrawList& list, ImVec2 c, float size) {
                if (m.ring)
                    list.AddCircle(c, size * 0.34f, m.colour, 0, std::max(2.0f, em(0.14f)));
                else
                    list.AddCircleFilled(c, size * 0.26f, m.colour);
            },
            tr(m.name));
        if (m.name == Str::cell_front) tip(tr(Str::cell_front_tip));
    }
}

}  // namespace

void draw_front(const Sweep& sweep, const sim::Experiment& now, bool validated,
                const std::function<std::string(const sim::SweepRow&)>& describe,
                const std::function<void(const sim::SweepRow&)>& take) {
    const Limits l = limits_of(sweep);
    if (!(l.x1 > 0)) return hint(tr(Str::no_tile_fits));
    legend(validated);
    const ImVec2 room = ImGui::GetContentRegionAvail();
    ImGui::PushStyleVar(ImGuiStyleVar_FrameBorderSize, 0);
    const ImPlotFlags flags =
        ImPlotFlags_NoLegend | ImPlotFlags_NoMouseText | ImPlotFlags_NoTitle | ImPlotFlags_NoMenus;
    if (!ImPlot::BeginPlot("##front", {room.x - em(1.2f), std::max(room.y, em(9))}, flags)) return ImGui::PopStyleVar();
    ImPlot::SetupAxes(tr(Str::on_chip), tr(Str::predicted));
    ImPlot::SetupAxisScale(ImAxis_X1, ImPlotScale_Log10);
    ImPlot::SetupAxisScale(ImAxis_Y1, ImPlotScale_Log10);
    // A point or two on an axis of no length would have no ticks.
    const double x0 = l.x0 / 1.5, x1 = l.x1 * 1.5, y0 = l.y0 / 1.4, y1 = l.y1 * 1.4;
    ImPlot::SetupAxesLimits(x0, x1, y0, y1, ImPlotCond_Always);
    // Powers of two are round numbers of on-chip memory.
    std::vector<double> at;
    std::vector<std::string> words;
    const double octaves = std::log2(x1 / x0), each = (room.x - em(8)) / std::max(0.1, octaves);
    const int skip = std::max(1, static_cast<int>(std::ceil(em(4) / each)));
    for (int p = static_cast<int>(std::ceil(std::log2(x0))); p <= std::log2(x1); ++p)
        if (p % skip == 0) {
            at.push_back(std::exp2(p));
            words.push_back(sim::format_kib(at.back()));
        }
    std::vector<const char*> labels;
    for (const std::string& w : words) labels.push_back(w.c_str());
    if (!at.empty()) ImPlot::SetupAxisTicks(ImAxis_X1, at.data(), static_cast<int>(at.size()), labels.data());
    Ticks(y0, y1, room.y - em(3), ImGui::GetTextLineHeight() * 1.3f, [](double v) {
        return sim::format_us(v);
    }).setup(ImAxis_Y1);

    ImDrawList& list = *ImPlot::GetPlotDrawList();
    ImPlot::PushPlotClipRect();
    const auto pixel = [](const sim::SweepRow& r) {
        return ImPlot::PlotToPixels(static_cast<double>(r.sram_bytes), r.time_us);
    };
    const Palette& p = colours();
    const ImVec2 low = ImPlot::GetPlotPos(), size = ImPlot::GetPlotSize();
    Labels texts(list, {low, {low.x + size.x, low.y + size.y}});
    // The front as a staircase: what the least time is for so much on chip.
    std::vector<ImVec2> front;
    for (const sim::SweepRow& r : sweep.rows)  // ranked: from the fastest and largest on
        if (r.pareto) front.push_back(pixel(r));
    const float thick = std::max(1.5f, em(0.12f)), radius = em(0.32f);
    for (std::size_t i = 1; i < front.size(); ++i) {
        const ImVec2 corner{front[i - 1].x, front[i].y};
        list.AddLine(front[i - 1], corner, p.accent, thick);
        list.AddLine(corner, front[i], p.accent, thick);
        texts.keep_clear_of_line(front[i - 1], corner);
        texts.keep_clear_of_line(corner, front[i]);
    }
    const ImVec2 mouse = ImGui::GetIO().MousePos;
    const sim::SweepRow* near = nullptr;
    float nearest = em(1);
    for (auto r = sweep.rows.rbegin(); r != sweep.rows.rend(); ++r) {  // the best on top
        if (r->rank == 0) continue;
        const ImVec2 c = pixel(*r);
        const ImU32 colour = r->pareto ? p.accent : r->tie ? p.text : p.dim;
        if (r->pareto || r->tie)
            list.AddCircleFilled(c, radius, colour);
        else
            list.AddCircle(c, radius, colour, 0, std::max(1.0f, em(0.08f)));
        if (const float away = std::hypot(c.x - mouse.x, c.y - mouse.y); away < nearest) {
            nearest = away;
            near = &*r;
        }
    }
    const auto ring = [&](const sim::SweepRow& r, ImU32 colour) {
        list.AddCircle(pixel(r), radius + em(0.3f), colour, 0, std::max(2.0f, em(0.14f)));
    };
    for (const sim::SweepRow& r : sweep.rows)
        if (const ImVec2 c = pixel(r); r.rank > 0)
            texts.keep_clear({{c.x - radius, c.y - radius}, {c.x + radius, c.y + radius}});
    const auto is_own = [&](const sim::SweepRow& r) {
        return r.experiment.tile == now.tile && r.experiment.stages == now.stages &&
               r.experiment.raster == now.raster && r.rank > 0;
    };
    const auto name = [&](const sim::SweepRow& r, bool optional) {
        const sim::Tile& t = r.experiment.tile;
        texts.place(pixel(r), radius + em(0.2f), fmt::format("{}×{}×{}", t.bm, t.bn, t.bk), p.text, optional, em(2));
    };
    for (const sim::SweepRow& r : sweep.rows)  // first what must have its name
        if (is_own(r)) {
            ring(r, p.text);
            name(r, false);
        }
    for (const sim::SweepRow& r : sweep.rows)
        if (r.rank > 0 && r.pareto && !is_own(r)) name(r, true);
    ImPlot::PopPlotClipRect();
    if (near && ImPlot::IsPlotHovered()) {
        ring(*near, p.warn);
        ImGui::SetTooltip("%s", describe(*near).c_str());
        if (ImGui::IsMouseClicked(0)) take(*near);
    }
    ImPlot::EndPlot();
    ImGui::PopStyleVar();
}

}  // namespace gui
