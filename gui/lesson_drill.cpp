// The two figures of the fault drill: what glass counted of a sound and a faulty kernel, and the line that is wrong.

#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>

#include "gui/context.hpp"
#include "gui/draw.hpp"
#include "gui/lab.hpp"
#include "gui/lesson_parts.hpp"
#include "lessons/figures.hpp"
#include "lessons/phrases.hpp"

namespace gui {
namespace {

using kernels::glass::Comparison;
using lessons::Phrase;

/// Text that is never wrapped.
void plain(std::string_view text, ImU32 colour) {
    ImGui::PushStyleColor(ImGuiCol_Text, colour);
    ImGui::TextUnformatted(text.data(), text.data() + text.size());
    ImGui::PopStyleColor();
}

/// "8,192 → 6,144": what was right in the text's colour, what the fault made of it in the colour of errors.
void changed_cell(const std::string& text) {
    constexpr std::string_view arrow = " → ";
    ImGui::TableNextColumn();
    const std::size_t at = text.find(arrow);
    if (at == text.npos) return ImGui::TextUnformatted(text.c_str());
    ImGui::TextUnformatted(text.c_str(), text.c_str() + at + arrow.size());
    ImGui::SameLine(0, 0);
    plain(std::string_view(text).substr(at + arrow.size()), colours().error);
}

void cell(std::string_view text, ImU32 colour) {
    ImGui::TableNextColumn();
    plain(text, colour);
}

const Comparison* comparison(const Lab& lab) {
    const Page* page = lab.learning.page();
    return page ? page->comparison.get() : nullptr;
}

}  // namespace

void draw_counters(Lab& lab) {
    const Comparison* c = comparison(lab);
    if (!c) return hint(tr(Str::computing));
    const lessons::Language l = lab.learning.language();
    const auto word = [&](Phrase p) { return lessons::phrase(p, l); };
    const ImGuiTableFlags flags = ImGuiTableFlags_SizingFixedFit | ImGuiTableFlags_RowBg;
    if (ImGui::BeginTable("totals", 3, flags)) {
        ImGui::TableNextRow();
        ImGui::TableNextColumn();
        cell(word(Phrase::counter_sound), colours().dim);
        cell(word(Phrase::counter_faulty), colours().dim);
        for (const Comparison::Total& t : c->totals) {
            ImGui::TableNextRow();
            ImGui::TableNextColumn();
            ImGui::TextUnformatted(lessons::counter_name(t.name, l));
            cell(t.sound, colours().text);
            cell(t.faulty, t.sound == t.faulty ? colours().text : colours().error);
        }
        ImGui::EndTable();
    }
    ImGui::Dummy({0, em(0.5f)});
    if (ImGui::BeginTable("lines", 5, flags)) {
        ImGui::TableNextRow();
        for (const Phrase p : {Phrase::counter_line, Phrase::counter_instructions, Phrase::counter_bytes,
                               Phrase::counter_sectors_each, Phrase::counter_wavefronts_each})
            cell(word(p), colours().dim);
        for (const Comparison::Line& line : c->lines) {
            ImGui::TableNextRow();
            cell(std::to_string(line.line), line.differs ? colours().accent : colours().text);
            for (const std::string* text : {&line.instructions, &line.bytes, &line.sectors, &line.wavefronts})
                changed_cell(*text);
        }
        ImGui::EndTable();
    }
    ImGui::Dummy({0, em(0.5f)});
    ImGui::PushFont(mono(), ImGui::GetStyle().FontSizeBase * 0.86f);
    for (const Comparison::Line& line : c->lines) {
        const std::string text = fmt::format("{:>3}  {}", line.line, line.source);
        ImGui::TextUnformatted(shortened(text, ImGui::GetContentRegionAvail().x).c_str());
        tip(text);
    }
    ImGui::PopFont();
    ImGui::Dummy({0, em(0.3f)});
    for (const Phrase p : {Phrase::counter_legend, Phrase::counter_legend_race})
        if (p == Phrase::counter_legend || c->races)
            draw_spans(plain_spans(word(p)), ImGui::GetContentRegionAvail().x, colours().dim);
}

void draw_fault(Lab& lab) {
    const Comparison* c = comparison(lab);
    if (!c) return hint(tr(Str::computing));
    for (const kernels::glass::ChangedLine& line : c->changed) {
        hint(fmt::format("{}:{}", c->file, line.line));
        ImGui::PushFont(mono(), ImGui::GetStyle().FontSizeBase * 0.86f);
        const float width = ImGui::GetContentRegionAvail().x;
        for (const auto& [sign, text, colour] :
             {std::tuple{"-", line.was, colours().green}, std::tuple{"+", line.becomes, colours().error}}) {
            const auto begin = std::min(text.find_first_not_of(' '), text.size());
            const std::string shown = fmt::format("{} {}", sign, text.substr(begin));
            plain(shortened(shown, width), colour);
            tip(shown);
        }
        ImGui::PopFont();
    }
    for (const std::string& finding : c->findings)
        draw_spans(plain_spans(translated(finding)), ImGui::GetContentRegionAvail().x, colours().dim);
}

}  // namespace gui
