#include "gui/actions.hpp"

#include <algorithm>
#include <array>

#include "gui/lab.hpp"
#include "gui/views.hpp"

namespace gui {
namespace {

void rescale(Lab& lab, float by) { lab.appearance.scale = std::clamp(lab.appearance.scale + by, min_scale, max_scale); }

void relayout(Lab& lab, const char* view) {
    if (view) lab.document.set_view(view);
    lab.rebuild_layout = true;
    lab.laid_out = lab.document.scene().view;
    open_views(lab.open, lab.laid_out);
}

void open_quiz(Lab& lab, lessons::StepKind half) {
    if (const lessons::Lesson* quiz = lab.learning.quiz(half)) lab.learning.open(*quiz, lab.document);
}

bool can_step(const Lab& lab) { return lab.analysis() && lab.analysis()->steps > 0; }

std::size_t in_focus(const Lab& lab) { return lab.alone.value_or(lab.in_focus); }

constexpr int ctrl = ImGuiMod_Ctrl, shift = ImGuiMod_Shift;

constexpr std::array table = {
    Action{Menu::file, Str::copy_scene, ctrl | shift | ImGuiKey_C, "Ctrl+Shift+C",
           [](Lab& l) { ImGui::SetClipboardText(l.document.text().c_str()); }, nullptr, nullptr, false, true},
    Action{Menu::file, Str::paste_scene, ctrl | shift | ImGuiKey_V, "Ctrl+Shift+V",
           [](Lab& l) {
               if (const char* text = ImGui::GetClipboardText()) l.paste(text);
           },
           nullptr, nullptr, false, true},
    Action{Menu::file, Str::copy_table, ctrl | ImGuiKey_C, "Ctrl+C",
           [](Lab& l) { l.take(Lab::Take::tsv, in_focus(l)); }, nullptr, nullptr, false, false, true},
    Action{Menu::file, Str::save_csv, ctrl | shift | ImGuiKey_E, "Ctrl+Shift+E",
           [](Lab& l) { l.take(Lab::Take::csv, in_focus(l)); }},
    Action{Menu::file, Str::save_svg, ctrl | shift | ImGuiKey_G, "Ctrl+Shift+G",
           [](Lab& l) { l.take(Lab::Take::svg, in_focus(l)); }},
    Action{Menu::file, Str::save_png, ctrl | shift | ImGuiKey_P, "Ctrl+Shift+P",
           [](Lab& l) { l.take(Lab::Take::png, in_focus(l)); }},
    Action{Menu::file, Str::quit, ctrl | ImGuiKey_Q, "Ctrl+Q", [](Lab& l) { l.quit = true; }, nullptr, nullptr, false,
           true, true},

    Action{Menu::edit, Str::undo, ctrl | ImGuiKey_Z, "Ctrl+Z", [](Lab& l) { l.document.undo(); },
           [](const Lab& l) { return l.document.can_undo(); }, nullptr, true},
    Action{Menu::edit, Str::redo, ctrl | ImGuiKey_Y, "Ctrl+Y", [](Lab& l) { l.document.redo(); },
           [](const Lab& l) { return l.document.can_redo(); }, nullptr, true},
    Action{Menu::edit, Str::pin_baseline, ImGuiKey_B, "B",
           [](Lab& l) { l.document.set_baseline(l.document.experiment()); }, nullptr, nullptr, false, false, true},
    Action{Menu::edit, Str::drop_baseline, 0, nullptr, [](Lab& l) { l.document.set_baseline({}); },
           [](const Lab& l) { return l.document.scene().baseline.has_value(); }},

    Action{Menu::step, Str::play, ImGuiKey_P, "P", [](Lab& l) { l.play.on = !l.play.on; }, can_step,
           [](const Lab& l) { return l.play.on; }},
    Action{Menu::step, Str::step_back, ImGuiKey_Comma, ",", [](Lab& l) { l.set_step(l.document.scene().step - 1); },
           can_step, nullptr, true},
    Action{Menu::step, Str::step_on, ImGuiKey_Period, ".", [](Lab& l) { l.set_step(l.document.scene().step + 1); },
           can_step, nullptr, true},
    Action{Menu::step, Str::tile_back, shift | ImGuiKey_Comma, "Shift+,", [](Lab& l) { l.step_tile(-1); }, can_step,
           nullptr, true},
    Action{Menu::step, Str::tile_on, shift | ImGuiKey_Period, "Shift+.", [](Lab& l) { l.step_tile(+1); }, can_step,
           nullptr, true},
    Action{Menu::step, Str::wave_back, ctrl | ImGuiKey_Comma, "Ctrl+,", [](Lab& l) { l.step_wave(-1); }, can_step,
           nullptr, true},
    Action{Menu::step, Str::wave_on, ctrl | ImGuiKey_Period, "Ctrl+.", [](Lab& l) { l.step_wave(+1); }, can_step,
           nullptr, true},
    Action{Menu::step, Str::step_first, ctrl | ImGuiKey_Home, "Ctrl+Home", [](Lab& l) { l.set_step(0); }, can_step},
    Action{Menu::step, Str::step_last, ctrl | ImGuiKey_End, "Ctrl+End",
           [](Lab& l) { l.set_step(l.analysis() ? l.analysis()->steps : 0); }, can_step},

    Action{Menu::learn, Str::lessons, ctrl | ImGuiKey_L, "Ctrl+L",
           [](Lab& l) {
               l.learning.leave(l.document);
               relayout(l, "learn");
           },
           nullptr, nullptr, false, true},
    Action{Menu::learn, Str::glossary, ctrl | ImGuiKey_G, "Ctrl+G", [](Lab& l) { l.look_up({}); }, nullptr, nullptr,
           false, true},
    Action{Menu::learn, Str::quiz_before, 0, nullptr, [](Lab& l) { open_quiz(l, lessons::StepKind::pre); }, nullptr,
           nullptr, false, false, true},
    Action{Menu::learn, Str::quiz_after, 0, nullptr, [](Lab& l) { open_quiz(l, lessons::StepKind::post); }},
    Action{Menu::learn, Str::export_report, 0, nullptr, [](Lab& l) { l.show_report = true; }, nullptr, nullptr, false,
           false, true},

    Action{Menu::view, Str::view_alone, ImGuiKey_F11, "F11",
           [](Lab& l) { l.alone = l.alone ? std::nullopt : std::optional(l.in_focus); }, nullptr,
           [](const Lab& l) { return l.alone.has_value(); }, false, true, true},
    Action{Menu::view, Str::layout_learn, 0, nullptr, [](Lab& l) { relayout(l, "learn"); }, nullptr,
           [](const Lab& l) { return l.document.scene().view == "learn"; }},
    Action{Menu::view, Str::layout_explore, 0, nullptr, [](Lab& l) { relayout(l, "explore"); }, nullptr,
           [](const Lab& l) { return l.document.scene().view == "explore"; }, false, false, true},
    Action{Menu::view, Str::layout_measure, 0, nullptr, [](Lab& l) { relayout(l, "measure"); }, nullptr,
           [](const Lab& l) { return l.document.scene().view == "measure"; }},
    Action{Menu::view, Str::reset_layout, 0, nullptr, [](Lab& l) { relayout(l, nullptr); }},
    Action{Menu::view, Str::theme_dark, 0, nullptr, [](Lab& l) { l.appearance.theme = Theme::dark; }, nullptr,
           [](const Lab& l) { return l.appearance.theme == Theme::dark; }, false, false, true},
    Action{Menu::view, Str::theme_light, 0, nullptr, [](Lab& l) { l.appearance.theme = Theme::light; }, nullptr,
           [](const Lab& l) { return l.appearance.theme == Theme::light; }},
    Action{Menu::view, Str::theme_contrast, 0, nullptr, [](Lab& l) { l.appearance.theme = Theme::contrast; }, nullptr,
           [](const Lab& l) { return l.appearance.theme == Theme::contrast; }},
    Action{Menu::view, Str::language_en, 0, nullptr, [](Lab& l) { l.appearance.language = Language::en; }, nullptr,
           [](const Lab& l) { return l.appearance.language == Language::en; }, false, false, true},
    Action{Menu::view, Str::language_zh, 0, nullptr, [](Lab& l) { l.appearance.language = Language::zh; }, nullptr,
           [](const Lab& l) { return l.appearance.language == Language::zh; }},
    Action{Menu::view, Str::reduced_motion, 0, nullptr,
           [](Lab& l) { l.appearance.reduced_motion = !l.appearance.reduced_motion; }, nullptr,
           [](const Lab& l) { return l.appearance.reduced_motion; }, false, false, true},
    Action{Menu::view, Str::text_larger, ctrl | ImGuiKey_Equal, "Ctrl+=", [](Lab& l) { rescale(l, 0.125f); }, nullptr,
           nullptr, true, true, true},
    Action{Menu::view, Str::text_smaller, ctrl | ImGuiKey_Minus, "Ctrl+-", [](Lab& l) { rescale(l, -0.125f); }, nullptr,
           nullptr, true, true},
    Action{Menu::view, Str::text_usual, ctrl | ImGuiKey_0, "Ctrl+0", [](Lab& l) { l.appearance.scale = 1; }, nullptr,
           nullptr, false, true},

    Action{Menu::help, Str::welcome, 0, nullptr, [](Lab& l) { l.show_welcome = true; }},
    Action{Menu::help, Str::keys, ImGuiKey_F1, "F1", [](Lab& l) { l.show_keys = true; }, nullptr, nullptr, false, true},
    Action{Menu::help, Str::how_computed, ImGuiKey_F3, "F3", [](Lab& l) { l.show_formulas = true; }, nullptr, nullptr,
           false, true},
    Action{Menu::help, Str::not_modelled, ImGuiKey_F2, "F2", [](Lab& l) { l.show_limits = true; }, nullptr, nullptr,
           false, true},
};

}  // namespace

std::span<const Action> actions() { return table; }

}  // namespace gui
