// What a step asks: options to choose from or to put in order, a number to type, a goal to reach; and what is said
// then.

#include <fmt/format.h>
#include <imgui.h>
#include <imgui_internal.h>

#include <algorithm>

#include "gui/context.hpp"
#include "gui/draw.hpp"
#include "gui/lab.hpp"
#include "gui/lesson_parts.hpp"
#include "lessons/phrases.hpp"

namespace gui {

using lessons::Phrase;
using lessons::Question;

namespace {
bool in_order(const Learning& l) { return l.step().question->kind == Question::order; }
}  // namespace

void pick_option(Learning& learning, char letter) {
    if (!in_order(learning)) {
        learning.picked = std::string(1, letter);
    } else if (const std::size_t at = learning.picked.find(letter); at != std::string::npos) {
        learning.picked.erase(at);  // what came after it moves up
    } else {
        learning.picked += letter;
    }
}

bool can_lock_in(const Lab& lab) {
    const Learning& learning = lab.learning;
    const Page* page = learning.page();
    if (!page || !learning.step().question || page->settled) return false;
    const Question& q = *learning.step().question;
    const auto& given = learning.state().steps[static_cast<std::size_t>(learning.state().step)].given;
    switch (q.kind) {
        case Question::choice: return learning.picked.size() == 1;
        case Question::order: return learning.picked.size() == q.options.size();
        case Question::number:
            return learning.typed[0] != '\0' && (given.empty() || given.back().text != learning.typed.data());
        case Question::reach: break;
    }
    return page->trouble.empty() &&
           (given.empty() || given.back().text != sim::to_string(lab.document.experiment(), *lab.document.devices()));
}

void lock_in(Lab& lab) {
    Learning& learning = lab.learning;
    Deed deed{.kind = Deed::answer, .text = learning.picked, .unsure = learning.unsure};
    if (learning.step().question->kind == Question::number) deed.text = learning.typed.data();
    if (learning.step().question->kind == Question::reach)
        deed.text = sim::to_string(lab.document.experiment(), *lab.document.devices());
    ImGui::SetNavCursorVisible(false);  // from here on Enter goes on, wherever the keyboard stood
    learning.act(std::move(deed));
}

void next_step(Learning& learning) {
    ImGui::SetNavCursorVisible(false);
    learning.act({.kind = Deed::next, .text = {}});
}

namespace {

/// An option as a card: its letter, its text, and for an order the place it was given.
void option_card(Learning& learning, const Page& page, const lessons::Choice& choice, float width,
                 const ProseLinks& links) {
    const Palette& p = colours();
    const lessons::StepState& told = learning.state().steps[static_cast<std::size_t>(learning.state().step)];
    const std::string letter(1, choice.letter);
    const bool order = in_order(learning);
    const bool right =
        !order && page.settled && !told.given.empty() && told.given.back().right && told.given.back().text == letter;
    const bool wrong = !order && !right && std::any_of(told.given.begin(), told.given.end(), [&](const auto& g) {
        return g.text == letter;
    });
    const std::string& order_now = learning.picked.empty() && order && page.settled && !told.given.empty()
                                       ? told.given.back().text
                                       : learning.picked;
    const std::size_t place = order_now.find(choice.letter);
    const bool picked = place != std::string::npos;

    const float pad = em(0.6f), badge = em(1.55f), rank = order ? em(1.9f) : 0;
    const Flow flow(choice.text, width - 3 * pad - badge - rank);
    const float height = std::max(flow.height(), badge) + 1.3f * pad;
    const ImVec2 at = ImGui::GetCursorScreenPos(), end{at.x + width, at.y + height};
    ImGui::BeginDisabled(page.settled);
    ImGui::PushID(choice.letter);
    if (ImGui::InvisibleButton("option", {width, height}, ImGuiButtonFlags_EnableNav))
        pick_option(learning, choice.letter);
    const bool hovered = ImGui::IsItemHovered();
    const bool held = ImGui::IsItemActive();
    ImGui::PopID();
    ImGui::EndDisabled();
    const ImGuiLastItemData item = ImGui::GetCurrentContext()->LastItemData;

    ImDrawList& list = *ImGui::GetWindowDrawList();
    const float round = em(0.4f);
    const bool lit = picked || right;
    const ImU32 edge = right ? p.green : picked ? p.accent : hovered ? p.dim : p.border;
    list.AddRectFilled(at, end,
                       held      ? p.hover
                       : picked  ? mix(p.raised, p.accent, 0.14f)
                       : hovered ? p.hover
                                 : p.raised,
                       round);
    list.AddRect(at, end, edge, round, 0, lit ? std::max(2.0f, em(0.11f)) : 1.0f);
    const ImVec2 middle{at.x + pad + badge / 2,
                        at.y + 0.65f * pad + std::max(flow.height(), badge) / 2 -
                            (flow.height() > badge ? (flow.height() - ImGui::GetFontSize() * 1.5f) / 2 : 0)};
    list.AddCircleFilled(middle, badge / 2, right ? p.green : picked ? p.accent : wrong ? p.warn : p.hover);
    const char* mark = right ? "✓" : wrong && !picked ? "×" : letter.c_str();
    const ImU32 ink = right ? ink_on(p.green) : picked ? p.on_accent : wrong ? ink_on(p.warn) : p.text;
    ImGui::PushFont(bold(), 0);
    const ImVec2 size = ImGui::CalcTextSize(mark);
    list.AddText({middle.x - size.x / 2, middle.y - size.y / 2}, ink, mark);
    if (order && picked) {
        const std::string number = std::to_string(place + 1);
        const ImVec2 n = ImGui::CalcTextSize(number.c_str());
        list.AddText({end.x - pad - n.x, at.y + (height - n.y) / 2}, p.accent, number.c_str());
    }
    ImGui::PopFont();
    flow.draw({at.x + 2 * pad + badge, at.y + (height - flow.height()) / 2}, wrong && !picked ? p.dim : p.text, &links);
    ImGui::GetCurrentContext()->LastItemData = item;
    ImGui::SetCursorScreenPos({at.x, end.y});
    ImGui::Dummy({width, em(0.5f)});
}

/// A field for a number and what unit it is in.
void number_field(Lab& lab, const Page& page, const Question& q) {
    Learning& learning = lab.learning;
    if (!q.figure.empty()) {
        hint(say(Str::read_it_from, figure_name(q.figure, learning.language())));
        ImGui::Dummy({0, em(0.3f)});
    }
    ImGui::BeginDisabled(page.settled);
    ImGui::SetNextItemWidth(std::min(em(11), ImGui::GetContentRegionAvail().x - em(q.unit.empty() ? 0 : 5)));
    ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, {em(0.6f), em(0.45f)});
    if (std::exchange(learning.focus_field, false) && !page.settled) ImGui::SetKeyboardFocusHere();
    const bool entered = ImGui::InputTextWithHint("##number", tr(Str::a_number), learning.typed.data(),
                                                  learning.typed.size(), ImGuiInputTextFlags_EnterReturnsTrue);
    if (!q.unit.empty()) {
        ImGui::SameLine(0, em(0.6f));
        ImGui::AlignTextToFramePadding();
        ImGui::TextUnformatted(q.unit.c_str());
    }
    ImGui::PopStyleVar();
    ImGui::EndDisabled();
    ImGui::Dummy({0, em(0.4f)});
    if (!entered) return;
    if (can_lock_in(lab))
        lock_in(lab);
    else if (page.locked)
        next_step(learning);
    else
        learning.focus_field = true;  // nothing was typed: it goes on waiting
}

/// The goal of a challenge, each condition with what it is now.
void goals(const Page& page, float width, lessons::Language l) {
    const Palette& p = colours();
    ImGui::PushFont(bold(), 0);
    ImGui::TextUnformatted(lessons::phrase(Phrase::goal, l));
    ImGui::PopFont();
    ImGui::Dummy({0, em(0.2f)});
    const float mark = em(1.7f);
    for (const lessons::Condition& g : page.goals) {
        const Flow flow(plain_spans(g.text), width - mark), now(plain_spans(say(Str::goal_now, g.now)), width - mark);
        const ImVec2 at = ImGui::GetCursorScreenPos();
        const ImVec2 middle{at.x + em(0.6f), at.y + ImGui::GetFontSize() * 0.75f};
        ImDrawList& list = *ImGui::GetWindowDrawList();
        if (g.met) {
            list.AddCircleFilled(middle, em(0.55f), p.green);
            list.AddLine({middle.x - em(0.26f), middle.y}, {middle.x - em(0.06f), middle.y + em(0.22f)},
                         ink_on(p.green), em(0.12f));
            list.AddLine({middle.x - em(0.06f), middle.y + em(0.22f)}, {middle.x + em(0.28f), middle.y - em(0.22f)},
                         ink_on(p.green), em(0.12f));
        } else {
            list.AddCircle(middle, em(0.5f), p.dim, 0, em(0.1f));
        }
        flow.draw({at.x + mark, at.y}, p.text);
        now.draw({at.x + mark, at.y + flow.height()}, p.dim);
        ImGui::Dummy({width, flow.height() + now.height() + em(0.5f)});
    }
    if (!page.trouble.empty()) draw_spans(plain_spans(page.trouble), width, p.warn);
}

void feedback_card(const lessons::Feedback& f, float width, const ProseLinks& links) {
    const Palette& p = colours();
    const float pad = em(0.85f), bar = em(0.25f);
    const ImU32 colour = f.kind == lessons::Feedback::right   ? p.green
                         : f.kind == lessons::Feedback::wrong ? p.warn
                                                              : p.accent;
    std::vector<lessons::Spans> lines = f.lines;
    if (f.kind != lessons::Feedback::shown && !lines.empty())
        for (lessons::Span& s : lines[0]) s.strong = true;
    std::vector<Flow> flows;
    float height = 0;
    for (const lessons::Spans& line : lines) {
        flows.emplace_back(line, width - 2 * pad - bar);
        height += flows.back().height() + em(0.25f);
    }
    height -= em(0.25f);
    const ImVec2 at = ImGui::GetCursorScreenPos(), end{at.x + width, at.y + height + 1.4f * pad};
    ImDrawList& list = *ImGui::GetWindowDrawList();
    list.AddRectFilled(at, end, mix(p.panel, colour, 0.12f), em(0.35f));
    list.AddRectFilled(at, {at.x + bar, end.y}, colour, em(0.35f), ImDrawFlags_RoundCornersLeft);
    float y = at.y + 0.7f * pad;
    for (const Flow& flow : flows) {
        flow.draw({at.x + pad + bar, y}, p.text, &links);
        y += flow.height() + em(0.25f);
    }
    ImGui::Dummy({width, end.y - at.y});
}

}  // namespace

void draw_question(Lab& lab, const Page& page, float width, const ProseLinks& links) {
    Learning& learning = lab.learning;
    const Question& q = *learning.step().question;
    ImGui::Dummy({0, em(1)});
    for (const lessons::Choice& c : page.choices) option_card(learning, page, c, width, links);
    if (q.kind == Question::order && !page.settled) hint(tr(Str::order_hint));
    if (q.kind == Question::number) number_field(lab, page, q);
    if (q.kind == Question::reach) {
        goals(page, width, learning.language());
        std::string may;
        for (const std::string& word : q.may) may += (may.empty() ? "" : ", ") + word;
        hint(lessons::say(Phrase::may_change, learning.language(), may));
    }
    if (!page.settled && !page.locked && q.kind != Question::reach) {
        ImGui::Dummy({0, em(0.1f)});
        ImGui::Checkbox(label(Str::not_sure), &learning.unsure);
        tip(tr(Str::not_sure_tip));
    }
    if (!learning.refused().empty()) {
        ImGui::Dummy({0, em(0.4f)});
        draw_spans(plain_spans(learning.refused()), width, colours().warn);
    }
    if (page.feedback) {
        ImGui::Dummy({0, em(0.6f)});
        feedback_card(*page.feedback, width, links);
        if (std::exchange(learning.scroll_to_feedback, false)) ImGui::SetScrollHereY(1);
    }
}

}  // namespace gui
