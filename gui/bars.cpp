#include "gui/bars.hpp"

#include <imgui.h>
#include <imgui_internal.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "gui/actions.hpp"
#include "gui/context.hpp"
#include "gui/draw.hpp"
#include "gui/formulas.hpp"
#include "gui/lab.hpp"
#include "gui/views.hpp"
#include "lessons/terms.hpp"

namespace gui {
namespace {

constexpr ImGuiWindowFlags bar_flags =
    ImGuiWindowFlags_NoScrollbar | ImGuiWindowFlags_NoScrollWithMouse | ImGuiWindowFlags_NoSavedSettings |
    ImGuiWindowFlags_NoDocking | ImGuiWindowFlags_NoTitleBar | ImGuiWindowFlags_NoMove | ImGuiWindowFlags_NoResize;

/// What the model leaves out, on which kinds of device (g t c s).
struct Limit {
    Str text;
    std::string_view kinds;
};
constexpr std::array limits = {
    Limit{Str::limit_order, "g"},      Limit{Str::limit_l2, "g"},      Limit{Str::limit_prefetch, "c"},
    Limit{Str::limit_compiler, "t"},   Limit{Str::limit_cores, "t"},   Limit{Str::limit_clock, "gc"},
    Limit{Str::limit_tlb, "gtc"},      Limit{Str::limit_values, "gt"}, Limit{Str::limit_ideal, "s"},
    Limit{Str::limit_numbers, "gtcs"},
};

/// The limits of the machine in the document, as they read now.
std::vector<const char*> limits_of(const Lab& lab) {
    const sim::Device* d = lab.document.devices()->find(lab.document.experiment().device);
    const char kind = d ? to_string(d->kind).front() : 'g';
    std::vector<const char*> out;
    for (const Limit& l : limits)
        if (l.kinds.find(kind) != l.kinds.npos) out.push_back(tr(l.text));
    return out;
}

struct Example {
    Str name;
    const char* scene;
};
constexpr std::array examples = {
    Example{Str::example_seed, "tpu-v5e 8192x8192x8192 f32 forward fused tile 128x128x8192"},
    Example{Str::example_seed_good, "tpu-v5e 8192x8192x8192 f32 forward fused tile 1024x1024x256"},
    Example{Str::example_h100, "h100-sxm5 8192x8192x8192 bf16 forward fused tile 128x256x64 raster grouped:8"},
    Example{Str::example_small_k, "a100-sxm4-80gb 8192x8192x256 bf16 forward unfused tile 128x128x32"},
    Example{Str::example_train, "h100-sxm5 4096x4096x4096 bf16 train fused residual mask tile 128x256x64"},
    Example{Str::example_ragged, "scratchpad 500x700x300 f32 forward fused tile 128x128x64"},
};

void menu_items(Lab& lab, Menu menu) {
    for (const Action& a : actions()) {
        if (a.menu != menu) continue;
        if (a.line_before) ImGui::Separator();
        if (ImGui::MenuItem(label(a.name), a.shown, a.checked && a.checked(lab), !a.enabled || a.enabled(lab)))
            a.act(lab);
    }
}

float button_width(Str s) { return ImGui::CalcTextSize(tr(s)).x + 2 * ImGui::GetStyle().FramePadding.x; }

bool button_after(Str s, bool enabled = true) {
    ImGui::SameLine();
    ImGui::BeginDisabled(!enabled);
    const bool hit = ImGui::Button(label(s));
    ImGui::EndDisabled();
    return hit;
}

void edit_line(Lab& lab) {
    auto& text = lab.line;
    if (!lab.line_is_edited) {
        const std::string now = sim::to_string(lab.document.experiment(), *lab.document.devices());
        const std::size_t n = std::min(now.size(), text.size() - 1);
        *std::copy_n(now.begin(), n, text.begin()) = '\0';
    }
    const float buttons = button_width(Str::undo) + button_width(Str::redo) + button_width(Str::copy) +
                          3 * ImGui::GetStyle().ItemSpacing.x;
    const bool roomy = ImGui::GetContentRegionAvail().x > buttons + em(12);  // else menu and keys are enough
    ImGui::SetNextItemWidth(roomy ? ImGui::GetContentRegionAvail().x - buttons : -1);
    const bool entered = ImGui::InputText("##line", text.data(), text.size(), ImGuiInputTextFlags_EnterReturnsTrue);
    lab.line_is_edited = ImGui::IsItemActive();
    tip(tr(Str::line_tip));
    if (entered) lab.paste(text.data());
    if (!roomy) return;
    if (button_after(Str::undo, lab.document.can_undo())) lab.document.undo();
    if (button_after(Str::redo, lab.document.can_redo())) lab.document.redo();
    if (button_after(Str::copy)) ImGui::SetClipboardText(lab.document.text().c_str());
}

// ---- the headline
// ----------------------------------------------------------------------------------------------------

/// "Bound ▽ 5.58 ms  what it hangs on", as one cell of the headline.
/// `rest` is the longest of the given that fits, or nothing.
void headline_cell(Mark mark, Str name, const std::string& value, const std::vector<std::string>& rest,
                   std::string_view why) {
    ImGui::BeginGroup();
    // Where there is little room the shape stands for its name.
    ImGui::PushFont(bold(), 0);
    const float number = ImGui::CalcTextSize(value.c_str()).x;
    ImGui::PopFont();
    const bool named = ImGui::GetContentRegionAvail().x >= chip_width(tr(name)) + em(0.8f) + number;
    mark_chip(mark, named ? tr(name) : "");
    ImGui::SameLine(0, em(named ? 0.6f : 0.1f));
    ImGui::PushFont(bold(), 0);
    ImGui::TextUnformatted(value.c_str());
    ImGui::PopFont();
    ImGui::SameLine(0, em(0.6f));
    const float room = ImGui::GetContentRegionAvail().x;
    const auto fits = std::find_if(rest.begin(), rest.end(),
                                   [&](const std::string& s) { return ImGui::CalcTextSize(s.c_str()).x <= room; });
    if (fits != rest.end())
        ImGui::TextDisabled("%s", fits->c_str());
    else if (!rest.empty() && room > em(6))
        ImGui::TextDisabled("%s", shortened(rest.back(), room).c_str());
    else
        ImGui::NewLine();
    ImGui::EndGroup();
    tip(why);
    copyable(value, value.empty() ? "##empty" : tr(name));
}

const char* name_of(sim::Limiter l) { return lessons::limiter_name(l, lesson_language()); }

const char* ceiling_name(sim::Bound::Ceiling c) {
    return name_of(c == sim::Bound::Ceiling::math ? sim::Limiter::math
                   : c == sim::Bound::Ceiling::l2 ? sim::Limiter::l2
                                                  : sim::Limiter::dram);
}

std::string percent_of(double part, double whole) {
    const double percent = whole == 0 ? 0 : 100 * (part - whole) / whole;
    return fmt::format("{}{:.1f} %", percent < 0 ? "−" : "+", std::abs(percent));
}

/// In three columns, or one under the other.
void headline(Lab& lab, bool stacked) {
    ImGui::AlignTextToFramePadding();
    if (!lab.analysis_error().empty()) {
        ImGui::TextColored(ImGui::ColorConvertU32ToFloat4(colours().error), "%s",
                           shortened(translated(lab.analysis_error()), ImGui::GetContentRegionAvail().x).c_str());
        return;
    }
    const Analysis* a = lab.analysis();
    if (!a) {
        hint(tr(Str::computing));
        return;
    }
    const sim::Report& r = a->report;
    const MeasuredRow* measured = lab.measured.of(lab.document.experiment());
    // A window too narrow for three numbers shows the prediction, with what was measured or else the bound.
    const float width = ImGui::GetContentRegionAvail().x;
    const int cells = stacked ? 3 : width < em(10) ? 1 : width < em(16) ? 2 : 3;
    const bool with_bound = cells == 3 || (cells == 2 && !measured),
               with_measured = cells == 3 || (cells == 2 && measured);
    if (!ImGui::BeginTable("headline", stacked ? 1 : cells,
                           ImGuiTableFlags_SizingStretchProp | ImGuiTableFlags_BordersInnerV))
        return;
    const bool roomy = width > em(60);  // else there is only room for the numbers
    if (!stacked && cells == 3) {
        ImGui::TableSetupColumn("bound", 0, roomy ? 0.8f : 1);
        ImGui::TableSetupColumn("predicted", 0, roomy ? 1.6f : 1.15f);
        ImGui::TableSetupColumn("measured", 0, roomy ? 1.2f : 1.15f);
    }
    if (with_bound) {
        ImGui::TableNextColumn();
        headline_cell(Mark::bound, Str::bound, sim::format_us(r.bound.time_us),
                      {say(Str::ceiling, ceiling_name(r.bound.ceiling))}, tr(Str::bound_tip));
        asks_formula(lab, sim::Formula::bound_time);
    }
    ImGui::TableNextColumn();
    if (r.predicted) {
        const sim::Prediction& p = *r.predicted;
        const std::string limit = say(Str::limited_by, name_of(p.limiter));
        std::string all = limit;
        if (const auto it = p.if_twice.find(std::string(sim::to_string(p.limiter))); it != p.if_twice.end())
            all += "; " + say(Str::if_twice, sim::format_us(it->second));
        std::string before;
        if (!p.validated) before = std::string(tr(Str::unvalidated)) + " · ";
        if (a->baseline && a->baseline->predicted)
            before += say(Str::against_baseline, percent_of(p.time_us, a->baseline->predicted->time_us)) + " · ";
        headline_cell(predicted_mark(p.validated), Str::predicted, sim::format_us(p.time_us),
                      {before + all, before + limit, p.validated ? limit : std::string(tr(Str::unvalidated))},
                      before + all + "\n" + tr(Str::predicted_tip));
        asks_formula(lab, sim::Formula::predicted_time);
    } else {
        ImGui::PushStyleColor(ImGuiCol_Text, colours().error);
        headline_cell(Mark::unvalidated, Str::predicted, tr(Str::does_not_fit), {translated(r.fit.why)},
                      translated(r.fit.why));
        ImGui::PopStyleColor();
    }
    if (with_measured) ImGui::TableNextColumn();
    if (with_measured && measured)
        headline_cell(Mark::measured, Str::measured, sim::format_us(*measured->row.time_us),
                      {measured->row.source.empty() ? measured->row.machine : measured->row.source},
                      tr(Str::measured_tip));
    else if (with_measured)
        headline_cell(Mark::measured, Str::measured, "", {tr(Str::no_measured_row)}, tr(Str::measured_tip));
    ImGui::EndTable();
}

std::string limits_line(const Lab& lab) {
    std::string line;
    for (const char* limit : limits_of(lab))
        line += (line.empty() ? std::string(tr(Str::not_modelled)) + ": " : " · ") + limit;
    return line;
}

}  // namespace

void draw_line(Lab& lab) { edit_line(lab); }

void draw_headline(Lab& lab) { headline(lab, ImGui::GetContentRegionAvail().x < em(36)); }

void handle_keys(Lab& lab) {
    const bool typing = ImGui::GetIO().WantTextInput;
    for (const Action& a : actions()) {
        if (a.key == 0 || (typing && !a.while_typing) || (a.enabled && !a.enabled(lab))) continue;
        if (ImGui::Shortcut(a.key, ImGuiInputFlags_RouteGlobal | (a.repeats ? ImGuiInputFlags_Repeat : 0))) a.act(lab);
    }
}

void draw_menu_bar(Lab& lab) {
    if (!ImGui::BeginMainMenuBar()) return;
    // Where they have no room side by side, the menus hang in one.
    float need = 0;
    for (const Str s : {Str::menu_file, Str::menu_edit, Str::menu_examples, Str::menu_step, Str::menu_learn,
                        Str::menu_view, Str::menu_help})
        need += ImGui::CalcTextSize(tr(s)).x + 2 * ImGui::GetStyle().ItemSpacing.x;
    const bool folded = need > ImGui::GetContentRegionAvail().x;
    if (folded && !ImGui::BeginMenu(label(Str::menu_all))) return ImGui::EndMainMenuBar();
    const auto menu = [&](Str name, auto body) {
        if (!ImGui::BeginMenu(label(name))) return;
        body();
        ImGui::EndMenu();
    };
    menu(Str::menu_file, [&] { menu_items(lab, Menu::file); });
    menu(Str::menu_edit, [&] { menu_items(lab, Menu::edit); });
    menu(Str::menu_examples, [&] {
        for (const Example& e : examples)
            if (ImGui::MenuItem(label(e.name))) lab.paste(e.scene);
    });
    menu(Str::menu_step, [&] { menu_items(lab, Menu::step); });
    menu(Str::menu_learn, [&] { menu_items(lab, Menu::learn); });
    menu(Str::menu_view, [&] {
        for (std::size_t i = 0; i < views().size(); ++i)
            ImGui::MenuItem(label(views()[i].title), nullptr, &lab.open[i]);
        menu_items(lab, Menu::view);
    });
    menu(Str::menu_help, [&] { menu_items(lab, Menu::help); });
    if (folded) ImGui::EndMenu();
    ImGui::EndMainMenuBar();
}

void draw_scene_bar(Lab& lab) {
    const ImGuiStyle& style = ImGui::GetStyle();
    const float height = 2 * style.WindowPadding.y + 2 * ImGui::GetFrameHeight() + style.ItemSpacing.y;
    if (ImGui::BeginViewportSideBar("##scene", ImGui::GetMainViewport(), ImGuiDir_Up, height, bar_flags)) {
        edit_line(lab);
        if (lab.learning.covers("headline"))
            hint(cover_text("headline"));
        else
            headline(lab, false);
    }
    ImGui::End();
}

void draw_status_bar(Lab& lab) {
    if (ImGui::GetMainViewport()->Size.y < em(10) && lab.message.text.empty()) return;  // the view needs the room
    ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {em(0.75f), em(0.2f)});
    const float height = ImGui::GetFrameHeight() + em(0.4f);
    if (ImGui::BeginViewportSideBar("##status", ImGui::GetMainViewport(), ImGuiDir_Down, height, bar_flags)) {
        const float right = ImGui::GetContentRegionMax().x - button_width(Str::all_limits);
        const bool has_message = !lab.message.text.empty();
        const std::string text = has_message ? translated(lab.message.text) : limits_line(lab);
        const ImU32 colour = !has_message ? colours().dim : lab.message.is_error ? colours().error : colours().text;
        ImGui::AlignTextToFramePadding();
        ImGui::PushStyleColor(ImGuiCol_Text, colour);
        ImGui::TextUnformatted(shortened(text, right - ImGui::GetCursorPosX() - em(1)).c_str());
        ImGui::PopStyleColor();
        if (has_message && ImGui::IsItemClicked()) lab.message = {};
        tip(text);
        ImGui::SameLine(right);
        if (ImGui::Button(label(Str::all_limits))) lab.show_limits = true;
    }
    ImGui::End();
    ImGui::PopStyleVar();
}

void draw_popups(Lab& lab) {
    const auto popup = [](bool& show, Str title, auto body) {
        if (std::exchange(show, false)) ImGui::OpenPopup(label(title));
        ImGui::SetNextWindowPos(ImGui::GetMainViewport()->GetCenter(), ImGuiCond_Appearing, {0.5f, 0.5f});
        bool open = true;
        if (!begin_dialog(label(title), &open, ImGuiWindowFlags_AlwaysAutoResize | ImGuiWindowFlags_NoSavedSettings))
            return;
        body();
        ImGui::Spacing();
        if (ImGui::Button(label(Str::close)) || ImGui::Shortcut(ImGuiKey_Escape)) ImGui::CloseCurrentPopup();
        ImGui::EndPopup();
    };
    popup(lab.show_keys, Str::keys, [] {
        if (!ImGui::BeginTable("keys", 2, ImGuiTableFlags_SizingFixedFit)) return;
        for (const Action& a : actions()) {
            if (!a.shown) continue;
            ImGui::TableNextColumn();
            ImGui::TextDisabled("%s", a.shown);
            ImGui::TableNextColumn();
            ImGui::TextUnformatted(tr(a.name));
        }
        ImGui::EndTable();
    });
    draw_formulas(lab);
    popup(lab.show_limits, Str::not_modelled, [&] {
        ImGui::PushTextWrapPos(em(34));
        for (const char* limit : limits_of(lab)) ImGui::BulletText("%s", limit);
        if (const Analysis* a = lab.analysis(); a && !a->report.notes.empty()) {
            ImGui::SeparatorText(tr(Str::notes));
            for (const std::string& note : a->report.notes) {
                ImGui::Bullet();
                ImGui::TextUnformatted(in_lines(translated(note), em(34) - ImGui::GetCursorPosX()).c_str());
            }
        }
        ImGui::PopTextWrapPos();
    });
}

}  // namespace gui
