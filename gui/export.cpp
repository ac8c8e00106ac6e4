#include "gui/export.hpp"

#include <fmt/format.h>
#include <imgui_internal.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <map>

#include "gui/drawn_text.hpp"
#include "gui/image.hpp"
#include "gui/raster.hpp"

namespace gui {
namespace {

std::string join(const Sheet& sheet, char between, std::string (*cell)(const std::string&)) {
    std::string out;
    for (const auto& row : sheet) {
        for (std::size_t i = 0; i < row.size(); ++i)
            out += (i ? std::string(1, between) : std::string()) + cell(row[i]);
        out += '\n';
    }
    return out;
}

std::string flat(const std::string& cell) {
    std::string out = cell;
    for (char& c : out)
        if (c == '\t' || c == '\n' || c == '\r') c = ' ';
    return out;
}

std::string quoted(const std::string& cell) {
    if (cell.find_first_of(",\"\n\r") == cell.npos) return cell;
    std::string out = "\"";
    for (char c : cell) out += c == '"' ? std::string("\"\"") : std::string(1, c);
    return out + '"';
}

void collect(ImGuiWindow* window, ImDrawData& data) {
    if (window->DrawList->CmdBuffer.Size > 0) data.AddDrawList(window->DrawList);
    for (ImGuiWindow* child : window->DC.ChildWindows)
        if (child->Active && !child->Hidden && (child->Flags & ImGuiWindowFlags_Tooltip) == 0) collect(child, data);
}

std::string colour_attributes(ImU32 c) {
    std::string out = fmt::format("fill=\"#{:02x}{:02x}{:02x}\"", c >> IM_COL32_R_SHIFT & 255,
                                  c >> IM_COL32_G_SHIFT & 255, c >> IM_COL32_B_SHIFT & 255);
    if (const unsigned alpha = c >> IM_COL32_A_SHIFT; alpha < 255)
        out += fmt::format(" fill-opacity=\"{:.3g}\"", alpha / 255.0);
    return out;
}

std::string escaped(std::string_view text) {
    std::string out;
    for (char c : text) out += c == '<' ? "&lt;" : c == '>' ? "&gt;" : c == '&' ? "&amp;" : std::string(1, c);
    return out;
}

bool opaque(ImU32 c) { return (c & IM_COL32_A_MASK) != 0; }

}  // namespace

std::string to_tsv(const Sheet& sheet) { return join(sheet, '\t', flat); }
std::string to_csv(const Sheet& sheet) { return join(sheet, ',', quoted); }

WindowDrawing drawing_of_current_window() {
    ImGuiWindow* window = ImGui::GetCurrentWindow();
    WindowDrawing out;
    const ImRect inner = window->InnerRect;
    out.box = {inner.Min.x, inner.Min.y, inner.Max.x, inner.Max.y};
    out.data.Valid = true;
    out.data.DisplayPos = inner.Min;
    out.data.DisplaySize = inner.GetSize();
    out.data.FramebufferScale = {1, 1};
    out.data.Textures = &ImGui::GetPlatformIO().Textures;
    collect(window, out.data);
    return out;
}

std::string to_svg(const ImDrawData& data, ImVec4 box, ImU32 background) {
    const float width = box.z - box.x, height = box.w - box.y;
    std::string out = fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:g}\" height=\"{1:g}\" viewBox=\"0 0 {0:g} {1:g}\" "
        "stroke=\"none\" font-family=\"DejaVu Sans, sans-serif\">\n<rect width=\"100%\" height=\"100%\" {2}/>\n",
        width, height, colour_attributes(background));
    // A glyph's triangles have a place of their own in the atlas; everything else is one flat white texel.
    const ImVec2 white = ImGui::GetIO().Fonts->TexUvWhitePixel;
    int clips = 0;
    for (const ImDrawList* list : data.CmdLists)
        for (const ImDrawCmd& command : list->CmdBuffer) {
            if (command.UserCallback || command.ElemCount == 0) continue;
            const ImVec4 c = command.ClipRect;
            if (c.x >= c.z || c.y >= c.w) continue;
            std::string shapes, open_colour, path;
            const auto flush = [&] {
                if (!path.empty()) shapes += fmt::format("<path {} d=\"{}\"/>\n", open_colour, path);
                path.clear();
            };
            for (unsigned i = 0; i + 2 < command.ElemCount; i += 3) {
                ImDrawVert v[3];
                for (unsigned j = 0; j < 3; ++j)
                    v[j] = list->VtxBuffer[static_cast<int>(
                        command.VtxOffset + list->IdxBuffer[static_cast<int>(command.IdxOffset + i + j)])];
                const bool flat_colour = std::all_of(v, v + 3, [&](const ImDrawVert& p) {
                    return opaque(p.col) && p.uv.x == white.x && p.uv.y == white.y;
                });
                if (!flat_colour) continue;  // a glyph, or the soft edge of a shape
                if (std::string colour = colour_attributes(v[0].col); colour != open_colour) {
                    flush();
                    open_colour = std::move(colour);
                }
                for (int j = 0; j < 3; ++j)
                    path += fmt::format("{}{:.2f} {:.2f}", j == 0 ? 'M' : 'L', v[j].pos.x - box.x, v[j].pos.y - box.y);
                path += 'z';
            }
            flush();
            if (shapes.empty()) continue;
            out += fmt::format(
                "<clipPath id=\"c{0}\"><rect x=\"{1:.2f}\" y=\"{2:.2f}\" width=\"{3:.2f}\" height=\"{4:.2f}\"/>"
                "</clipPath><g clip-path=\"url(#c{0})\" shape-rendering=\"geometricPrecision\">\n{5}</g>\n",
                clips++, c.x - box.x, c.y - box.y, c.z - c.x, c.w - c.y, shapes);
        }
    for (const DrawnText& t : drawn_text(data)) {
        if (t.box.w <= box.y || t.box.y >= box.w || t.box.z <= box.x || t.box.x >= box.z) continue;
        const float size = t.vertical ? t.box.z - t.box.x : t.box.w - t.box.y;
        const float x = (t.vertical ? t.box.x + size * 0.8f : t.box.x) - box.x;
        const float y = (t.vertical ? t.box.w : t.box.y + size * 0.8f) - box.y;
        const std::string turn = t.vertical ? fmt::format(" transform=\"rotate(-90 {:.1f} {:.1f})\"", x, y) : "";
        const float length = t.vertical ? t.box.w - t.box.y : t.box.z - t.box.x;
        out +=
            fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" font-size=\"{:.1f}\" textLength=\"{:.1f}\" {}{}>{}</text>\n",
                        x, y, size * 0.86f, length, colour_attributes(t.colour), turn, escaped(t.text));
    }
    return out + "</svg>\n";
}

std::string to_png(const ImDrawData& data, ImVec4 box, ImU32 background) {
    ImDrawData part = data;
    part.DisplayPos = {box.x, box.y};
    part.DisplaySize = {box.z - box.x, box.w - box.y};
    return encode_png(rasterise(part, background));
}

std::filesystem::path export_folder() {
    namespace fs = std::filesystem;
    std::error_code error;
    const auto usable = [&](const fs::path& p) { return !p.empty() && fs::is_directory(p, error); };
    const char *documents = std::getenv("XDG_DOCUMENTS_DIR"), *home = std::getenv("HOME"),
               *config = std::getenv("XDG_CONFIG_HOME");
    if (documents && usable(documents)) return documents;
    if (home) {
        // The desktop's own list: XDG_DOCUMENTS_DIR="$HOME/Documents".
        std::ifstream dirs((config ? fs::path(config) : fs::path(home) / ".config") / "user-dirs.dirs");
        static constexpr std::string_view key = "XDG_DOCUMENTS_DIR=\"";
        for (std::string line; std::getline(dirs, line);) {
            if (!line.starts_with(key) || !line.ends_with('"')) continue;
            std::string value = line.substr(key.size(), line.size() - key.size() - 1);
            if (value.starts_with("$HOME")) value.replace(0, 5, home);
            if (usable(value)) return value;
        }
    }
    return fs::current_path(error);
}

std::filesystem::path free_name(const std::filesystem::path& folder, std::string_view name,
                                std::string_view extension) {
    std::error_code error;
    for (int i = 1;; ++i) {
        const auto path = folder / (i == 1 ? fmt::format("memwall-{}.{}", name, extension)
                                           : fmt::format("memwall-{}-{}.{}", name, i, extension));
        if (!std::filesystem::exists(path, error)) return path;
    }
}

}  // namespace gui
