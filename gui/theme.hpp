#pragma once
// Colours and measures: three palettes, colour scales for maps, and the style made from them. All sizes are in em.

#include <imgui.h>

#include <span>
#include <string_view>

namespace gui {

enum class Theme { dark, light, contrast };
enum class Language { en, zh };

/// What a person set about how the lab looks. `scale` is the text size, 0.75 to 3.
struct Appearance {
    Theme theme = Theme::dark;
    Language language = Language::en;
    float scale = 1;
    bool reduced_motion = false;
    bool operator==(const Appearance&) const = default;
};
inline constexpr float min_scale = 0.75f, max_scale = 3.0f;

std::string_view to_string(Theme);
std::string_view to_string(Language);

/// Colours by role. The categorical ones are Okabe-Ito's hues, darkened on the light theme; colour never stands alone,
/// a shape, a hatch or a word always says the same.
struct Palette {
    ImU32 background, panel, raised, hover, border;                         // surfaces, back to front
    ImU32 text, dim;                                                        // words; words that matter less
    ImU32 accent, on_accent, warn, error;                                   // the one thing to do; trouble
    ImU32 blue, orange, green, yellow, deep_blue, vermilion, purple, grey;  // categories
};
const Palette& palette(Theme);
/// The palette in use.
const Palette& colours();

/// WCAG contrast ratio, 1 to 21. Alpha is ignored.
double contrast(ImU32 a, ImU32 b);
/// Whichever of black and white reads better on `fill`.
ImU32 ink_on(ImU32 fill);
ImU32 with_alpha(ImU32 colour, float alpha);
/// a + t (b - a), channel by channel.
ImU32 mix(ImU32 a, ImU32 b, float t);

/// A sequential colour scale at t in 0..1 (clamped): even steps look even, also to colour-blind eyes and in grey.
ImU32 viridis(float t);
ImU32 cividis(float t);

/// Sets ImGui's and ImPlot's style for this appearance. `dpi` is the monitor's scale. Call between frames.
void apply(const Appearance& appearance, float dpi);

/// n times the current font's size, in pixels.
float em(float n);

}  // namespace gui
