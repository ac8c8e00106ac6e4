// DRAM bytes of the matmul against the size of its L2: per operand and raster, with the I/O bound, every device's L2
// and what was measured on the same axes.

#include <imgui.h>
#include <implot.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "gui/context.hpp"
#include "gui/draw.hpp"
#include "gui/formulas.hpp"
#include "gui/lab.hpp"
#include "gui/plot.hpp"
#include "gui/views.hpp"
#include "sim/capacity.hpp"

namespace gui {
namespace {

using sim::i64;
using sim::Operand;

struct Curve {
    std::string name;
    std::vector<double> y;
};
struct Curves {
    std::optional<sim::Capacity> capacity;
    std::vector<double> x;                                          // bytes of L2
    std::vector<Curve> rasters;                                     // all operands; the experiment's own raster first
    std::vector<std::pair<Operand, std::vector<double>>> operands;  // reads of its own raster
    std::vector<sim::MeasuredCapacity> measured;
    std::size_t here = 0;  // the scene's device among those of `capacity`
};

Curves curves(const Computations::Question& q, const Job&) {
    constexpr int samples = 240;
    constexpr double most_requests = 8e6;
    Curves out;
    sim::Experiment e = q.experiment;
    if (!sim::resolve_best(e, q.devices->at(e.device)).ok()) return out;
    out.capacity = sim::capacity(e, *q.devices, most_requests);
    if (!out.capacity) return out;
    const sim::Capacity& c = *out.capacity;
    for (std::size_t i = 0; i < c.devices.size(); ++i) {
        const auto& ids = c.devices[i].devices;
        if (std::find(ids.begin(), ids.end(), e.device) != ids.end()) out.here = i;
    }
    out.measured = sim::measured_capacity(e);
    double low = static_cast<double>(c.devices.front().bytes), high = static_cast<double>(c.devices.back().bytes);
    for (const sim::MeasuredCapacity& m : out.measured) {
        low = std::min(low, static_cast<double>(m.l2_bytes));
        high = std::max(high, static_cast<double>(m.l2_bytes));
    }
    low /= 1.5;
    high *= 2;
    for (int i = 0; i <= samples; ++i) out.x.push_back(low * std::pow(high / low, static_cast<double>(i) / samples));
    const auto sampled = [&](auto&& f) {
        std::vector<double> y;
        for (double x : out.x) y.push_back(static_cast<double>(f(static_cast<i64>(x))));
        return y;
    };
    for (const sim::RasterCurve& r : c.rasters)
        out.rasters.push_back({sim::to_string(r.raster), sampled([&](i64 s) { return r.curve.dram_bytes(s); })});
    const sim::MissCurve& own = c.rasters.front().curve;
    for (int o = 0; o < sim::operand_count; ++o)
        if (const auto operand = static_cast<Operand>(o); own.read_bytes(operand, 0) > 0)
            out.operands.emplace_back(operand, sampled([&](i64 s) { return own.read_bytes(operand, s); }));
    return out;
}

Computations::Reply<Curves> ask(Lab& lab) { return lab.computed.ask(curves, lab.question()); }

std::string bytes(double b) { return sim::format_bytes(b); }

/// "h100-sxm5 +3": the scene's device first.
std::string owners(const sim::DeviceL2& l2, const std::string& here) {
    const bool is_here = std::find(l2.devices.begin(), l2.devices.end(), here) != l2.devices.end();
    const std::string& name = is_here ? here : l2.devices.front();
    return l2.devices.size() == 1 ? name : fmt::format("{} +{}", name, l2.devices.size() - 1);
}

std::string listed(const sim::DeviceL2& l2) {
    std::string text;
    for (const std::string& d : l2.devices) text += (text.empty() ? "" : ", ") + d;
    return text;
}

void line(const char* id, const std::vector<double>& x, const std::vector<double>& y, ImU32 colour, float weight) {
    ImPlotSpec spec;
    spec.LineColor = ImGui::ColorConvertU32ToFloat4(colour);
    spec.LineWeight = weight;
    ImPlot::PlotLine(id, x.data(), y.data(), static_cast<int>(x.size()), spec);
}

constexpr float name_share = 0.42f;  // of the plot's height: a longer device name is left to the tooltip

/// How far the axis goes beyond `y1`, as a factor, so that the upright names lie above all curves.
double room_for_names(const Curves& c, const std::string& here, double y0, double y1, float height) {
    float longest = 0;
    for (const sim::DeviceL2& l2 : c.capacity->devices)
        if (const float length = ImGui::CalcTextSize(owners(l2, here).c_str()).x; length < height * name_share)
            longest = std::max(longest, length);
    const double share = (longest + em(1)) / height;
    return std::max(2.2, std::pow(y1 / y0, share / (1 - share)));
}

/// The L2 sizes of devices, upright along the top; the one in use stands out.
void device_lines(const Curves& c, const std::string& here, Labels& labels, ImVec2 low, ImVec2 high) {
    ImDrawList& list = *ImPlot::GetPlotDrawList();
    const auto x_of = [&](std::size_t i) {
        return ImPlot::PlotToPixels(static_cast<double>(c.capacity->devices[i].bytes), 1.0).x;
    };
    const std::size_t count = c.capacity->devices.size();
    for (std::size_t i = 0; i < count; ++i) {
        const bool own = i == c.here;
        list.AddLine({x_of(i), low.y}, {x_of(i), high.y},
                     with_alpha(own ? colours().text : colours().dim, own ? 0.9f : 0.35f), own ? 2.0f : 1.0f);
    }
    const auto upright = [&](std::size_t i, const std::string& name, float length) {
        return length < (high.y - low.y) * name_share &&
               labels.place_upright({x_of(i) + em(0.15f), low.y + length + em(0.3f)}, name,
                                    i == c.here ? colours().text : colours().dim);
    };
    // First the one that matters: level and over other lines where there is no height for it.
    const std::string own = owners(c.capacity->devices[c.here], here);
    const float own_length = ImGui::CalcTextSize(own.c_str()).x, x = x_of(c.here);
    const ImVec2 level[] = {{x + em(0.3f), low.y + em(0.2f)}, {x - own_length - em(0.3f), low.y + em(0.2f)}};
    if (!upright(c.here, own, own_length)) labels.place_at(level, own, colours().text);
    for (std::size_t i = 0; i < count; ++i) labels.keep_clear({{x_of(i) - 1, low.y}, {x_of(i) + 1, high.y}});
    for (std::size_t i = 0; i < count; ++i) {
        const std::string name = owners(c.capacity->devices[i], here);
        if (i != c.here) upright(i, name, ImGui::CalcTextSize(name.c_str()).x);
    }
}

/// A curve as it is drawn, every other sample of it.
using Trace = std::vector<ImVec2>;
Trace trace(const std::vector<double>& x, const std::vector<double>& y) {
    Trace out;
    for (std::size_t i = 0; i < x.size(); i += 2) out.push_back(ImPlot::PlotToPixels(x[i], y[i]));
    return out;
}

/// The place on a curve that is farthest from all other curves: there its name can't be another's.
ImVec2 where_apart(const std::vector<Trace>& all, std::size_t curve, ImVec2 low, ImVec2 high) {
    constexpr std::size_t beside = 6;  // samples: where curves fall they are close though their heights differ
    ImVec2 best{-1, -1};
    float farthest = -1;
    for (std::size_t i = 2; i + 2 < all[curve].size(); ++i) {
        const ImVec2 at = all[curve][i];
        if (at.x < low.x || at.x > high.x || at.y < low.y || at.y > high.y) continue;
        float apart = INFINITY;
        for (std::size_t other = 0; other < all.size(); ++other)
            for (std::size_t j = i > beside ? i - beside : 0;
                 other != curve && j < std::min(all[other].size(), i + beside + 1); ++j) {
                const float dx = all[other][j].x - at.x, dy = all[other][j].y - at.y;
                apart = std::min(apart, dx * dx + dy * dy);
            }
        if (apart > farthest) {
            farthest = apart;
            best = at;
        }
    }
    return best;
}

void plot(Lab& lab, const Curves& c, bool others, Mark mark) {
    const sim::Capacity& cap = *c.capacity;
    const std::string& here = lab.document.experiment().device;
    double y0 = INFINITY, y1 = 0;
    for (const Curve& r : c.rasters)
        for (double y : r.y) y0 = std::min(y0, y), y1 = std::max(y1, y);
    for (const auto& [operand, ys] : c.operands)
        for (double y : ys)
            if (y > 0) y0 = std::min(y0, y);
    for (i64 b : cap.bounds) y0 = std::min(y0, static_cast<double>(b));
    for (const auto& m : c.measured) {
        y0 = std::min(y0, static_cast<double>(m.dram_bytes));
        y1 = std::max(y1, static_cast<double>(m.dram_bytes));
    }
    const ImVec2 room = ImGui::GetContentRegionAvail();
    ImGui::PushStyleVar(ImGuiStyleVar_FrameBorderSize, 0);
    const ImPlotFlags flags =
        ImPlotFlags_NoLegend | ImPlotFlags_NoMouseText | ImPlotFlags_NoTitle | ImPlotFlags_NoMenus;
    if (!ImPlot::BeginPlot("##capacity", {room.x - em(1.2f), std::max(em(13), room.y)}, flags))
        return ImGui::PopStyleVar();
    ImPlot::SetupAxes(tr(Str::capacity_axis), tr(Str::dram_bytes));
    ImPlot::SetupAxisScale(ImAxis_X1, ImPlotScale_Log10);
    ImPlot::SetupAxisScale(ImAxis_Y1, ImPlotScale_Log10);
    y0 /= 1.3;
    const float height = std::max(em(13), room.y) - em(3.2f);
    y1 *= room_for_names(c, here, y0, y1, height);
    static ImGuiID shown = 0;
    const ImGuiID scene = ImGui::GetID(sim::to_string(lab.document.experiment(), *lab.document.devices()).c_str());
    static ImPlotRect view;  // as a person panned and zoomed it
    if (shown != scene) view = ImPlotRect(c.x.front(), c.x.back(), y0, y1);
    ImPlot::SetupAxesLimits(view.X.Min, view.X.Max, view.Y.Min, view.Y.Max,
                            shown == scene ? ImPlotCond_Once : ImPlotCond_Always);
    shown = scene;
    std::vector<double> at;
    std::vector<std::string> names;
    const double octaves = std::log2(view.X.Max / view.X.Min);
    const double step = std::pow(
        2.0, std::max(1.0, std::ceil(octaves * ImGui::CalcTextSize("888 MiB  ").x / std::max(em(2), room.x - em(8)))));
    for (double mib = 1; mib <= 65536; mib *= step)
        at.push_back(mib * 1024 * 1024), names.push_back(sim::format_kib(at.back()));
    std::vector<const char*> shown_names;
    for (const std::string& n : names) shown_names.push_back(n.c_str());
    ImPlot::SetupAxisTicks(ImAxis_X1, at.data(), static_cast<int>(at.size()), shown_names.data());
    Ticks(view.Y.Min, view.Y.Max, std::max(em(5), room.y - em(3)), ImGui::GetTextLineHeight() * 1.3f, [](double v) {
        return sim::format_bytes(v);
    }).setup(ImAxis_Y1);

    const Palette& p = colours();
    if (others)
        for (std::size_t i = 1; i < c.rasters.size(); ++i)
            line(("##raster" + c.rasters[i].name).c_str(), c.x, c.rasters[i].y, with_alpha(p.dim, 0.75f), 1.2f);
    for (const auto& [operand, ys] : c.operands)
        line(("##" + std::string(symbol(operand))).c_str(), c.x, ys,
             mix(p.panel, colour_of(operand), lab.strength(operand)), lab.lit() == operand ? 3.0f : 1.8f);
    line("##all", c.x, c.rasters.front().y, colour_of(Mark::predicted), 3);
    std::vector<double> bx, by;
    for (std::size_t i = 0; i < cap.devices.size(); ++i) {
        bx.push_back(static_cast<double>(cap.devices[i].bytes));
        by.push_back(static_cast<double>(cap.bounds[i]));
    }
    line("##bound", bx, by, colour_of(Mark::bound), 2);

    view = ImPlot::GetPlotLimits();
    const ImVec2 low = ImPlot::GetPlotPos(), size = ImPlot::GetPlotSize(), high{low.x + size.x, low.y + size.y};
    ImDrawList& list = *ImPlot::GetPlotDrawList();
    ImPlot::PushPlotClipRect();
    Labels labels(list, {low, high});
    device_lines(c, here, labels, low, high);
    const float radius = em(0.34f);
    for (std::size_t i = 0; i < bx.size(); ++i)
        draw_mark(list, ImPlot::PlotToPixels(bx[i], by[i]), radius * 0.8f, Mark::bound);
    for (std::size_t i = 0; i < bx.size(); ++i) {
        const ImVec2 mark_at = ImPlot::PlotToPixels(bx[i], by[i]);
        labels.keep_clear({{mark_at.x - radius, mark_at.y - radius}, {mark_at.x + radius, mark_at.y + radius}});
        if (i > 0) labels.keep_clear_of_line(ImPlot::PlotToPixels(bx[i - 1], by[i - 1]), mark_at);
    }
    const i64 own_size = cap.devices[c.here].bytes;
    const double own_bytes = static_cast<double>(cap.rasters.front().curve.dram_bytes(own_size));
    const ImVec2 own = ImPlot::PlotToPixels(static_cast<double>(own_size), own_bytes);
    std::vector<Trace> traces;  // the rasters, then the operands
    for (const Curve& r : c.rasters) traces.push_back(trace(c.x, r.y));
    for (const auto& [operand, ys] : c.operands) traces.push_back(trace(c.x, ys));
    for (std::size_t t = 0; t < traces.size(); ++t)
        for (std::size_t i = 2; i < traces[t].size() && (t == 0 || t >= c.rasters.size() || others); i += 2)
            labels.keep_clear_of_line(traces[t][i - 2], traces[t][i]);
    for (const auto& m : c.measured) {
        const ImVec2 at_point =
            ImPlot::PlotToPixels(static_cast<double>(m.l2_bytes), static_cast<double>(m.dram_bytes));
        labels.keep_clear({{at_point.x - radius, at_point.y - radius}, {at_point.x + radius, at_point.y + radius}});
    }
    draw_mark(list, own, radius * 1.2f, mark);
    for (const auto& m : c.measured)
        draw_mark(list, ImPlot::PlotToPixels(static_cast<double>(m.l2_bytes), static_cast<double>(m.dram_bytes)),
                  radius, Mark::measured);
    labels.place(own, radius * 1.2f, bytes(own_bytes), p.text);
    if (others) {
        std::vector<ImVec2> dots;
        for (std::size_t i = 1; i < c.rasters.size(); ++i) {
            const ImVec2 dot = dots.emplace_back(where_apart(traces, i, low, high));
            list.AddCircleFilled(dot, em(0.2f), p.dim);
            labels.keep_clear({{dot.x - em(0.2f), dot.y - em(0.2f)}, {dot.x + em(0.2f), dot.y + em(0.2f)}});
        }
        for (std::size_t i = 1; i < c.rasters.size(); ++i)
            labels.place(dots[i - 1], em(0.2f), c.rasters[i].name, p.dim, true);
    }
    ImPlot::PopPlotClipRect();

    if (ImPlot::IsPlotHovered()) {
        const ImPlotPoint mouse = ImPlot::GetPlotMousePos();
        const auto i64_x = static_cast<i64>(mouse.x);
        std::string text = fmt::format("L2 {}", sim::format_kib(mouse.x));
        for (const sim::RasterCurve& r : cap.rasters)
            text += fmt::format("\n{}  {}", sim::to_string(r.raster),
                                bytes(static_cast<double>(r.curve.dram_bytes(i64_x))));
        for (const auto& [operand, ys] : c.operands)
            text += fmt::format("\n{}  {}", symbol(operand),
                                bytes(static_cast<double>(cap.rasters.front().curve.read_bytes(operand, i64_x))));
        for (const sim::DeviceL2& l2 : cap.devices) {
            const float x = ImPlot::PlotToPixels(static_cast<double>(l2.bytes), mouse.y).x;
            if (std::abs(x - ImGui::GetIO().MousePos.x) < em(0.4f)) text += "\n" + listed(l2);
        }
        for (const auto& m : c.measured) {
            const ImVec2 point =
                ImPlot::PlotToPixels(static_cast<double>(m.l2_bytes), static_cast<double>(m.dram_bytes));
            if (std::hypot(point.x - ImGui::GetIO().MousePos.x, point.y - ImGui::GetIO().MousePos.y) < em(0.7f))
                text += fmt::format("\n{} {}: {}", tr(Str::measured), bytes(static_cast<double>(m.dram_bytes)),
                                    say(Str::capacity_point, m.kind));
        }
        ImGui::SetTooltip("%s", text.c_str());
    }
    ImPlot::EndPlot();
    ImGui::PopStyleVar();
}

}  // namespace

void draw_capacity(Lab& lab) {
    static bool others = true;
    const auto reply = ask(lab);
    if (!reply.error.empty()) return coloured(colours().error, translated(reply.error));
    if (!reply.answer || !reply.current) return hint(tr(Str::computing));
    const Curves& c = *reply.answer;
    if (!c.capacity) return hint(tr(Str::capacity_none));
    const sim::Capacity& cap = *c.capacity;
    const auto stroke = [](ImU32 colour) {
        return [colour](ImDrawList& list, ImVec2 at, float size) {
            list.AddLine({at.x - size * 0.4f, at.y}, {at.x + size * 0.4f, at.y}, colour, std::max(2.0f, size * 0.16f));
        };
    };
    chip(stroke(colour_of(Mark::predicted)), tr(Str::capacity_all));
    for (const auto& [operand, ys] : c.operands) {
        same_line_if_room(chip_width(symbol(operand)));
        if (operand_chip(operand, lab.lit() == operand)) lab.light(operand);
    }
    same_line_if_room(chip_width(tr(Str::bound)));
    mark_chip(Mark::bound, tr(Str::bound));
    if (!c.measured.empty()) {
        same_line_if_room(chip_width(tr(Str::measured)));
        mark_chip(Mark::measured, tr(Str::measured));
    }
    const sim::DeviceL2& l2 = cap.devices[c.here];
    const std::string now =
        say(Str::capacity_here, lab.document.device().name, sim::format_kib(static_cast<double>(l2.bytes)),
            bytes(static_cast<double>(cap.rasters.front().curve.dram_bytes(l2.bytes))),
            bytes(static_cast<double>(cap.bounds[c.here])));
    hint(now);
    copyable(now, "##now");
    asks_formula(lab, sim::Formula::dram_bytes);
    ImGui::Checkbox(label(Str::capacity_others), &others);
    tip(tr(Str::capacity_others_tip));
    const Analysis* a = lab.is_current() ? lab.analysis() : nullptr;
    plot(lab, c, others, predicted_mark(!a || !a->report.predicted || a->report.predicted->validated));
}

Sheet capacity_sheet(Lab& lab) {
    const auto reply = ask(lab);
    if (!reply.answer || !reply.answer->capacity) return {};
    const sim::Capacity& cap = *reply.answer->capacity;
    Sheet sheet = {{"l2_bytes", "devices", "bound_dram_bytes"}};
    for (const sim::RasterCurve& r : cap.rasters) sheet[0].push_back(sim::to_string(r.raster) + " dram_bytes");
    for (const auto& [operand, ys] : reply.answer->operands)
        sheet[0].push_back(std::string(sim::to_string(operand)) + " read_bytes");
    for (std::size_t i = 0; i < cap.devices.size(); ++i) {
        const sim::DeviceL2& l2 = cap.devices[i];
        std::vector<std::string> row = {std::to_string(l2.bytes), listed(l2), std::to_string(cap.bounds[i])};
        for (const sim::RasterCurve& r : cap.rasters) row.push_back(std::to_string(r.curve.dram_bytes(l2.bytes)));
        for (const auto& [operand, ys] : reply.answer->operands)
            row.push_back(std::to_string(cap.rasters.front().curve.read_bytes(operand, l2.bytes)));
        sheet.push_back(std::move(row));
    }
    return sheet;
}

}  // namespace gui
