#pragma once
// What the lab remembers, written while one works: a crash at any moment loses no more than the last second.

#include <filesystem>
#include <optional>
#include <string>

#include "gui/settings.hpp"

namespace gui {

class Lab;

/// The settings a lab would be started with again: how it looks, and the person's own scene.
Settings settings_of(const Lab& lab);

class Autosave {
public:
    static constexpr double every = 1;  // s

    /// Keeps `settings` and `layout.ini` in `folder`, nothing where that is empty; `saved` is what the file says now.
    Autosave(std::filesystem::path folder, Settings saved, double now)
        : folder_(std::move(folder)), saved_(std::move(saved)), last_(now) {}

    /// After each frame: writes what is new where the last time is a second ago. Returns when a frame is due for what
    /// is not written yet, in seconds of the same clock as `now`; nothing when all is.
    std::optional<double> frame(Lab& lab, double now);
    /// Writes what is new; the status line says what can't be written.
    void save(Lab& lab);

private:
    std::filesystem::path folder_;
    Settings saved_;
    double last_;
    bool unsaved_layout_ = false;
};

}  // namespace gui
