#include "gui/lesson_parts.hpp"

#include <algorithm>
#include <charconv>

#include "gui/context.hpp"
#include "gui/draw.hpp"
#include "gui/lab.hpp"

namespace gui {
namespace {

/// The term of a link into the glossary; empty for any other link.
std::string term_of(const std::string& link) {
    const std::size_t at = link.find("glossary.md#");
    return at == std::string::npos ? std::string() : link.substr(at + 12);
}

}  // namespace

bool ghost_button(std::string_view text, const char* id) {
    ImGui::PushStyleColor(ImGuiCol_Button, IM_COL32_BLACK_TRANS);
    ImGui::PushStyleColor(ImGuiCol_Text, colours().dim);
    ImGui::PushStyleVar(ImGuiStyleVar_FrameBorderSize, 0);
    const bool hit = ImGui::Button((std::string(text) + "###" + id).c_str());
    ImGui::PopStyleVar();
    ImGui::PopStyleColor(2);
    return hit;
}

void big_text(const std::string& text, float times, float width) {
    ImGui::PushFont(bold(), ImGui::GetStyle().FontSizeBase * times);
    const Flow flow(plain_spans(text), width);
    flow.draw(ImGui::GetCursorScreenPos(), colours().text);
    ImGui::Dummy({width, flow.height()});
    ImGui::PopFont();
}

void margin_note(const std::string& text, float width) {
    const float bar = em(0.2f), pad = em(0.6f);
    ImGui::PushFont(ImGui::GetFont(), ImGui::GetStyle().FontSizeBase * 0.86f);
    const Flow flow(plain_spans(text), width - bar - pad);
    const ImVec2 at = ImGui::GetCursorScreenPos();
    ImGui::GetWindowDrawList()->AddRectFilled(at, {at.x + bar, at.y + flow.height()}, colours().error);
    flow.draw({at.x + bar + pad, at.y}, colours().error);
    ImGui::Dummy({width, flow.height() + em(0.3f)});
    ImGui::PopFont();
}

ProseLinks prose_links(Lab& lab, const std::vector<lessons::Spans>& notes) {
    ProseLinks links;
    links.open = [&lab](const std::string& link) {
        if (const std::string term = term_of(link); !term.empty()) return lab.look_up(term);
        ImGui::SetClipboardText(link.c_str());
        lab.message = {say(Str::address_copied, link), false};
    };
    links.explain = [&lab, notes](const lessons::Span& s) -> std::string {
        if (s.kind == lessons::Span::live) return say(Str::from_the_model, s.expression.text());
        if (s.kind == lessons::Span::footnote) {
            std::size_t n = 0;
            std::from_chars(s.text.data(), s.text.data() + s.text.size(), n);
            return n > 0 && n <= notes.size() ? lessons::bare_text(notes[n - 1]) : std::string();
        }
        const std::string term = term_of(s.link);
        const lessons::Course* course = term.empty() ? nullptr : lab.learning.course();
        const lessons::Prose* meaning = course ? course->meaning(term, lab.learning.language()) : nullptr;
        return meaning && !meaning->empty() ? lessons::bare_text(meaning->front().spans) : std::string();
    };
    return links;
}

}  // namespace gui
