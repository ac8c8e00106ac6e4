#pragma once
// What the pages of the course are built from.

#include <imgui.h>

#include <string>
#include <string_view>
#include <vector>

#include "gui/draw.hpp"
#include "gui/prose.hpp"
#include "lessons/lesson.hpp"

namespace gui {

class Lab;
class Learning;
struct Page;

/// A button that is only words until the mouse is on it.
bool ghost_button(std::string_view text, const char* id);
/// Words in bold at `times` the usual size, wrapped.
void big_text(const std::string& text, float times, float width);
/// What a checker says, with a bar beside it.
void margin_note(const std::string& text, float width);
/// The links of prose: to the glossary, or an address to copy; and what a number, a footnote or a word says of itself.
ProseLinks prose_links(Lab& lab, const std::vector<lessons::Spans>& notes);

/// What the step asks, and what was said of the last answer.
void draw_question(Lab& lab, const Page& page, float width, const ProseLinks& links);
/// Takes an option as the answer; of an order as the next one, or out again.
void pick_option(Learning& learning, char letter);
/// Whether there is an answer to lock in that was not just given.
bool can_lock_in(const Lab& lab);
void lock_in(Lab& lab);
void next_step(Learning& learning);

/// The figures of the step under one another; `height` is what all of them may take, unless they need more.
void draw_lesson_figures(Lab& lab, float height);
/// The drill's figures: what was counted of a sound and a faulty kernel, and the line that is wrong.
void draw_counters(Lab& lab);
void draw_fault(Lab& lab);
/// What a figure is called; empty for none.
const char* figure_name(std::string_view id, lessons::Language l);

}  // namespace gui
