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

namespace gui {
namespace {

constexpr double frame_time = 1.0 / 30;  // s, while something moves

/// Steps a second at rate 1: a minute for the whole walk, but no slower than 4.
double middle_speed(sim::i64 steps) { return std::max(4.0, static_cast<double>(steps) / 60); }

}  // namespace

Lab::Lab(Setup setup)
    : document(setup.devices, std::move(setup.scene)),
      appearance(setup.appearance),
      runner(setup.wake),
      message{std::move(setup.note), false},
      wake_(std::move(setup.wake)),
      analyses_(analyse, wake_),
      steps_(step_state, wake_),
      sweeps_(sweep_tiles, wake_),
      calibrations_([](int, const Job& job) { return kernels::cpu::cpu_device(job.progress); }, wake_) {
    open.fill(true);
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
    sim::Experiment any_tile = scene.experiment;
    any_tile.tile = {};
    sweeps_.ask({std::move(any_tile), document.devices()});
    if (is_current() && analysis()->steps > 0) {
        set_step(scene.step);
        steps_.ask({analysis()->report.experiment, document.scene().step, document.devices()});
    }
}

void Lab::take_answers() {
    analysis_ = analyses_.latest();
    step_ = steps_.latest();
    sweep_ = sweeps_.latest();
    for (MeasuredRow& row : runner.take()) measured.add(std::move(row));
    if (auto done = calibrations_.latest(); done != calibration_) {
        calibration_ = std::move(done);
        if (!calibration_->error.empty()) return report(calibration_->error);
        auto devices = std::make_shared<sim::Catalogue>(*document.devices());
        devices->add(calibration_->answer.device);
        document.set_devices(std::move(devices));
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
    for (int i = 0; i < 2; ++i) {  // what to step through is known once there is an analysis
        ask();
        analyses_.wait();
        steps_.wait();
        sweeps_.wait();
        analysis_ = analyses_.latest();
        step_ = steps_.latest();
        sweep_ = sweeps_.latest();
    }
    runner.wait();
}

std::optional<double> Lab::next_frame() const { return play.on ? std::optional(frame_time) : std::nullopt; }

void Lab::advance() {
    if (!play.on || !is_current()) return;
    const sim::i64 steps = analysis()->steps;
    play.carry += std::min(0.25, static_cast<double>(ImGui::GetIO().DeltaTime)) * middle_speed(steps) * play.rate;
    const double whole = std::floor(play.carry);
    play.carry -= whole;
    if (whole > 0) set_step(document.scene().step + static_cast<sim::i64>(whole));
    if (document.scene().step >= steps) play.on = false;
}

void Lab::set_step(sim::i64 step) {
    const sim::i64 last = is_current() ? analysis()->steps : step;
    document.look(std::clamp<sim::i64>(step, 0, std::max<sim::i64>(0, last)), document.scene().select);
}

void Lab::step_tile(int direction) {
    if (is_current()) set_step(tile_step(*analysis(), document.device(), document.scene().step, direction));
}

void Lab::report(std::string sentence) {
    if (!sentence.empty() || message.is_error) message = {std::move(sentence), true};
}

void Lab::change(std::span<const Word> words, unsigned gesture) { report(document.change(words, gesture)); }

void Lab::take_tile(const sim::Tile& t, unsigned gesture) {
    change({{"tile", t.is_best() ? "best" : fmt::format("{}x{}x{}", t.bm, t.bn, t.bk)}}, gesture);
}

void Lab::paste(std::string_view scene) { report(document.paste(scene)); }

void Lab::load(const std::string& path) {
    try {
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

void Lab::draw() {
    set_language(appearance.language);
    take_answers();
    lit_ = std::exchange(lit_next_, std::nullopt);
    handle_keys(*this);
    advance();

    draw_menu_bar(*this);
    draw_scene_bar(*this);
    draw_status_bar(*this);
    const ImGuiID dockspace = ImGui::GetID("lab");
    if (std::exchange(rebuild_layout, false)) {
        build_layout(dockspace, ImGui::GetMainViewport()->WorkSize, document.scene().view);
        raise_in_ = 3;
    }
    ImGui::DockSpaceOverViewport(dockspace, nullptr,
                                 ImGuiDockNodeFlags_NoUndocking | static_cast<int>(ImGuiDockNodeFlags_NoCloseButton));
    for (std::size_t i = 0; i < views().size(); ++i) {
        if (!open[i]) continue;
        const ViewRow& view = views()[i];
        if (ImGui::Begin(label(view.title), &open[i], ImGuiWindowFlags_NoCollapse)) view.draw(*this);
        ImGui::End();
    }
    if (raise_in_ > 0 && --raise_in_ == 0) raise_views(document.scene().view);
    draw_popups(*this);
    if (ImGui::GetActiveID() == 0) document.end_gesture();
    ask();
}

}  // namespace gui
