// A lesson, one step at a time: prose, question, feedback, and beside them the figures the step speaks of.

#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>
#include <cmath>

#include "gui/bars.hpp"
#include "gui/context.hpp"
#include "gui/draw.hpp"
#include "gui/lab.hpp"
#include "gui/lesson_parts.hpp"
#include "gui/prose.hpp"
#include "gui/views.hpp"
#include "lessons/phrases.hpp"

namespace gui {
namespace {

using lessons::Phrase;
using lessons::Question;

constexpr float widest_prose = 39;  // em: about 75 characters
constexpr float side_by_side = 74;  // em of window from which the figures stand beside the prose

// ---- the head ------------------------------------------------------------------------------------------------------

/// One segment a step: done, here, to come. A click goes there, as far as one has come.
void step_bar(Learning& learning, float width) {
    const lessons::Lesson& lesson = *learning.lesson();
    const auto count = static_cast<int>(lesson.steps.size());
    const Palette& p = colours();
    const float gap = em(0.25f), each = (width - gap * static_cast<float>(count - 1)) / static_cast<float>(count);
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const float tall = em(0.9f), thick = em(0.3f);
    const int furthest = learning.page() ? learning.page()->furthest : learning.state().step;
    for (int i = 0; i < count; ++i) {
        const float x = at.x + static_cast<float>(i) * (each + gap);
        const lessons::Step& s = lesson.steps[static_cast<std::size_t>(i)];
        ImGui::SetCursorScreenPos({x, at.y});
        ImGui::PushID(i);
        ImGui::BeginDisabled(i > furthest);
        if (ImGui::InvisibleButton("step", {each, tall}, ImGuiButtonFlags_EnableNav) && i != learning.state().step)
            learning.act({.kind = Deed::go, .text = {}, .step = i});
        ImGui::EndDisabled();
        const bool here = i == learning.state().step && !learning.at_end();
        const bool hovered = i <= furthest && ImGui::IsItemHovered();
        tip(fmt::format("{}: {}", lessons::kind_name(s.kind, learning.language()), s.title));
        ImGui::PopID();
        const ImU32 colour = here            ? p.accent
                             : i <= furthest ? mix(p.border, p.accent, hovered ? 0.8f : 0.5f)
                                             : mix(p.panel, p.border, 0.6f);
        const float half = (here ? thick * 1.35f : thick) / 2, middle = at.y + tall / 2;
        ImGui::GetWindowDrawList()->AddRectFilled({x, middle - half}, {x + each, middle + half}, colour, half);
    }
    ImGui::SetCursorScreenPos(at);
    ImGui::Dummy({width, tall});
}

void head(Lab& lab, float width) {
    Learning& learning = lab.learning;
    const lessons::Lesson& lesson = *learning.lesson();
    if (ghost_button(fmt::format("‹ {}", tr(Str::lessons)), "leave")) {
        learning.leave(lab.document);
        return;
    }
    tip(tr(Str::leave_tip));
    const std::string name = lesson.number > 0 ? fmt::format("{} · {}", lesson.number, lesson.title) : lesson.title;
    ImGui::SameLine(0, em(0.8f));
    ImGui::TextDisabled("%s", shortened(name, std::max(em(1), ImGui::GetContentRegionAvail().x)).c_str());
    step_bar(learning, width);
    ImGui::Dummy({0, em(0.2f)});
}

void title(const Learning& learning, float width) {
    const lessons::Step& step = learning.step();
    const lessons::Language l = learning.language();
    ImGui::PushFont(bold(), ImGui::GetStyle().FontSizeBase * 0.9f);
    ImGui::PushStyleColor(ImGuiCol_Text, colours().accent);
    ImGui::TextUnformatted(lessons::kind_name(step.kind, l));
    ImGui::PopStyleColor();
    ImGui::PopFont();
    ImGui::PushFont(ImGui::GetFont(), ImGui::GetStyle().FontSizeBase * 0.9f);
    ImGui::SameLine(0, em(0.6f));
    const std::string place =
        lessons::say(Phrase::step_of, l, learning.state().step + 1, learning.lesson()->steps.size());
    if (ImGui::GetContentRegionAvail().x > ImGui::CalcTextSize(place.c_str()).x)
        ImGui::TextDisabled("%s", place.c_str());
    else
        ImGui::NewLine();
    ImGui::PopFont();
    big_text(step.title, 1.5f, width);
    ImGui::Dummy({0, em(0.5f)});
}

// ---- the foot ------------------------------------------------------------------------------------------------------

float foot_height() { return ImGui::GetFrameHeight() + em(1.6f); }

/// Back on the left; on the right what there is to do, the one thing that Enter does in the accent colour.
void foot(Lab& lab, const Page& page, float width) {
    Learning& learning = lab.learning;
    const int step = learning.state().step;
    const ImVec2 at = ImGui::GetCursorScreenPos();
    ImGui::GetWindowDrawList()->AddLine({at.x, at.y + em(0.3f)}, {at.x + width, at.y + em(0.3f)}, colours().border);
    ImGui::Dummy({0, em(0.6f)});
    ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, {em(0.9f), em(0.35f)});
    const bool asks = learning.step().question.has_value();
    const bool locks = asks && !page.settled && (can_lock_in(lab) || !page.locked);
    const bool tell = asks && !page.settled && page.locked;
    const char* onward = page.last ? tr(Str::finish) : tr(Str::next_step);
    const float gap = em(0.5f), pads = 2 * ImGui::GetStyle().FramePadding.x;
    const auto button_width = [&](const char* text) { return ImGui::CalcTextSize(text).x + pads; };
    float right = 0;
    if (locks) right += button_width(tr(Str::lock_in)) + gap;
    if (page.locked) right += button_width(onward) + gap;
    float x = ImGui::GetCursorPosX();
    const float start = x;
    if (step > 0) {
        const bool roomy =
            width > right + button_width(tr(Str::back_step)) + (tell ? button_width(tr(Str::show_me)) + gap : 0) + gap;
        const std::string text = roomy ? std::string(tr(Str::back_step)) : "‹";
        if (ghost_button(text, "back")) learning.act({.kind = Deed::go, .text = {}, .step = step - 1});
        x += button_width(text.c_str()) + gap;
        ImGui::SameLine(0, gap);
    }
    if (tell && !learning.lesson()->quiz && start + width - right - x > button_width(tr(Str::show_me))) {
        if (ghost_button(tr(Str::show_me), "show")) learning.act({.kind = Deed::show, .text = {}});
        tip(tr(Str::show_me_tip));
        ImGui::SameLine(0, gap);
    }
    ImGui::SetCursorPosX(start + std::max(0.0f, width - right + gap));
    if (locks) {
        const bool ready = can_lock_in(lab);
        ImGui::BeginDisabled(!ready);
        if (primary_button(tr(Str::lock_in), "lock", ready)) lock_in(lab);
        ImGui::EndDisabled();
        tip(ready ? tr(Str::lock_tip) : page.expected);
        if (page.locked) ImGui::SameLine(0, gap);
    }
    if (page.locked && primary_button(onward, "next", !(locks && can_lock_in(lab)))) next_step(learning);
    ImGui::PopStyleVar();
}

void keys(Lab& lab, const Page& page) {
    if (ImGui::GetIO().WantTextInput || ImGui::IsPopupOpen("", ImGuiPopupFlags_AnyPopup)) return;
    Learning& learning = lab.learning;
    const auto pressed = [](ImGuiKey key) { return ImGui::Shortcut(key, ImGuiInputFlags_RouteGlobal); };
    for (std::size_t i = 0; i < page.choices.size() && i < 9; ++i)
        if (pressed(static_cast<ImGuiKey>(ImGuiKey_1 + i)) || pressed(static_cast<ImGuiKey>(ImGuiKey_Keypad1 + i)))
            if (!page.settled) {
                pick_option(learning, page.choices[i].letter);
                ImGui::SetNavCursorVisible(false);  // Enter locks in, wherever the keyboard stood
            }
    const bool on_an_item = ImGui::GetIO().NavVisible;  // there Enter presses that
    if (!on_an_item && (pressed(ImGuiKey_Enter) || pressed(ImGuiKey_KeypadEnter))) {
        if (can_lock_in(lab))
            lock_in(lab);
        else if (page.locked)
            next_step(learning);
    }
}

// ---- the page ------------------------------------------------------------------------------------------------------

/// What the checker says of the lines of this step, for a block of it or for what stands around the blocks.
void margin(const Learning& learning, const Page& page, int block_line, float width) {
    const lessons::Lesson& lesson = *learning.lesson();
    const auto at = static_cast<std::size_t>(learning.state().step);
    const int from = lesson.steps[at].line;
    const int end = at + 1 < lesson.steps.size() ? lesson.steps[at + 1].line : 1 << 30;
    for (const Learning::Finding& f : learning.findings()) {
        if (f.line < from || f.line >= end) continue;
        int owner = 0;  // the last block that begins at or before the line
        for (const lessons::Block& b : page.prose)
            if (b.line <= f.line) owner = b.line;
        if (owner == block_line) margin_note(fmt::format("{}: {}", f.line, f.text), width);
    }
}

void elsewhere(const Learning& learning, float width) {
    if (!learning.trouble().empty()) margin_note(learning.trouble(), width);
    const lessons::Lesson& lesson = *learning.lesson();
    const auto at = static_cast<std::size_t>(learning.state().step);
    const int from = lesson.steps[at].line;
    const int end = at + 1 < lesson.steps.size() ? lesson.steps[at + 1].line : 1 << 30;
    for (const Learning::Finding& f : learning.findings())
        if (f.line < from || f.line >= end)
            margin_note(f.line > 0 ? fmt::format("{}: {}", f.line, f.text) : f.text, width);
}

void notes_of(const Page& page, float width, const ProseLinks& links) {
    if (page.notes.empty()) return;
    ImGui::Dummy({0, em(1.2f)});
    const ImVec2 at = ImGui::GetCursorScreenPos();
    ImGui::GetWindowDrawList()->AddLine(at, {at.x + std::min(width, em(6)), at.y}, colours().border);
    ImGui::Dummy({0, em(0.5f)});
    ImGui::PushFont(ImGui::GetFont(), ImGui::GetStyle().FontSizeBase * 0.86f);
    for (std::size_t i = 0; i < page.notes.size(); ++i) {
        const ImVec2 here = ImGui::GetCursorScreenPos();
        Flow(plain_spans(std::to_string(i + 1)), em(2)).draw(here, colours().accent);
        ImGui::SetCursorScreenPos({here.x + em(1.4f), here.y});
        draw_spans(page.notes[i], width - em(1.4f), colours().dim, &links);
        ImGui::Dummy({0, em(0.25f)});
    }
    ImGui::PopFont();
}

void body(Lab& lab, float width, bool with_figures) {
    Learning& learning = lab.learning;
    title(learning, width);
    const Page* page = learning.page();
    if (!page) return hint(learning.refused().empty() ? tr(Str::computing) : learning.refused());
    const Page shown = *page;  // what is clicked below may put another in its place
    ProseLinks links = prose_links(lab, shown.notes);
    if (learning.watching()) {
        elsewhere(learning, width);
        margin(learning, shown, 0, width);
        links.after = [&](const lessons::Block& b, float w) { margin(learning, shown, b.line, w); };
    }
    draw_prose(shown.prose, width, &links);
    links.after = nullptr;
    if (!shown.claim.empty()) {
        ImGui::Dummy({0, em(0.9f)});
        const bool measured = !learning.lesson()->claim.measured.empty();
        const ImVec2 at = ImGui::GetCursorScreenPos();
        draw_mark(*ImGui::GetWindowDrawList(), {at.x + em(0.6f), at.y + ImGui::GetFontSize() * 0.75f}, em(0.38f),
                  measured ? Mark::measured : Mark::unvalidated);
        ImGui::SetCursorScreenPos({at.x + em(1.7f), at.y});
        draw_spans(plain_spans(shown.claim), width - em(1.7f), colours().dim);
    }
    const auto figures = [&] {
        ImGui::Dummy({0, em(1)});
        draw_lesson_figures(lab, 0);
    };
    // Under one another, what must be looked at to answer comes before the question.
    const auto& q = learning.step().question;
    const bool first = !q || !q->figure.empty() || q->kind == Question::reach;
    if (with_figures && first) figures();
    if (q) draw_question(lab, shown, width, links);
    if (with_figures && !first) figures();
    notes_of(shown, width, links);
    ImGui::Dummy({0, em(1)});
}

}  // namespace

void draw_lesson(Lab& lab) {
    Learning& learning = lab.learning;
    if (!learning.lesson() || learning.at_end()) return draw_lessons(lab);
    const bool alone = lab.document.scene().view == "learn" && !learning.lesson()->quiz;
    const float room = ImGui::GetContentRegionAvail().x;
    const bool wide = alone && room >= em(side_by_side);
    const float column = wide ? std::min(room * 0.52f, em(widest_prose + 5)) : room;
    constexpr ImGuiChildFlags child = ImGuiChildFlags_NavFlattened;
    const float inset = wide ? em(1.2f) : room > em(widest_prose + 4) ? (room - em(widest_prose + 2)) / 2 : 0;
    const float bearing = em(0.2f);  // some letters begin a little left of their place

    ImGui::BeginChild("text", {column, 0}, child);
    ImGui::Indent(std::max(inset, bearing));  // nothing beside it: in the middle
    const float left = ImGui::GetCursorPosX();
    const float scroll = ImGui::GetStyle().ScrollbarSize;
    const float width = std::min(column - left - scroll - (inset > 0 ? em(1) : em(0.2f)), em(widest_prose));
    const bool low = ImGui::GetContentRegionAvail().y < em(26);  // then the head goes with the page
    if (!low) head(lab, width);
    if (learning.lesson()) {
        if (std::exchange(learning.scroll_up, false)) ImGui::SetNextWindowScroll({0, 0});
        // As tall as its text, so that the buttons stand near it; but not so low that they jump about.
        ImGuiStorage& storage = *ImGui::GetStateStorage();
        const ImGuiID height_id = ImGui::GetID("height");
        const float most = ImGui::GetContentRegionAvail().y - foot_height();
        const float height = std::min(most, std::max(em(26), storage.GetFloat(height_id, most)));
        ImGui::SetCursorPosX(left - bearing);
        ImGui::BeginChild("page", {bearing + width + scroll + em(0.2f), std::max(em(2), height)}, child);
        ImGui::Indent(bearing);
        if (low) head(lab, width);
        if (learning.lesson()) body(lab, width, alone && !wide);
        storage.SetFloat(height_id, ImGui::GetCursorPosY() + ImGui::GetStyle().WindowPadding.y);
        ImGui::EndChild();
        if (const Page* page = learning.lesson() ? learning.page() : nullptr) {
            const Page shown = *page;
            foot(lab, shown, width);
            keys(lab, shown);
        }
    }
    ImGui::EndChild();
    if (!wide || !learning.lesson()) return;
    ImGui::SameLine(0, em(1));
    ImGui::BeginChild("figures", {0, 0}, child);
    const auto& q = learning.step().question;
    if (q && q->kind == Question::reach) {
        draw_line(lab);
        ImGui::Dummy({0, em(0.3f)});
    }
    draw_lesson_figures(lab, ImGui::GetContentRegionAvail().y);
    ImGui::EndChild();
}

}  // namespace gui
