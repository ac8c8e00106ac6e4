#pragma once
// What a frame really wrote on screen, read back from its triangles: every label, plot tick and tooltip, with its box.

#include <imgui.h>

#include <string>
#include <vector>

namespace gui {

/// One run of text on one line.
struct DrawnText {
    std::string text;                   // UTF-8; a glyph that the fonts lack reads U+FFFD
    ImVec4 box;                         // x0, y0, x1, y1 in pixels: the line, whether or not it was cut
    bool cut_x = false, cut_y = false;  // part of its ink lies outside what was drawn
    bool vertical = false;              // reads upwards
    ImU32 colour = 0;
};

/// The strings of a rendered frame in drawing order, found by looking each glyph's place in the atlas up again.
/// Invisible (alpha 0) text is left out. Valid until the next frame; `data` must come from the current context.
std::vector<DrawnText> drawn_text(const ImDrawData& data);

/// One line a run: `x0 y0 x1 y1 flags text`, flags among "cut", "cut-y", "up" joined by commas, or "-".
std::string to_lines(const std::vector<DrawnText>& texts);

}  // namespace gui
