// The course as a list, and the pages that stand at the end of a lesson and of the quiz.

#include <fmt/format.h>
#include <imgui.h>
#include <imgui_internal.h>

#include <algorithm>

#include "gui/context.hpp"
#include "gui/draw.hpp"
#include "gui/lab.hpp"
#include "gui/lesson_parts.hpp"
#include "gui/views.hpp"
#include "lessons/phrases.hpp"

namespace gui {
namespace {

using lessons::Lesson;
using lessons::Phrase;
using lessons::StepKind;

/// A ring that fills with progress, with a number or a tick in it.
void progress_ring(ImDrawList& list, ImVec2 middle, float radius, float share, bool done, const std::string& inside) {
    const Palette& p = colours();
    const float line = em(0.16f);
    if (done) {
        list.AddCircleFilled(middle, radius, p.green);
    } else {
        list.AddCircle(middle, radius - line / 2, p.border, 0, line);
        if (share > 0) {
            list.PathArcTo(middle, radius - line / 2, -IM_PI / 2, -IM_PI / 2 + 2 * IM_PI * share);
            list.PathStroke(p.accent, 0, line * 1.3f);
        }
    }
    ImGui::PushFont(bold(), 0);
    const char* text = done ? "✓" : inside.c_str();
    const ImVec2 size = ImGui::CalcTextSize(text);
    list.AddText({middle.x - size.x / 2, middle.y - size.y / 2}, done ? ink_on(p.green) : p.text, text);
    ImGui::PopFont();
}

/// A card that can be clicked: a ring, a title, a line under it. Returns whether it was.
bool card(const char* id, float width, const std::string& title, const std::string& under, float share, bool done,
          const std::string& inside, bool glows) {
    const Palette& p = colours();
    const float pad = em(0.8f), ring = em(1.25f);
    ImGui::PushFont(bold(), 0);
    const Flow head(plain_spans(title), width - 3 * pad - 2 * ring);
    ImGui::PopFont();
    const Flow text(plain_spans(under), width - 3 * pad - 2 * ring);
    const float height = std::max(2 * ring, head.height() + text.height()) + 1.2f * pad;
    const ImVec2 at = ImGui::GetCursorScreenPos(), end{at.x + width, at.y + height};
    const bool hit = ImGui::InvisibleButton(id, {width, height}, ImGuiButtonFlags_EnableNav);
    const bool hovered = ImGui::IsItemHovered();
    ImDrawList& list = *ImGui::GetWindowDrawList();
    list.AddRectFilled(at, end, ImGui::IsItemActive() || hovered ? p.hover : p.raised, em(0.45f));
    list.AddRect(at, end,
                 glows     ? p.accent
                 : hovered ? p.dim
                           : p.border,
                 em(0.45f), 0, glows ? std::max(2.0f, em(0.12f)) : 1);
    progress_ring(list, {at.x + pad + ring, at.y + height / 2}, ring, share, done, inside);
    const float x = at.x + 2 * pad + 2 * ring, y = at.y + (height - head.height() - text.height()) / 2;
    ImGui::PushFont(bold(), 0);
    head.draw({x, y}, p.text);
    ImGui::PopFont();
    text.draw({x, y + head.height()}, p.dim);
    ImGui::SetCursorScreenPos({at.x, end.y});
    ImGui::Dummy({0, 0});
    return hit;
}

float share_of(const Learning::Progress& p, std::size_t steps) {
    return !p.begun ? 0 : static_cast<float>(p.step) / static_cast<float>(std::max<std::size_t>(1, steps));
}

std::string under_lesson(const Learning::Progress& p, const Lesson& lesson, lessons::Language l) {
    std::string out = lessons::say(Phrase::minutes, l, lesson.minutes);
    if (p.finished)
        out += " · " + say(Str::first_tries, p.first_right, p.questions);
    else if (p.begun)
        out += " · " + lessons::say(Phrase::step_of, l, p.step + 1, lesson.steps.size());
    return out;
}

void quiz_card(Lab& lab, StepKind half, float width) {
    Learning& learning = lab.learning;
    const Lesson* quiz = learning.quiz(half);
    if (!quiz) return;
    const Learning::Progress p = learning.progress(*quiz);
    const bool post = half == StepKind::post;
    std::string under = tr(post ? Str::quiz_after_hint : Str::quiz_before_hint);
    if (p.finished)
        under = say(Str::first_tries, p.first_right, p.questions);
    else if (p.begun)
        under = lessons::say(Phrase::step_of, learning.language(), p.step + 1, quiz->steps.size());
    if (const auto gain = learning.gain(); post && gain)
        under += " · " + say(Str::gained, fmt::format("{:.0f} %", 100 * *gain));
    if (card(post ? "post" : "pre", width, tr(post ? Str::quiz_after : Str::quiz_before), under,
             share_of(p, quiz->steps.size()), p.finished, "?", false))
        learning.open(*quiz, lab.document);
}

/// The first lesson after `after` that is not finished, else the first of all; null where none is left.
const Lesson* next_lesson(Learning& learning, int after = 0) {
    const Lesson* first = nullptr;
    if (const lessons::Course* course = learning.course())
        for (const Lesson* lesson : course->lessons(learning.language())) {
            if (learning.progress(*lesson).finished) continue;
            if (lesson->number > after) return lesson;
            if (!first) first = lesson;
        }
    return first;
}

/// A column in the middle of the window; its width, at most `most`.
float middle_column(float most) {
    const float room = ImGui::GetContentRegionAvail().x - ImGui::GetStyle().ScrollbarSize;
    const float width = std::min(room, most);
    if (room > width) ImGui::Indent(std::max(1.0f, (room - width) / 2));
    return width;
}

void list(Lab& lab) {
    Learning& learning = lab.learning;
    const lessons::Course* course = learning.course();
    const float width = middle_column(em(72));
    ImGui::PushStyleVarY(ImGuiStyleVar_ItemSpacing, 0);
    ImGui::Dummy({0, em(0.8f)});
    big_text(tr(Str::learn_title), 1.9f, width);
    draw_spans(plain_spans(tr(Str::learn_intro)), std::min(width, em(39)), colours().dim);
    ImGui::Dummy({0, em(1.2f)});
    if (!learning.trouble().empty()) margin_note(learning.trouble(), width);
    if (course) {
        const float gap = em(0.8f);
        const bool two = width >= em(52);
        const float each = two ? (width - gap) / 2 : width;
        const Lesson* glowing = next_lesson(learning);
        const auto lessons = course->listed(learning.language());
        quiz_card(lab, StepKind::pre, width);
        ImGui::Dummy({0, gap});
        // A row at a time, so that a row's cards begin at the same height.
        for (std::size_t i = 0; i < lessons.size() && !learning.lesson(); ++i) {
            const Lesson& lesson = *lessons[i];
            const Learning::Progress p = learning.progress(lesson);
            const ImVec2 at = ImGui::GetCursorScreenPos();
            if (two && i % 2 == 1) ImGui::SetCursorScreenPos({at.x + each + gap, at.y});
            const float top = ImGui::GetCursorPosY();
            if (card(lesson.id.c_str(), each, lesson.title, under_lesson(p, lesson, learning.language()),
                     share_of(p, lesson.steps.size()), p.finished, lesson.drill ? "?" : std::to_string(lesson.number),
                     &lesson == glowing))
                learning.open(lesson, lab.document);
            if (two && i % 2 == 0 && i + 1 < lessons.size()) {
                ImGui::SetCursorPosY(top);
                ImGui::SetCursorScreenPos(at);
            } else {
                ImGui::SetCursorScreenPos({at.x, ImGui::GetCursorScreenPos().y});
                ImGui::Dummy({0, gap});
            }
        }
        if (!learning.lesson()) quiz_card(lab, StepKind::post, width);
        ImGui::Dummy({0, em(1)});
        if (ghost_button(tr(Str::export_report), "report")) lab.show_report = true;
        same_line_if_room(ImGui::CalcTextSize(tr(Str::glossary)).x + em(1));
        if (ghost_button(tr(Str::glossary), "glossary")) lab.look_up({});
        ImGui::Dummy({0, em(1)});
    }
    ImGui::PopStyleVar();
}

/// After the last step: what was right, and where to go from here.
void lesson_end(Lab& lab) {
    Learning& learning = lab.learning;
    const Lesson& lesson = *learning.lesson();
    const lessons::Language l = learning.language();
    const Learning::Progress p = learning.progress(lesson);
    const float width = middle_column(em(39));
    ImGui::Dummy({0, em(2)});
    big_text(lesson.title, 1.7f, width);
    draw_spans(plain_spans(lessons::say(Phrase::finished, l, p.first_right, p.questions)), width, colours().text);
    ImGui::Dummy({0, em(1)});
    ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, {em(0.9f), em(0.45f)});
    const Lesson* next = next_lesson(learning, lesson.number);
    const bool enter = !ImGui::GetIO().WantTextInput && !ImGui::GetIO().NavVisible &&
                       !ImGui::IsPopupOpen("", ImGuiPopupFlags_AnyPopup) &&
                       ImGui::Shortcut(ImGuiKey_Enter, ImGuiInputFlags_RouteGlobal);
    if (next) {
        hint(tr(Str::next_is));
        const float room = width - 2 * ImGui::GetStyle().FramePadding.x;
        if (primary_button(shortened(fmt::format("{} · {}", next->number, next->title), room), "next") || enter) {
            learning.leave(lab.document);
            learning.open(*next, lab.document);
            ImGui::PopStyleVar();
            return;
        }
    } else if (primary_button(tr(Str::quiz_after), "quiz") || enter) {
        learning.leave(lab.document);
        if (const Lesson* quiz = learning.quiz(StepKind::post)) learning.open(*quiz, lab.document);
        ImGui::PopStyleVar();
        return;
    }
    ImGui::Dummy({0, em(0.6f)});
    if (ghost_button(tr(Str::all_lessons), "all")) learning.leave(lab.document);
    if (ghost_button(tr(Str::keep_scene), "keep")) {
        learning.leave(lab.document, true);
        lab.document.set_view("explore");
    }
    tip(tr(Str::keep_scene_tip));
    if (learning.lesson() && ghost_button(tr(Str::look_through), "look"))
        learning.act({.kind = Deed::go, .text = {}, .step = 0});
    if (learning.lesson() && ghost_button(tr(Str::start_anew), "anew")) learning.again(lab.document);
    ImGui::PopStyleVar();
}

void quiz_end(Lab& lab) {
    Learning& learning = lab.learning;
    const Lesson& quiz = *learning.lesson();
    const lessons::Language l = learning.language();
    const bool post = quiz.steps[0].kind == StepKind::post;
    const Learning::Progress p = learning.progress(quiz);
    const float width = middle_column(em(39));
    ImGui::Dummy({0, em(2)});
    big_text(lessons::kind_name(quiz.steps[0].kind, l), 1.7f, width);
    draw_spans(plain_spans(say(post ? Str::quiz_after_done : Str::quiz_before_done, p.first_right, p.questions)), width,
               colours().text);
    if (post) {
        const auto gain = learning.gain();
        draw_spans(plain_spans(gain ? say(Str::gained, fmt::format("{:.0f} %", 100 * *gain))
                                    : std::string(lessons::phrase(Phrase::quiz_no_pre, l))),
                   width, colours().text);
    }
    ImGui::Dummy({0, em(0.8f)});
    ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, {em(0.9f), em(0.45f)});
    if (primary_button(tr(Str::all_lessons), "all")) learning.leave(lab.document);
    if (learning.lesson() && ghost_button(tr(Str::start_anew), "anew")) learning.again(lab.document);
    ImGui::PopStyleVar();
    if (!learning.lesson() || !learning.page()) return;
    const Page page = *learning.page();
    const ProseLinks links = prose_links(lab, page.notes);
    for (const Page::Explained& e : page.explained) {
        ImGui::Dummy({0, em(0.8f)});
        ImGui::PushFont(bold(), 0);
        draw_spans(plain_spans(e.title), width, colours().text);
        ImGui::PopFont();
        for (std::size_t i = 1; i < e.lines.size(); ++i) draw_spans(e.lines[i], width, colours().dim, &links);
    }
}

}  // namespace

void draw_lessons(Lab& lab) {
    ImGui::BeginChild("list", {0, 0}, ImGuiChildFlags_NavFlattened);
    if (!lab.learning.lesson())
        list(lab);
    else if (lab.learning.lesson()->quiz)
        quiz_end(lab);
    else
        lesson_end(lab);
    ImGui::EndChild();
}

}  // namespace gui
