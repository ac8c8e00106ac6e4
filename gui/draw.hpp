#pragma once
// The drawing that the views share: what a thing looks like is said here once, so that it looks the same everywhere.

#include <imgui.h>

#include <functional>
#include <string>
#include <string_view>

#include "gui/i18n.hpp"
#include "gui/theme.hpp"
#include "sim/traffic.hpp"

namespace gui {

/// The three kinds of number, and a prediction that no measured row stands behind.
enum class Mark { bound, predicted, unvalidated, measured };

ImU32 colour_of(Mark);
/// A prediction's: hollow where no measured row stands behind it.
inline Mark predicted_mark(bool validated) { return validated ? Mark::predicted : Mark::unvalidated; }
/// The operand's hue: a matrix and its gradient share one, and the gradient is hatched.
ImU32 colour_of(sim::Operand);
bool is_hatched(sim::Operand);
/// "X", "dY", "mask": as written in formulae.
std::string_view symbol(sim::Operand);

/// The shape of a kind of number: triangle, disc, ring, diamond.
void draw_mark(ImDrawList& list, ImVec2 centre, float radius, Mark mark);
/// Diagonal lines over a rectangle.
void draw_hatch(ImDrawList& list, ImVec2 low, ImVec2 high, ImU32 colour, float spacing, float thickness = 1);
/// A bar or swatch of an operand, hatched where it must be.
void draw_operand(ImDrawList& list, ImVec2 low, ImVec2 high, sim::Operand operand, float strength = 1);

/// Text inside a box, shortened with "…" where it is too long; `align` 0 = left or top, 0.5 = middle, 1 = right.
void draw_text(ImDrawList& list, ImVec2 low, ImVec2 high, ImU32 colour, std::string_view text,
               ImVec2 align = {0, 0.5f});
/// The longest beginning of `text` that fits, with "…" if any is cut.
std::string shortened(std::string_view text, float width);

/// Text broken into lines of at most `width` pixels by the rules of Chinese, where that is the language in use: ImGui
/// itself breaks at spaces and after marks only.
std::string in_lines(std::string_view text, float width);
/// Words in the dim colour, wrapped.
void hint(std::string_view text);
/// Words in a colour, wrapped.
void coloured(ImU32 colour, std::string_view text);
/// One line of words at the right of what is left of the line or cell, as numbers stand under each other.
void text_right(const std::string& text, ImU32 colour);
/// A heading in bold.
void heading(const char* text);
/// A button; the one thing to do stands in the accent colour.
bool primary_button(std::string_view text, const char* id, bool accent = true, ImVec2 size = {0, 0});
/// ImGui::BeginPopupModal, on the ground of the windows: buttons stand out from it as they do there.
bool begin_dialog(const char* title, bool* open, ImGuiWindowFlags flags);
/// A tooltip on the item before, after the usual delay, wrapped at 26 em.
void tip(std::string_view text);
/// Right click on the item before offers to copy `text`.
void copyable(std::string_view text, const char* id);
/// Swatch and name of an operand as one item; true while the mouse or the keyboard is on it.
bool operand_chip(sim::Operand operand, bool lit);
/// Goes on in the line where an item of that width still fits, else in the next.
void same_line_if_room(float width);
/// The width of a chip with that name.
float chip_width(std::string_view name);
/// A small picture and a name for a legend; `draw` gets the picture's centre and the line's height.
void chip(const std::function<void(ImDrawList&, ImVec2, float)>& draw, const char* name);
/// Shape and name of a kind of number.
void mark_chip(Mark mark, const char* name);
/// "Predicted" with its mark, and whether that is unvalidated: what the numbers of a view are.
void predicted_chip(bool validated);
float predicted_chip_width(bool validated);

}  // namespace gui
