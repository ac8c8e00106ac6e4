// The ladder of GPU kernels: the rungs, what the chosen one launches, and its source, each line with what it moved once
// it has run under glass.

#include <fmt/format.h>
#include <imgui.h>

#include <map>

#include "gui/context.hpp"
#include "gui/draw.hpp"
#include "gui/lab.hpp"
#include "gui/views.hpp"
#include "kernels/cuda/runtime.hpp"
#include "kernels/glass/run.hpp"
#include "lessons/phrases.hpp"
#include "sim/embedded.hpp"
#include "sim/sweep.hpp"

namespace gui {
namespace {

using kernels::glass::Counted;
using kernels::glass::LineCount;

/// What the scene's kernels really are; the fit says why there are none.
struct Chosen {
    sim::Experiment experiment;
    sim::Fit fit;
    std::vector<kernels::DeviceKernel> launches;
};
Chosen chosen(const Computations::Question& q, const Job&) {
    Chosen c{q.experiment, {}, {}};
    c.fit = sim::resolve_best(c.experiment, q.devices->at(c.experiment.device));
    if (!c.fit.ok()) return c;
    c.experiment = kernels::resolved(c.experiment);
    c.launches = kernels::kernels_of(c.experiment);
    for (const kernels::DeviceKernel& k : c.launches)
        if (const sim::Fit fit = kernels::fits(k); !fit.ok() && c.fit.ok()) c.fit = fit;
    return c;
}

Counted count(const Computations::Question& q, const Job& job) {
    const Chosen c = chosen(q, job);
    Counted refused;
    refused.fit = c.fit;
    if (!c.fit.ok()) return refused;
    return kernels::glass::run(c.experiment, q.devices->at(c.experiment.device), {}, job.progress, job.stop);
}

using Lines = std::map<int, LineCount>;
Lines lines_of(const Counted* counted, std::string_view file) {
    Lines out;
    if (counted)
        for (const LineCount& l : counted->lines)
            if (l.file == file) out[l.line] = l;
    return out;
}

void ladder(Lab& lab, const Chosen& c) {
    for (const kernels::DeviceRung& r : kernels::device_rungs()) {
        const std::string id(r.id);
        const float width = ImGui::CalcTextSize(id.c_str()).x + 2 * ImGui::GetStyle().FramePadding.x;
        if (&r != &kernels::device_rungs().front()) same_line_if_room(width);
        const bool is_it = c.experiment.rung == r.id;
        if (is_it) ImGui::PushStyleColor(ImGuiCol_Text, colours().accent);
        if (ImGui::Button(id.c_str())) lab.change({{"rung", id}});
        if (is_it) ImGui::PopStyleColor();
        if (const sim::Rung* known = sim::find_rung(r.id, sim::DeviceKind::gpu))
            tip(translated(std::string(known->idea)));
    }
}

void launches(const Chosen& c) {
    for (const kernels::DeviceKernel& k : c.launches) {
        const kernels::Launch l = kernels::launch_of(k);
        hint(say(Str::launch_line, k.name, l.grid, l.block, sim::format_kib(static_cast<double>(l.smem_bytes))));
    }
}

/// A line of C++; what is comment stands back.
void code(const std::string& line) {
    const std::size_t comment = std::min(line.find("//"), line.size());
    if (comment > 0 || line.empty()) ImGui::TextUnformatted(line.c_str(), line.c_str() + comment);
    if (comment == line.size()) return;
    if (comment > 0) ImGui::SameLine(0, 0);
    ImGui::PushStyleColor(ImGuiCol_Text, colours().dim);
    ImGui::TextUnformatted(line.c_str() + comment);
    ImGui::PopStyleColor();
}

/// `show_counts`: scrolls to the first line that was counted.
void source(std::string_view file, const Lines& lines, bool show_counts, lessons::Language language) {
    const std::string_view name = file.substr(file.rfind('/') + 1);
    for (const sim::EmbeddedFile& f : sim::embedded_kernels()) {
        if (f.name != name) continue;
        ImGui::PushFont(mono(), 0);
        const bool counted = !lines.empty();
        const float narrow = ImGui::CalcTextSize("16.00 / 16.00").x;
        const bool room = counted && ImGui::GetContentRegionAvail().x > 4 * narrow;
        const ImVec2 size{0, std::max(em(8), ImGui::GetContentRegionAvail().y)};
        if (ImGui::BeginTable("source", room ? 4 : 2, ImGuiTableFlags_SizingFixedFit | ImGuiTableFlags_ScrollY, size)) {
            ImGui::TableSetupColumn(
                tr(Str::source_line), 0,
                std::max(ImGui::CalcTextSize("999").x, room ? ImGui::CalcTextSize(tr(Str::source_line)).x : 0));
            if (room) {
                ImGui::TableSetupColumn(tr(Str::sectors_each), 0, narrow);
                ImGui::TableSetupColumn(tr(Str::wavefronts_each), 0, narrow);
            }
            ImGui::TableSetupColumn(name.data(), ImGuiTableColumnFlags_WidthStretch);
            if (room) {
                ImGui::TableSetupScrollFreeze(0, 1);
                ImGui::TableNextRow(ImGuiTableRowFlags_Headers);
                for (const lessons::Phrase p : {lessons::Phrase::counter_line, lessons::Phrase::counter_sectors_each,
                                                lessons::Phrase::counter_wavefronts_each}) {
                    const char* head = lessons::phrase(p, language);
                    ImGui::TableNextColumn();
                    ImGui::TextDisabled("%s", shortened(head, ImGui::GetContentRegionAvail().x).c_str());
                    tip(head);
                }
            }
            std::string_view text = f.text;
            for (int n = 1; !text.empty(); ++n) {
                const std::string_view line = text.substr(0, text.find('\n'));
                text.remove_prefix(std::min(text.size(), line.size() + 1));
                const auto at = lines.find(n);
                ImGui::TableNextRow();
                ImGui::TableNextColumn();
                ImGui::TextColored(ImGui::ColorConvertU32ToFloat4(colours().dim), "%3d", n);
                if (show_counts && at != lines.end()) {
                    ImGui::SetScrollHereY(0.2f);
                    show_counts = false;
                }
                if (room)
                    for (const bool sectors : {true, false}) {
                        ImGui::TableNextColumn();
                        if (at == lines.end()) continue;
                        const LineCount& l = at->second;
                        const sim::i64 got = sectors ? l.sectors : l.wavefronts,
                                       least = sectors ? l.ideal_sectors : l.ideal_wavefronts;
                        ImGui::PushStyleColor(ImGuiCol_Text, got > least ? colours().error : colours().text);
                        ImGui::TextUnformatted(
                            kernels::glass::per_instruction(got, least, l.instructions, " / ").c_str());
                        ImGui::PopStyleColor();
                        tip(say(Str::line_counts, l.instructions, sim::format_bytes(static_cast<double>(l.bytes))));
                    }
                ImGui::TableNextColumn();
                code(shortened(line, ImGui::GetContentRegionAvail().x));
            }
            ImGui::EndTable();
        }
        ImGui::PopFont();
    }
}

Computations::Question own_question(Lab& lab) { return lab.question(); }

const Counted* counted_of(Lab& lab, std::string& trouble) {
    if (!lab.under_glass || *lab.under_glass != lab.document.experiment()) return nullptr;
    const auto reply = lab.computed.ask(count, own_question(lab));
    trouble = reply.error;
    if (!reply.answer || !reply.current) return nullptr;
    if (!reply.answer->fit.ok()) trouble = reply.answer->fit.why;
    return reply.answer->fit.ok() ? reply.answer : nullptr;
}

}  // namespace

void draw_kernels(Lab& lab) {
    const sim::Experiment& e = lab.document.experiment();
    if (lab.question().devices->at(e.device).kind != sim::DeviceKind::gpu) return hint(tr(Str::kernels_of_gpus));
    const auto reply = lab.computed.ask(chosen, own_question(lab));
    if (!reply.error.empty()) return coloured(colours().error, translated(reply.error));
    if (!reply.answer) return hint(tr(Str::computing));
    const Chosen& c = *reply.answer;
    ladder(lab, c);
    ImGui::Spacing();
    if (!c.fit.ok()) return coloured(colours().error, translated(c.fit.why));
    launches(c);

    std::string trouble;
    const Counted* counted = counted_of(lab, trouble);
    const bool asked = lab.under_glass && *lab.under_glass == e;
    ImGui::BeginDisabled(asked && !counted && trouble.empty());
    if (ImGui::Button(tr(Str::run_glass))) lab.under_glass = e;
    ImGui::EndDisabled();
    tip(tr(Str::run_glass_tip));
    if (!trouble.empty()) coloured(colours().error, translated(trouble));
    if (asked && !counted && trouble.empty()) hint(tr(Str::computing));
    if (counted) {
        hint(say(Str::glass_result, counted->sectors, counted->wavefronts, counted->bank_conflicts(),
                 counted->max_error));
        for (const kernels::glass::Finding& f : counted->findings) coloured(colours().error, translated(f.what));
    }
    static const sim::Fit gpu = kernels::cuda::available();
    if (!gpu.ok()) hint(say(Str::no_gpu_here, translated(gpu.why)));
    ImGui::Separator();
    static std::optional<sim::Experiment> seen;  // the run whose lines were brought into sight
    const bool is_new = counted && seen != e;
    seen = counted ? std::optional(e) : std::nullopt;
    const std::string_view file = c.launches.front().rung->file;
    source(file, lines_of(counted, file), is_new, lab.learning.language());
}

Sheet kernels_sheet(Lab& lab) {
    if (lab.question().devices->at(lab.document.experiment().device).kind != sim::DeviceKind::gpu) return {};
    std::string trouble;
    const Counted* counted = counted_of(lab, trouble);
    if (!counted) {  // what is launched
        Sheet sheet = {{"kernel", "ctas", "threads", "smem_bytes"}};
        if (const auto reply = lab.computed.ask(chosen, own_question(lab)); reply.answer && reply.answer->fit.ok())
            for (const kernels::DeviceKernel& k : reply.answer->launches) {
                const kernels::Launch l = kernels::launch_of(k);
                sheet.push_back({std::string(k.name), std::to_string(l.grid), std::to_string(l.block),
                                 std::to_string(l.smem_bytes)});
            }
        return sheet;
    }
    Sheet sheet = {{"file", "line", "instructions", "active_lanes", "bytes", "sectors", "ideal_sectors", "wavefronts",
                    "ideal_wavefronts"}};
    for (const LineCount& l : counted->lines)
        sheet.push_back({l.file, std::to_string(l.line), std::to_string(l.instructions), std::to_string(l.active_lanes),
                         std::to_string(l.bytes), std::to_string(l.sectors), std::to_string(l.ideal_sectors),
                         std::to_string(l.wavefronts), std::to_string(l.ideal_wavefronts)});
    return sheet;
}

}  // namespace gui
