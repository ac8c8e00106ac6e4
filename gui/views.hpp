#pragma once
// The views of the lab as a table: a new view is its own file and one row.

#include <imgui.h>

#include <array>
#include <span>
#include <string>
#include <string_view>

#include "gui/export.hpp"
#include "gui/i18n.hpp"

namespace gui {

class Lab;

void draw_experiment(Lab&);
void draw_tiles(Lab&);
void draw_traffic(Lab&);
void draw_roofline(Lab&);
void draw_sweep(Lab&);
void draw_measure(Lab&);
void draw_lesson(Lab&);
void draw_lessons(Lab&);     // the list of them, where none is open
void draw_time_split(Lab&);  // a figure of lessons: where the time goes
void draw_glossary(Lab&);
void draw_capacity(Lab&);
void draw_passes(Lab&);
void draw_hierarchy(Lab&);
void draw_timeline(Lab&);
void draw_compare(Lab&);
void draw_kernels(Lab&);

// The numbers a view shows, as a table to take away; empty where it has none now.
Sheet tiles_sheet(Lab&);
Sheet traffic_sheet(Lab&);
Sheet roofline_sheet(Lab&);
Sheet sweep_sheet(Lab&);
Sheet measure_sheet(Lab&);
Sheet capacity_sheet(Lab&);
Sheet passes_sheet(Lab&);
Sheet hierarchy_sheet(Lab&);
Sheet timeline_sheet(Lab&);
Sheet compare_sheet(Lab&);
Sheet kernels_sheet(Lab&);

/// Where the default layout puts a view.
enum class Place { left, left_bottom, centre, centre_bottom, right, right_bottom };

struct ViewRow {
    Str title;
    void (*draw)(Lab&);
    Place place;
    std::string_view figure = {};  // as lessons call it
    Sheet (*sheet)(Lab&) = nullptr;
};
std::span<const ViewRow> views();
/// "tiles": what a command line and a file name call a view.
std::string_view name_of(const ViewRow& row);

/// Which views are open when a layout is new: one sees the lesson alone, or the lab.
void open_views(std::array<bool, 32>& open, std::string_view view);
/// What stands where a figure is covered until a question is answered.
void draw_cover(std::string_view figure);
/// The same in words.
std::string cover_text(std::string_view figure);

/// Docks every view where the table says: three columns, two where the window is narrow, one where it is very narrow.
/// `view` is the scene's: measure gives the Measure view more room.
void build_layout(ImGuiID dockspace, ImVec2 size, std::string_view view);
/// Where views share a place, brings the one to look at first to the front. A frame after their windows were made.
void raise_views(std::string_view view);

}  // namespace gui
