// Where the time of each kernel goes, term by term, as bars: a figure of the lessons.

#include <imgui.h>

#include <algorithm>

#include "gui/context.hpp"
#include "gui/draw.hpp"
#include "gui/lab.hpp"
#include "gui/terms.hpp"
#include "gui/views.hpp"
#include "sim/units.hpp"

namespace gui {
namespace {

struct Columns {
    float name, time, share;  // widths
};

/// Name, time, share of the whole and a bar, in one line.
void bar_row(const Columns& c, const std::string& name, double us, double whole, ImU32 colour, bool strong) {
    const float height = ImGui::GetTextLineHeight() * 1.35f, gap = em(0.8f);
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const float width = ImGui::GetContentRegionAvail().x;
    ImDrawList& list = *ImGui::GetWindowDrawList();
    if (strong) ImGui::PushFont(bold(), 0);
    const ImU32 ink = strong ? colours().text : colours().dim;
    float x = at.x;
    draw_text(list, {x, at.y}, {x + c.name, at.y + height}, ink, name);
    x += c.name + gap;
    draw_text(list, {x, at.y}, {x + c.time, at.y + height}, colours().text, sim::format_us(us), {1, 0.5f});
    x += c.time + gap;
    draw_text(list, {x, at.y}, {x + c.share, at.y + height}, ink, fmt::format("{:.0f} %", 100 * us / whole), {1, 0.5f});
    x += c.share + gap;
    if (strong) ImGui::PopFont();
    if (const float room = at.x + width - x; room > em(2)) {
        const float bar = std::max(1.0f, room * static_cast<float>(std::min(1.0, us / whole)));
        list.AddRectFilled({x, at.y + height * 0.22f}, {x + bar, at.y + height * 0.78f}, colour, em(0.15f));
    }
    ImGui::Dummy({width, height});
}

}  // namespace

void draw_time_split(Lab& lab) {
    const Analysis* a = lab.analysis();
    if (!a || !a->report.predicted) return hint(a ? translated(a->report.fit.why) : tr(Str::computing));
    const sim::Prediction& p = *a->report.predicted;
    Columns c{em(4), em(4), em(2.5f)};
    ImGui::PushFont(bold(), 0);
    for (const sim::KernelReport& k : p.kernels) {
        c.name = std::max(c.name, ImGui::CalcTextSize(k.name.c_str()).x + 1);
        c.time = std::max(c.time, ImGui::CalcTextSize(sim::format_us(k.time_us).c_str()).x + 1);
        for (const sim::TimeTerm& t : k.terms) {
            c.name = std::max(c.name, ImGui::CalcTextSize(term_name(t.name).c_str()).x + em(1) + 1);
            c.time = std::max(c.time, ImGui::CalcTextSize(sim::format_us(t.time_us).c_str()).x + 1);
        }
    }
    c.share = std::max(c.share, ImGui::CalcTextSize("100 %").x + 1);
    ImGui::PopFont();
    ImGui::PushStyleVarY(ImGuiStyleVar_ItemSpacing, 0);
    for (const sim::KernelReport& k : p.kernels) {
        bar_row(c, k.name, k.time_us, p.time_us, colours().deep_blue, true);
        for (const sim::TimeTerm& t : k.terms) {
            ImGui::Indent(em(1));
            Columns inner = c;
            inner.name -= em(1);
            bar_row(inner, term_name(t.name), t.time_us, p.time_us, mix(colours().panel, colours().deep_blue, 0.6f),
                    false);
            tip(term_meaning(t.name));
            ImGui::Unindent(em(1));
        }
        ImGui::Dummy({0, em(0.3f)});
    }
    ImGui::PopStyleVar();
}

}  // namespace gui
