#pragma once
// What the lab remembers between starts: how it looks and the scene last worked on.

#include <filesystem>
#include <string>

#include "gui/theme.hpp"

namespace gui {

struct Settings {
    Appearance appearance;
    std::string scene;      // text form; empty for none
    bool welcomed = false;  // the welcome card was seen
    bool operator==(const Settings&) const = default;
};

/// One "word value" a line.
std::string to_text(const Settings& settings);
/// Reads what to_text wrote; throws sim::BadInput naming the line.
Settings parse_settings(std::string_view text);

/// The settings of a file. A file that can't be used is set aside and `note` says so; a missing one is the usual
/// settings.
Settings load_settings(const std::filesystem::path& file, std::string& note);

}  // namespace gui
