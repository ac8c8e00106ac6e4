#include "gui/welcome.hpp"

#include <imgui.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>

#include "gui/context.hpp"
#include "gui/draw.hpp"
#include "gui/lab.hpp"
#include "gui/lesson_parts.hpp"
#include "gui/state_files.hpp"
#include "gui/views.hpp"

namespace gui {
namespace {

/// A step bar and a line of words: a lesson.
void picture_learn(ImDrawList& list, ImVec2 low, float size) {
    const Palette& p = colours();
    for (int i = 0; i < 4; ++i) {
        const float x = low.x + size * (0.06f + 0.235f * static_cast<float>(i));
        list.AddRectFilled({x, low.y + size * 0.16f}, {x + size * 0.18f, low.y + size * 0.22f},
                           i < 2 ? p.accent : p.border, size);
    }
    for (int i = 0; i < 3; ++i) {
        const float y = low.y + size * (0.4f + 0.2f * static_cast<float>(i));
        list.AddCircleFilled({low.x + size * 0.16f, y}, size * 0.06f, i == 1 ? p.green : p.border);
        list.AddRectFilled({low.x + size * 0.3f, y - size * 0.03f},
                           {low.x + size * (i == 1 ? 0.78f : 0.92f), y + size * 0.03f}, p.dim, size);
    }
}

/// Tiles of a matrix, a row and a column of them lit.
void picture_explore(ImDrawList& list, ImVec2 low, float size) {
    const Palette& p = colours();
    for (int r = 0; r < 4; ++r)
        for (int c = 0; c < 4; ++c) {
            const float cell = size * 0.2f, gap = size * 0.033f;
            const ImVec2 at{low.x + size * 0.05f + static_cast<float>(c) * (cell + gap),
                            low.y + size * 0.05f + static_cast<float>(r) * (cell + gap)};
            const ImU32 colour = r == 1 && c == 2 ? p.green : r == 1 ? p.blue : c == 2 ? p.orange : p.border;
            list.AddRectFilled(at, {at.x + cell, at.y + cell}, colour, size * 0.03f);
        }
}

/// Measured against predicted.
void picture_measure(ImDrawList& list, ImVec2 low, float size) {
    const Palette& p = colours();
    const auto at = [&](float x, float y) { return ImVec2{low.x + size * x, low.y + size * y}; };
    list.AddLine(at(0.08f, 0.92f), at(0.95f, 0.92f), p.dim, size * 0.025f);
    list.AddLine(at(0.08f, 0.92f), at(0.08f, 0.08f), p.dim, size * 0.025f);
    list.AddLine(at(0.12f, 0.88f), at(0.9f, 0.12f), p.border, size * 0.025f);
    constexpr std::array<ImVec2, 4> dots = {ImVec2{0.26f, 0.69f}, {0.43f, 0.63f}, {0.6f, 0.36f}, {0.78f, 0.27f}};
    for (std::size_t i = 0; i < dots.size(); ++i)
        draw_mark(list, at(dots[i].x, dots[i].y), size * 0.055f, i % 2 ? Mark::measured : Mark::predicted);
}

struct Door {
    Str title, about;
    const char* view;
    void (*picture)(ImDrawList&, ImVec2, float);
    ImGuiKey key;
};
constexpr std::array doors = {
    Door{Str::door_learn, Str::door_learn_about, "learn", picture_learn, ImGuiKey_1},
    Door{Str::door_explore, Str::door_explore_about, "explore", picture_explore, ImGuiKey_2},
    Door{Str::door_measure, Str::door_measure_about, "measure", picture_measure, ImGuiKey_3},
};

/// A door as a card: picture, name, what lies behind it. `tall` is for cards side by side; else the picture stands
/// left.
bool door_card(const Door& door, ImVec2 size, bool tall, bool glows) {
    const Palette& p = colours();
    const ImVec2 at = ImGui::GetCursorScreenPos(), end{at.x + size.x, at.y + size.y};
    const bool hit = ImGui::InvisibleButton(door.view, size, ImGuiButtonFlags_EnableNav);
    const bool hovered = ImGui::IsItemHovered();
    ImDrawList& list = *ImGui::GetWindowDrawList();
    const float pad = em(1);
    list.AddRectFilled(at, end, hovered ? p.hover : p.raised, em(0.5f));
    list.AddRect(at, end,
                 glows     ? p.accent
                 : hovered ? p.dim
                           : p.border,
                 em(0.5f), 0, glows ? std::max(2.0f, em(0.14f)) : 1);
    const float picture = tall ? em(4.6f) : em(2.8f);
    door.picture(list,
                 tall ? ImVec2{at.x + (size.x - picture) / 2, at.y + pad * 1.2f}
                      : ImVec2{at.x + pad, at.y + (size.y - picture) / 2},
                 picture);
    const float x = tall ? at.x + pad : at.x + 2 * pad + picture, width = end.x - pad - x;
    float y = tall ? at.y + pad * 2 + picture : at.y + pad * 0.5f;
    ImGui::PushFont(bold(), ImGui::GetStyle().FontSizeBase * 1.2f);
    const Flow name(plain_spans(tr(door.title)), width);
    name.draw({tall ? x + (width - name.width()) / 2 : x, y}, glows ? p.accent : p.text);
    ImGui::PopFont();
    y += name.height() + (tall ? em(0.2f) : 0);
    const Flow about(plain_spans(tr(door.about)), width);
    about.draw({x, y}, p.dim);
    return hit;
}

float about_height(const Door& door, float width) { return Flow(plain_spans(tr(door.about)), width).height(); }

}  // namespace

void draw_welcome(Lab& lab) {
    const char* id = label(Str::welcome);
    if (lab.show_welcome && !ImGui::IsPopupOpen(id)) ImGui::OpenPopup(id);
    const ImVec2 screen = ImGui::GetMainViewport()->Size;
    const bool side_by_side = screen.x > em(58) && screen.y > em(30);
    const float width = side_by_side ? em(52) : std::min(em(34), screen.x - em(2));
    static float tall = 0;  // what its content takes
    const float most = screen.y - em(1), pad = side_by_side ? em(1.7f) : em(0.8f);
    ImGui::SetNextWindowPos(ImGui::GetMainViewport()->GetCenter(), ImGuiCond_Always, {0.5f, 0.5f});
    ImGui::SetNextWindowSize({width, tall > 0 ? std::min(most, tall) : most});
    ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {side_by_side ? em(2) : em(1), pad});
    const bool open =
        begin_dialog(id, nullptr,
                     ImGuiWindowFlags_NoResize | ImGuiWindowFlags_NoSavedSettings | ImGuiWindowFlags_NoTitleBar |
                         ImGuiWindowFlags_NoMove | (tall <= most ? ImGuiWindowFlags_NoScrollbar : 0));
    ImGui::PopStyleVar();
    if (!open) return;
    const float room = ImGui::GetContentRegionAvail().x;
    const char* other = tr(lab.appearance.language == Language::en ? Str::language_zh : Str::language_en);
    const float other_width = ImGui::CalcTextSize(other).x + 2 * ImGui::GetStyle().FramePadding.x;
    const float top = ImGui::GetCursorPosY();
    big_text("Memwall", side_by_side ? 2.2f : 1.5f, room - other_width - em(0.5f));
    const float under = ImGui::GetCursorPosY();
    ImGui::SetCursorPos({ImGui::GetCursorPosX() + room - other_width, top});
    if (ghost_button(other, "language"))
        lab.appearance.language = lab.appearance.language == Language::en ? Language::zh : Language::en;
    ImGui::SetCursorPosY(under);
    draw_spans(plain_spans(tr(Str::motto)), room, colours().dim);
    ImGui::Dummy({0, em(0.6f)});

    bool done = false;
    const float gap = em(0.9f), each = side_by_side ? (room - 2 * gap) / 3 : room;
    float tallest = 0;
    for (const Door& d : doors)
        tallest = std::max(tallest, about_height(d, side_by_side ? each - em(2) : each - em(5.8f)));
    const ImVec2 size{each, side_by_side ? em(9.6f) + tallest : std::max(em(3.4f), em(2.8f) + tallest)};
    for (std::size_t i = 0; i < doors.size(); ++i) {
        const Door& door = doors[i];
        if (side_by_side && i > 0) ImGui::SameLine(0, gap);
        if (door_card(door, size, side_by_side, i == 0) || ImGui::Shortcut(static_cast<ImGuiKeyChord>(door.key))) {
            lab.document.set_view(door.view);
            done = true;
        }
    }
    ImGui::Dummy({0, em(0.5f)});
    done |= ghost_button(tr(Str::skip), "skip") || ImGui::Shortcut(ImGuiKey_Escape);
    if (room > em(30)) {
        ImGui::SameLine(0, em(0.6f));
        ImGui::TextDisabled("%s", tr(Str::welcome_keys));
    }
    tall = ImGui::GetCursorPosY() + ImGui::GetScrollY() - ImGui::GetStyle().ItemSpacing.y + pad;
    if (done) {
        lab.show_welcome = false;
        ImGui::CloseCurrentPopup();
    }
    ImGui::EndPopup();
}

void draw_report(Lab& lab) {
    static std::array<char, 1024> path{};
    static std::string problem;
    const char* id = label(Str::export_report);
    if (std::exchange(lab.show_report, false)) {
        ImGui::OpenPopup(id);
        problem.clear();
        if (!path[0]) {
            const char* home = std::getenv("HOME");
            const std::string usual = (std::filesystem::path(home ? home : "") / "memwall-report.md").string();
            std::copy_n(usual.begin(), std::min(usual.size(), path.size() - 1), path.begin());
        }
    }
    ImGui::SetNextWindowPos(ImGui::GetMainViewport()->GetCenter(), ImGuiCond_Appearing, {0.5f, 0.5f});
    bool open = true;
    if (!begin_dialog(id, &open, ImGuiWindowFlags_AlwaysAutoResize | ImGuiWindowFlags_NoSavedSettings)) return;
    const float width = std::min(em(32), ImGui::GetMainViewport()->Size.x - em(3));
    draw_spans(plain_spans(tr(Str::report_about)), width, colours().dim);
    ImGui::SetNextItemWidth(width);
    const bool entered = ImGui::InputText("##path", path.data(), path.size(), ImGuiInputTextFlags_EnterReturnsTrue);
    if (primary_button(tr(Str::save), "save") || entered) {
        problem = write_whole(path.data(), lab.learning.report());
        if (problem.empty()) {
            lab.message = {say(Str::report_saved, path.data()), false};
            ImGui::CloseCurrentPopup();
        }
    }
    ImGui::SameLine();
    if (ImGui::Button(label(Str::copy))) ImGui::SetClipboardText(lab.learning.report().c_str());
    ImGui::SameLine();
    if (ImGui::Button(label(Str::close)) || ImGui::Shortcut(ImGuiKey_Escape)) ImGui::CloseCurrentPopup();
    if (!problem.empty()) draw_spans(plain_spans(problem), width, colours().error);
    ImGui::EndPopup();
}

}  // namespace gui
