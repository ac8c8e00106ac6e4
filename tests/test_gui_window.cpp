#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "gui/run.hpp"
#include "gui/settings.hpp"
#include "tests/skips.hpp"

// "slow" leaves it out of the sanitizer build: the drivers that a window loads do not free what they take.
TEST_CASE("a window opens where there is a display; where there is none the reason is said and nothing is left behind" *
          doctest::test_suite("slow")) {
    namespace fs = std::filesystem;
    const fs::path state = fs::temp_directory_path() / ("memwall-state-" + std::to_string(::getpid()));
    ::setenv("XDG_STATE_HOME", state.c_str(), 1);
    std::string why;
    gui::LabOptions options;
    options.scene = "scratchpad 512x512x512 f32 forward fused tile 128x128x64";
    options.width = 640;
    options.height = 400;
    options.frames = 5;
    if (gui::can_open(why)) {
        CHECK(why == "");
        CHECK(gui::run_lab(options, sim::Catalogue::builtin(), why) == 0);
        CHECK(why == "");
        std::string note;
        CHECK(gui::load_settings(state / "memwall/settings", note).scene.starts_with(options.scene));
    } else {
        CHECK(why.starts_with("no window can be opened: "));
        std::string again;
        CHECK(gui::run_lab(options, sim::Catalogue::builtin(), again) == 1);
        CHECK(again == why);
        CHECK_FALSE(fs::exists(state));
    }
    fs::remove_all(state);
    ::unsetenv("XDG_STATE_HOME");
    gui::LabOptions bad;
    bad.scene = "nonsense";
    CHECK_THROWS_AS(gui::run_lab(bad, sim::Catalogue::builtin(), why), sim::BadInput);
}

TEST_CASE("real clicks in a real window: welcome, Learn, the first lesson, an answer in the journal" *
          doctest::test_suite("slow")) {
    SKIP_WITHOUT(skips::Need::display);
    CHECK(std::system("'" MEMWALL_SOURCE_DIR "/tests/window_clicks.sh' '" MEMWALL_PROGRAM "' >/dev/null") == 0);
}
