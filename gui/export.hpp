#pragma once
// Taking things out of the lab: tables as TSV or CSV, what a view shows as SVG or PNG.

#include <imgui.h>

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace gui {

/// A table as text, its head first. Numbers are bare; the head names their unit.
using Sheet = std::vector<std::vector<std::string>>;
/// Tab-separated, for a spreadsheet's paste.
std::string to_tsv(const Sheet& sheet);
/// RFC 4180: quoted where need be.
std::string to_csv(const Sheet& sheet);

/// What a window has drawn so far in this frame, its child windows included, without its tab and scroll bars. Valid
/// until the frame's end.
struct WindowDrawing {
    ImDrawData data;
    ImVec4 box;  // what it covers on screen
};
WindowDrawing drawing_of_current_window();
/// A drawing as SVG: text as text, everything else as filled polygons. `family` is for the text.
std::string to_svg(const ImDrawData& data, ImVec4 box, ImU32 background);
/// The same as a PNG file's bytes.
std::string to_png(const ImDrawData& data, ImVec4 box, ImU32 background);

/// Where files go: the documents folder of the desktop, else the current one.
std::filesystem::path export_folder();
/// FOLDER/memwall-NAME.EXTENSION, or with -2, -3, … where that is taken.
std::filesystem::path free_name(const std::filesystem::path& folder, std::string_view name, std::string_view extension);

}  // namespace gui
