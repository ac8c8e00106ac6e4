#pragma once
// Finds fonts on this machine for Latin and Chinese text and merges them into one.

#include <imgui.h>

#include <string>

namespace gui {

/// Which fonts were found. `problem` is empty, or one sentence on what is missing and how to get it.
struct Fonts {
    ImFont* regular = nullptr;
    ImFont* bold = nullptr;
    ImFont *italic = nullptr, *mono = nullptr;  // the regular one where there is none
    std::string latin, chinese;                 // file names; empty where none was found
    std::string problem;
};

/// Adds the fonts to an atlas: DejaVu Sans (else ImGui's own font), then WenQuanYi Micro Hei, Noto Sans CJK or Droid
/// Sans Fallback for Chinese, looked for in the usual folders and then by fontconfig. Glyphs are drawn on first use.
/// With MEMWALL_FONTS=builtin in the environment, ImGui's own font alone: the same on every machine.
Fonts load_fonts(ImFontAtlas& atlas);

}  // namespace gui
