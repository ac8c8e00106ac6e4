// Forward, dgrad and wgrad side by side: the matrices of each, and every way of applying its ReLU or mask with bytes
// and time, the one that wins marked.

#include <imgui.h>
#include <imgui_internal.h>

#include <algorithm>
#include <array>

#include "gui/context.hpp"
#include "gui/draw.hpp"
#include "gui/lab.hpp"
#include "gui/views.hpp"
#include "sim/energy.hpp"
#include "sim/fusion_choice.hpp"

namespace gui {
namespace {

using sim::i64;

struct OnePass {
    sim::Pass pass = sim::Pass::forward;
    std::vector<sim::FusionChoice> choices;  // all with one tile: the scene's, or another pass's usual one
    sim::Kernel kernel;                      // its matmul, as the experiment or the first choice runs it
};
struct Passes {
    std::vector<OnePass> passes;
};

/// The experiment of one pass of the scene's layer: the scene's own where it has that pass, else the usual one.
sim::Experiment of_pass(const sim::Experiment& e, sim::Pass pass, const sim::Device& d) {
    sim::Experiment one = e.pass == sim::Pass::train ? sim::single_pass(e, pass) : e;
    if (one.pass != pass) {
        const bool upstream_forward = pass == sim::Pass::forward && e.fusion == sim::Fusion::upstream;
        one = sim::usual_experiment(d, e.dense, pass, upstream_forward ? sim::Fusion::fused : e.fusion);
    }
    if (one.fusion == sim::Fusion::none || (pass == sim::Pass::forward && one.fusion == sim::Fusion::upstream))
        one.fusion = sim::Fusion::fused;
    return one;
}

Passes passes(const Computations::Question& q, const Job& job) {
    Passes out;
    const sim::Device& d = q.devices->at(q.experiment.device);
    sim::Experiment e = q.experiment;
    if (!sim::resolve_best(e, d).ok()) return out;
    for (const sim::Pass pass : {sim::Pass::forward, sim::Pass::dgrad, sim::Pass::wgrad}) {
        if (job.stop.stop_requested()) return out;
        OnePass one;
        one.pass = pass;
        const sim::Experiment wanted = of_pass(e, pass, d);
        one.choices = sim::fusion_choices(wanted, *q.devices);
        for (const sim::Kernel& k : sim::plan(wanted))
            if (k.matmul) one.kernel = k;
        out.passes.push_back(std::move(one));
    }
    return out;
}

Computations::Reply<Passes> ask(Lab& lab) { return lab.computed.ask(passes, lab.question()); }

double dram(const sim::Report& r) { return static_cast<double>(r.traffic.at(sim::Level::dram).total().bytes()); }

const char* formula(sim::Pass pass) {
    return pass == sim::Pass::forward ? "Y = relu(X·W)" : pass == sim::Pass::dgrad ? "dX = dZ·Wᵀ" : "dW = Xᵀ·dZ";
}

/// "4096×4096", or what still fits of it: "4096²", "4k×14k".
std::string fits_or_short(i64 rows, i64 cols, const std::string& whole, float room) {
    const auto fits = [&](const std::string& text) { return ImGui::CalcTextSize(text.c_str()).x <= room; };
    if (fits(whole)) return whole;
    if (rows == cols && fits(fmt::format("{}²", rows))) return fmt::format("{}²", rows);
    const auto brief = [](i64 n) {
        return n < 1000 ? std::to_string(n) : fmt::format("{:.3g}k", static_cast<double>(n) / 1000);
    };
    return fmt::format("{}×{}", brief(rows), brief(cols));
}

/// Left operand, right operand and output of the pass's matmul in one row, each in proportion, its residual as a
/// corner.
void matrices(Lab& lab, const sim::Kernel& k, float free_height) {
    struct Shown {
        const sim::Access* access;
        const sim::Access* residual;
        i64 rows, cols;
        bool transposed;
    };
    const sim::Access &left = k.left.front(), &right = k.right.front(), &out = k.outputs.front();
    const auto residual = [](const std::vector<sim::Access>& side) { return side.size() > 1 ? &side[1] : nullptr; };
    const std::array<Shown, 3> all = {
        Shown{&left, residual(k.left), k.extent.rows, k.extent.red, left.row_axis != sim::Axis::rows},
        Shown{&right, residual(k.right), k.extent.red, k.extent.cols, right.row_axis != sim::Axis::red},
        Shown{&out, k.outputs.size() > 1 ? &k.outputs[1] : nullptr, k.extent.rows, k.extent.cols, false}};
    const float line = ImGui::GetTextLineHeight(), sign = em(1.1f), width = ImGui::GetContentRegionAvail().x;
    const float room = (width - 2 * sign) / 3, tallest = std::clamp(free_height, em(4.6f), em(9));
    const double longest = static_cast<double>(std::max({k.extent.rows, k.extent.cols, k.extent.red}));
    const auto side = [&](i64 n) {
        const double share = std::max(0.16, static_cast<double>(n) / longest);
        return static_cast<float>(share) * std::min(tallest, room);
    };
    const ImVec2 at = ImGui::GetCursorScreenPos();
    ImDrawList& list = *ImGui::GetWindowDrawList();
    const float height = tallest + 2 * line + em(0.3f);
    ImGui::Dummy({width, height});
    for (std::size_t i = 0; i < all.size(); ++i) {
        const Shown& s = all[i];
        const sim::Operand name = s.access->tensor.name;
        const float x = at.x + static_cast<float>(i) * (room + sign), w = side(s.cols), h = side(s.rows);
        const ImVec2 low{x + (room - w) / 2, at.y + (tallest - h) / 2}, high{low.x + w, low.y + h};
        draw_operand(list, low, high, name, lab.strength(name));
        list.AddRect(low, high, colour_of(name), 0, 0, 1.5f);
        if (s.residual) {
            const sim::Operand r = s.residual->tensor.name;
            const float inset = std::min({w, h, em(2.2f)}) * 0.55f;
            draw_operand(list, {high.x - inset, high.y - inset}, high, r, lab.strength(r));
            list.AddRect({high.x - inset, high.y - inset}, high, colours().panel, 0, 0, 1.5f);
        }
        std::string label_text = std::string(symbol(name)) + (s.transposed ? "ᵀ" : "");
        if (s.residual) label_text += std::string(" + ") + std::string(symbol(s.residual->tensor.name));
        draw_text(list, {x, at.y + tallest + em(0.1f)}, {x + room, at.y + tallest + line + em(0.1f)}, colours().text,
                  label_text, {0.5f, 0});
        const std::string whole = fmt::format("{}×{}", s.rows, s.cols),
                          shown = fits_or_short(s.rows, s.cols, whole, room);
        draw_text(list, {x, at.y + tallest + line}, {x + room, at.y + height}, colours().dim, shown, {0.5f, 0});
        if (i > 0)
            draw_text(list, {x - sign, at.y}, {x, at.y + tallest}, colours().dim, i == 1 ? "·" : "=", {0.5f, 0.5f});
        if (ImGui::IsMouseHoveringRect(low, high) && ImGui::IsWindowHovered()) lab.light(name);
    }
}

/// Names of the fusions a choice stands for, as words of the text form.
std::vector<Word> words_of(const OnePass& p, const sim::FusionChoice& c) {
    const sim::Experiment& e = c.report.experiment;
    const bool keeps = p.pass != sim::Pass::forward && e.fusion != sim::Fusion::upstream;
    return {{"pass", std::string(sim::to_string(p.pass))},
            {"fusion", std::string(sim::to_string(e.fusion))},
            {"residual", keeps ? std::string(sim::to_string(e.residual)) : std::string()},
            {"drelu", ""}};
}

/// One way of fusing: a bar of its predicted time, the bytes, and whether it wins.
void choice_row(Lab& lab, const OnePass& p, const sim::FusionChoice& c, double slowest) {
    const float height = 2 * ImGui::GetTextLineHeight() + em(0.5f), width = ImGui::GetContentRegionAvail().x;
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const sim::Pass own = lab.document.experiment().pass;
    const bool shown_now = c.asked && own == p.pass && lab.document.experiment().fusion == c.report.experiment.fusion;
    if (ImGui::Selectable(("##" + c.words).c_str(), shown_now, 0, {width, height})) lab.change(words_of(p, c));
    const bool touched = ImGui::IsItemHovered() || ImGui::IsItemFocused();
    ImDrawList& list = *ImGui::GetWindowDrawList();
    const Palette& pal = colours();
    const float line = ImGui::GetTextLineHeight(), x = at.x + em(0.3f), right = at.x + width - em(0.3f);
    if (!c.report.predicted) {
        draw_text(list, {x, at.y}, {right, at.y + line}, pal.dim, c.words);
        draw_text(list, {x, at.y + line}, {right, at.y + height}, pal.error, translated(c.report.fit.why));
        if (touched) tip(translated(c.report.fit.why));
        return;
    }
    const sim::Prediction& now = *c.report.predicted;
    const std::string time = sim::format_us(now.time_us), bytes = sim::format_bytes(dram(c.report));
    const ImU32 ink = c.same_work ? pal.text : pal.dim;
    if (c.wins) ImGui::PushFont(bold(), 0);
    const float time_width = ImGui::CalcTextSize(time.c_str()).x + em(0.4f);
    draw_text(list, {x, at.y}, {right - time_width, at.y + line}, ink, (c.wins ? "★ " : "") + c.words);
    draw_text(list, {right - time_width, at.y}, {right, at.y + line}, ink, time, {1, 0});
    if (c.wins) ImGui::PopFont();
    // The second line: the bar of time, then the bytes.
    const float bytes_width = ImGui::CalcTextSize("8.88 GB DRAM").x + em(0.6f);
    const float y0 = at.y + line + em(0.2f), y1 = y0 + line * 0.72f, full = std::max(em(2), right - x - bytes_width);
    const float w = std::max(2.0f, full * static_cast<float>(now.time_us / slowest));
    const ImU32 hue = mix(pal.panel, colour_of(Mark::predicted), c.same_work ? 1.0f : 0.45f);
    list.AddRectFilled({x, y0}, {x + full, y1}, pal.raised);
    if (now.validated)
        list.AddRectFilled({x, y0}, {x + w, y1}, hue);
    else
        list.AddRect({x, y0}, {x + w, y1}, hue, 0, 0, std::max(1.5f, em(0.1f)));
    draw_text(list, {x + full + em(0.4f), y0 - em(0.15f)}, {right, y1 + em(0.3f)}, pal.dim, bytes + " DRAM", {1, 0.5f});
    if (!touched) return;
    std::string text = c.words + "\n" + std::string(tr(Str::predicted)) + " " + time + "\n" +
                       std::string(tr(Str::dram_bytes)) + " " + bytes;
    text += "\n" + std::string(tr(Str::formula_energy)) + " " +
            sim::format_joules(sim::energy(c.report, lab.document.device()).all.joules, "–");
    if (!now.validated) text += "\n" + std::string(tr(Str::unvalidated));
    if (!c.same_work) text += "\n" + std::string(tr(Str::less_work));
    text += "\n" + std::string(tr(Str::take_choice));
    tip(text);
}

/// What fusing gains or costs here, in one sentence.
std::string verdict(const OnePass& p) {
    const sim::FusionChoice *apart = nullptr, *fused = nullptr;
    const auto better = [](const sim::FusionChoice* best, const sim::FusionChoice& c) {
        return c.report.predicted && (!best || c.report.predicted->time_us < best->report.predicted->time_us);
    };
    for (const sim::FusionChoice& c : p.choices) {
        if (c.report.experiment.fusion == sim::Fusion::unfused && better(apart, c)) apart = &c;
        if (c.report.experiment.fusion == sim::Fusion::fused && better(fused, c)) fused = &c;
    }
    if (!apart || !fused) return {};
    const double without = apart->report.predicted->time_us, with = fused->report.predicted->time_us;
    const std::string share = fmt::format("{:.1f} %", 100 * std::abs(with - without) / without);
    if (std::abs(with - without) < 0.005 * without) return tr(Str::fusing_even);
    return with < without ? say(Str::fusing_gains, share) : say(Str::fusing_loses, share);
}

void column(Lab& lab, const OnePass& p, float free_height) {
    ImGui::PushID(static_cast<int>(p.pass));
    heading(fmt::format("{}   {}", sim::to_string(p.pass), formula(p.pass)).c_str());
    matrices(lab, p.kernel, free_height);
    hint(fmt::format("{} {}", tr(Str::tile), to_string(p.kernel.tile)));
    double slowest = 0;
    for (const sim::FusionChoice& c : p.choices)
        if (c.report.predicted) slowest = std::max(slowest, c.report.predicted->time_us);
    for (const sim::FusionChoice& c : p.choices) choice_row(lab, p, c, slowest);
    const std::string text = verdict(p);
    if (!text.empty()) hint(text);
    ImGui::PopID();
}

/// What the numbers are, and what the star means.
void legend(const Passes& all) {
    std::array<bool, 2> any{};  // unvalidated, validated
    for (const OnePass& p : all.passes)
        for (const sim::FusionChoice& c : p.choices)
            if (c.report.predicted) any[c.report.predicted->validated] = true;
    for (const bool validated : {true, false}) {
        if (!any[validated]) continue;
        if (!validated && any[true]) same_line_if_room(predicted_chip_width(false));
        predicted_chip(validated);
    }
    if (!any[true] && !any[false]) return;
    same_line_if_room(ImGui::CalcTextSize((std::string("★ ") + tr(Str::cell_best)).c_str()).x);
    ImGui::TextDisabled("★ %s", tr(Str::cell_best));
}

}  // namespace

void draw_passes(Lab& lab) {
    const auto reply = ask(lab);
    if (!reply.error.empty()) return coloured(colours().error, translated(reply.error));
    if (!reply.answer) return hint(tr(Str::computing));
    if (reply.answer->passes.empty()) return hint(tr(Str::no_tile_fits));
    legend(*reply.answer);
    const int columns = std::clamp(static_cast<int>(ImGui::GetContentRegionAvail().x / em(15)), 1, 3);
    if (!ImGui::BeginTable("passes", columns, ImGuiTableFlags_BordersInnerV | ImGuiTableFlags_SizingStretchSame))
        return;
    // What the rows below leave of the height is the pictures'.
    std::size_t rows = 0;
    for (const OnePass& p : reply.answer->passes) rows = std::max(rows, p.choices.size());
    const float row = 2 * ImGui::GetTextLineHeight() + em(0.5f) + ImGui::GetStyle().ItemSpacing.y,
                free_height = ImGui::GetContentRegionAvail().y - row * static_cast<float>(rows) -
                              6 * ImGui::GetTextLineHeightWithSpacing();
    for (const OnePass& p : reply.answer->passes) {
        ImGui::TableNextColumn();
        column(lab, p, columns == 3 ? free_height : 0);
    }
    ImGui::EndTable();
}

Sheet passes_sheet(Lab& lab) {
    const auto reply = ask(lab);
    if (!reply.answer) return {};
    Sheet sheet = {{"pass", "fusion", "tile", "predicted_us", "dram_bytes", "bound_us", "energy_low_j", "energy_high_j",
                    "wins", "same_work", "why_not"}};
    for (const OnePass& p : reply.answer->passes)
        for (const sim::FusionChoice& c : p.choices) {
            const bool ok = c.report.predicted.has_value();
            const sim::Span joules = ok ? sim::energy(c.report, lab.document.device()).all.joules : sim::Span{};
            sheet.push_back({std::string(sim::to_string(p.pass)), c.words, to_string(c.report.experiment.tile),
                             ok ? fmt::format("{:.6g}", c.report.predicted->time_us) : "",
                             ok ? fmt::format("{:.0f}", dram(c.report)) : "",
                             fmt::format("{:.6g}", c.report.bound.time_us), ok ? fmt::format("{:.4g}", joules.low) : "",
                             ok ? fmt::format("{:.4g}", joules.high) : "", c.wins ? "1" : "0", c.same_work ? "1" : "0",
                             c.report.fit.why});
        }
    return sheet;
}

}  // namespace gui
