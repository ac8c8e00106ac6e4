#pragma once
// The views of the lab as a table: a new view is its own file and one row.

#include <imgui.h>

#include <span>

#include "gui/i18n.hpp"

namespace gui {

class Lab;

void draw_experiment(Lab&);
void draw_tiles(Lab&);
void draw_traffic(Lab&);
void draw_roofline(Lab&);
void draw_sweep(Lab&);
void draw_measure(Lab&);

/// Where the default layout puts a view.
enum class Place { left, left_bottom, centre, centre_bottom, right, right_bottom };

struct ViewRow {
    Str title;
    void (*draw)(Lab&);
    Place place;
};
std::span<const ViewRow> views();

/// Docks every view where the table says: three columns, two where the window is narrow, one where it is very narrow.
/// `view` is the scene's: measure gives the Measure view more room.
void build_layout(ImGuiID dockspace, ImVec2 size, std::string_view view);
/// Where views share a place, brings the one to look at first to the front. A frame after their windows were made.
void raise_views(std::string_view view);

}  // namespace gui
