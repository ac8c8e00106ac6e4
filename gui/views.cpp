#include "gui/views.hpp"

#include <imgui_internal.h>

#include <array>

#include "gui/theme.hpp"

namespace gui {
namespace {

constexpr std::array rows = {
    ViewRow{Str::view_experiment, draw_experiment, Place::left, "experiment"},
    ViewRow{Str::view_measure, draw_measure, Place::left_bottom, "measure", measure_sheet},
    ViewRow{Str::view_compare, draw_compare, Place::left_bottom, "compare", compare_sheet},
    ViewRow{Str::view_tiles, draw_tiles, Place::centre, "tiles", tiles_sheet},
    ViewRow{Str::view_hierarchy, draw_hierarchy, Place::centre, "hierarchy", hierarchy_sheet},
    ViewRow{Str::view_passes, draw_passes, Place::centre, "passes", passes_sheet},
    ViewRow{Str::view_traffic, draw_traffic, Place::centre_bottom, "traffic", traffic_sheet},
    ViewRow{Str::view_timeline, draw_timeline, Place::centre_bottom, "timeline", timeline_sheet},
    ViewRow{Str::view_kernels, draw_kernels, Place::centre_bottom, "kernels", kernels_sheet},
    ViewRow{Str::view_roofline, draw_roofline, Place::right, "roofline", roofline_sheet},
    ViewRow{Str::view_capacity, draw_capacity, Place::right, "capacity", capacity_sheet},
    ViewRow{Str::view_sweep, draw_sweep, Place::right_bottom, "sweep", sweep_sheet},
    ViewRow{Str::view_lesson, draw_lesson, Place::left},
    ViewRow{Str::view_glossary, draw_glossary, Place::left_bottom},
};

}  // namespace

std::span<const ViewRow> views() { return rows; }

std::string_view name_of(const ViewRow& row) {
    return std::string_view(strings()[static_cast<std::size_t>(row.title)].id).substr(sizeof "view_" - 1);
}

void open_views(std::array<bool, 32>& open, std::string_view view) {
    for (std::size_t i = 0; i < rows.size(); ++i)
        open[i] = rows[i].title != Str::view_glossary && (rows[i].title == Str::view_lesson) == (view == "learn");
}

constexpr float three_columns = 88;  // em of width that they need

void build_layout(ImGuiID dockspace, ImVec2 size, std::string_view view) {
    ImGui::DockBuilderRemoveNode(dockspace);
    ImGui::DockBuilderAddNode(dockspace, static_cast<ImGuiDockNodeFlags>(ImGuiDockNodeFlags_DockSpace));
    ImGui::DockBuilderSetNodeSize(dockspace, size);
    const float columns = size.x / em(1), lines = size.y / em(1);
    const bool measure = view == "measure";

    std::array<ImGuiID, 6> nodes;
    nodes.fill(dockspace);
    const auto split = [](ImGuiID& from, ImGuiDir side, float share) {
        ImGuiID part = 0;
        ImGui::DockBuilderSplitNode(from, side, share, &part, &from);
        return part;
    };
    const auto node = [&](Place p) -> ImGuiID& { return nodes[static_cast<std::size_t>(p)]; };
    if (view == "learn") {  // the lesson alone, without a tab
        ImGui::DockBuilderGetNode(dockspace)->SetLocalFlags(static_cast<int>(ImGuiDockNodeFlags_DockSpace) |
                                                            static_cast<int>(ImGuiDockNodeFlags_NoTabBar));
    } else if (columns >= 40) {  // a column of controls, then the pictures
        ImGuiID rest = dockspace;
        const ImGuiID left = split(rest, ImGuiDir_Left, measure ? 0.34f : std::min(0.45f, 24.5f / columns));
        node(Place::left) = node(Place::left_bottom) = left;
        node(Place::centre) = node(Place::centre_bottom) = node(Place::right) = node(Place::right_bottom) = rest;
        if (columns >= three_columns) {
            const ImGuiID right = split(rest, ImGuiDir_Right, 0.42f);
            node(Place::right) = node(Place::right_bottom) = right;
            node(Place::centre) = node(Place::centre_bottom) = rest;
        }
        if (lines >= 34) {
            node(Place::left_bottom) = split(node(Place::left), ImGuiDir_Down, measure ? 0.55f : 0.3f);
            node(Place::centre_bottom) = split(node(Place::centre), ImGuiDir_Down, 0.45f);
            if (columns >= three_columns) {
                node(Place::right_bottom) = split(node(Place::right), ImGuiDir_Down, 0.5f);
            } else {
                node(Place::right) = node(Place::centre);
                node(Place::right_bottom) = node(Place::centre_bottom);
            }
        }
    }
    for (const ViewRow& row : rows)
        if (view != "learn" || row.title == Str::view_lesson)
            ImGui::DockBuilderDockWindow(label(row.title), node(row.place));
    ImGui::DockBuilderFinish(dockspace);
}

void raise_views(std::string_view view) {
    if (view == "learn") return ImGui::SetWindowFocus(label(Str::view_lesson));
    // Of views that share a place the last one named is shown: only the window in focus is, if one asks by focus alone.
    const Str first = view == "measure" ? Str::view_measure : Str::view_experiment;
    for (const Str s :
         {Str::view_sweep, Str::view_measure, Str::view_roofline, Str::view_traffic, Str::view_tiles, first})
        if (const ImGuiWindow* w = ImGui::FindWindowByName(label(s)); w && w->DockNode && w->DockNode->TabBar)
            w->DockNode->TabBar->NextSelectedTabId = w->TabId;
    ImGui::SetWindowFocus(label(first));
}

}  // namespace gui
