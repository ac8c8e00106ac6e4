// FLOP/s against FLOP per DRAM byte: the machine's two roofs, and bound, predicted and measured points told apart by
// shape.

#include <imgui.h>
#include <implot.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "gui/context.hpp"
#include "gui/draw.hpp"
#include "gui/formulas.hpp"
#include "gui/lab.hpp"
#include "gui/plot.hpp"
#include "gui/views.hpp"

namespace gui {
namespace {

struct Point {
    Mark mark;
    RoofPoint at;
    std::string name, value;
    double low = 0, high = 0;  // FLOP/s, where a spread is known
};

std::vector<Point> points(Lab& lab, const Analysis& a) {
    std::vector<Point> all;
    const auto add_report = [&](const sim::Report& r, const std::string& name) {
        if (!r.predicted || r.flops == 0) return;
        const double bytes = static_cast<double>(std::max<sim::i64>(1, r.dram_range.expected_bytes));
        all.push_back({predicted_mark(r.predicted->validated),
                       roof_point(static_cast<double>(r.flops), bytes, r.predicted->time_us), name,
                       sim::format_us(r.predicted->time_us)});
    };
    const double flops = static_cast<double>(a.report.flops);
    all.push_back({Mark::bound,
                   roof_point(flops, static_cast<double>(std::max<sim::i64>(1, a.report.bound.dram_bytes)),
                              a.report.bound.time_us),
                   tr(Str::bound), sim::format_us(a.report.bound.time_us)});
    for (const auto& v : a.variants) add_report(v.report, std::string(sim::to_string(v.fusion)));
    if (a.baseline) add_report(*a.baseline, tr(Str::baseline));
    if (const MeasuredRow* m = lab.measured.of(lab.document.experiment())) {
        const double bytes =
            m->row.dram_bytes.value_or(static_cast<double>(std::max<sim::i64>(1, a.report.dram_range.expected_bytes)));
        Point p{Mark::measured, roof_point(flops, bytes, *m->row.time_us), tr(Str::measured),
                sim::format_us(*m->row.time_us)};
        if (m->row.min_us && m->row.max_us) {
            p.low = roof_point(flops, bytes, *m->row.max_us).rate;
            p.high = roof_point(flops, bytes, *m->row.min_us).rate;
        }
        all.push_back(p);
    }
    // Where no tile is known there is no work to count yet, and zero has no place on a logarithmic axis.
    std::erase_if(all, [](const Point& p) {
        return !(p.at.intensity > 0 && p.at.rate > 0 && std::isfinite(p.at.intensity) && std::isfinite(p.at.rate));
    });
    return all;
}

void draw_points(const std::vector<Point>& all, Labels& labels) {
    ImDrawList& list = *ImPlot::GetPlotDrawList();
    const float radius = em(0.42f);
    for (const Point& p : all) {
        const ImVec2 at = ImPlot::PlotToPixels(p.at.intensity, p.at.rate);
        if (p.high > 0) {
            const float y0 = ImPlot::PlotToPixels(p.at.intensity, p.high).y,
                        y1 = ImPlot::PlotToPixels(p.at.intensity, p.low).y;
            list.AddLine({at.x, y0}, {at.x, y1}, colour_of(p.mark), 2);
        }
        draw_mark(list, at, radius, p.mark);
        labels.keep_clear({{at.x - radius, at.y - radius}, {at.x + radius, at.y + radius}});
    }
    for (const Point& p : all)
        labels.place(ImPlot::PlotToPixels(p.at.intensity, p.at.rate), radius, p.name + "  " + p.value, colours().text);
}

/// The point under the mouse says where it lies; a click, how that was computed.
void touch_points(Lab& lab, const std::vector<Point>& all) {
    if (!ImPlot::IsPlotHovered()) return;
    const ImVec2 mouse = ImGui::GetIO().MousePos;
    for (auto p = all.rbegin(); p != all.rend(); ++p) {  // the last is on top
        const ImVec2 at = ImPlot::PlotToPixels(p->at.intensity, p->at.rate);
        if (std::hypot(at.x - mouse.x, at.y - mouse.y) > em(0.6f)) continue;
        ImGui::SetMouseCursor(ImGuiMouseCursor_Hand);
        ImGui::SetTooltip("%s", fmt::format("{}  {}\n{}  {:.3g}\n{}  {}", p->name, p->value, tr(Str::axis_intensity),
                                            p->at.intensity, tr(Str::axis_rate), sim::format_flops(p->at.rate))
                                    .c_str());
        if (ImGui::IsMouseClicked(0)) {
            lab.formula = p->mark == Mark::bound ? sim::Formula::bound_time : sim::Formula::intensity;
            lab.show_formulas = true;
        }
        return;
    }
}

}  // namespace

void draw_roofline(Lab& lab) {
    const Analysis* a = lab.analysis();
    if (!a) {
        hint(tr(Str::computing));
        return;
    }
    const sim::Device& d = lab.document.device();
    const double peak = d.peak_flops(a->report.experiment.dense.dtype);
    const double spec = d.dram.bandwidth_spec.or_else(d.dram.bandwidth.or_else(0));
    // The bound grants the highest clock, of which a datasheet's peak knows nothing.
    const double granted = roof_point(static_cast<double>(a->report.flops), 1, a->report.bound.math_us).rate;
    const bool higher = std::isfinite(granted) && granted > 1.001 * peak;
    const std::vector<Point> all = points(lab, *a);
    if (!(peak > 0) || !(spec > 0)) {
        hint(tr(Str::no_roof));
        return;
    }
    mark_chip(Mark::bound, tr(Str::bound));
    for (const auto& [mark, name] : {std::pair{Mark::predicted, Str::predicted},
                                     {Mark::unvalidated, Str::unvalidated},
                                     {Mark::measured, Str::measured}}) {
        same_line_if_room(chip_width(tr(name)));
        mark_chip(mark, tr(name));
    }

    double x0 = peak / spec, x1 = x0, y0 = peak, y1 = peak;
    for (const Point& p : all) {
        x0 = std::min(x0, p.at.intensity);
        x1 = std::max(x1, p.at.intensity);
        y0 = std::min(y0, p.at.rate);
        y1 = std::max(y1, p.at.rate);
    }
    const ImPlotFlags flags =
        ImPlotFlags_NoLegend | ImPlotFlags_NoMouseText | ImPlotFlags_NoTitle | ImPlotFlags_NoMenus;
    ImVec2 room = ImGui::GetContentRegionAvail();  // the last tick's label reaches beyond the axis
    room.y = std::max(room.y, em(12));
    ImGui::PushStyleVar(ImGuiStyleVar_FrameBorderSize, 0);
    const bool begun = ImPlot::BeginPlot("##roofline", {room.x - em(1.2f), room.y}, flags);
    if (!begun) return ImGui::PopStyleVar();
    ImPlot::SetupAxes(tr(Str::axis_intensity), tr(Str::axis_rate));
    ImPlot::SetupAxisScale(ImAxis_X1, ImPlotScale_Log10);
    ImPlot::SetupAxisScale(ImAxis_Y1, ImPlotScale_Log10);
    // A new scene or point gets a view of all points; a person's own pan and zoom stays until then.
    static ImPlotRect view;
    static ImGuiID shown = 0;
    const std::string what =
        fmt::format("{} {}", sim::to_string(a->report.experiment, *lab.document.devices()), all.size());
    const ImGuiID scene = ImGui::GetID(what.c_str());
    if (shown != scene) view = ImPlotRect(x0 / 3, x1 * 4, y0 / 4, y1 * 2.5);
    ImPlot::SetupAxesLimits(view.X.Min, view.X.Max, view.Y.Min, view.Y.Max,
                            shown == scene ? ImPlotCond_Once : ImPlotCond_Always);
    shown = scene;
    const float line_height = ImGui::GetTextLineHeight();
    Ticks(view.X.Min, view.X.Max, room.x - em(8), em(3.4f), [](double v) {
        return fmt::format("{:g}", v);
    }).setup(ImAxis_X1);
    Ticks(view.Y.Min, view.Y.Max, room.y - em(3), line_height * 1.3f, [](double v) {
        return sim::format_flops(v);
    }).setup(ImAxis_Y1);
    view = ImPlot::GetPlotLimits();
    const ImVec2 low = ImPlot::GetPlotPos(), size = ImPlot::GetPlotSize(), high{low.x + size.x, low.y + size.y};

    const auto roof = [&](const char* id, double bandwidth, double flat, float weight, float alpha) {
        const double xs[] = {view.X.Min, flat / bandwidth, std::max(view.X.Max, flat / bandwidth)};
        const double ys[] = {view.X.Min * bandwidth, flat, flat};
        ImPlotSpec line;
        line.LineColor = ImGui::ColorConvertU32ToFloat4(with_alpha(colours().text, alpha));
        line.LineWeight = weight;
        ImPlot::PlotLine(id, xs, ys, 3, line);
    };
    roof("##spec", spec, peak, 2, 0.9f);
    if (d.dram.bandwidth.known() && d.dram.bandwidth.value != spec)
        roof("##measured", d.dram.bandwidth.value, peak, 1.2f, 0.45f);
    if (higher) roof("##granted", spec, granted, 1.2f, 0.45f);

    ImDrawList& list = *ImPlot::GetPlotDrawList();
    ImPlot::PushPlotClipRect();
    Labels labels(list, {low, high});
    const ImVec2 knee = ImPlot::PlotToPixels(peak / spec, peak),
                 foot = ImPlot::PlotToPixels(view.X.Min, view.X.Min * spec);
    labels.keep_clear_of_line(foot, knee);
    labels.keep_clear_of_line(knee, {std::max(high.x, knee.x), knee.y});
    const float top = higher ? ImPlot::PlotToPixels(granted / spec, granted).y : knee.y;
    if (higher) labels.keep_clear_of_line({knee.x, top}, {std::max(high.x, knee.x), top});
    draw_points(all, labels);
    // Above a roof nothing can be, so that is where its name goes; below it where a point's label took that place.
    const float line = ImGui::GetTextLineHeight(), gap = em(0.5f);
    const auto width_of = [](const std::string& text) { return ImGui::CalcTextSize(text.c_str()).x; };
    std::string flat = say(Str::roof_math, sim::format_flops(peak), sim::to_string(a->report.experiment.dense.dtype));
    if (higher)
        if (const std::string both = say(Str::roof_clock, flat, sim::format_flops(granted));
            width_of(both) < 0.7f * (high.x - std::max(low.x, knee.x)))
            flat = both;
    std::vector<ImVec2> corners;
    for (const float y :
         {top - 1.3f * line, top - 2.4f * line, top - 3.5f * line, knee.y + 0.3f * line, knee.y + 1.4f * line})
        for (float x = high.x - width_of(flat) - gap; x > std::max(low.x, knee.x - gap); x -= em(1))
            corners.push_back({x, y});
    labels.place_at(corners, flat, colours().dim);
    const std::string slope = say(Str::roof_dram, d.dram.display, sim::format_bandwidth(spec));
    corners.clear();
    for (const float share : {0.5f, 0.4f, 0.6f, 0.3f, 0.7f, 0.2f, 0.8f, 0.1f, 0.9f}) {
        const ImVec2 on{knee.x + (foot.x - knee.x) * share, knee.y + (foot.y - knee.y) * share};
        corners.push_back({on.x - width_of(slope) - gap, on.y - line});
    }
    for (const float y : {knee.y - 1.3f * line, knee.y - 2.4f * line}) corners.push_back({low.x + gap, y});
    for (float x = std::max(low.x, knee.x) + gap; x < high.x; x += em(1))
        corners.push_back({x, std::min(foot.y, high.y) - 1.5f * line});
    labels.place_at(corners, slope, colours().dim);
    ImPlot::PopPlotClipRect();
    touch_points(lab, all);
    ImPlot::EndPlot();
    ImGui::PopStyleVar();  // the frame is drawn late
}

Sheet roofline_sheet(Lab& lab) {
    const Analysis* a = lab.analysis();
    if (!a) return {};
    Sheet sheet = {{"kind", "name", "flop_per_dram_byte", "flop_per_second", "time"}};
    for (const Point& p : points(lab, *a)) {
        const char* kind = p.mark == Mark::bound ? "bound" : p.mark == Mark::measured ? "measured" : "predicted";
        sheet.push_back(
            {kind, p.name, fmt::format("{:.6g}", p.at.intensity), fmt::format("{:.6g}", p.at.rate), p.value});
    }
    return sheet;
}

}  // namespace gui
