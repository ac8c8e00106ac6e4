#include "gui/lab.hpp"

#include <imgui.h>
#include <imgui_internal.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "gui/bars.hpp"
#include "gui/i18n.hpp"
#include "gui/state_files.hpp"
#include "gui/views.hpp"
#include "gui/welcome.hpp"

namespace gui {
namespace {

constexpr double frame_time = 1.0 / 30;  // s, while something moves
constexpr double watch_time = 0.5;       // s, while a lesson is being written

/// Where a view goes that is opened over a lesson.
void place_aside() {
    const ImGuiViewport& all = *ImGui::GetMainViewport();
    const ImVec2 size{std::min(em(30), all.WorkSize.x * 0.9f), std::min(em(36), all.WorkSize.y * 0.8f)};
    ImGui::SetNextWindowPos({all.WorkPos.x + all.WorkSize.x - size.x - em(1), all.WorkPos.y + em(1.5f)},
                            ImGuiCond_Appearing);
    ImGui::SetNextWindowSize(size, ImGuiCond_Appearing);
}

/// Steps a second at rate 1: a minute for the whole walk, but no slower than 4.
double middle_speed(sim::i64 steps) { return std::max(4.0, static_cast<double>(steps) / 60); }

}  // namespace

Lab::Lab(Setup setup)
    : document(setup.devices, std::move(setup.scene)),
      appearance(setup.appearance),
      runner(setup.wake),
      computed(setup.wake),
      learning(std::move(setup.learning), setup.devices, setup.wake),
      message{std::move(setup.note), false},
      wake_(std::move(setup.wake)),
      analyses_(analyse, wake_),
      steps_(step_state, wake_),
      sweeps_(sweep_tiles, wake_),
      calibrations_([](int, const Job& job) { return kernels::cpu::cpu_device(job.progress); }, wake_) {
    laid_out = document.scene().view;
    open_views(open, laid_out);
    measured.add_embedded(*setup.devices);
}

bool Lab::is_current() const {
    return analysis_ && analysis_->error.empty() && analysis_->question.experiment == document.experiment();
}

const std::string& Lab::analysis_error() const {
    static const std::string none;
    return analysis_ && analysis_->question.experiment == document.experiment() ? analysis_->error : none;
}

void Lab::ask() {
    const sim::Scene& scene = document.scene();
    analyses_.ask({scene.experiment, scene.baseline, document.devices()});
    if (wants_sweep) {
        Sweep::Question q{scene.experiment, sweep_axes, document.devices()};
        const sim::TileSpace space = sim::tile_space(q.experiment, document.device());
        for (const sim::SweepWord word : sweep_axes)
            if (space.of(word).empty()) q.axes = Sweep{}.axes;  // this device has no choice of it
        for (const sim::SweepWord word : q.axes) sim::set(q.experiment, word, space.of(word).front());
        q.experiment.tile = {};
        sweeps_.ask(std::move(q));
    }
    if (is_current() && analysis()->steps > 0) {
        set_step(scene.step);
        steps_.ask({analysis()->report.experiment, document.scene().step, document.devices()});
    }
}

void Lab::take_answers() {
    analysis_ = analyses_.latest();
    step_ = steps_.latest();
    sweep_ = sweeps_.latest();
    learning.update(document, appearance.language);
    if (std::string note = learning.take_note(); !note.empty()) report(std::move(note));
    for (MeasuredRow& row : runner.take()) measured.add(std::move(row));
    if (auto done = calibrations_.latest(); done != calibration_) {
        calibration_ = std::move(done);
        if (!calibration_->error.empty()) return report(calibration_->error);
        auto devices = std::make_shared<sim::Catalogue>(*document.devices());
        devices->add(calibration_->answer.device);
        document.set_devices(devices);
        learning.set_devices(std::move(devices));
        change({{"device", calibration_->answer.device.id}});
        if (!calibration_->answer.note.empty()) message = {calibration_->answer.note, false};
    }
}

void Lab::use_this_machine() {
    if (document.devices()->find("cpu"))
        change({{"device", "cpu"}});
    else
        calibrations_.ask(0);
}

void Lab::finish_work() {
    for (int i = 0; i < 3; ++i) {  // what to step through is known once there is an analysis
        learning.update(document, appearance.language);
        learning.wait();
        ask();
        analyses_.wait();
        steps_.wait();
        sweeps_.wait();
        analysis_ = analyses_.latest();
        step_ = steps_.latest();
        sweep_ = sweeps_.latest();
    }
    runner.wait();
    computed.wait();
}

std::optional<double> Lab::next_frame() const {
    if (play.on || taking_.what != Take::none) return frame_time;
    return learning.watching() ? std::optional(watch_time) : std::nullopt;
}

void Lab::advance() {
    if (!play.on || !is_current()) return;
    if (message.text == tr(Str::paused_at_mark)) message = {};
    const sim::i64 steps = analysis()->steps;
    play.carry += std::min(0.25, static_cast<double>(ImGui::GetIO().DeltaTime)) * middle_speed(steps) * play.rate;
    const double whole = std::floor(play.carry);
    play.carry -= whole;
    if (whole <= 0) return;
    const sim::i64 from = document.scene().step;
    sim::i64 to = from + static_cast<sim::i64>(whole);
    const auto& marks = analysis()->walk.marks();
    if (const auto mark = std::upper_bound(marks.begin(), marks.end(), from); mark != marks.end() && *mark <= to) {
        to = *mark;
        play.on = false;
        play.carry = 0;
        if (to < steps) message = {tr(Str::paused_at_mark), false};
    }
    set_step(to);
    if (to >= steps) play.on = false;
}

void Lab::set_step(sim::i64 step) {
    const sim::i64 last = is_current() ? analysis()->steps : step;
    document.look(std::clamp<sim::i64>(step, 0, std::max<sim::i64>(0, last)), document.scene().select);
}

void Lab::step_tile(int direction) {
    if (is_current()) set_step(analysis()->walk.tile(document.scene().step, direction));
}

void Lab::swap_baseline() {
    const sim::Scene& scene = document.scene();
    if (!scene.baseline) return;
    sim::Scene swapped = scene;
    std::swap(swapped.experiment, *swapped.baseline);
    document.take(std::move(swapped));
}

void Lab::step_wave(int direction) {
    if (is_current()) set_step(analysis()->walk.wave(document.scene().step, direction));
}

Computations::Question Lab::question(bool with_step) const {
    return {document.experiment(), with_step ? document.scene().step : 0, document.devices()};
}

void Lab::take(Take what, std::size_t view) {
    taking_ = {what, view, 1};
    open[view] = true;
    if (!alone) ImGui::SetWindowFocus(label(views()[view].title));
    // A file needs whole edges, not the soft ones from a texture; the style counts from the next frame on.
    ImGui::GetStyle().AntiAliasedLinesUseTex = false;
}

void Lab::finish_taking() {
    if (taking_.what == Take::none || taking_.frames-- > 0) return;
    const Take what = std::exchange(taking_.what, Take::none);
    const ViewRow& row = views()[taking_.view];
    ImGui::GetStyle().AntiAliasedLinesUseTex = true;
    const bool numbers = what == Take::tsv || what == Take::csv;
    const Sheet sheet = numbers && row.sheet ? row.sheet(*this) : Sheet();
    if (numbers && sheet.size() < 2) return report(say(Str::nothing_to_take, tr(row.title)));
    if (what == Take::tsv) {
        ImGui::SetClipboardText(to_tsv(sheet).c_str());
        message = {say(Str::table_copied, tr(row.title), sheet.size() - 1), false};
        return;
    }
    const char* extension = what == Take::csv ? "csv" : what == Take::svg ? "svg" : "png";
    const auto path = free_name(export_folder(), name_of(row), extension);
    std::string file;
    if (what == Take::csv) {
        file = to_csv(sheet);
    } else {
        const WindowDrawing drawn = drawing_of_current_window();
        file = (what == Take::svg ? to_svg : to_png)(drawn.data, drawn.box, colours().panel);
    }
    const std::string failed = write_whole(path, file);
    if (failed.empty())
        message = {say(Str::saved_as, path.string()), false};
    else
        report(failed);
}

namespace {

/// What a right click on a view offers, beyond what its items offer themselves.
void take_menu(Lab& lab, std::size_t view) {
    constexpr ImGuiPopupFlags any = ImGuiPopupFlags_AnyPopupId | ImGuiPopupFlags_AnyPopupLevel;
    const bool clicked = ImGui::IsWindowHovered(ImGuiHoveredFlags_ChildWindows) && ImGui::IsMouseReleased(1) &&
                         !ImGui::IsMouseDragPastThreshold(1);
    if (clicked && !ImGui::IsPopupOpen("", any)) ImGui::OpenPopup("take");
    if (!ImGui::BeginPopup("take")) return;
    const auto item = [&](Str name, const char* key, Lab::Take what, bool possible) {
        if (ImGui::MenuItem(label(name), key, false, possible)) lab.take(what, view);
    };
    const bool has_sheet = views()[view].sheet != nullptr;
    item(Str::copy_table, "Ctrl+C", Lab::Take::tsv, has_sheet);
    item(Str::save_csv, "Ctrl+Shift+E", Lab::Take::csv, has_sheet);
    item(Str::save_svg, "Ctrl+Shift+G", Lab::Take::svg, true);
    item(Str::save_png, "Ctrl+Shift+P", Lab::Take::png, true);
    ImGui::Separator();
    if (ImGui::MenuItem(label(Str::view_alone), "F11", lab.alone.has_value()))
        lab.alone = lab.alone ? std::nullopt : std::optional(view);
    ImGui::EndPopup();
}

}  // namespace

void Lab::draw_view(std::size_t row) {
    const ViewRow& view = views()[row];
    if (ImGui::IsWindowFocused(ImGuiFocusedFlags_ChildWindows)) in_focus = row;
    if (learning.covers(view.figure)) return draw_cover(view.figure);
    view.draw(*this);
    take_menu(*this, row);
    if (taking_.view == row) finish_taking();
}

void Lab::report(std::string sentence) {
    if (!sentence.empty() || message.is_error) message = {std::move(sentence), true};
}

void Lab::change(std::span<const Word> words, unsigned gesture) { report(document.change(words, gesture)); }

void Lab::take_tile(const sim::Tile& t, unsigned gesture) { change({{"tile", to_string(t)}}, gesture); }

void Lab::paste(std::string_view scene) {
    std::string view = document.scene().view;
    report(document.paste(scene));
    if (scene.find(" view ") == scene.npos)
        document.set_view(std::move(view));  // a line without one is looked at from here
}

void Lab::load(const std::string& path) {
    try {
        if (path.ends_with(".md")) {
            learning.edit(path, document);
            return report(learning.trouble());
        }
        const auto text = read_whole(path);
        if (!text) throw sim::BadInput(path + " can't be read");
        const std::size_t before = measured.rows().size();
        const int left_out = measured.left_out();
        measured.add(*text, path, *document.devices());
        message = {say(Str::rows_loaded, measured.rows().size() - before, measured.left_out() - left_out), false};
    } catch (const sim::BadInput& e) {
        report(e.what());
    }
}

void Lab::look_up(const std::string& asked) {
    if (!asked.empty()) term = asked;
    for (std::size_t i = 0; i < views().size(); ++i)
        if (views()[i].title == Str::view_glossary) open[i] = true;
    ImGui::SetWindowFocus(label(Str::view_glossary));
}

void Lab::draw() {
    set_language(appearance.language);
    take_answers();
    lit_ = std::exchange(lit_next_, std::nullopt);
    handle_keys(*this);
    advance();

    draw_menu_bar(*this);
    if (document.scene().view != "learn") draw_scene_bar(*this);
    draw_status_bar(*this);
    const ImGuiID dockspace = ImGui::GetID("lab");
    if (laid_out != document.scene().view) {
        laid_out = document.scene().view;
        rebuild_layout = true;
        open_views(open, laid_out);
    }
    if (std::exchange(rebuild_layout, false)) {
        build_layout(dockspace, ImGui::GetMainViewport()->WorkSize, document.scene().view);
        raise_in_ = 3;
    }
    const bool all = !alone;
    ImGui::DockSpaceOverViewport(dockspace, nullptr,
                                 ImGuiDockNodeFlags_NoUndocking | static_cast<int>(ImGuiDockNodeFlags_NoCloseButton) |
                                     (all ? 0 : ImGuiDockNodeFlags_KeepAliveOnly));
    wants_sweep = laid_out != "learn" || alone;
    for (std::size_t i = 0; all && i < views().size(); ++i) {
        if (!open[i]) continue;
        if (laid_out == "learn" && views()[i].title != Str::view_lesson) place_aside();
        if (ImGui::Begin(label(views()[i].title), &open[i], ImGuiWindowFlags_NoCollapse)) draw_view(i);
        ImGui::End();
    }
    if (!all) {
        const ImGuiViewport& v = *ImGui::GetMainViewport();
        const std::string title = fmt::format("{}###{}_alone", tr(views()[*alone].title), name_of(views()[*alone]));
        ImGui::SetNextWindowPos(v.WorkPos);
        ImGui::SetNextWindowSize(v.WorkSize);
        bool stays = true;
        constexpr ImGuiWindowFlags flags = ImGuiWindowFlags_NoCollapse | ImGuiWindowFlags_NoMove |
                                           ImGuiWindowFlags_NoResize | ImGuiWindowFlags_NoDocking |
                                           ImGuiWindowFlags_NoSavedSettings;
        if (ImGui::Begin(title.c_str(), &stays, flags)) draw_view(*alone);
        ImGui::End();
        if (!stays) alone.reset();
    } else if (raise_in_ > 0 && --raise_in_ == 0) {
        raise_views(document.scene().view);
    }
    draw_popups(*this);
    draw_report(*this);
    draw_welcome(*this);
    if (ImGui::GetActiveID() == 0) document.end_gesture();
    ask();
}

}  // namespace gui
