// The device's own memory chart: DRAM, L2, on-chip memory and registers, the bytes on each link, and what the step in
// hand fetches, finds, drives out and writes.

#include <imgui.h>
#include <imgui_internal.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "gui/context.hpp"
#include "gui/draw.hpp"
#include "gui/formulas.hpp"
#include "gui/lab.hpp"
#include "gui/transport.hpp"
#include "gui/views.hpp"
#include "sim/fit.hpp"
#include "sim/residency.hpp"

namespace gui {
namespace {

using sim::i64;
using sim::Level;
using sim::Operand;
using sim::Touch;

sim::Residency residency(const Computations::Question& q, const Job&) {
    sim::Experiment e = q.experiment;
    const sim::Device& d = q.devices->at(e.device);
    if (!sim::resolve_best(e, d).ok()) return {};
    return sim::residency_at(e, d, sim::plan(e), q.step);
}

std::string bytes(i64 b) { return sim::format_bytes(static_cast<double>(b)); }
std::string capacity(i64 b) { return sim::format_kib(static_cast<double>(b)); }

/// A level of the chart with what a reader must know of it.
struct Stage {
    Level level;
    std::string name, facts;  // "HBM3", "80 GB, 3.35 TB/s"
};

std::vector<Stage> stages(const Lab& lab, const Analysis& a) {
    const sim::Device& d = lab.document.device();
    const sim::Experiment& e = a.report.experiment;
    const auto present = [&](Level l) { return a.report.traffic.at(l).present; };
    const auto join = [](std::initializer_list<std::string> parts) {
        std::string text;
        for (const std::string& p : parts)
            if (!p.empty()) text += (text.empty() ? "" : " · ") + p;
        return text;
    };
    const auto rate = [](const sim::Quantity& q) {
        return q.known() && std::isfinite(q.value) ? sim::format_bandwidth(q.value) : std::string();
    };
    std::vector<Stage> out;
    out.push_back({Level::dram, d.dram.display,
                   join({d.dram.bytes.known() ? sim::format_bytes(d.dram.bytes.value) : "", rate(d.dram.bandwidth)})});
    if (present(Level::l2))
        out.push_back({Level::l2, d.l2.display,
                       join({d.l2.bytes.known() ? sim::format_kib(d.l2.bytes.value) : "", rate(d.l2.bandwidth)})});
    if (present(Level::l1))
        out.push_back({Level::l1, d.l1.display,
                       d.l1.bytes_per_sm.known() ? say(Str::per_sm, sim::format_kib(d.l1.bytes_per_sm.value)) : ""});
    std::string need;
    const auto k = std::find_if(a.kernels.begin(), a.kernels.end(), [](const sim::Kernel& x) { return x.matmul; });
    if (d.kind == sim::DeviceKind::gpu && k != a.kernels.end()) {
        const sim::CtaShape cta = sim::cta_shape(e, d, *k);
        if (d.sram.bytes_per_cta.known())
            need =
                say(Str::cta_needs, capacity(cta.smem_bytes), capacity(static_cast<i64>(d.sram.bytes_per_cta.value)));
        out.push_back({Level::sram, d.sram.display, need});
        out.push_back({Level::registers, tr(Str::registers), say(Str::cta_registers, cta.threads, cta.registers)});
        return out;
    }
    if (d.kind == sim::DeviceKind::tpu && k != a.kernels.end()) {
        const sim::VmemNeed v = sim::vmem_need(e, d, *k);
        need = say(Str::vmem_needs, capacity(v.bytes()), capacity(v.limit_bytes), v.buffers);
    }
    if (present(Level::sram)) out.push_back({Level::sram, d.sram.display, need});
    out.push_back({Level::registers, tr(Str::compute_units), sim::format_flops(d.peak_flops(e.dense.dtype))});
    return out;
}

/// Bytes by operand as one bar; `full` bytes are `width`.
void flow_bar(Lab& lab, ImVec2 at, float width, float height, double full, const sim::LevelTraffic& t,
              i64 (*of)(const sim::Flow&)) {
    ImDrawList& list = *ImGui::GetWindowDrawList();
    list.AddRectFilled(at, {at.x + width, at.y + height}, colours().raised);
    float x = at.x;
    for (int i = 0; i < sim::operand_count; ++i) {
        const auto operand = static_cast<Operand>(i);
        const i64 b = of(t.of(operand));
        if (b == 0) continue;
        const float w = static_cast<float>(static_cast<double>(b) / full) * width;
        const ImVec2 low{x, at.y}, high{x + std::max(1.5f, w), at.y + height};
        draw_operand(list, low, high, operand, lab.strength(operand));
        const std::string text = fmt::format("{} {}", symbol(operand), bytes(b));
        const ImU32 fill = mix(colours().panel, colour_of(operand), lab.strength(operand));
        if (!is_hatched(operand) && ImGui::CalcTextSize(text.c_str()).x + em(0.6f) < w)
            draw_text(list, {low.x + em(0.3f), low.y}, high, ink_on(fill), text);
        if (ImGui::IsMouseHoveringRect(low, high) && ImGui::IsWindowHovered()) {
            lab.light(operand);
            ImGui::SetTooltip("%s", text.c_str());
        }
        x = high.x;
    }
}

/// A tile on its way or at rest, as one word with its swatch: "X (3, 0)".
float touch_chip(Lab& lab, ImVec2 at, const Touch& t, bool filled, float room) {
    ImDrawList& list = *ImGui::GetWindowDrawList();
    const float line = ImGui::GetTextLineHeight(), side = line * 0.72f, top = at.y + (line - side) / 2;
    const std::string text = fmt::format("{} ({}, {})", symbol(t.operand), t.row, t.col);
    const float width = side + em(0.3f) + ImGui::CalcTextSize(text.c_str()).x;
    if (width > room) return 0;
    draw_operand(list, {at.x, top}, {at.x + side, top + side}, t.operand,
                 (filled ? 1.0f : 0.3f) * lab.strength(t.operand));
    list.AddRect({at.x, top}, {at.x + side, top + side}, colour_of(t.operand), 0, 0, 1.5f);
    list.AddText({at.x + side + em(0.3f), at.y}, filled ? colours().text : colours().dim, text.c_str());
    if (ImGui::IsMouseHoveringRect(at, {at.x + width, at.y + line}) && ImGui::IsWindowHovered()) {
        lab.light(t.operand);
        ImGui::SetTooltip("%s", fmt::format("{}  {}", text, bytes(t.bytes)).c_str());
    }
    return width;
}

/// "fetched: X (0, 3) W (3, 1)", cut where the line ends. Nothing where there is no such tile.
void touch_line(Lab& lab, ImVec2 at, float right, Str verb, const std::vector<Touch>& touches, bool filled) {
    if (touches.empty()) return;
    ImDrawList& list = *ImGui::GetWindowDrawList();
    const std::string name = std::string(tr(verb)) + "  ";
    const float words = ImGui::CalcTextSize(name.c_str()).x;
    if (at.x + words > right) return;
    list.AddText(at, colours().dim, name.c_str());
    float x = at.x + words;
    const float more = ImGui::CalcTextSize("+88").x;
    for (std::size_t i = 0; i < touches.size(); ++i) {
        const float used =
            touch_chip(lab, {x, at.y}, touches[i], filled, right - x - (i + 1 < touches.size() ? more : 0));
        if (used == 0) {
            const std::string rest = fmt::format("+{}", touches.size() - i);
            if (x + ImGui::CalcTextSize(rest.c_str()).x <= right) list.AddText({x, at.y}, colours().dim, rest.c_str());
            return;
        }
        x += used + em(0.8f);
    }
}

std::vector<Touch> with(const sim::StepState& s, std::initializer_list<Touch::Outcome> outcomes) {
    std::vector<Touch> out;
    for (const Touch& t : s.touches)
        if (std::find(outcomes.begin(), outcomes.end(), t.outcome) != outcomes.end()) out.push_back(t);
    return out;
}

/// An arrow between two levels with a mark per tile that passes in this step; it travels while playing.
void track(Lab& lab, ImVec2 from, ImVec2 to, const std::vector<Touch>& touches) {
    ImDrawList& list = *ImGui::GetWindowDrawList();
    const ImU32 colour = touches.empty() ? colours().border : colours().text;
    const float head = em(0.3f), sign = to.y > from.y ? 1.0f : -1.0f;
    list.AddLine(from, to, colour, touches.empty() ? 1.0f : 2.0f);
    list.AddTriangleFilled(to, {to.x - head, to.y - sign * head * 1.4f}, {to.x + head, to.y - sign * head * 1.4f},
                           colour);
    const bool moves = lab.play.on && !lab.appearance.reduced_motion;
    const double place = moves ? lab.play.carry : 0.5;
    const float side = em(0.28f);
    for (std::size_t i = 0; i < std::min<std::size_t>(touches.size(), 4); ++i) {
        const float t = static_cast<float>(std::clamp(place + 0.12 * static_cast<double>(i), 0.0, 1.0));
        const ImVec2 c{from.x, from.y + (to.y - from.y) * t};
        draw_operand(list, {c.x - side, c.y - side}, {c.x + side, c.y + side}, touches[i].operand);
        list.AddRect({c.x - side, c.y - side}, {c.x + side, c.y + side}, colours().panel, 0, 0, 1);
    }
}

/// Who holds the L2 now, of how much.
void residents(Lab& lab, ImVec2 at, float width, float height, const sim::Residency& r) {
    ImDrawList& list = *ImGui::GetWindowDrawList();
    list.AddRectFilled(at, {at.x + width, at.y + height}, colours().background);
    list.AddRect(at, {at.x + width, at.y + height}, colours().border);
    if (r.capacity_bytes <= 0) return;
    float x = at.x;
    for (int i = 0; i < sim::operand_count; ++i) {
        const i64 b = r.bytes[static_cast<std::size_t>(i)];
        if (b == 0) continue;
        const auto operand = static_cast<Operand>(i);
        const float w = width * static_cast<float>(static_cast<double>(b) / static_cast<double>(r.capacity_bytes));
        const ImVec2 low{x, at.y}, high{std::min(at.x + width, x + std::max(1.0f, w)), at.y + height};
        draw_operand(list, low, high, operand, lab.strength(operand));
        if (ImGui::IsMouseHoveringRect(low, high) && ImGui::IsWindowHovered()) {
            lab.light(operand);
            ImGui::SetTooltip("%s", fmt::format("{}  {}", symbol(operand), bytes(b)).c_str());
        }
        x = high.x;
    }
}

struct Chart {
    Lab& lab;
    const Analysis& a;
    const sim::StepState& s;
    const sim::Residency& r;
    float left, right, track_x, bars_x;
    float spare = 0;  // height that each link gets on top of what it needs

    float line() const { return ImGui::GetTextLineHeight(); }

    /// One level: its box with name, facts and contents.
    void stage(const Stage& st) {
        const bool shared = st.level == (lab.document.device().kind == sim::DeviceKind::gpu ? Level::l2 : Level::sram);
        const bool wide = right - left > em(30);
        const float pad = em(0.5f), height = (shared && s.step > 0 ? 2 * line() + em(0.3f) : line()) + 2 * em(0.35f);
        const ImVec2 at = ImGui::GetCursorScreenPos();
        ImDrawList& list = *ImGui::GetWindowDrawList();
        list.AddRectFilled(at, {right, at.y + height}, colours().raised, em(0.25f));
        list.AddRect(at, {right, at.y + height}, colours().border, em(0.25f));
        const float y = at.y + em(0.35f);
        ImGui::PushFont(bold(), 0);
        const float name = ImGui::CalcTextSize(st.name.c_str()).x;
        draw_text(list, {at.x + pad, y}, {right - pad, y + line()}, colours().text, st.name);
        ImGui::PopFont();
        const float facts_x = std::min(std::max(at.x + pad + name + em(0.8f), bars_x), right - pad);
        draw_text(list, {facts_x, y}, {right - pad, y + line()}, colours().dim, st.facts);
        ImGui::InvisibleButton(st.name.c_str(), {right - at.x, height}, ImGuiButtonFlags_EnableNav);
        copyable(st.name + "  " + st.facts, st.name.c_str());
        tip(st.name + "  " + st.facts);
        if (shared && s.step > 0) {
            const float y2 = y + line() + em(0.3f);
            const std::string held = st.level == Level::l2
                                         ? say(Str::held_of, bytes(r.used_bytes()), capacity(r.capacity_bytes))
                                         : say(Str::held_tiles, capacity(r.used_bytes()));
            const float words = ImGui::CalcTextSize(held.c_str()).x + em(0.6f);
            const float bar = std::max(0.0f, std::min(em(18), right - pad - at.x - pad - words));
            if (st.level == Level::l2 && bar > em(2)) {
                residents(lab, {at.x + pad, y2 + em(0.1f)}, bar, line() - em(0.2f), r);
                draw_text(list, {at.x + pad + bar + em(0.6f), y2}, {right - pad, y2 + line()}, colours().text, held);
                if (wide)
                    touch_line(lab, {at.x + pad + bar + em(0.6f) + words + em(0.4f), y2}, right - pad, Str::evicted,
                               r.evicted, false);
            } else {
                draw_text(list, {at.x + pad, y2}, {right - pad, y2 + line()}, colours().text, held);
                touch_line(lab, {at.x + pad + words + em(0.4f), y2}, right - pad, Str::evicted, r.evicted, false);
            }
        }
    }

    float link_height() const { return (s.step > 0 ? 3 : 2) * (line() + em(0.35f)) + em(0.5f); }

    /// The link below a level: bytes down and up over the whole run, and the tiles of this step. What is written into the
    /// on-chip memory came from above, so there the bars say read and written.
    void link(const Stage& below, bool to_dram) {
        const sim::LevelTraffic& t = a.report.traffic.at(below.level);
        const sim::Flow total = t.total();
        const bool sram = below.level == Level::sram;
        const i64 down = total.read_bytes, up = total.write_bytes;
        const Str down_name = sram ? Str::read : Str::link_down, up_name = sram ? Str::operand_written : Str::link_up;
        const float need = link_height(), height = need + spare;
        const ImVec2 at = ImGui::GetCursorScreenPos();
        ImDrawList& list = *ImGui::GetWindowDrawList();
        const std::vector<Touch> in = to_dram ? with(s, {Touch::fetched, Touch::read_back})
                                              : with(s, {Touch::fetched, Touch::read_back, Touch::kept}),
                                 out = with(s, {Touch::written});
        track(lab, {track_x, at.y + em(0.1f)}, {track_x, at.y + height - em(0.1f)}, in);
        track(lab, {track_x + em(1.2f), at.y + height - em(0.1f)}, {track_x + em(1.2f), at.y + em(0.1f)}, out);
        const double full = static_cast<double>(std::max<i64>({1, down, up}));
        const float value =
            std::max(ImGui::CalcTextSize(bytes(down).c_str()).x, ImGui::CalcTextSize(bytes(up).c_str()).x) + em(0.7f);
        const float names =
            std::max(ImGui::CalcTextSize(tr(down_name)).x, ImGui::CalcTextSize(tr(up_name)).x) + em(0.5f);
        const float x = bars_x, width = std::max(em(2), right - x - names - value);
        float y = at.y + em(0.3f) + spare / 2;
        const auto bar = [&](Str name, i64 b, i64 (*of)(const sim::Flow&), const char* id) {
            draw_text(list, {x, y}, {x + names, y + line()}, colours().dim, tr(name));
            flow_bar(lab, {x + names, y - em(0.05f)}, width, line() + em(0.1f), full, t, of);
            draw_text(list, {x + names + width + em(0.3f), y}, {right, y + line()}, colours().text, bytes(b), {1, 0});
            ImGui::SetCursorScreenPos({x, y});
            ImGui::PushID(id);
            ImGui::InvisibleButton("link", {right - x, line()}, ImGuiButtonFlags_EnableNav);
            copyable(bytes(b), "value");
            tip(tr(below.level == Level::dram ? Str::dram_tip
                   : below.level == Level::l2 ? Str::l2_tip
                                              : Str::sram_tip));
            asks_formula(lab, below.level == Level::dram ? sim::Formula::dram_bytes
                              : below.level == Level::l2 ? sim::Formula::l2_bytes
                                                         : sim::Formula::sram_bytes);
            ImGui::PopID();
            y += line() + em(0.35f);
        };
        ImGui::PushID(static_cast<int>(below.level));
        const auto read = [](const sim::Flow& f) { return f.read_bytes; };
        const auto write = [](const sim::Flow& f) { return f.write_bytes; };
        bar(down_name, down, +read, "down");
        bar(up_name, up, +write, "up");
        if (s.step > 0 && to_dram) {
            const std::vector<Touch> fetched = with(s, {Touch::fetched, Touch::read_back});
            touch_line(lab, {x, y}, right, fetched.empty() ? Str::written : Str::fetched,
                       fetched.empty() ? out : fetched, true);
        } else if (s.step > 0 && !sram) {
            touch_line(lab, {x, y}, right, Str::hit, with(s, {Touch::kept}), false);
        } else if (s.step > 0 && sram && !out.empty()) {
            touch_line(lab, {x, y}, right, Str::written, out, true);
        }
        ImGui::PopID();
        ImGui::SetCursorScreenPos({at.x, at.y + height});
        ImGui::Dummy({0, 0});
    }
};

}  // namespace

void draw_hierarchy(Lab& lab) {
    const Analysis* a = lab.analysis();
    if (!a || a->kernels.empty()) return hint(tr(a ? Str::no_tile_fits : Str::computing));
    if (!a->report.fit.ok()) {
        coloured(colours().error, translated(a->report.fit.why));
        return hint(tr(Str::no_traffic));
    }
    const sim::StepState& s = step_or_start(lab);
    static const sim::Residency none;
    const auto reply = lab.computed.ask(residency, lab.question(true));
    const sim::Residency& r = reply.answer ? *reply.answer : none;
    const float chart = ImGui::GetContentRegionAvail().y - transport_height();
    if (ImGui::BeginChild("chart", {0, std::max(em(5), chart)}, ImGuiChildFlags_NavFlattened)) {
        const std::vector<Stage> all = stages(lab, *a);
        float names = 0;
        ImGui::PushFont(bold(), 0);
        for (const Stage& st : all) names = std::max(names, ImGui::CalcTextSize(st.name.c_str()).x);
        ImGui::PopFont();
        const ImVec2 at = ImGui::GetCursorScreenPos();
        const float right = at.x + ImGui::GetContentRegionAvail().x;
        Chart c{lab, *a, s, r, at.x, right, at.x + em(1.2f), at.x + std::max(em(3.6f), names + em(1.4f))};
        if (s.step > 0) {
            const sim::Kernel& k = kernel_of(*a, s);
            std::string where =
                k.name + "  " + say(Str::walk_tile, s.tile.row, s.tile.col, k.row_tiles(), k.col_tiles());
            if (k.matmul) where += "  " + say(Str::walk_k, std::min(s.k + 1, k.k_steps()), k.k_steps());
            hint(where);
        } else {
            hint(tr(Str::walk_start));
        }
        const float needed = static_cast<float>(all.size()) * (c.line() + em(0.7f) + ImGui::GetStyle().ItemSpacing.y) +
                             c.line() + em(1) +
                             static_cast<float>(all.size() - 1) * (c.link_height() + ImGui::GetStyle().ItemSpacing.y);
        c.spare =
            std::clamp((ImGui::GetContentRegionAvail().y - needed) / static_cast<float>(all.size() - 1), 0.0f, em(6));
        for (std::size_t i = 0; i < all.size(); ++i) {
            c.stage(all[i]);
            if (i + 1 < all.size()) c.link(all[i], i == 0);
        }
    }
    ImGui::EndChild();
    draw_transport(lab);
}

Sheet hierarchy_sheet(Lab& lab) {
    const Analysis* a = lab.analysis();
    if (!a) return {};
    Sheet sheet = {{"level", "name", "read_bytes", "write_bytes"}};
    for (const Stage& st : stages(lab, *a)) {
        const sim::Flow f = a->report.traffic.at(st.level).total();
        if (f.any())
            sheet.push_back({std::string(sim::to_string(st.level)), st.name, std::to_string(f.read_bytes),
                             std::to_string(f.write_bytes)});
    }
    return sheet;
}

}  // namespace gui
