#include "gui/autosave.hpp"

#include <imgui.h>

#include <utility>

#include "gui/lab.hpp"
#include "gui/state_files.hpp"

namespace gui {

Settings settings_of(const Lab& lab) {
    sim::Scene own = lab.learning.own_scene(lab.document);
    own.view = lab.document.scene().view;
    return {lab.appearance, sim::to_string(own, *lab.document.devices()), !lab.show_welcome};
}

void Autosave::save(Lab& lab) {
    if (folder_.empty()) return;
    Settings now = settings_of(lab);
    std::string failed = now == saved_ ? "" : write_whole(folder_ / "settings", to_text(now));
    if (failed.empty() && unsaved_layout_)
        failed = write_whole(folder_ / "layout.ini", ImGui::SaveIniSettingsToMemory());
    if (!failed.empty()) lab.message = {failed, true};
    saved_ = std::move(now);
    unsaved_layout_ = false;
}

std::optional<double> Autosave::frame(Lab& lab, double now) {
    unsaved_layout_ |= std::exchange(ImGui::GetIO().WantSaveIniSettings, false);
    if (now - last_ >= every) {
        save(lab);
        last_ = now;
        return {};
    }
    if (!unsaved_layout_ && saved_ == settings_of(lab)) return {};
    return last_ + every;
}

}  // namespace gui
