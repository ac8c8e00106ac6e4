// The figures beside the prose of a step, and what covers them until its question is answered.

#include <imgui.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "gui/bars.hpp"
#include "gui/context.hpp"
#include "gui/draw.hpp"
#include "gui/lab.hpp"
#include "gui/lesson_parts.hpp"
#include "gui/views.hpp"
#include "lessons/figures.hpp"
#include "lessons/phrases.hpp"

namespace gui {

using lessons::Phrase;
using lessons::Question;

namespace {

enum class Height { own, share };  // as much as it takes; its share of what is left
struct FigureRow {
    std::string_view id;
    void (*draw)(Lab&);
    Height height;
};
constexpr std::array figure_rows = {
    FigureRow{"headline", draw_headline, Height::own},   FigureRow{"tiles", draw_tiles, Height::share},
    FigureRow{"traffic", draw_traffic, Height::share},   FigureRow{"time", draw_time_split, Height::own},
    FigureRow{"roofline", draw_roofline, Height::share}, FigureRow{"sweep", draw_sweep, Height::share},
    FigureRow{"measure", draw_measure, Height::share},   FigureRow{"experiment", draw_experiment, Height::own},
    FigureRow{"fault", draw_fault, Height::own},         FigureRow{"counters", draw_counters, Height::own},
};

/// The figures of the step, in the order of the table: what it shows, else what was shown last, and what it covers.
std::vector<const FigureRow*> figures_of(const lessons::Lesson& lesson, int step) {
    std::vector<std::string> ids;
    const lessons::Step& now = lesson.steps[static_cast<std::size_t>(step)];
    if (now.question && now.question->kind == Question::reach) ids = {"headline", "experiment"};
    for (int i = step; i >= 0 && ids.empty(); --i) ids = lesson.steps[static_cast<std::size_t>(i)].show;
    ids.insert(ids.end(), now.show.begin(), now.show.end());
    ids.insert(ids.end(), now.hide.begin(), now.hide.end());
    if (ids.empty()) ids = {"tiles"};
    std::vector<const FigureRow*> out;
    for (const FigureRow& row : figure_rows)
        if (std::find(ids.begin(), ids.end(), row.id) != ids.end()) out.push_back(&row);
    if (now.question)  // what is to be read from stands first
        std::stable_partition(out.begin(), out.end(),
                              [&](const FigureRow* row) { return row->id == now.question->figure; });
    return out;
}

void covered_by(const std::string& text) {
    const ImVec2 at = ImGui::GetCursorScreenPos(), room = ImGui::GetContentRegionAvail();
    const ImVec2 end{at.x + room.x, at.y + room.y};
    ImDrawList& list = *ImGui::GetWindowDrawList();
    draw_hatch(list, at, end, mix(colours().panel, colours().border, 0.55f), em(0.8f), 1);
    const Flow flow(plain_spans(text), room.x - em(2));
    const float w = flow.width(), h = flow.height(), pad = em(0.6f);
    const ImVec2 middle{(at.x + end.x) / 2, (at.y + end.y) / 2};
    list.AddRectFilled({middle.x - w / 2 - pad, middle.y - h / 2}, {middle.x + w / 2 + pad, middle.y + h / 2},
                       colours().panel, em(0.3f));
    flow.draw({middle.x - w / 2, middle.y - h / 2}, colours().dim);
    ImGui::Dummy(room);
}

}  // namespace

const char* figure_name(std::string_view id, lessons::Language l) {
    const lessons::Figure* f = lessons::find_figure(id);
    return f ? lessons::phrase(f->name, l) : "";
}

void draw_lesson_figures(Lab& lab, float height) {
    const Learning& learning = lab.learning;
    const auto rows = figures_of(*learning.lesson(), learning.state().step);
    const float spacing = ImGui::GetStyle().ItemSpacing.y;
    const float title = ImGui::GetTextLineHeight() + em(0.35f), gap = em(0.9f), cover = em(4.2f);
    ImGuiStorage& storage = *ImGui::GetStateStorage();
    const auto height_of = [&](const FigureRow& row) {  // 0: a share
        if (learning.covers(row.id)) return cover;
        return row.height == Height::own
                   ? storage.GetFloat(ImGui::GetID(row.id.data()), em(row.draw == draw_headline ? 3 : 14))
                   : 0;
    };
    float fixed = 0, sharing = 0;
    for (const FigureRow* row : rows) {
        fixed += title + gap + height_of(*row);
        sharing += height_of(*row) <= 0 ? 1.0f : 0.0f;
    }
    const float each = std::max(em(17), std::floor((height - fixed) / std::max(1.0f, sharing)));
    ImGui::PushStyleVarY(ImGuiStyleVar_ItemSpacing, 0);
    for (const FigureRow* row : rows) {
        const char* id = row->id.data();
        const bool covered = learning.covers(row->id), own = row->height == Height::own && !covered;
        ImGui::PushFont(bold(), ImGui::GetStyle().FontSizeBase * 0.9f);
        ImGui::TextDisabled(
            "%s", shortened(figure_name(row->id, learning.language()), ImGui::GetContentRegionAvail().x).c_str());
        ImGui::PopFont();
        ImGui::Dummy({0, em(0.35f)});
        const ImGuiChildFlags flags =
            ImGuiChildFlags_Borders | ImGuiChildFlags_NavFlattened | (own ? ImGuiChildFlags_AutoResizeY : 0);
        const float known = height_of(*row);
        if (ImGui::BeginChild(id, {0, own ? 0 : known > 0 ? known : each}, flags)) {
            ImGui::PushStyleVarY(ImGuiStyleVar_ItemSpacing, spacing);
            if (covered)
                covered_by(tr(Str::covered_figure));
            else
                row->draw(lab);
            ImGui::PopStyleVar();
        }
        ImGui::EndChild();
        if (row->id == "sweep" || row->id == "experiment") lab.wants_sweep = true;
        if (own) storage.SetFloat(ImGui::GetID(id), ImGui::GetItemRectSize().y);
        if (row != rows.back()) ImGui::Dummy({0, gap});
    }
    ImGui::PopStyleVar();
}

std::string cover_text(std::string_view figure) {
    const lessons::Language l = lesson_language();
    return lessons::say(Phrase::covered, l, figure_name(figure, l));
}

void draw_cover(std::string_view figure) { covered_by(cover_text(figure)); }

}  // namespace gui
