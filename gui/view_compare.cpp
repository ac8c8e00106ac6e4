// The scene beside its pinned baseline: every number with its difference, and the time between them in steps that add
// up.

#include <imgui.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "gui/context.hpp"
#include "gui/draw.hpp"
#include "gui/formulas.hpp"
#include "gui/lab.hpp"
#include "gui/terms.hpp"
#include "gui/views.hpp"
#include "sim/time_steps.hpp"

namespace gui {
namespace {

struct Quantity {
    std::string name;
    double before = 0, now = 0;
    std::string (*write)(double);
    sim::Formula::Number formula;  // how it came about
};

std::string plain(double v) { return fmt::format("{:.3g}", v); }

std::vector<Quantity> quantities(const Lab& lab, const sim::Report& a, const sim::Report& b) {
    std::vector<Quantity> out;
    using sim::Formula;
    const auto add = [&](std::string name, double before, double now, std::string (*write)(double),
                         Formula::Number formula) {
        if (before != 0 || now != 0) out.push_back({std::move(name), before, now, write, formula});
    };
    const auto number = [](sim::i64 v) { return static_cast<double>(v); };
    add(tr(Str::formula_bound_time), a.bound.time_us, b.bound.time_us, sim::format_us, Formula::bound_time);
    add(tr(Str::formula_bound_bytes), number(a.bound.dram_bytes), number(b.bound.dram_bytes), sim::format_bytes,
        Formula::bound_bytes);
    if (a.predicted && b.predicted)
        add(tr(Str::formula_predicted_time), a.predicted->time_us, b.predicted->time_us, sim::format_us,
            Formula::predicted_time);
    const sim::Device& d = lab.document.device();
    const std::pair<sim::Level, std::string> levels[] = {{sim::Level::dram, d.dram.display},
                                                         {sim::Level::l2, d.l2.display},
                                                         {sim::Level::l1, d.l1.display},
                                                         {sim::Level::sram, d.sram.display}};
    for (const auto& [level, name] : levels) {
        const sim::Flow before = a.traffic.at(level).total(), now = b.traffic.at(level).total();
        const Formula::Number formula = level == sim::Level::dram ? Formula::dram_bytes
                                        : level == sim::Level::l2 ? Formula::l2_bytes
                                                                  : Formula::sram_bytes;
        add(name + " " + tr(Str::read), number(before.read_bytes), number(now.read_bytes), sim::format_bytes, formula);
        add(name + " " + tr(Str::operand_written), number(before.write_bytes), number(now.write_bytes),
            sim::format_bytes, formula);
    }
    if (a.predicted && b.predicted)
        add(tr(Str::waves), a.predicted->waves.value_or(0), b.predicted->waves.value_or(0), plain, Formula::waves);
    return out;
}

/// Differences below this share are noise.
float& threshold() {
    static float share = 0.01f;
    return share;
}
bool same(double before, double now) {
    return std::abs(now - before) <= threshold() * std::max(std::abs(before), std::abs(now));
}

std::string difference(const Quantity& q) {
    if (same(q.before, q.now)) return tr(Str::same);
    return (q.now < q.before ? "−" : "+") + q.write(std::abs(q.now - q.before));
}
std::string share(const Quantity& q) {
    if (q.before == 0) return "";
    if (same(q.before, q.now)) return "0";
    return fmt::format("{}{:.1f} %", q.now < q.before ? "−" : "+", 100 * std::abs(q.now - q.before) / q.before);
}

void table(Lab& lab, const std::vector<Quantity>& all) {
    const ImGuiTableFlags flags =
        ImGuiTableFlags_RowBg | ImGuiTableFlags_BordersInnerH | ImGuiTableFlags_SizingStretchProp;
    const float width = std::min(ImGui::GetContentRegionAvail().x, em(56));
    if (!ImGui::BeginTable("numbers", 5, flags, {width, 0})) return;
    const std::array heads = {"", tr(Str::baseline), tr(Str::now), tr(Str::difference), "%"};
    ImGui::TableSetupColumn("name", 0, 1.5f);
    for (int i = 1; i < 5; ++i) ImGui::TableSetupColumn(heads[static_cast<std::size_t>(i)], 0, 1);
    ImGui::TableNextRow(ImGuiTableRowFlags_Headers);
    const auto cell = [](const std::string& text, ImU32 colour) {
        ImGui::TableNextColumn();
        const std::string shown = shortened(text, ImGui::GetContentRegionAvail().x);
        if (ImGui::TableGetColumnIndex() == 0) {
            ImGui::PushStyleColor(ImGuiCol_Text, colour);
            ImGui::TextUnformatted(shown.c_str());
            ImGui::PopStyleColor();
        } else {
            text_right(shown, colour);
        }
        if (shown != text) tip(text);
    };
    const Palette& p = colours();
    for (const char* h : heads) cell(h, p.dim);
    for (std::size_t i = 0; i < all.size(); ++i) {
        const Quantity& q = all[i];
        ImGui::TableNextRow();
        ImGui::PushID(static_cast<int>(i));
        const bool noise = same(q.before, q.now);
        cell(q.name, p.text);
        copyable(fmt::format("{}\t{}\t{}\t{}", q.name, q.write(q.before), q.write(q.now), difference(q)), "row");
        cell(q.write(q.before), p.dim);
        cell(q.write(q.now), p.text);
        asks_formula(lab, q.formula);
        const ImU32 tone = noise ? p.dim : q.now < q.before ? p.accent : p.warn;
        cell(difference(q), tone);
        cell(share(q), tone);
        ImGui::PopID();
    }
    ImGui::EndTable();
}

/// The steps rounded so that what is printed adds up.
struct Steps {
    std::vector<sim::TimeStep> steps;
    std::vector<double> printed;
    double from = 0, to = 0;
    bool ms = false, from_validated = false, to_validated = false;

    Steps(const sim::Prediction& a, const sim::Prediction& b)
        : steps(sim::time_steps(a, b)), from_validated(a.validated), to_validated(b.validated) {
        ms = std::max(a.time_us, b.time_us) >= 1000;
        const double unit = ms ? 1 : 0.001;
        from = std::round(a.time_us / unit) * unit;
        to = std::round(b.time_us / unit) * unit;
        printed = sim::rounded_to_sum(steps, to - from, unit);
    }
    std::string text(double us, bool sign) const {
        const std::string number = fmt::format("{:.3f} {}", std::abs(us) / (ms ? 1000 : 1), ms ? "ms" : "µs");
        return sign ? (us < 0 ? "−" : "+") + number : number;
    }
};

/// From the baseline's time to this one's, a bar a step, each starting where the one before ended.
void waterfall(Lab& lab, const Steps& w) {
    const float line = ImGui::GetTextLineHeight(), height = line + em(0.3f), width = ImGui::GetContentRegionAvail().x;
    float names = std::max(ImGui::CalcTextSize(tr(Str::baseline)).x, ImGui::CalcTextSize(tr(Str::now)).x);
    for (const sim::TimeStep& s : w.steps) names = std::max(names, ImGui::CalcTextSize(step_name(s.name).c_str()).x);
    names = std::min(names + em(0.6f), width * 0.42f);
    const float value = ImGui::CalcTextSize("+888.888 ms").x + em(0.4f);
    double low = std::min(w.from, w.to), high = std::max(w.from, w.to), at = w.from;
    for (double d : w.printed) at += d, low = std::min(low, at), high = std::max(high, at);
    // The axis starts at 0 unless that would squeeze the steps to nothing.
    const double begin = high - low < 0.1 * high ? low - 0.15 * (high - low) : 0;
    const double full = std::max(1e-9, high - begin);
    const float bars = std::max(em(2), width - names - value);
    ImDrawList& list = *ImGui::GetWindowDrawList();
    const Palette& p = colours();
    const auto x_of = [&](float left, double us) {
        return left + names + bars * static_cast<float>((us - begin) / full);
    };
    const auto row = [&](const std::string& name, double from, double to, ImU32 colour, const std::string& text,
                         const std::string& why, bool strong, bool hollow) {
        const ImVec2 c = ImGui::GetCursorScreenPos();
        const float y0 = c.y + em(0.15f), y1 = c.y + height - em(0.15f);
        if (strong) ImGui::PushFont(bold(), 0);
        draw_text(list, c, {c.x + names - em(0.4f), c.y + height}, p.text, name);
        draw_text(list, {c.x + width - value, c.y}, {c.x + width, c.y + height}, p.text, text, {1, 0.5f});
        if (strong) ImGui::PopFont();
        const float a = x_of(c.x, std::min(from, to)), b = std::max(a + 1.5f, x_of(c.x, std::max(from, to)));
        if (hollow)
            list.AddRect({a, y0}, {b, y1}, colour, 0, 0, std::max(1.5f, em(0.1f)));
        else
            list.AddRectFilled({a, y0}, {b, y1}, colour);
        if (!strong) list.AddLine({x_of(c.x, to), y1}, {x_of(c.x, to), y1 + em(0.3f)}, p.dim);
        ImGui::InvisibleButton(("##" + name).c_str(), {width, height}, ImGuiButtonFlags_EnableNav);
        copyable(name + "\t" + text, ("copy" + name).c_str());
        asks_formula(lab, sim::Formula::predicted_time);
        if (!why.empty()) tip(name + "\n" + why);
    };
    ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, {ImGui::GetStyle().ItemSpacing.x, 0});
    row(tr(Str::baseline), begin, w.from, p.grey, w.text(w.from, false), {}, true, !w.from_validated);
    at = w.from;
    for (std::size_t i = 0; i < w.steps.size(); ++i) {
        const double d = w.printed[i];
        const std::string& step = w.steps[i].name;
        row(step_name(step), at, at + d, d <= 0 ? p.blue : p.orange, w.text(d, true), term_meaning(term_of(step)),
            false, false);
        at += d;
    }
    row(tr(Str::now), begin, w.to, colour_of(Mark::predicted), w.text(w.to, false), {}, true, !w.to_validated);
    ImGui::PopStyleVar();
}

}  // namespace

void draw_compare(Lab& lab) {
    const auto& baseline = lab.document.scene().baseline;
    if (!baseline) {
        hint(tr(Str::compare_none));
        ImGui::Spacing();
        if (primary_button(tr(Str::pin_baseline), "pin")) lab.document.set_baseline(lab.document.experiment());
        return;
    }
    const Analysis* a = lab.analysis();
    if (!a || !a->baseline) return hint(tr(Str::computing));
    const std::string line = sim::to_string(*baseline, *lab.document.devices());
    const float width = ImGui::GetContentRegionAvail().x;
    hint(std::string(tr(Str::baseline)) + ": " + line);
    copyable(line, "##baseline");
    if (ImGui::Button(label(Str::pin_baseline))) lab.document.set_baseline(lab.document.experiment());
    const auto next = [&](Str s) {
        ImGui::SameLine();
        const float need = ImGui::CalcTextSize(tr(s)).x + 2 * ImGui::GetStyle().FramePadding.x;
        if (ImGui::GetContentRegionAvail().x < need) ImGui::NewLine();
        return ImGui::Button(label(s));
    };
    if (next(Str::swap_baseline)) lab.swap_baseline();
    if (next(Str::drop_baseline)) {
        lab.document.set_baseline({});
        return;
    }
    ImGui::SetNextItemWidth(std::min(em(9), width * 0.5f));
    float percent = threshold() * 100;
    if (ImGui::SliderFloat("##noise", &percent, 0, 10, "%.1f %%", ImGuiSliderFlags_AlwaysClamp))
        threshold() = percent / 100;
    tip(tr(Str::noise_tip));
    ImGui::SameLine();
    hint(tr(Str::noise));
    table(lab, quantities(lab, *a->baseline, a->report));
    if (!a->baseline->predicted || !a->report.predicted) return hint(tr(Str::no_steps));
    ImGui::SeparatorText(tr(Str::where_time_goes));
    predicted_chip(a->report.predicted->validated);
    const Steps steps(*a->baseline->predicted, a->report.predicted.value());
    if (same(steps.from, steps.to)) hint(tr(Str::same_time));
    waterfall(lab, steps);
}

Sheet compare_sheet(Lab& lab) {
    const Analysis* a = lab.analysis();
    if (!a || !a->baseline) return {};
    Sheet sheet = {{"quantity", "baseline", "now", "difference"}};
    const auto number = [](double v) { return fmt::format("{:.10g}", v); };
    for (const Quantity& q : quantities(lab, *a->baseline, a->report))
        sheet.push_back({q.name, number(q.before), number(q.now), number(q.now - q.before)});
    if (a->baseline->predicted && a->report.predicted)
        for (const sim::TimeStep& s : sim::time_steps(*a->baseline->predicted, *a->report.predicted))
            sheet.push_back({"step " + s.name, "", "", number(s.time_us)});
    return sheet;
}

}  // namespace gui
