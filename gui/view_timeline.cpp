// The predicted time laid out: the SMs in waves with their tail, or copy and compute of a sequential machine; below,
// the first steps of one CTA, or the grid steps from the one in hand.

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
#include "sim/timeline.hpp"

namespace gui {
namespace {

using sim::Doing;
using sim::i64;

struct Look {
    Doing doing;
    Str name;
    ImU32 Palette::*colour;
    bool hatched;
};
/// What each activity looks like; idle is only the ground.
constexpr std::array looks = {
    Look{Doing::launch, Str::doing_launch, &Palette::purple, false},
    Look{Doing::copy, Str::doing_copy, &Palette::blue, false},
    Look{Doing::work, Str::doing_work, &Palette::green, false},
    Look{Doing::store, Str::doing_store, &Palette::orange, false},
    Look{Doing::held, Str::doing_held, &Palette::grey, true},
    Look{Doing::idle, Str::doing_idle, &Palette::border, true},
};
const Look& look(Doing d) {
    return *std::find_if(looks.begin(), looks.end(), [&](const Look& l) { return l.doing == d; });
}

void fill(ImDrawList& list, ImVec2 low, ImVec2 high, const Look& l, float strength = 1) {
    const Palette& p = colours();
    const ImU32 colour = mix(p.panel, p.*l.colour, strength);
    if (!l.hatched) {
        list.AddRectFilled(low, high, colour);
        return;
    }
    list.AddRectFilled(low, high, mix(p.panel, colour, l.doing == Doing::idle ? 0.12f : 0.3f));
    draw_hatch(list, low, high, mix(p.panel, colour, 0.7f), std::max(5.0f, em(0.45f)));
}

const char* lane_name(const std::string& name) {
    return name == "SM"        ? tr(Str::lane_sm)
           : name == "copy"    ? tr(Str::doing_copy)
           : name == "compute" ? tr(Str::doing_work)
           : name == "math"    ? tr(Str::doing_work)
           : name == "memory"  ? tr(Str::lane_memory)
                               : name.c_str();
}
std::string lane_label(const sim::Lane& lane) {
    std::string name = lane_name(lane.name);
    if (lane.name.starts_with("buffer ")) name = say(Str::lane_buffer, lane.name.substr(7));
    return lane.units == 1 ? name : fmt::format("{} × {}", lane.units, name);
}

/// A span; runs of waves are drawn one by one where there is room, and those that wait in part are filled in part.
void draw_span(ImDrawList& list, const sim::TimeSpan& s, ImVec2 low, ImVec2 high, i64 lit_wave, i64 first_wave,
               bool waves) {
    const Look& l = look(s.doing);
    const float width = high.x - low.x;
    if (width <= 0) return;
    const float each = width / static_cast<float>(s.count);
    const bool apart = s.count > 1 && each >= 3;
    const float top = s.doing == Doing::work || s.doing == Doing::copy
                          ? high.y - (high.y - low.y) * static_cast<float>(std::max(0.08, s.busy))
                          : low.y;
    if (!l.hatched) list.AddRectFilled(low, high, mix(colours().panel, colours().*l.colour, 0.22f));
    fill(list, {low.x, top}, high, l);
    if (apart)
        for (i64 i = 1; i < s.count; ++i) {
            const float x = low.x + each * static_cast<float>(i);
            list.AddLine({x, low.y}, {x, high.y}, colours().panel, each > em(0.6f) ? 2.0f : 1.0f);
        }
    if (width > 3) list.AddLine({high.x, low.y}, {high.x, high.y}, colours().panel, 2.0f);
    if (lit_wave >= first_wave && lit_wave < first_wave + s.count && s.doing == Doing::work) {
        const float x = low.x + each * static_cast<float>(lit_wave - first_wave);
        list.AddRect({x, low.y}, {std::max(x + 3, x + each), high.y}, colours().text, 0, 0, 2);
    }
    if (s.doing == Doing::work && (waves ? s.count == 1 || apart : s.count > 1 && apart))
        for (i64 i = 0; i < s.count; ++i) {
            const std::string number = std::to_string(first_wave + i + 1);
            if (ImGui::CalcTextSize(number.c_str()).x + em(0.4f) > each || high.y - low.y < ImGui::GetTextLineHeight())
                break;
            const float x = low.x + each * static_cast<float>(i);
            const ImVec2 from{x, std::max(top, high.y - ImGui::GetTextLineHeight() - em(0.2f))};
            if (high.y - from.y >= ImGui::GetTextLineHeight() * 0.8f)
                draw_text(list, from, {x + each, high.y}, ink_on(colours().*l.colour), number, {0.5f, 0.5f});
        }
    const std::string text = tr(l.name);
    if (!l.hatched && !(waves && s.doing == Doing::work) && !apart &&
        width > ImGui::CalcTextSize(text.c_str()).x + em(0.8f) && top <= low.y + 1 &&
        high.y - low.y > ImGui::GetTextLineHeight())
        draw_text(list, low, high, ink_on(colours().*l.colour), text, {0.5f, 0.5f});
}

std::string describe(const sim::Lane& lane, const sim::TimeSpan& s) {
    std::string text = lane_label(lane) + ": " + tr(look(s.doing).name) + "\n" + sim::format_us(s.us());
    if (s.count > 1) text += say(Str::span_count, s.count, sim::format_us(s.us() / static_cast<double>(s.count)));
    if (s.busy < 0.995) text += "\n" + say(Str::span_busy, fmt::format("{:.0f} %", 100 * s.busy));
    return text;
}

/// 0, and round places up to `end_us`, under the lanes.
void axis(ImVec2 at, float width, double end_us) {
    ImDrawList& list = *ImGui::GetWindowDrawList();
    if (!(end_us > 0)) return;
    const float word = ImGui::CalcTextSize("8888 µs").x + em(1.5f);
    const double rough = end_us * word / std::max(width, word), power = std::pow(10, std::floor(std::log10(rough)));
    double step = power;
    for (double m : {1.0, 2.0, 5.0, 10.0})
        if (m * power >= rough) {
            step = m * power;
            break;
        }
    for (double t = 0; t <= end_us * 1.0001; t += step) {
        const float x = at.x + width * static_cast<float>(t / end_us);
        const std::string text = t == 0 ? "0" : sim::format_us(t);
        const float w = ImGui::CalcTextSize(text.c_str()).x;
        list.AddLine({x, at.y}, {x, at.y + em(0.25f)}, colours().dim);
        list.AddText({std::clamp(x - w / 2, at.x, std::max(at.x, at.x + width - w)), at.y + em(0.25f)}, colours().dim,
                     text.c_str());
    }
}

/// Heights of the lanes: those of many alike units share the room by their number.
std::vector<float> heights(const std::vector<sim::Lane>& lanes, float room) {
    i64 units = 0;
    for (const sim::Lane& l : lanes) units += l.units;
    std::vector<float> h;
    for (const sim::Lane& l : lanes)
        h.push_back(std::max(em(1.25f), room * static_cast<float>(l.units) / static_cast<float>(units)));
    return h;
}

float draw_lanes(const std::vector<sim::Lane>& lanes, ImVec2 at, float names, float width, double full_us,
                 double offset_us, const std::vector<float>& h, i64 lit_wave, bool write_names, bool waves) {
    ImDrawList& list = *ImGui::GetWindowDrawList();
    float y = at.y;
    for (std::size_t i = 0; i < lanes.size(); ++i) {
        const sim::Lane& lane = lanes[i];
        if (write_names)
            draw_text(list, {at.x, y}, {at.x + names - em(0.4f), y + h[i]}, colours().text, lane_label(lane),
                      {0, 0.5f});
        i64 wave = 0;
        for (const sim::TimeSpan& s : lane.spans) {
            const ImVec2 low{at.x + names + width * static_cast<float>((offset_us + s.begin_us) / full_us), y + 1};
            const ImVec2 high{at.x + names + width * static_cast<float>((offset_us + s.end_us) / full_us),
                              y + h[i] - 1};
            draw_span(list, s, low, high, lit_wave, wave, waves);
            if (s.doing == Doing::work) wave += s.count;
            if (ImGui::IsMouseHoveringRect(low, high) && ImGui::IsWindowHovered())
                ImGui::SetTooltip("%s", describe(lane, s).c_str());
        }
        y += h[i];
    }
    return y;
}

float widest_name(const std::vector<sim::Lane>& lanes) {
    float w = 0;
    for (const sim::Lane& l : lanes) w = std::max(w, ImGui::CalcTextSize(lane_label(l).c_str()).x);
    return w;
}

/// Arrow keys on the chart step by wave, or by grid step.
void keys(Lab& lab, ImGuiID id, bool waves) {
    if (!ImGui::IsItemFocused()) return;
    for (const auto& [key, direction] : {std::pair{ImGuiKey_LeftArrow, -1}, {ImGuiKey_RightArrow, +1}}) {
        ImGui::SetKeyOwner(key, id);
        if (!ImGui::IsKeyPressed(key, ImGuiInputFlags_Repeat, id)) continue;
        if (waves)
            lab.step_wave(direction);
        else
            lab.set_step(lab.document.scene().step + direction);
    }
}

void summary(Lab& lab, const Analysis& a, const sim::Timeline& t) {
    const sim::Prediction& p = *a.report.predicted;
    const auto longest = std::max_element(t.kernels.begin(), t.kernels.end(),
                                          [](const auto& x, const auto& y) { return x.us() < y.us(); });
    std::string text;
    if (p.waves) {
        // What the prediction says of waves is of the first matmul.
        const auto first = std::find_if(a.kernels.begin(), a.kernels.end(), [](const auto& k) { return k.matmul; });
        const sim::Lane& last = t.kernels[static_cast<std::size_t>(first - a.kernels.begin())].lanes.back();
        text = say(Str::waves_of, fmt::format("{:.1f}", *p.waves), p.slots.value_or(0));
        if (!last.spans.empty() && last.spans.back().doing == Doing::idle)
            text += "; " + say(Str::tail_idle, last.units, sim::format_us(last.spans.back().us()));
    } else {
        text = tr(p.pipelined ? Str::overlapped : Str::in_series);
    }
    for (const sim::Lane& l : longest->lanes)
        if (l.name != "SM" && l.name != "memory")
            text +=
                "; " + say(Str::lane_busy, lane_label(l), fmt::format("{:.0f} %", 100 * l.busy_us() / longest->us()));
    hint(text);
    copyable(text, "##summary");
    asks_formula(lab, p.waves ? sim::Formula::waves : sim::Formula::predicted_time);
}

}  // namespace

void draw_timeline(Lab& lab) {
    const Analysis* a = lab.analysis();
    if (!a || a->kernels.empty()) return hint(tr(a ? Str::no_tile_fits : Str::computing));
    if (!a->report.predicted) {
        coloured(colours().error, translated(a->report.fit.why));
        return hint(tr(Str::no_timeline));
    }
    const sim::StepState& s = step_or_start(lab);
    const bool gpu = lab.document.device().kind == sim::DeviceKind::gpu;
    // A close-up follows the walk in whole screens, so that it does not slide under the eye.
    const i64 first = gpu ? 0 : std::max<i64>(0, s.step - 1) / 8 * 8;
    const sim::Timeline t = sim::timeline(a->report, lab.document.device(), first);

    for (const Look& l : looks) {
        if (l.doing != Doing::launch) same_line_if_room(chip_width(tr(l.name)));
        chip(
            [&](ImDrawList& list, ImVec2 c, float size) {
                fill(list, {c.x - size * 0.36f, c.y - size * 0.36f}, {c.x + size * 0.36f, c.y + size * 0.36f}, l);
            },
            tr(l.name));
        if (l.doing == Doing::work) {  // a span is filled as high as it is busy
            same_line_if_room(chip_width(tr(Str::doing_part)));
            chip(
                [&](ImDrawList& list, ImVec2 c, float size) {
                    const float half = size * 0.36f;
                    list.AddRectFilled({c.x - half, c.y - half}, {c.x + half, c.y + half},
                                       mix(colours().panel, colours().*l.colour, 0.22f));
                    fill(list, {c.x - half, c.y}, {c.x + half, c.y + half}, l);
                },
                tr(Str::doing_part));
        }
    }
    same_line_if_room(predicted_chip_width(a->report.predicted->validated));
    predicted_chip(a->report.predicted->validated);
    summary(lab, *a, t);

    const float below = transport_height();
    if (ImGui::BeginChild("lanes", {0, std::max(em(4), ImGui::GetContentRegionAvail().y - below)},
                          ImGuiChildFlags_NavFlattened)) {
        const float line = ImGui::GetTextLineHeight();
        float names = 0;
        for (const auto& k : t.kernels) names = std::max({names, widest_name(k.lanes), widest_name(k.close_up)});
        const float room = ImGui::GetContentRegionAvail().x;
        names = std::min(names + em(0.8f), room * 0.4f);
        const float width = std::max(em(3), room - names - em(0.3f));
        const std::size_t which =
            std::min<std::size_t>(static_cast<std::size_t>(std::max(0, s.kernel)), t.kernels.size() - 1);
        const float free = ImGui::GetContentRegionAvail().y;

        // The whole run: kernels one after the other on one axis.
        ImDrawList& list = *ImGui::GetWindowDrawList();
        const ImVec2 at = ImGui::GetCursorScreenPos();
        const auto close_lanes = t.kernels[which].close_up.size();
        const float close_lane =
            close_lanes ? std::clamp((free * 0.5f - 3 * line) / static_cast<float>(close_lanes), em(1.5f), em(3)) : 0;
        const float close_height = close_lanes ? static_cast<float>(close_lanes) * close_lane + 3 * line : 0;
        const float lanes_room =
            std::clamp(free - close_height - 3 * line - em(1.5f), em(3.2f), em(gpu ? 22.0f : 8.0f));
        float bottom = at.y + line;
        for (std::size_t i = 0; i < t.kernels.size(); ++i) {
            const sim::KernelTimeline& k = t.kernels[i];
            const float x0 = at.x + names + width * static_cast<float>(k.begin_us / t.time_us),
                        x1 = at.x + names + width * static_cast<float>(k.end_us / t.time_us);
            draw_text(list, {x0, at.y}, {x1, at.y + line}, i == which ? colours().text : colours().dim,
                      fmt::format("{}  {}", k.name, sim::format_us(k.us())));
            const i64 lit = s.step > 0 && i == which && gpu ? s.wave : -1;
            bottom =
                std::max(bottom, draw_lanes(k.lanes, {at.x, at.y + line}, names, width, t.time_us, k.begin_us,
                                            heights(k.lanes, lanes_room), lit, i == which, gpu && !k.close_up.empty()));
        }
        if (s.step > 0 && !gpu) {  // where the walk is
            const double share = static_cast<double>(s.step) / static_cast<double>(std::max<i64>(1, s.steps));
            const float x = at.x + names + width * static_cast<float>(share);
            list.AddLine({x, at.y + line}, {x, bottom}, colours().text, 2);
        }
        ImGui::InvisibleButton("##run", {room, bottom - at.y}, ImGuiButtonFlags_EnableNav);
        keys(lab, ImGui::GetItemID(), gpu);
        axis({at.x + names, bottom}, width, t.time_us);
        ImGui::SetCursorScreenPos({at.x, bottom + line + em(0.7f)});
        ImGui::Dummy({0, 0});  // the last item where a kernel has no close-up

        const sim::KernelTimeline& k = t.kernels[which];
        if (!k.close_up.empty()) {
            const double span = k.close_up.front().spans.back().end_us;
            const std::string title = gpu ? say(Str::close_up_cta, k.close_up_steps, sim::format_us(k.step_us))
                                          : say(Str::close_up_grid, k.close_up_first + 1,
                                                k.close_up_first + k.close_up_steps, sim::format_us(k.step_us));
            ImGui::SeparatorText(shortened(title, room).c_str());
            const ImVec2 from = ImGui::GetCursorScreenPos();
            const std::vector<float> h(k.close_up.size(), close_lane);
            const float end = draw_lanes(k.close_up, from, names, width, span, 0, h, -1, true, false);
            i64 at_step = s.step > 0 ? s.k : -1;
            if (!gpu) {
                at_step = s.step - 1 - k.close_up_first;
                for (std::size_t i = 0; i < which; ++i) at_step -= sim::step_count({a->kernels[i]});
            }
            if (at_step >= 0 && at_step < k.close_up_steps) {
                const auto x_of = [&](double t_us) { return from.x + names + width * static_cast<float>(t_us / span); };
                const auto place = static_cast<std::size_t>(at_step);
                const double ends = place + 1 < k.close_up_begins.size()
                                        ? k.close_up_begins[place + 1]
                                        : std::min(span, k.close_up_begins[place] + k.step_us);
                list.AddRect({x_of(k.close_up_begins[place]), from.y}, {x_of(ends), end}, colours().text, 0, 0, 2);
            }
            ImGui::InvisibleButton("##close", {room, end - from.y}, ImGuiButtonFlags_EnableNav);
            keys(lab, ImGui::GetItemID(), gpu);
            axis({from.x + names, end}, width, span);
            ImGui::SetCursorScreenPos({from.x, end});
            ImGui::Dummy({room, line + em(0.4f)});
        }
    }
    ImGui::EndChild();
    draw_transport(lab);
}

Sheet timeline_sheet(Lab& lab) {
    const Analysis* a = lab.analysis();
    if (!a || !a->report.predicted) return {};
    Sheet sheet = {{"kernel", "lane", "units", "doing", "begin_us", "end_us", "count", "busy"}};
    for (const sim::KernelTimeline& k : sim::timeline(a->report, lab.document.device()).kernels)
        for (const sim::Lane& lane : k.lanes)
            for (const sim::TimeSpan& s : lane.spans)
                sheet.push_back({k.name, lane.name, std::to_string(lane.units), std::string(sim::to_string(s.doing)),
                                 fmt::format("{:.6g}", k.begin_us + s.begin_us),
                                 fmt::format("{:.6g}", k.begin_us + s.end_us), std::to_string(s.count),
                                 fmt::format("{:.4g}", s.busy)});
    return sheet;
}

}  // namespace gui
