#include "gui/transport.hpp"

#include <imgui.h>

#include <algorithm>
#include <array>

#include "gui/draw.hpp"
#include "gui/lab.hpp"

namespace gui {
namespace {

using sim::i64;

bool transport_button(const char* glyph, Str name, const char* key, bool enabled = true, bool accent = false) {
    ImGui::BeginDisabled(!enabled);
    const bool hit = primary_button(glyph, strings()[static_cast<std::size_t>(name)].id, accent,
                                    {std::max(em(2.2f), ImGui::CalcTextSize(glyph).x + em(0.8f)), 0});
    ImGui::EndDisabled();
    tip(fmt::format("{}  {}", tr(name), key));
    ImGui::SameLine(0, em(0.25f));
    return hit;
}

}  // namespace

float transport_height() { return ImGui::GetFrameHeight() + 2 * ImGui::GetStyle().ItemSpacing.y; }

void draw_transport(Lab& lab) {
    if (!lab.analysis()) return;
    const Walk& walk = lab.analysis()->walk;
    const i64 step = lab.document.scene().step, steps = lab.analysis()->steps;
    // Where there is little room the buttons that keys and the menu have too make way for the scrubber.
    const float room = ImGui::GetContentRegionAvail().x;
    const bool wide = room > em(34), paced = room > em(27), narrow = room < em(20);
    if (!narrow && transport_button("|◀", Str::step_first, "Ctrl+Home", step > 0)) lab.set_step(0);
    if (wide && transport_button("◀◀◀", Str::wave_back, "Ctrl+,", step > 0)) lab.step_wave(-1);
    if (!narrow && transport_button("◀◀", Str::tile_back, "Shift+,", step > 0)) lab.step_tile(-1);
    if (transport_button("◀", Str::step_back, ",", step > 0)) lab.set_step(step - 1);
    if (transport_button(lab.play.on ? "❚❚" : "▶", Str::play, "P", true, true)) {
        if (!lab.play.on && step >= steps) lab.set_step(0);
        lab.play.on = !lab.play.on;
    }
    if (transport_button("▶", Str::step_on, ".", step < steps)) lab.set_step(step + 1);
    if (!narrow && transport_button("▶▶", Str::tile_on, "Shift+.", step < steps)) lab.step_tile(+1);
    if (wide && transport_button("▶▶▶", Str::wave_on, "Ctrl+.", step < steps)) lab.step_wave(+1);
    if (!narrow && transport_button("▶|", Str::step_last, "Ctrl+End", step < steps)) lab.set_step(steps);
    static constexpr std::array rates = {0.25, 0.5, 1.0, 2.0, 4.0, 8.0};
    ImGui::SameLine(0, em(0.6f));
    ImGui::SetNextItemWidth(em(4.4f));
    if (paced && ImGui::BeginCombo("##speed", fmt::format("{}×", lab.play.rate).c_str())) {
        for (double r : rates)
            if (ImGui::Selectable(fmt::format("{}×", r).c_str(), r == lab.play.rate)) lab.play.rate = r;
        ImGui::EndCombo();
    }
    if (paced) {
        tip(tr(Str::speed_tip));
        ImGui::SameLine(0, em(0.6f));
    }
    i64 to = step;
    const i64 first = 0;
    const std::string place = say(Str::step_of, step, steps);
    const float words = ImGui::CalcTextSize(say(Str::step_of, steps, steps).c_str()).x + em(0.5f);
    const bool roomy = ImGui::GetContentRegionAvail().x > words + em(4);
    ImGui::SetNextItemWidth(roomy ? ImGui::GetContentRegionAvail().x - words : -1);
    if (ImGui::SliderScalar("##step", ImGuiDataType_S64, &to, &first, &steps, "",
                            ImGuiSliderFlags_AlwaysClamp | ImGuiSliderFlags_NoInput))
        lab.set_step(to);
    const ImVec2 low = ImGui::GetItemRectMin(), high = ImGui::GetItemRectMax();
    const float grab = ImGui::GetStyle().GrabMinSize, from = low.x + 2 + grab / 2, way = high.x - low.x - 4 - grab;
    for (const i64 mark : walk.marks()) {
        const float x =
            from + way * static_cast<float>(static_cast<double>(mark) / static_cast<double>(std::max<i64>(1, steps)));
        ImGui::GetWindowDrawList()->AddLine({x, high.y - em(0.35f)}, {x, high.y - 1}, colours().dim, 1.5f);
    }
    if (!roomy) return tip(place);
    ImGui::SameLine(0, em(0.5f));
    ImGui::TextUnformatted(place.c_str());
}

const sim::Kernel& kernel_of(const Analysis& a, const sim::StepState& s) {
    return a.kernels[static_cast<std::size_t>(std::clamp<int>(s.kernel, 0, static_cast<int>(a.kernels.size()) - 1))];
}

const char* outcome_name(sim::Touch::Outcome o) {
    switch (o) {
        case sim::Touch::fetched: return tr(Str::fetched);
        case sim::Touch::kept: return tr(Str::kept);
        case sim::Touch::written: return tr(Str::written);
        case sim::Touch::read_back: return tr(Str::read_back);
    }
    return "";
}

const sim::StepState& step_or_start(const Lab& lab) {
    static const sim::StepState start;
    return lab.step() && lab.is_current() ? *lab.step() : start;
}

}  // namespace gui
