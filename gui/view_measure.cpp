// Runs the real kernel on this machine, loads recorded rows, and lists measured beside predicted.

#include <imgui.h>

#include <algorithm>
#include <array>

#include "gui/context.hpp"
#include "gui/draw.hpp"
#include "gui/lab.hpp"
#include "gui/state_files.hpp"
#include "gui/views.hpp"

namespace gui {
namespace {

/// The run button, or what keeps it from running; while it runs, its progress and Cancel.
void run_here(Lab& lab) {
    const sim::Experiment& e = lab.is_current() ? lab.analysis()->report.experiment : lab.document.experiment();
    const std::string why = translated(Runner::why_not(e, lab.document.device()));
    if (lab.runner.running()) {
        const float cancel = ImGui::CalcTextSize(tr(Str::cancel)).x + 2 * ImGui::GetStyle().FramePadding.x;
        ImGui::ProgressBar(
            static_cast<float>(lab.runner.progress()),
            {ImGui::GetContentRegionAvail().x - cancel - ImGui::GetStyle().ItemSpacing.x, ImGui::GetFrameHeight()});
        ImGui::SameLine();
        if (ImGui::Button(label(Str::cancel))) lab.runner.cancel();
        return;
    }
    ImGui::BeginDisabled(!why.empty());
    if (primary_button(tr(Str::run), strings()[static_cast<std::size_t>(Str::run)].id, why.empty(), {em(6), 0}))
        lab.runner.start(e);
    ImGui::EndDisabled();
    tip(why.empty() ? tr(Str::run_tip) : why);
    ImGui::SameLine();
    if (lab.document.device().kind != sim::DeviceKind::cpu) {
        if (lab.calibrating())
            ImGui::ProgressBar(static_cast<float>(lab.calibration_progress()), {-1, ImGui::GetFrameHeight()},
                               tr(Str::calibrating));
        else if (ImGui::Button(label(Str::use_this_machine)))
            lab.use_this_machine();
        tip(tr(Str::use_this_machine_tip));
    } else if (!why.empty()) {
        hint(why);
    } else if (const auto* r = lab.runner.result(); r && !r->samples_us.empty()) {
        hint(say(Str::run_done, r->samples_us.size(), fmt::format("{:.1e}", r->max_error)));
        tip(say(Str::run_checked, translated(r->checked), r->machine, r->instructions, r->threads));
    } else {
        hint(tr(Str::run_hint));
    }
    if (const std::string problem = lab.runner.problem(); !problem.empty())
        coloured(colours().error, translated(problem));
}

void load_file(Lab& lab) {
    static std::array<char, 512> path{};
    const float button = ImGui::CalcTextSize(tr(Str::load)).x + 2 * ImGui::GetStyle().FramePadding.x;
    ImGui::SetNextItemWidth(
        std::max(em(5), ImGui::GetContentRegionAvail().x - button - ImGui::GetStyle().ItemSpacing.x));
    const bool entered = ImGui::InputTextWithHint("##path", tr(Str::csv_path), path.data(), path.size(),
                                                  ImGuiInputTextFlags_EnterReturnsTrue);
    ImGui::SameLine();
    if (ImGui::Button(label(Str::load)) || entered) lab.load(path.data());
}

std::string tile_name(const sim::Tile& t) {
    return t.is_best() ? std::string(tr(Str::library_choice)) : fmt::format("{}×{}×{}", t.bm, t.bn, t.bk);
}

/// Rows of the same problem; a click on one takes its tile.
void rows_table(Lab& lab) {
    const auto like = lab.measured.like(lab.document.experiment());
    if (like.empty()) {
        hint(tr(Str::no_rows_like));
        return;
    }
    const ImGuiTableFlags flags = ImGuiTableFlags_RowBg | ImGuiTableFlags_ScrollY | ImGuiTableFlags_SizingStretchProp |
                                  ImGuiTableFlags_BordersInnerH;
    if (!ImGui::BeginTable("rows", 3, flags, {0, std::max(ImGui::GetContentRegionAvail().y, em(5))})) return;
    ImGui::TableSetupScrollFreeze(0, 1);
    float widest = ImGui::CalcTextSize(tr(Str::library_choice)).x;
    for (std::size_t i : like)
        widest = std::max(widest, ImGui::CalcTextSize(tile_name(lab.measured.rows()[i].experiment.tile).c_str()).x);
    ImGui::TableSetupColumn(tr(Str::tile), ImGuiTableColumnFlags_WidthFixed, widest);
    ImGui::TableSetupColumn(tr(Str::measured), ImGuiTableColumnFlags_WidthFixed,
                            std::max(ImGui::CalcTextSize(tr(Str::measured)).x, ImGui::CalcTextSize("888 ms").x));
    ImGui::TableSetupColumn(tr(Str::source), ImGuiTableColumnFlags_WidthStretch);
    ImGui::TableHeadersRow();
    for (std::size_t i : like) {
        const MeasuredRow& m = lab.measured.rows()[i];
        const sim::Tile& t = m.experiment.tile;
        const bool now = sim::same_experiment(m.experiment, lab.document.experiment());
        ImGui::TableNextRow();
        ImGui::TableNextColumn();
        ImGui::PushID(static_cast<int>(i));
        if (ImGui::Selectable(tile_name(t).c_str(), now, ImGuiSelectableFlags_SpanAllColumns)) lab.take_tile(t);
        tip(m.row.note.empty() ? tr(Str::take_tile_tip) : m.row.note);
        ImGui::TableNextColumn();
        ImGui::TextUnformatted(sim::format_us(*m.row.time_us).c_str());
        ImGui::TableNextColumn();
        const std::string whose = !m.row.source.empty() ? m.row.source : m.row.machine + " " + m.row.date;
        ImGui::TextDisabled("%s", shortened(whose, ImGui::GetContentRegionAvail().x).c_str());
        ImGui::PopID();
    }
    ImGui::EndTable();
}

}  // namespace

void draw_measure(Lab& lab) {
    run_here(lab);
    load_file(lab);
    ImGui::Spacing();
    rows_table(lab);
}

Sheet measure_sheet(Lab& lab) {
    Sheet sheet = {{"experiment", "measured_us", "min_us", "max_us", "source", "machine", "date"}};
    const auto number = [](const std::optional<double>& v) { return v ? fmt::format("{:.6g}", *v) : std::string(); };
    for (std::size_t i : lab.measured.like(lab.document.experiment())) {
        const MeasuredRow& m = lab.measured.rows()[i];
        sheet.push_back({sim::to_string(m.experiment, *lab.document.devices()), number(m.row.time_us),
                         number(m.row.min_us), number(m.row.max_us), m.row.source, m.row.machine, m.row.date});
    }
    return sheet;
}

}  // namespace gui
