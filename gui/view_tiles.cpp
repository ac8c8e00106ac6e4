// The matmul as it is cut: the left operand, the right one above the output, the tile in work and the strips it needs;
// below, the walk through all steps.

#include <imgui.h>
#include <imgui_internal.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "gui/context.hpp"
#include "gui/draw.hpp"
#include "gui/lab.hpp"
#include "gui/transport.hpp"
#include "gui/views.hpp"

namespace gui {
namespace {

using sim::i64;

struct Rect {
    ImVec2 low, high;
    float width() const { return high.x - low.x; }
    float height() const { return high.y - low.y; }
};

/// One matrix on screen, in the matmul's orientation; `transposed` when memory holds it the other way round.
struct Matrix {
    sim::Operand operand;
    bool transposed;
    i64 rows, cols;            // elements
    i64 tile_rows, tile_cols;  // elements of a tile
    Rect at;

    i64 row_tiles() const { return sim::ceil_div(rows, tile_rows); }
    i64 col_tiles() const { return sim::ceil_div(cols, tile_cols); }
    float x(i64 element) const {
        return at.low.x + at.width() * static_cast<float>(std::min(element, cols)) / static_cast<float>(cols);
    }
    float y(i64 element) const {
        return at.low.y + at.height() * static_cast<float>(std::min(element, rows)) / static_cast<float>(rows);
    }
    Rect tile(i64 row, i64 col) const {
        return {{x(col * tile_cols), y(row * tile_rows)}, {x((col + 1) * tile_cols), y((row + 1) * tile_rows)}};
    }
    std::string name() const { return std::string(symbol(operand)) + (transposed ? "ᵀ" : ""); }
};

/// At least `side` pixels in both directions, so that the thinnest tile can be seen.
Rect at_least(Rect r, float side) {
    r.high = {std::max(r.high.x, r.low.x + side), std::max(r.high.y, r.low.y + side)};
    return r;
}

/// A frame that never hides what it frames: thin ones go around it.
void outline(ImDrawList& list, const Rect& r, ImU32 colour, float thickness) {
    const float side = std::min(r.width(), r.height()), out = side < em(0.5f) ? 1.0f : 0.0f;
    list.AddRect({r.low.x - out, r.low.y - out}, {r.high.x + out, r.high.y + out}, colour, 0, 0,
                 out > 0 ? 1.0f : thickness);
}

void draw_matrix(ImDrawList& list, const Matrix& m, float strength) {
    const Palette& p = colours();
    const ImU32 hue = colour_of(m.operand);
    list.AddRectFilled(m.at.low, m.at.high, mix(p.panel, hue, 0.10f * strength));
    const ImU32 grid = mix(p.panel, hue, 0.35f * strength);
    const float cell_w = m.at.width() * static_cast<float>(m.tile_cols) / static_cast<float>(m.cols);
    const float cell_h = m.at.height() * static_cast<float>(m.tile_rows) / static_cast<float>(m.rows);
    if (std::min(cell_w, cell_h) >= std::max(3.0f, em(0.2f))) {  // finer than this a grid is only noise
        for (i64 c = 1; c < m.col_tiles(); ++c)
            list.AddLine({m.x(c * m.tile_cols), m.at.low.y}, {m.x(c * m.tile_cols), m.at.high.y}, grid);
        for (i64 r = 1; r < m.row_tiles(); ++r)
            list.AddLine({m.at.low.x, m.y(r * m.tile_rows)}, {m.at.high.x, m.y(r * m.tile_rows)}, grid);
    }
    // Tiles cut by the edge do less work for the same trouble.
    const ImU32 ragged = mix(p.panel, p.dim, 0.8f);
    if (m.cols % m.tile_cols)
        draw_hatch(list, {m.x((m.col_tiles() - 1) * m.tile_cols), m.at.low.y}, m.at.high, ragged, em(0.45f));
    if (m.rows % m.tile_rows)
        draw_hatch(list, {m.at.low.x, m.y((m.row_tiles() - 1) * m.tile_rows)}, m.at.high, ragged, em(0.45f));
    list.AddRect(m.at.low, m.at.high, mix(p.panel, hue, strength), 0, 0, 1.5f);
}

/// Lengths on screen of the three extents, in proportion but never too thin to see.
float gap_between() { return ImGui::GetTextLineHeight() + em(0.35f); }  // a label fits between two matrices

struct Lengths {
    float rows, cols, red;
};
Lengths lengths(const sim::Extent& e, float width, float height) {
    const float gap = gap_between(), least = em(2.6f);
    const double m = static_cast<double>(e.rows), n = static_cast<double>(e.cols), k = static_cast<double>(e.red);
    const double scale = std::min((width - gap) / (k + n), (height - gap) / (k + m));
    Lengths l{static_cast<float>(m * scale), static_cast<float>(n * scale), static_cast<float>(k * scale)};
    l.red = std::clamp(l.red, least, std::min(width, height) * 0.45f);
    l.rows = std::clamp(l.rows, least, height - gap - l.red);
    l.cols = std::clamp(l.cols, least, width - gap - l.red);
    return l;
}

/// A tile touched in this step: fetched and written ones are filled, kept ones only tinted.
void draw_touch(ImDrawList& list, const Matrix& m, const sim::Touch& touch) {
    const Rect r = at_least(m.transposed ? m.tile(touch.col, touch.row) : m.tile(touch.row, touch.col), 3);
    const bool kept = touch.outcome == sim::Touch::kept;
    list.AddRectFilled(r.low, r.high, with_alpha(colour_of(m.operand), kept ? 0.45f : 1.0f));
    outline(list, r, colours().text, kept ? 1.0f : 2.0f);
}

/// The matrix's name and size, above it where no tile is hidden.
void label_matrix(ImDrawList& list, const Matrix& m, float room) {
    const std::string full = fmt::format("{}  {}×{}", m.name(), m.rows, m.cols);
    const std::string text = ImGui::CalcTextSize(full.c_str()).x <= room ? full : shortened(m.name(), room);
    list.AddText({m.at.low.x, m.at.low.y - ImGui::GetTextLineHeight() - em(0.1f)}, colours().text, text.c_str());
}

/// Output tiles that are done or in work, of a kernel in its walk.
void shade_progress(ImDrawList& list, const Matrix& out, const Analysis& a, const sim::Kernel& k,
                    const sim::StepState& s, const sim::Device& device) {
    constexpr i64 most = 16384;  // more tiles than pixels tell apart
    const i64 tm = out.row_tiles(), tn = out.col_tiles(), tiles = tm * tn;
    if (tiles > most || s.step == 0) return;
    const ImU32 done = with_alpha(colour_of(out.operand), 0.35f), busy = with_alpha(colour_of(out.operand), 0.18f);
    const auto fill = [&](sim::TileIndex t, ImU32 c) {
        const Rect r = out.tile(t.row, t.col);
        list.AddRectFilled(r.low, r.high, c);
    };
    const sim::Experiment& e = a.report.experiment;
    if (device.kind == sim::DeviceKind::gpu || !k.matmul) {
        const sim::Raster raster = device.kind == sim::DeviceKind::gpu && k.matmul ? e.raster : sim::Raster{};
        const i64 slots =
            device.kind == sim::DeviceKind::gpu && a.report.predicted ? a.report.predicted->slots.value_or(1) : 1;
        for (i64 i = 0; i < tiles; ++i) {
            const i64 wave = i / slots;
            if (wave > s.wave && k.matmul) break;
            const sim::TileIndex t = sim::tile_at(raster, tm, tn, i);
            if (!k.matmul && t == s.tile) break;
            fill(t, wave < s.wave || !k.matmul ? done : busy);
        }
        return;
    }
    // A sequential grid: a tile is done when its last visit lies before now in the loop order.
    const std::string order(sim::to_string(e.order));
    const auto key = [&](i64 row, i64 col, i64 red) {
        std::array<i64, 3> at{};
        for (int i = 0; i < 3; ++i)
            at[i] = order[static_cast<std::size_t>(i)] == 'm'   ? row
                    : order[static_cast<std::size_t>(i)] == 'n' ? col
                                                                : red;
        return at;
    };
    const auto now = key(s.tile.row, s.tile.col, s.k);
    for (i64 r = 0; r < tm; ++r)
        for (i64 c = 0; c < tn; ++c) {
            if (key(r, c, k.k_steps() - 1) < now)
                fill({r, c}, done);
            else if (key(r, c, 0) < now)
                fill({r, c}, busy);
        }
}

/// The matrices of a kernel laid out in a box: left operand at the left, right operand above the output.
std::vector<Matrix> lay_out(const sim::Kernel& k, const Rect& box) {
    std::vector<Matrix> all;
    const sim::Extent& e = k.extent;
    if (!k.matmul) {  // inputs side by side, then the output
        std::vector<const sim::Access*> shown;
        for (const auto& a : k.epilogue) shown.push_back(&a);
        for (const auto& a : k.outputs) shown.push_back(&a);
        const float gap = gap_between(), count = static_cast<float>(shown.size());
        const float room = (box.width() - gap * (count - 1)) / count;
        const float tall = std::max(em(3), box.height() - 8 * ImGui::GetTextLineHeightWithSpacing());
        const double scale = std::min(room / static_cast<double>(e.cols), tall / static_cast<double>(e.rows));
        const float w = std::clamp(static_cast<float>(static_cast<double>(e.cols) * scale), em(2), room);
        const float h = std::clamp(static_cast<float>(static_cast<double>(e.rows) * scale), em(2), tall);
        for (std::size_t i = 0; i < shown.size(); ++i) {
            const ImVec2 low{box.low.x + static_cast<float>(i) * (w + gap), box.low.y};
            all.push_back(
                {shown[i]->tensor.name, false, e.rows, e.cols, k.tile.bm, k.tile.bn, {low, {low.x + w, low.y + h}}});
        }
        return all;
    }
    const Lengths l = lengths(e, box.width(), box.height());
    const float gap = gap_between();
    const float free = std::max(0.0f, box.width() - l.red - gap - l.cols);
    const float x0 = box.low.x + std::max(free / 2, std::min(free, em(17))), x1 = x0 + l.red + gap;
    const float y0 = box.low.y, y1 = y0 + l.red + gap;
    const auto transposed = [](const sim::Access& a, sim::Axis rows) { return a.row_axis != rows; };
    const sim::Access &left = k.left.front(), &right = k.right.front(), &out = k.outputs.front();
    all.push_back({left.tensor.name,
                   transposed(left, sim::Axis::rows),
                   e.rows,
                   e.red,
                   k.tile.bm,
                   k.tile.bk,
                   {{x0, y1}, {x0 + l.red, y1 + l.rows}}});
    all.push_back({right.tensor.name,
                   transposed(right, sim::Axis::red),
                   e.red,
                   e.cols,
                   k.tile.bk,
                   k.tile.bn,
                   {{x1, y0}, {x1 + l.cols, y0 + l.red}}});
    all.push_back(
        {out.tensor.name, false, e.rows, e.cols, k.tile.bm, k.tile.bn, {{x1, y1}, {x1 + l.cols, y1 + l.rows}}});
    return all;
}

/// The strips of the operands that an output tile needs.
void draw_strips(ImDrawList& list, const std::vector<Matrix>& ms, const sim::Kernel& k, i64 row, i64 col,
                 bool selected) {
    if (!k.matmul) return;
    const auto strip = [&](const Matrix& m, const Rect& r) {
        list.AddRectFilled(r.low, r.high, with_alpha(colour_of(m.operand), selected ? 0.15f : 0.25f));
        outline(list, at_least(r, 2), selected ? colours().text : colour_of(m.operand), selected ? 1.5f : 1.0f);
    };
    const Rect a = ms[0].tile(row, 0), b = ms[1].tile(0, col);
    strip(ms[0], {{ms[0].at.low.x, a.low.y}, {ms[0].at.high.x, a.high.y}});
    strip(ms[1], {{b.low.x, ms[1].at.low.y}, {b.high.x, ms[1].at.high.y}});
    outline(list, at_least(ms[2].tile(row, col), 3), colours().text, selected ? 1.5f : 2.0f);
}

/// Moves the selection by mouse and arrow keys, and the walk to it by a double click or Enter; the map is one item.
void select(Lab& lab, const Analysis& a, int kernel, const std::vector<Matrix>& ms, ImGuiID id) {
    const Matrix& out = ms.back();
    sim::Scene::Selection s = lab.document.scene().select;
    const bool selected = s.operand == sim::to_string(out.operand);
    const auto choose = [&](i64 row, i64 col) {
        s = {std::string(sim::to_string(out.operand)), std::clamp<i64>(row, 0, out.row_tiles() - 1),
             std::clamp<i64>(col, 0, out.col_tiles() - 1)};
        lab.document.look(lab.document.scene().step, s);
    };
    const bool walks = lab.is_current() && a.kernels[static_cast<std::size_t>(kernel)].matmul;
    const auto go = [&] {
        const sim::TileIndex there{std::min(s.row, out.row_tiles() - 1), std::min(s.col, out.col_tiles() - 1)};
        lab.set_step(sim::first_step(a.report.experiment, lab.document.device(), a.kernels, kernel, there));
    };
    const ImVec2 mouse = ImGui::GetIO().MousePos;
    const auto inside = [&](const Matrix& m) {
        return mouse.x >= m.at.low.x && mouse.x < m.at.high.x && mouse.y >= m.at.low.y && mouse.y < m.at.high.y;
    };
    if (ImGui::IsItemHovered())
        for (const Matrix& m : ms) {
            if (!inside(m)) continue;
            lab.light(m.operand);
            const i64 row =
                static_cast<i64>((mouse.y - m.at.low.y) / m.at.height() * static_cast<float>(m.rows)) / m.tile_rows;
            const i64 col =
                static_cast<i64>((mouse.x - m.at.low.x) / m.at.width() * static_cast<float>(m.cols)) / m.tile_cols;
            std::string tip = say(Str::tile_of, m.name(), row, col, m.row_tiles(), m.col_tiles());
            if (&m == &out && walks) tip += std::string("\n") + tr(Str::tile_go);
            ImGui::SetTooltip("%s", tip.c_str());
            if (&m == &out && ImGui::IsMouseClicked(0)) choose(row, col);
            if (&m == &out && walks && ImGui::IsMouseDoubleClicked(0)) go();
        }
    if (!ImGui::IsItemFocused()) return;
    constexpr std::array<std::array<int, 3>, 4> arrows = {{{ImGuiKey_LeftArrow, 0, -1},
                                                           {ImGuiKey_RightArrow, 0, 1},
                                                           {ImGuiKey_UpArrow, -1, 0},
                                                           {ImGuiKey_DownArrow, 1, 0}}};
    for (const auto& [key, down, right] : arrows) {
        ImGui::SetKeyOwner(static_cast<ImGuiKey>(key), id);
        if (ImGui::IsKeyPressed(static_cast<ImGuiKey>(key), ImGuiInputFlags_Repeat, id))
            choose(selected ? s.row + down : 0, selected ? s.col + right : 0);
    }
    if (!selected) return;
    ImGui::SetKeyOwner(ImGuiKey_Enter, id);
    if (walks && ImGui::IsKeyPressed(ImGuiKey_Enter, 0, id)) go();
    ImGui::SetKeyOwner(ImGuiKey_Escape, id);  // the first Escape lets go of the tile, the next one of the map
    if (ImGui::IsKeyPressed(ImGuiKey_Escape, 0, id)) lab.document.look(lab.document.scene().step, {});
}

/// Where the walk is, the bytes so far and what each tile request became, one line each.
void account(Lab& lab, const Analysis& a, const sim::StepState& s, const Rect& box) {
    ImDrawList& list = *ImGui::GetWindowDrawList();
    const Palette& p = colours();
    const sim::Kernel& k = kernel_of(a, s);
    const float line = ImGui::GetTextLineHeightWithSpacing();
    float y = box.low.y;
    const auto write = [&](float x, ImU32 colour, std::string_view text) {
        if (y + ImGui::GetTextLineHeight() > box.high.y) return;
        draw_text(list, {x, y}, {box.high.x, y + ImGui::GetTextLineHeight()}, colour, text);
    };
    if (s.step == 0) {
        write(box.low.x, p.text, tr(Str::walk_start));
        return;
    }
    ImGui::PushFont(bold(), 0);
    write(box.low.x, p.text, say(Str::walk_kernel, k.name));
    ImGui::PopFont();
    y += line;
    write(box.low.x, p.text, say(Str::walk_tile, s.tile.row, s.tile.col, k.row_tiles(), k.col_tiles()));
    y += line;
    if (k.matmul) {
        std::string where = say(Str::walk_k, std::min(s.k + 1, k.k_steps()), k.k_steps());
        if (lab.document.device().kind == sim::DeviceKind::gpu) where += "  " + say(Str::walk_wave, s.wave + 1);
        write(box.low.x, p.text, where);
        y += line;
    }
    y += line * 0.25f;
    for (const sim::Touch& t : s.touches) {
        if (y + line > box.high.y) break;
        const float swatch = ImGui::GetTextLineHeight() * 0.75f, top = y + ImGui::GetTextLineHeight() * 0.12f;
        const ImVec2 low{box.low.x, top}, high{box.low.x + swatch, top + swatch};
        draw_operand(list, low, high, t.operand, t.outcome == sim::Touch::kept ? 0.35f : 1.0f);
        list.AddRect(low, high, colour_of(t.operand), 0, 0, 1.5f);
        write(box.low.x + swatch + em(0.4f), t.outcome == sim::Touch::kept ? p.dim : p.text,
              fmt::format("{} ({}, {})  {} {}", symbol(t.operand), t.row, t.col, outcome_name(t.outcome),
                          sim::format_bytes(static_cast<double>(t.bytes))));
        y += line;
    }
    y += line * 0.25f;
    write(box.low.x, p.dim, say(Str::walk_read, sim::format_bytes(static_cast<double>(s.dram_read_bytes))));
    y += line;
    write(box.low.x, p.dim, say(Str::walk_written, sim::format_bytes(static_cast<double>(s.dram_write_bytes))));
}

void map(Lab& lab, const Analysis& a, const sim::StepState& s, float height) {
    const sim::Kernel& k = kernel_of(a, s);
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const float width = ImGui::GetContentRegionAvail().x;
    ImGui::InvisibleButton("##map", {width, height}, ImGuiButtonFlags_EnableNav);
    const ImGuiID id = ImGui::GetItemID();
    const Rect box{{at.x, at.y + gap_between()}, {at.x + width, at.y + height}};
    const std::vector<Matrix> ms = lay_out(k, box);
    select(lab, a, s.kernel, ms, id);
    ImDrawList& list = *ImGui::GetWindowDrawList();
    list.PushClipRect(at, {box.high.x + 2, box.high.y + 2}, true);
    for (const Matrix& m : ms) draw_matrix(list, m, lab.strength(m.operand));
    shade_progress(list, ms.back(), a, k, s, lab.document.device());
    if (s.step > 0) draw_strips(list, ms, k, s.tile.row, s.tile.col, false);
    const auto& select = lab.document.scene().select;
    if (select.operand == sim::to_string(ms.back().operand))
        draw_strips(list, ms, k, std::min(select.row, ms.back().row_tiles() - 1),
                    std::min(select.col, ms.back().col_tiles() - 1), true);
    for (const sim::Touch& t : s.touches)
        for (const Matrix& m : ms)
            if (m.operand == t.operand) draw_touch(list, m, t);
    const float gap = gap_between();
    const bool beside_left = k.matmul;
    for (const Matrix& m : ms)
        label_matrix(list, m,
                     (beside_left && &m == &ms.front()) || (!k.matmul && &m != &ms.back())
                         ? m.at.width() + gap / 2
                         : std::max(m.at.width(), box.high.x - m.at.low.x));
    // The account stands left of the map, or in the corner above the left operand, or under an elementwise pass.
    if (!k.matmul)
        account(lab, a, s, {{at.x, ms[0].at.high.y + gap}, box.high});
    else if (ms[0].at.low.x - at.x > em(15))
        account(lab, a, s, {at, {ms[0].at.low.x - gap, box.high.y}});
    else
        account(lab, a, s, {at, {ms[1].at.low.x - gap, ms[0].at.low.y - gap}});
    list.PopClipRect();
}

}  // namespace

void draw_tiles(Lab& lab) {
    const Analysis* a = lab.analysis();
    if (!a || a->kernels.empty()) {
        hint(tr(a ? Str::no_tile_fits : Str::computing));
        return;
    }
    map(lab, *a, step_or_start(lab), std::max(em(6), ImGui::GetContentRegionAvail().y - transport_height()));
    draw_transport(lab);
}

Sheet tiles_sheet(Lab& lab) {
    const sim::StepState* s = lab.step();
    if (!s) return {};
    Sheet sheet = {{"step", "operand", "tile_row", "tile_col", "outcome", "bytes"}};
    for (const sim::Touch& t : s->touches)
        sheet.push_back({std::to_string(s->step), std::string(sim::to_string(t.operand)), std::to_string(t.row),
                         std::to_string(t.col), outcome_name(t.outcome), std::to_string(t.bytes)});
    return sheet;
}

}  // namespace gui
