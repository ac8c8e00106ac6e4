#include "gui/formulas.hpp"

#include <imgui.h>

#include <algorithm>
#include <array>
#include <utility>

#include "gui/context.hpp"
#include "gui/draw.hpp"
#include "gui/lab.hpp"

namespace gui {
namespace {

using sim::Formula;

struct Name {
    Formula::Number number;
    Str name;
    Mark mark;
};
constexpr std::array names = {
    Name{Formula::bound_time, Str::formula_bound_time, Mark::bound},
    Name{Formula::bound_bytes, Str::formula_bound_bytes, Mark::bound},
    Name{Formula::predicted_time, Str::formula_predicted_time, Mark::predicted},
    Name{Formula::dram_bytes, Str::formula_dram_bytes, Mark::predicted},
    Name{Formula::l2_bytes, Str::formula_l2_bytes, Mark::predicted},
    Name{Formula::sram_bytes, Str::formula_sram_bytes, Mark::predicted},
    Name{Formula::flops, Str::formula_flops, Mark::predicted},
    Name{Formula::waves, Str::formula_waves, Mark::predicted},
    Name{Formula::intensity, Str::formula_intensity, Mark::predicted},
    Name{Formula::energy, Str::formula_energy, Mark::unvalidated},
};

/// Everything of a formula as text to take away.
std::string whole(const Formula& f, const char* name) {
    std::string text = std::string(name) + " = " + translated(f.value) + "\n" + translated(f.text);
    for (const std::string& line : f.lines) text += "\n" + translated(line);
    return f.metric.empty() ? text : text + "\n" + say(Str::checked_by, translated(f.metric));
}

}  // namespace

void asks_formula(Lab& lab, Formula::Number number) {
    if (!ImGui::IsItemHovered()) return;
    ImGui::SetMouseCursor(ImGuiMouseCursor_Hand);
    if (!ImGui::IsMouseClicked(0)) return;
    lab.formula = number;
    lab.show_formulas = true;
}

void draw_formulas(Lab& lab) {
    if (std::exchange(lab.show_formulas, false)) ImGui::OpenPopup(label(Str::how_computed));
    const ImGuiViewport& v = *ImGui::GetMainViewport();
    ImGui::SetNextWindowPos(v.GetCenter(), ImGuiCond_Appearing, {0.5f, 0.5f});
    ImGui::SetNextWindowSize({std::min(em(42), v.WorkSize.x), std::min(em(36), v.WorkSize.y)}, ImGuiCond_Appearing);
    bool open = true;
    if (!begin_dialog(label(Str::how_computed), &open, ImGuiWindowFlags_NoSavedSettings)) return;
    const Analysis* a = lab.analysis();
    const float buttons = ImGui::GetFrameHeightWithSpacing() + ImGui::GetStyle().ItemSpacing.y;
    if (a && ImGui::BeginChild("formulas", {0, -buttons}, ImGuiChildFlags_NavFlattened)) {
        coloured(colours().dim, sim::to_string(a->report.experiment, *lab.document.devices()));
        for (const Formula& f : sim::formulas(a->report, lab.document.device())) {
            const Name& n =
                *std::find_if(names.begin(), names.end(), [&](const Name& x) { return x.number == f.number; });
            ImGui::PushID(f.number);
            ImGui::Spacing();
            if (lab.formula == f.number) {
                ImGui::SetScrollHereY(0);
                lab.formula = -1;
            }
            const Mark mark = n.mark == Mark::predicted && a->report.predicted && !a->report.predicted->validated
                                  ? Mark::unvalidated
                                  : n.mark;
            chip([&](ImDrawList& list, ImVec2 c, float size) { draw_mark(list, c, size * 0.32f, mark); }, "");
            ImGui::SameLine(0, 0);
            ImGui::PushFont(bold(), 0);
            coloured(colours().text, std::string(tr(n.name)) + "  " + translated(f.value));
            ImGui::PopFont();
            hint(translated(f.text));
            for (const std::string& line : f.lines) {
                ImGui::Indent(em(1.2f));
                coloured(colours().text, translated(line));
                ImGui::Unindent(em(1.2f));
            }
            if (!f.metric.empty()) hint(say(Str::checked_by, translated(f.metric)));
            if (ImGui::SmallButton(label(Str::copy))) ImGui::SetClipboardText(whole(f, tr(n.name)).c_str());
            ImGui::PopID();
        }
    }
    if (a) ImGui::EndChild();
    if (ImGui::Button(label(Str::close)) || ImGui::Shortcut(ImGuiKey_Escape)) ImGui::CloseCurrentPopup();
    ImGui::SameLine();
    if (ImGui::Button(label(Str::not_modelled))) {
        ImGui::CloseCurrentPopup();
        lab.show_limits = true;
    }
    ImGui::EndPopup();
}

}  // namespace gui
