#include "gui/draw.hpp"

#include <fmt/format.h>
#include <imgui_internal.h>

#include <algorithm>
#include <cmath>

#include "gui/context.hpp"
#include "lessons/line_breaks.hpp"

namespace gui {

using sim::Operand;

ImU32 colour_of(Mark mark) {
    const Palette& p = colours();
    switch (mark) {
        case Mark::bound: return p.grey;
        case Mark::predicted:
        case Mark::unvalidated: return p.deep_blue;
        case Mark::measured: return p.vermilion;
    }
    return p.text;
}

ImU32 colour_of(Operand operand) {
    const Palette& p = colours();
    switch (operand) {
        case Operand::x:
        case Operand::dx: return p.blue;
        case Operand::w:
        case Operand::dw: return p.orange;
        case Operand::y:
        case Operand::dy: return p.green;
        case Operand::z:
        case Operand::dz: return p.yellow;
        case Operand::mask: return p.purple;
        case Operand::bias:
        case Operand::partial: return p.grey;
    }
    return p.grey;
}

bool is_hatched(Operand operand) {
    return operand == Operand::dx || operand == Operand::dw || operand == Operand::dy || operand == Operand::dz ||
           operand == Operand::partial;
}

std::string_view symbol(Operand operand) {
    static constexpr std::string_view names[] = {"X", "W", "bias", "Z", "Y", "mask", "dY", "dZ", "dX", "dW", "partial"};
    return names[static_cast<int>(operand)];
}

void draw_mark(ImDrawList& list, ImVec2 c, float r, Mark mark) {
    const ImU32 colour = colour_of(mark), edge = colours().panel;
    const float line = std::max(1.5f, r * 0.3f);
    switch (mark) {
        case Mark::bound:
            list.AddTriangleFilled({c.x - r, c.y - 0.8f * r}, {c.x + r, c.y - 0.8f * r}, {c.x, c.y + 0.9f * r}, colour);
            break;
        case Mark::predicted: list.AddCircleFilled(c, r * 0.95f, colour); break;
        case Mark::unvalidated:
            list.AddCircleFilled(c, r * 0.95f, edge);
            list.AddCircle(c, r * 0.85f, colour, 0, line);
            break;
        case Mark::measured:
            list.AddQuadFilled({c.x - r * 1.1f, c.y}, {c.x, c.y - r * 1.1f}, {c.x + r * 1.1f, c.y},
                               {c.x, c.y + r * 1.1f}, colour);
            break;
    }
}

void draw_hatch(ImDrawList& list, ImVec2 low, ImVec2 high, ImU32 colour, float spacing, float thickness) {
    const float width = high.x - low.x, height = high.y - low.y;
    if (width < 1 || height < 1) return;
    // Lines x + y = c, through places that do not move with the box.
    const float first = std::ceil((low.x + low.y) / spacing) * spacing;
    for (float c = first; c < high.x + high.y; c += spacing) {
        const ImVec2 from{std::min(high.x, c - low.y), std::max(low.y, c - high.x)};
        const ImVec2 to{std::max(low.x, c - high.y), std::min(high.y, c - low.x)};
        list.AddLine(from, to, colour, thickness);
    }
}

void draw_operand(ImDrawList& list, ImVec2 low, ImVec2 high, Operand operand, float strength) {
    const ImU32 full = colour_of(operand);
    const ImU32 colour = mix(colours().panel, full, strength);
    if (!is_hatched(operand)) {
        list.AddRectFilled(low, high, colour);
        return;
    }
    list.AddRectFilled(low, high, mix(colours().panel, colour, 0.45f));
    draw_hatch(list, low, high, colour, std::max(4.0f, em(0.35f)), std::max(1.0f, em(0.1f)));
}

std::string shortened(std::string_view text, float width) {
    const auto measure = [](std::string_view t) { return ImGui::CalcTextSize(t.data(), t.data() + t.size()).x; };
    if (measure(text) <= width) return std::string(text);
    static constexpr std::string_view dots = "…";
    const float room = width - measure(dots);
    std::size_t keep = 0;
    for (std::size_t next = 0; next < text.size(); keep = next) {
        ++next;
        while (next < text.size() && (text[next] & 0xc0) == 0x80) ++next;
        if (measure(text.substr(0, next)) > room) break;
    }
    return room <= 0 ? std::string() : std::string(text.substr(0, keep)) + std::string(dots);
}

void draw_text(ImDrawList& list, ImVec2 low, ImVec2 high, ImU32 colour, std::string_view text, ImVec2 align) {
    const std::string shown = shortened(text, high.x - low.x);
    if (shown.empty()) return;
    const ImVec2 size = ImGui::CalcTextSize(shown.c_str());
    list.AddText({std::floor(low.x + (high.x - low.x - size.x) * align.x),
                  std::floor(low.y + (high.y - low.y - size.y) * align.y)},
                 colour, shown.c_str());
}

std::string in_lines(std::string_view text, float width) {
    std::string out;
    for (bool more = true; more;) {
        std::string_view line = text.substr(0, text.find('\n'));
        more = line.size() < text.size();
        text.remove_prefix(std::min(text.size(), line.size() + 1));
        const auto width_of = [](std::string_view s) { return ImGui::CalcTextSize(s.data(), s.data() + s.size()).x; };
        if (language() == Language::en || width_of(line) <= width) {
            out += line;
        } else {
            lessons::LineBreaks breaks;
            std::string shown, piece;  // the line so far, and what cannot be broken after it
            const auto put = [&] {
                const std::size_t space = piece.starts_with(' ');
                if (!shown.empty() && width_of(shown + piece) > width) {
                    out += shown + '\n';
                    shown = piece.substr(space);
                } else {
                    shown += piece;
                }
            };
            while (const auto c = breaks.next(line)) {
                if (c->begins) {
                    put();
                    piece = c->spaced ? " " : "";
                }
                piece += c->text;
            }
            put();
            out += shown;
        }
        if (more) out += '\n';
    }
    return out;
}

void coloured(ImU32 colour, std::string_view text) {
    ImGui::PushStyleColor(ImGuiCol_Text, colour);
    ImGui::PushTextWrapPos(0);
    ImGui::TextUnformatted(in_lines(text, ImGui::GetContentRegionAvail().x).c_str());
    ImGui::PopTextWrapPos();
    ImGui::PopStyleColor();
}

void text_right(const std::string& text, ImU32 colour) {
    const float spare = ImGui::GetContentRegionAvail().x - ImGui::CalcTextSize(text.c_str()).x;
    if (spare > 0) ImGui::SetCursorPosX(std::floor(ImGui::GetCursorPosX() + spare));
    ImGui::PushStyleColor(ImGuiCol_Text, colour);
    ImGui::TextUnformatted(text.c_str());
    ImGui::PopStyleColor();
}

void hint(std::string_view text) { coloured(colours().dim, text); }

void heading(const char* text) {
    ImGui::PushFont(bold(), 0);
    ImGui::TextUnformatted(text);
    ImGui::PopFont();
}

bool primary_button(std::string_view text, const char* id, bool accent, ImVec2 size) {
    const Palette& p = colours();
    ImGui::PushStyleColor(ImGuiCol_Button, accent ? p.accent : p.raised);
    ImGui::PushStyleColor(ImGuiCol_ButtonHovered, accent ? mix(p.accent, p.text, 0.2f) : p.hover);
    ImGui::PushStyleColor(ImGuiCol_ButtonActive, accent ? mix(p.accent, p.text, 0.35f) : p.hover);
    ImGui::PushStyleColor(ImGuiCol_Text, accent ? p.on_accent : p.text);
    const bool hit = ImGui::Button((std::string(text) + "###" + id).c_str(), size);
    ImGui::PopStyleColor(4);
    return hit;
}

bool begin_dialog(const char* title, bool* open, ImGuiWindowFlags flags) {
    ImGui::PushStyleColor(ImGuiCol_PopupBg, colours().panel);
    const bool shown = ImGui::BeginPopupModal(title, open, flags);
    ImGui::PopStyleColor();
    return shown;
}

void tip(std::string_view text) {
    if (!ImGui::IsItemHovered(ImGuiHoveredFlags_ForTooltip | ImGuiHoveredFlags_AllowWhenDisabled)) return;
    if (!ImGui::BeginTooltip()) return;
    ImGui::PushTextWrapPos(em(26));
    ImGui::TextUnformatted(in_lines(text, em(26) - ImGui::GetCursorPosX()).c_str());
    ImGui::PopTextWrapPos();
    ImGui::EndTooltip();
}

void copyable(std::string_view text, const char* id) {
    if (!ImGui::BeginPopupContextItem(id)) return;
    if (ImGui::MenuItem(label(Str::copy))) ImGui::SetClipboardText(std::string(text).c_str());
    ImGui::EndPopup();
}

bool operand_chip(Operand operand, bool lit) {
    const std::string name(symbol(operand));
    const float size = ImGui::GetTextLineHeight(), swatch = size * 0.8f;
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const ImVec2 text = ImGui::CalcTextSize(name.c_str());
    ImGui::InvisibleButton(("##chip" + name).c_str(), {swatch + em(0.35f) + text.x, size}, ImGuiButtonFlags_EnableNav);
    ImDrawList& list = *ImGui::GetWindowDrawList();
    const float top = at.y + (size - swatch) / 2;
    draw_operand(list, {at.x, top}, {at.x + swatch, top + swatch}, operand);
    if (lit) list.AddRect({at.x - 2, top - 2}, {at.x + swatch + 2, top + swatch + 2}, colours().text, 0, 0, 1.5f);
    list.AddText({at.x + swatch + em(0.35f), at.y}, colours().text, name.c_str());
    // A focus that nobody sees must not dim the rest.
    return ImGui::IsItemHovered() || (ImGui::IsItemFocused() && ImGui::GetIO().NavVisible);
}

void same_line_if_room(float width) {
    const float gap = em(0.9f);
    ImGui::SameLine(0, gap);
    if (ImGui::GetContentRegionAvail().x < width) ImGui::NewLine();
}

float chip_width(std::string_view name) {
    return ImGui::GetTextLineHeight() * 0.8f + em(0.35f) +
           ImGui::CalcTextSize(name.data(), name.data() + name.size()).x;
}

void chip(const std::function<void(ImDrawList&, ImVec2, float)>& draw, const char* name) {
    const float size = ImGui::GetTextLineHeight();
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const float base = ImGui::GetCurrentWindow()->DC.CurrLineTextBaseOffset;  // text beside buttons stands lower
    ImGui::Dummy({size * 0.8f, size});
    draw(*ImGui::GetWindowDrawList(), {at.x + size * 0.4f, at.y + base + size * 0.52f}, size);
    ImGui::SameLine(0, em(0.3f));
    ImGui::TextDisabled("%s", name);
}

void mark_chip(Mark mark, const char* name) {
    chip([&](ImDrawList& list, ImVec2 centre, float size) { draw_mark(list, centre, size * 0.32f, mark); }, name);
}

namespace {
std::string predicted_name(bool validated) {
    return validated ? tr(Str::predicted) : fmt::format("{} · {}", tr(Str::predicted), tr(Str::unvalidated));
}
}  // namespace

void predicted_chip(bool validated) {
    mark_chip(predicted_mark(validated), predicted_name(validated).c_str());
    tip(tr(Str::predicted_tip));
}

float predicted_chip_width(bool validated) { return chip_width(predicted_name(validated)); }

}  // namespace gui
