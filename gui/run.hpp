#pragma once
// The two ways into the lab: a window to work in, a picture of it.

#include <string>
#include <string_view>
#include <vector>

#include "gui/theme.hpp"
#include "sim/device.hpp"

namespace gui {

/// The scene of the first start: the story the project grew from.
inline constexpr std::string_view first_scene = "tpu-v5e 8192x8192x8192 f32 forward fused tile 128x128x8192";

/// Whether a window could be opened here; if not, `why` says so in one sentence.
bool can_open(std::string& why);

struct LabOptions {
    std::string scene;  // text form; empty: the one last worked on, else the first scene
    int width = 1600, height = 1000;
    std::string lessons;  // a lesson or folder of one's own, read again whenever it changes; empty: $MEMWALL_LESSONS
    int frames = 0;       // end after this many frames drawn; 0 = when the window is closed
};
/// Opens the window and returns when it is closed: 0, or 1 with `why` when there was none. Throws sim::BadInput when
/// the scene can't be read.
int run_lab(const LabOptions& options, const sim::Catalogue& devices, std::string& why);

struct ShotOptions {
    int width = 1600, height = 1000;
    Appearance appearance;
    std::string view;               // empty: the scene's
    std::vector<std::string> rows;  // files of measured rows to load
    std::string lesson;             // a lesson's id, number or file to open; empty: none
    int step = 1;                   // of that lesson
    bool welcome = false;           // with the welcome card
};
struct Shot {
    std::string png;      // a file's bytes
    std::string text;     // the strings drawn, one a line with its box (gui/drawn_text.hpp)
    std::string problem;  // a font that is missing, a step beyond the last: in one sentence
};
/// Draws the lab with no display. Throws sim::BadInput when the scene can't be read or a size is not 64 to 16384, or
/// there is no such lesson or step.
Shot screenshot(std::string_view scene, const ShotOptions& options, const sim::Catalogue& devices);

}  // namespace gui
