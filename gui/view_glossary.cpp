// The words of the course and what they mean.

#include <imgui.h>

#include <algorithm>
#include <array>
#include <cctype>

#include "gui/context.hpp"
#include "gui/draw.hpp"
#include "gui/lab.hpp"
#include "gui/lesson_parts.hpp"
#include "gui/views.hpp"

namespace gui {
namespace {

std::string lower(std::string text) {
    std::transform(text.begin(), text.end(), text.begin(),
                   [](unsigned char c) { return static_cast<char>(c < 0x80 ? std::tolower(c) : c); });
    return text;
}

bool mentions(const std::string& term, const lessons::Prose& prose, const std::string& wanted) {
    if (lower(term).find(wanted) != std::string::npos) return true;
    return std::any_of(prose.begin(), prose.end(), [&](const lessons::Block& b) {
        return lower(lessons::bare_text(b.spans)).find(wanted) != std::string::npos;
    });
}

}  // namespace

void draw_glossary(Lab& lab) {
    const lessons::Course* course = lab.learning.course();
    if (!course) return hint(lab.learning.trouble());
    static std::array<char, 64> wanted{};
    static std::string looked_up;
    if (lab.term != looked_up) wanted.fill('\0');  // a word was clicked: it must be there
    ImGui::SetNextItemWidth(-1);
    ImGui::InputTextWithHint("##find", tr(Str::find_term), wanted.data(), wanted.size());
    ImGui::BeginChild("terms", {0, 0}, ImGuiChildFlags_NavFlattened);
    const float width = std::min(em(39), ImGui::GetContentRegionAvail().x - em(1.2f));
    const std::string filter = lower(wanted.data());
    const ProseLinks links = prose_links(lab, {});
    const float indent = em(0.8f);
    ImGui::Indent(indent);
    bool any = false;
    for (const auto& [term, prose] : course->glossary(lab.learning.language())) {
        if (!filter.empty() && !mentions(term, prose, filter)) continue;
        any = true;
        const bool asked = term == lab.term;
        const ImVec2 at = ImGui::GetCursorScreenPos();
        if (asked && lab.term != looked_up) ImGui::SetScrollHereY(0.1f);
        ImGui::PushStyleVarY(ImGuiStyleVar_ItemSpacing, 0);
        ImGui::PushFont(bold(), 0);
        draw_spans(plain_spans(term), width, asked ? colours().accent : colours().text);
        ImGui::PopFont();
        draw_prose(prose, width, &links);
        ImGui::PopStyleVar();
        if (asked)
            ImGui::GetWindowDrawList()->AddRectFilled(
                {at.x - indent, at.y + em(0.2f)}, {at.x - indent + em(0.25f), ImGui::GetCursorScreenPos().y - em(0.2f)},
                colours().accent);
        ImGui::Dummy({0, em(0.3f)});
    }
    looked_up = lab.term;
    if (!any) hint(tr(Str::no_term));
    ImGui::EndChild();
}

}  // namespace gui
