// Bytes by memory level and operand: this fusion against the others, with the bound that no kernel can go below.

#include <imgui.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "gui/context.hpp"
#include "gui/draw.hpp"
#include "gui/formulas.hpp"
#include "gui/lab.hpp"
#include "gui/terms.hpp"
#include "gui/views.hpp"
#include "sim/energy.hpp"

namespace gui {
namespace {

using sim::i64;
using sim::Level;
using sim::Operand;

std::string display_name(const sim::Device& d, Level level) {
    switch (level) {
        case Level::dram: return d.dram.display;
        case Level::l2: return d.l2.display;
        case Level::l1: return d.l1.display;
        case Level::sram: return d.sram.display;
        case Level::registers: break;
    }
    return tr(Str::registers);
}

std::string bytes(i64 b) { return sim::format_bytes(static_cast<double>(b)); }

/// What a segment of a bar is made of.
std::string explain(Operand operand, const sim::Flow& f) {
    std::string text = say(Str::flow_tip, symbol(operand), bytes(f.read_bytes), bytes(f.write_bytes));
    const auto cause = [&](Str name, i64 b) {
        if (b > 0) text += "\n  " + std::string(tr(name)) + "  " + bytes(b);
    };
    cause(Str::cause_compulsory, f.causes.compulsory);
    cause(Str::cause_capacity, f.causes.capacity);
    cause(Str::cause_order, f.causes.order);
    cause(Str::cause_padding, f.causes.padding);
    cause(Str::cause_write, f.causes.write);
    return text;
}

/// A bar of one report at one level: a segment an operand, from the left, on a scale where `full` bytes are `width`.
void bar(Lab& lab, const sim::LevelTraffic& t, ImVec2 at, float width, float height, double full, double rule_at,
         bool strong) {
    ImDrawList& list = *ImGui::GetWindowDrawList();
    list.AddRectFilled(at, {at.x + width, at.y + height}, colours().raised);
    float x = at.x;
    for (int i = 0; i < sim::operand_count; ++i) {
        const auto operand = static_cast<Operand>(i);
        const sim::Flow& f = t.of(operand);
        if (!f.any()) continue;
        const float w = static_cast<float>(static_cast<double>(f.bytes()) / full) * width;
        const ImVec2 low{x, at.y}, high{x + std::max(w, 1.0f), at.y + height};
        draw_operand(list, low, high, operand, lab.strength(operand) * (strong ? 1.0f : 0.6f));
        if (w > 1.5f) list.AddLine({high.x, low.y}, high, colours().panel, 1.5f);
        const std::string text = fmt::format("{} {}", symbol(operand), bytes(f.bytes()));
        const float pad = em(0.3f);
        // A label stands clear of the bound's line.
        const float words = ImGui::CalcTextSize(text.c_str()).x + 2 * pad;
        const float line_x = at.x + width * static_cast<float>(rule_at / full);
        const float from = line_x > low.x && line_x < low.x + words ? line_x : low.x;
        const ImU32 fill = mix(colours().panel, colour_of(operand), lab.strength(operand) * (strong ? 1.0f : 0.6f));
        const bool plain = !is_hatched(operand);
        if (plain && words < high.x - from)
            draw_text(list, {from + pad, low.y}, {high.x - pad, high.y}, ink_on(fill), text);
        else if (plain && ImGui::CalcTextSize(symbol(operand).data()).x + 2 * pad < w)
            draw_text(list, {low.x + pad, low.y}, {high.x - pad, high.y}, ink_on(fill), symbol(operand));
        if (ImGui::IsMouseHoveringRect(low, high) && ImGui::IsWindowHovered()) {
            lab.light(operand);
            ImGui::SetTooltip("%s", explain(operand, f).c_str());
        }
        x += w;
    }
}

/// A line through the bars with its mark on top.
void rule(float x, float top, float bottom, Mark mark) {
    ImDrawList& list = *ImGui::GetWindowDrawList();
    list.AddLine({x, top}, {x, bottom}, colours().panel, 4);
    list.AddLine({x, top}, {x, bottom}, colour_of(mark), 2);
    draw_mark(list, {x, top}, em(0.32f), mark);
}

void level_rows(Lab& lab, const Analysis& a, Level level, double full, float name_width, float value_width) {
    const sim::Device& device = lab.document.device();
    const float height = ImGui::GetTextLineHeight() + em(0.35f), gap = em(0.3f);
    const float left = ImGui::GetCursorScreenPos().x;
    const float width = std::max(em(4), ImGui::GetContentRegionAvail().x - name_width - value_width);
    const float top = ImGui::GetCursorScreenPos().y;
    ImDrawList& list = *ImGui::GetWindowDrawList();
    const sim::Formula::Number formula = level == Level::dram ? sim::Formula::dram_bytes
                                         : level == Level::l2 ? sim::Formula::l2_bytes
                                                              : sim::Formula::sram_bytes;
    heading(display_name(device, level).c_str());
    tip(tr(level == Level::dram ? Str::dram_tip : level == Level::l2 ? Str::l2_tip : Str::sram_tip));
    asks_formula(lab, formula);
    const float first = ImGui::GetCursorScreenPos().y;
    const i64 bound = level == Level::dram ? a.report.bound.dram_bytes
                      : level == Level::l2 ? a.report.bound.l2_bytes
                                           : 0;
    for (std::size_t i = 0; i < a.variants.size(); ++i) {
        const sim::LevelTraffic& t = a.variants[i].report.traffic.at(level);
        if (!t.present) continue;
        const ImVec2 at = ImGui::GetCursorScreenPos();
        const std::string name(sim::to_string(a.variants[i].fusion));
        const bool own = i == 0;
        if (own) ImGui::PushFont(bold(), 0);
        draw_text(list, at, {at.x + name_width - em(0.5f), at.y + height}, own ? colours().text : colours().dim, name);
        if (own) ImGui::PopFont();
        bar(lab, t, {left + name_width, at.y}, width, height, full, static_cast<double>(bound), own);
        const std::string total = bytes(t.total().bytes());
        draw_text(list, {left + name_width + width + em(0.5f), at.y},
                  {left + name_width + width + value_width, at.y + height}, own ? colours().text : colours().dim,
                  total);
        ImGui::Dummy({name_width + width + value_width, height});
        copyable(total, name.c_str());
        if (own) asks_formula(lab, formula);
        ImGui::SetCursorScreenPos({left, at.y + height + gap});
    }
    const float bottom = ImGui::GetCursorScreenPos().y - gap;
    const auto x_of = [&](double b) { return left + name_width + width * static_cast<float>(b / full); };
    if (bound > 0) {
        rule(x_of(static_cast<double>(bound)), first - em(0.35f), bottom, Mark::bound);
        const std::string text = say(Str::bound_at, bytes(bound));
        const float room = ImGui::CalcTextSize(text.c_str()).x;
        const float x =
            std::min(x_of(static_cast<double>(bound)) + em(0.5f), left + name_width + width + value_width - room);
        draw_text(list, {x, top}, {x + room + 1, top + ImGui::GetTextLineHeight()}, colours().dim, text);
    }
    if (level == Level::dram) {
        const sim::DramRange& range = a.report.dram_range;
        if (range.staggered_bytes > range.lockstep_bytes && range.lockstep_bytes > 0) {
            hint(say(Str::dram_range, bytes(range.lockstep_bytes), bytes(range.expected_bytes),
                     bytes(range.staggered_bytes)));
            tip(tr(Str::dram_range_tip));
            const float y = first + height / 2, x0 = x_of(static_cast<double>(range.lockstep_bytes)),
                        x1 = std::min(x_of(static_cast<double>(range.staggered_bytes)), left + name_width + width);
            list.AddLine({x0, y}, {x1, y}, colours().text, 2);
            draw_mark(list, {x_of(static_cast<double>(range.expected_bytes)), y}, em(0.28f),
                      predicted_mark(a.report.predicted && a.report.predicted->validated));
        }
        const MeasuredRow* m = lab.measured.of(lab.document.experiment());
        if (m && m->row.dram_bytes)
            draw_mark(list, {x_of(*m->row.dram_bytes), first + height / 2}, em(0.34f), Mark::measured);
    }
    ImGui::Dummy({0, em(0.15f)});
}

/// A column of the table of causes.
struct Column {
    Str name;
    i64 (*of)(const sim::Flow&);
};
constexpr std::array columns = {
    Column{Str::read, [](const sim::Flow& f) { return f.read_bytes; }},
    Column{Str::operand_written, [](const sim::Flow& f) { return f.write_bytes; }},
    Column{Str::cause_compulsory, [](const sim::Flow& f) { return f.causes.compulsory; }},
    Column{Str::cause_capacity, [](const sim::Flow& f) { return f.causes.capacity; }},
    Column{Str::cause_order, [](const sim::Flow& f) { return f.causes.order; }},
    Column{Str::cause_padding, [](const sim::Flow& f) { return f.causes.padding; }},
    Column{Str::cause_write, [](const sim::Flow& f) { return f.causes.write; }},
};

/// Read, written and why, an operand a row; columns that would be empty are left out.
void causes_table(Lab& lab, const sim::LevelTraffic& t) {
    const sim::Flow total = t.total();
    std::vector<const Column*> shown;
    for (const Column& c : columns)
        if (c.of(total) != 0) shown.push_back(&c);
    const ImGuiTableFlags flags =
        ImGuiTableFlags_RowBg | ImGuiTableFlags_SizingStretchSame | ImGuiTableFlags_BordersInnerH;
    const float width = std::min(ImGui::GetContentRegionAvail().x, em(8) * static_cast<float>(shown.size() + 1));
    if (!ImGui::BeginTable("causes", static_cast<int>(shown.size()) + 1, flags, {width, 0})) return;
    ImGui::TableNextRow(ImGuiTableRowFlags_Headers);
    ImGui::TableNextColumn();
    ImGui::TextDisabled("%s", shortened(tr(Str::operand), ImGui::GetContentRegionAvail().x).c_str());
    tip(tr(Str::operand));
    for (const Column* c : shown) {
        ImGui::TableNextColumn();
        text_right(shortened(tr(c->name), ImGui::GetContentRegionAvail().x), colours().dim);
        tip(tr(c->name));
    }
    for (int i = 0; i < sim::operand_count; ++i) {
        const sim::Flow& f = t.operands[static_cast<std::size_t>(i)];
        if (!f.any()) continue;
        ImGui::TableNextRow();
        ImGui::TableNextColumn();
        const auto operand = static_cast<Operand>(i);
        if (lab.lit() == operand) ImGui::TableSetBgColor(ImGuiTableBgTarget_RowBg1, colours().hover);
        if (operand_chip(operand, lab.lit() == operand)) lab.light(operand);
        for (const Column* c : shown) {
            ImGui::TableNextColumn();
            const i64 b = c->of(f);
            text_right(b == 0 ? "–" : shortened(bytes(b), ImGui::GetContentRegionAvail().x), colours().text);
        }
    }
    ImGui::EndTable();
}

/// A bar a term from the low to the high end, hollow because nothing of it was measured, on one logarithmic scale.
void energy_rows(Lab& lab, const sim::Report& r) {
    const sim::Device& d = lab.document.device();
    const sim::Energy e = sim::energy(r, d);
    struct Row {
        std::string name;
        sim::Span joules;
        std::string each;
    };
    std::vector<Row> rows;
    for (const sim::EnergyTerm& t : e.all.terms) {
        std::string name = term_name(t.name);
        for (const Level l : {Level::sram, Level::l1, Level::l2, Level::dram})
            if (sim::to_string(l) == t.name) name = display_name(d, l);
        rows.push_back({name, t.joules(), sim::format_each(t, "–")});
    }
    rows.push_back(
        {tr(Str::energy_all), e.all.joules, e.all.capped ? say(Str::energy_capped, e.limit_watts) : std::string()});
    double low = e.all.joules.high, high = e.all.joules.high;
    float names = 0, values = 0, eaches = 0;
    for (const Row& row : rows) {
        low = std::min(low, row.joules.low);
        names = std::max(names, ImGui::CalcTextSize(row.name.c_str()).x);
        values = std::max(values, ImGui::CalcTextSize(sim::format_joules(row.joules, "–").c_str()).x);
        eaches = std::max(eaches, ImGui::CalcTextSize(row.each.c_str()).x);
    }
    const float gap = em(0.8f), height = ImGui::GetTextLineHeight() + em(0.35f),
                width = ImGui::GetContentRegionAvail().x;
    ImGui::PushFont(bold(), 0);  // as the last row is
    names = std::max(names, ImGui::CalcTextSize(rows.back().name.c_str()).x + 1);
    values = std::max(values, ImGui::CalcTextSize(sim::format_joules(rows.back().joules, "–").c_str()).x + 1);
    ImGui::PopFont();
    names = std::min(names, width * 0.3f);
    if (width - names - values - eaches - 3 * gap < em(6)) eaches = -gap;
    const float bars = std::max(em(1), width - names - values - eaches - 3 * gap);
    ImDrawList& list = *ImGui::GetWindowDrawList();
    for (const Row& row : rows) {
        const bool whole = &row == &rows.back();
        const ImVec2 at = ImGui::GetCursorScreenPos();
        const float bottom = at.y + height;
        if (whole) ImGui::PushFont(bold(), 0);
        float x = at.x;
        draw_text(list, at, {x + names, bottom}, whole ? colours().text : colours().dim, row.name);
        x += names + gap;
        const auto place = [&](double joules) {
            return x + bars * static_cast<float>(std::log(joules / low) / std::max(1e-9, std::log(high / low)));
        };
        list.AddRectFilled({x, at.y + em(0.25f)}, {x + bars, bottom - em(0.25f)}, colours().raised);
        list.AddRect({place(row.joules.low), at.y + em(0.25f)},
                     {std::max(place(row.joules.low) + em(0.2f), place(row.joules.high)), bottom - em(0.25f)},
                     colour_of(Mark::unvalidated), 0, 0, std::max(1.5f, em(0.1f)));
        x += bars + gap;
        draw_text(list, {x, at.y}, {x + values, bottom}, colours().text, sim::format_joules(row.joules, "–"),
                  {1, 0.5f});
        x += values + gap;
        if (whole) ImGui::PopFont();
        if (eaches > 0) draw_text(list, {x, at.y}, {x + eaches, bottom}, colours().dim, row.each);
        ImGui::InvisibleButton(("##energy" + row.name).c_str(), {width, height}, ImGuiButtonFlags_EnableNav);
        asks_formula(lab, sim::Formula::energy);
        copyable(row.name + "\t" + sim::format_joules(row.joules, "–"), ("copy energy" + row.name).c_str());
        tip(tr(Str::energy_tip));
    }
}

}  // namespace

void draw_traffic(Lab& lab) {
    const Analysis* a = lab.analysis();
    if (!a) {
        hint(tr(Str::computing));
        return;
    }
    if (!a->report.fit.ok()) {
        coloured(colours().error, translated(a->report.fit.why));
        hint(tr(Str::no_traffic));
        return;
    }
    constexpr std::array levels = {Level::dram, Level::l2, Level::l1, Level::sram};
    // The legend: the operands that any bar shows, and the marks.
    std::array<bool, sim::operand_count> shown{};
    for (const auto& v : a->variants)
        for (Level l : levels)
            for (int i = 0; i < sim::operand_count; ++i) shown[i] |= v.report.traffic.at(l).operands[i].any();
    bool first = true;
    for (int i = 0; i < sim::operand_count; ++i) {
        if (!shown[i]) continue;
        const auto operand = static_cast<Operand>(i);
        if (!first) same_line_if_room(chip_width(symbol(operand)));
        first = false;
        if (operand_chip(operand, lab.lit() == operand)) lab.light(operand);
    }
    same_line_if_room(chip_width(tr(Str::bound)));
    mark_chip(Mark::bound, tr(Str::bound));
    if (a->report.predicted) {
        same_line_if_room(predicted_chip_width(a->report.predicted->validated));
        predicted_chip(a->report.predicted->validated);
    }
    ImGui::Spacing();

    float name_width = 0, value_width = 0;
    for (const auto& v : a->variants)
        name_width = std::max(name_width, ImGui::CalcTextSize(sim::to_string(v.fusion).data()).x);
    name_width = name_width * 1.1f + em(1);
    value_width = ImGui::CalcTextSize("888 GB").x + em(1);
    for (Level level : levels) {
        double full = 0;
        for (const auto& v : a->variants)
            if (v.report.traffic.at(level).present)
                full = std::max(full, static_cast<double>(v.report.traffic.at(level).total().bytes()));
        if (level == Level::dram)
            full = std::max({full, static_cast<double>(a->report.bound.dram_bytes),
                             static_cast<double>(a->report.dram_range.staggered_bytes)});
        if (full > 0) level_rows(lab, *a, level, full, name_width, value_width);
    }
    ImGui::SeparatorText(say(Str::why_bytes, display_name(lab.document.device(), Level::dram),
                             sim::to_string(a->report.experiment.fusion))
                             .c_str());
    causes_table(lab, a->report.traffic.at(Level::dram));
    if (!a->report.predicted) return;
    ImGui::SeparatorText(tr(Str::energy_title));
    tip(tr(Str::energy_tip));
    energy_rows(lab, a->report);
}

Sheet traffic_sheet(Lab& lab) {
    const Analysis* a = lab.analysis();
    if (!a) return {};
    Sheet sheet = {{"fusion", "level", "operand", "read_bytes", "write_bytes", "compulsory_bytes", "capacity_bytes",
                    "order_bytes", "padding_bytes", "written_bytes"}};
    for (const auto& v : a->variants)
        for (Level level : {Level::dram, Level::l2, Level::l1, Level::sram})
            for (int i = 0; i < sim::operand_count; ++i) {
                const auto operand = static_cast<Operand>(i);
                const sim::Flow& f = v.report.traffic.at(level).of(operand);
                if (!f.any()) continue;
                std::vector<std::string> row = {std::string(sim::to_string(v.fusion)),
                                                std::string(sim::to_string(level)),
                                                std::string(sim::to_string(operand))};
                for (const Column& c : columns) row.push_back(std::to_string(c.of(f)));
                sheet.push_back(std::move(row));
            }
    return sheet;
}

}  // namespace gui
