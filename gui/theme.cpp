#include "gui/theme.hpp"

#include <implot.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace gui {
namespace {

constexpr ImU32 rgb(unsigned hex) { return IM_COL32(hex >> 16 & 255, hex >> 8 & 255, hex & 255, 255); }

constexpr Palette dark = {.background = rgb(0x12151a),
                          .panel = rgb(0x191d24),
                          .raised = rgb(0x252b35),
                          .hover = rgb(0x323a47),
                          .border = rgb(0x3a4352),
                          .text = rgb(0xe8ebf0),
                          .dim = rgb(0xa9b3c1),
                          .accent = rgb(0x7cc0ff),
                          .on_accent = rgb(0x08131f),
                          .warn = rgb(0xffc66b),
                          .error = rgb(0xff9188),
                          .blue = rgb(0x56b4e9),
                          .orange = rgb(0xe69f00),
                          .green = rgb(0x2fbf94),
                          .yellow = rgb(0xf0e442),
                          .deep_blue = rgb(0x4f93e0),
                          .vermilion = rgb(0xf0763a),
                          .purple = rgb(0xd68fb8),
                          .grey = rgb(0x98a3b3)};

constexpr Palette light = {.background = rgb(0xe6e9ee),
                           .panel = rgb(0xfcfcfd),
                           .raised = rgb(0xeef1f5),
                           .hover = rgb(0xdde3eb),
                           .border = rgb(0xc3cad4),
                           .text = rgb(0x171b21),
                           .dim = rgb(0x4d5765),
                           .accent = rgb(0x0b5cad),
                           .on_accent = rgb(0xffffff),
                           .warn = rgb(0x8a5200),
                           .error = rgb(0xb3261e),
                           .blue = rgb(0x2585bd),
                           .orange = rgb(0xb87500),
                           .green = rgb(0x007f5c),
                           .yellow = rgb(0x8f8500),
                           .deep_blue = rgb(0x005a94),
                           .vermilion = rgb(0xc24f00),
                           .purple = rgb(0xa84a7e),
                           .grey = rgb(0x6a7483)};

constexpr Palette high_contrast = {.background = rgb(0x000000),
                                   .panel = rgb(0x000000),
                                   .raised = rgb(0x1c1c1c),
                                   .hover = rgb(0x383838),
                                   .border = rgb(0xd0d0d0),
                                   .text = rgb(0xffffff),
                                   .dim = rgb(0xe2e2e2),
                                   .accent = rgb(0xffe14d),
                                   .on_accent = rgb(0x000000),
                                   .warn = rgb(0xffd27a),
                                   .error = rgb(0xffa8a0),
                                   .blue = rgb(0x7cccff),
                                   .orange = rgb(0xffb72b),
                                   .green = rgb(0x3fe0ae),
                                   .yellow = rgb(0xfff36b),
                                   .deep_blue = rgb(0x7fb4ff),
                                   .vermilion = rgb(0xff9257),
                                   .purple = rgb(0xf0acd2),
                                   .grey = rgb(0xc8c8c8)};

Theme current = Theme::dark;

double linear(unsigned channel) {
    const double c = channel / 255.0;
    return c <= 0.04045 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4);
}

double luminance(ImU32 c) {
    return 0.2126 * linear(c >> IM_COL32_R_SHIFT & 255) + 0.7152 * linear(c >> IM_COL32_G_SHIFT & 255) +
           0.0722 * linear(c >> IM_COL32_B_SHIFT & 255);
}

template <std::size_t N>
ImU32 along(const std::array<unsigned, N>& anchors, float t) {
    const float at = std::clamp(std::isnan(t) ? 0.0f : t, 0.0f, 1.0f) * (N - 1);
    const std::size_t i = std::min(static_cast<std::size_t>(at), N - 2);
    return mix(rgb(anchors[i]), rgb(anchors[i + 1]), at - static_cast<float>(i));
}

ImVec4 vec(ImU32 c, float alpha = 1) {
    ImVec4 v = ImGui::ColorConvertU32ToFloat4(c);
    v.w *= alpha;
    return v;
}

void colour_imgui(ImGuiStyle& style, const Palette& p) {
    for (ImVec4& c : style.Colors) c = vec(p.text);
    const auto set = [&](std::initializer_list<ImGuiCol_> roles, ImVec4 c) {
        for (ImGuiCol_ role : roles) style.Colors[role] = c;
    };
    set({ImGuiCol_TextDisabled}, vec(p.dim));
    set({ImGuiCol_WindowBg, ImGuiCol_TabSelected, ImGuiCol_TabDimmedSelected}, vec(p.panel));
    set({ImGuiCol_PopupBg}, vec(p.raised));
    set({ImGuiCol_ChildBg, ImGuiCol_BorderShadow, ImGuiCol_TableRowBg}, vec(p.panel, 0));
    set({ImGuiCol_Border, ImGuiCol_Separator, ImGuiCol_TableBorderStrong, ImGuiCol_TableBorderLight},
        vec(p.border, 0.7f));
    set({ImGuiCol_FrameBg, ImGuiCol_Button, ImGuiCol_TableHeaderBg}, vec(p.raised));
    set({ImGuiCol_FrameBgHovered, ImGuiCol_ButtonHovered, ImGuiCol_HeaderHovered, ImGuiCol_TabHovered}, vec(p.hover));
    set({ImGuiCol_FrameBgActive, ImGuiCol_ButtonActive, ImGuiCol_HeaderActive}, vec(mix(p.hover, p.accent, 0.25f)));
    set({ImGuiCol_Header}, vec(mix(p.panel, p.accent, 0.18f)));
    set({ImGuiCol_MenuBarBg, ImGuiCol_TitleBg, ImGuiCol_TitleBgActive, ImGuiCol_TitleBgCollapsed,
         ImGuiCol_DockingEmptyBg, ImGuiCol_Tab, ImGuiCol_TabDimmed, ImGuiCol_ScrollbarBg},
        vec(p.background));
    set({ImGuiCol_TabSelectedOverline, ImGuiCol_CheckMark, ImGuiCol_SliderGrab, ImGuiCol_SliderGrabActive,
         ImGuiCol_NavCursor, ImGuiCol_TextLink, ImGuiCol_DragDropTarget, ImGuiCol_SeparatorHovered,
         ImGuiCol_SeparatorActive, ImGuiCol_ResizeGripHovered, ImGuiCol_ResizeGripActive, ImGuiCol_PlotHistogram,
         ImGuiCol_InputTextCursor},
        vec(p.accent));
    set({ImGuiCol_TabDimmedSelectedOverline, ImGuiCol_ScrollbarGrab, ImGuiCol_ResizeGrip}, vec(p.border));
    set({ImGuiCol_ScrollbarGrabHovered, ImGuiCol_ScrollbarGrabActive}, vec(p.dim));
    set({ImGuiCol_TextSelectedBg}, vec(p.accent, 0.35f));
    set({ImGuiCol_TableRowBgAlt}, vec(p.raised, 0.45f));
    set({ImGuiCol_DockingPreview}, vec(p.accent, 0.4f));
    set({ImGuiCol_ModalWindowDimBg, ImGuiCol_NavWindowingDimBg}, vec(p.background, 0.6f));
}

void style_implot(const Palette& p, float unit) {
    ImPlotStyle& style = ImPlot::GetStyle();
    style = ImPlotStyle();
    const auto set = [&](ImPlotCol_ role, ImVec4 c) { style.Colors[role] = c; };
    set(ImPlotCol_FrameBg, vec(p.panel, 0));
    set(ImPlotCol_PlotBg, vec(mix(p.panel, p.background, 0.5f)));
    set(ImPlotCol_PlotBorder, vec(p.border));
    set(ImPlotCol_LegendBg, vec(p.panel, 0.9f));
    set(ImPlotCol_LegendBorder, vec(p.border, 0));
    set(ImPlotCol_AxisGrid, vec(p.border, 0.6f));
    set(ImPlotCol_AxisText, vec(p.dim));
    set(ImPlotCol_Crosshairs, vec(p.dim));
    style.PlotPadding = {0.3f * unit, 0.3f * unit};
    style.LabelPadding = {0.3f * unit, 0.3f * unit};
    style.LegendPadding = {0.5f * unit, 0.4f * unit};
    style.LegendInnerPadding = {0.4f * unit, 0.2f * unit};
    style.MajorTickLen = style.MinorTickLen = {0, 0};
    style.PlotBorderSize = 1;
    style.PlotMinSize = {4 * unit, 4 * unit};
}

}  // namespace

std::string_view to_string(Theme t) { return t == Theme::dark ? "dark" : t == Theme::light ? "light" : "contrast"; }
std::string_view to_string(Language l) { return l == Language::en ? "en" : "zh"; }

const Palette& palette(Theme theme) {
    return theme == Theme::dark ? dark : theme == Theme::light ? light : high_contrast;
}

const Palette& colours() { return palette(current); }

double contrast(ImU32 a, ImU32 b) {
    const double la = luminance(a), lb = luminance(b);
    return (std::max(la, lb) + 0.05) / (std::min(la, lb) + 0.05);
}

ImU32 ink_on(ImU32 fill) {
    return contrast(fill, IM_COL32_BLACK) >= contrast(fill, IM_COL32_WHITE) ? IM_COL32_BLACK : IM_COL32_WHITE;
}

ImU32 with_alpha(ImU32 colour, float alpha) {
    const auto a = static_cast<ImU32>(std::clamp(alpha, 0.0f, 1.0f) * 255 + 0.5f);
    return (colour & ~IM_COL32_A_MASK) | a << IM_COL32_A_SHIFT;
}

ImU32 mix(ImU32 a, ImU32 b, float t) {
    ImU32 out = 0;
    for (int shift = 0; shift < 32; shift += 8) {
        const float from = static_cast<float>(a >> shift & 255), to = static_cast<float>(b >> shift & 255);
        out |= static_cast<ImU32>(from + (to - from) * t + 0.5f) << shift;
    }
    return out;
}

ImU32 viridis(float t) {
    static constexpr std::array<unsigned, 10> anchors = {0x440154, 0x482878, 0x3e4a89, 0x31688e, 0x26828e,
                                                         0x1f9e89, 0x35b779, 0x6dcd59, 0xb4de2c, 0xfde725};
    return along(anchors, t);
}

ImU32 cividis(float t) {
    static constexpr std::array<unsigned, 10> anchors = {0x00204d, 0x00336f, 0x39486b, 0x575c6d, 0x707173,
                                                         0x8a8779, 0xa69d75, 0xc4b56c, 0xe4cf5b, 0xffea46};
    return along(anchors, t);
}

void apply(const Appearance& appearance, float dpi) {
    current = appearance.theme;
    const float base = 16, unit = base * appearance.scale * dpi;
    ImGuiStyle style;
    style.FontSizeBase = base;
    style.FontScaleMain = appearance.scale;
    style.FontScaleDpi = dpi;
    style.WindowPadding = {0.75f * unit, 0.65f * unit};
    style.FramePadding = {0.5f * unit, 0.28f * unit};
    style.ItemSpacing = {0.55f * unit, 0.45f * unit};
    style.ItemInnerSpacing = {0.4f * unit, 0.3f * unit};
    style.CellPadding = {0.5f * unit, 0.22f * unit};
    style.IndentSpacing = 1.2f * unit;
    style.ScrollbarSize = 0.75f * unit;
    style.GrabMinSize = 0.7f * unit;
    style.WindowRounding = style.PopupRounding = 0.35f * unit;
    style.FrameRounding = style.GrabRounding = style.TabRounding = 0.25f * unit;
    style.ScrollbarRounding = 0.4f * unit;
    style.WindowBorderSize = style.PopupBorderSize = 1;
    style.FrameBorderSize = appearance.theme == Theme::dark ? 0.0f : 1.0f;
    style.TabMinWidthShrink = 1e9f;  // a tab whose name is cut says nothing: they scroll instead
    style.TabBarOverlineSize = std::max(2.0f, 0.12f * unit);
    style.DockingSeparatorSize = std::max(3.0f, 0.3f * unit);
    style.WindowMinSize = {6 * unit, 3 * unit};
    style.SeparatorTextBorderSize = 1;
    style.SeparatorTextPadding = {0, 0.25f * unit};
    style.TabCloseButtonMinWidthSelected = style.TabCloseButtonMinWidthUnselected = 0;  // on hover
    style.WindowMenuButtonPosition = ImGuiDir_None;
    style.HoverDelayShort = style.HoverDelayNormal = 0.4f;
    style.CircleTessellationMaxError = 0.2f;
    colour_imgui(style, colours());
    ImGui::GetStyle() = style;
    style_implot(colours(), unit);
}

float em(float n) { return n * ImGui::GetFontSize(); }

}  // namespace gui
