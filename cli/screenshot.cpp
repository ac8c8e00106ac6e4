// memwall screenshot: the lab as a picture and as the list of its texts, with no display.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <ostream>

#include "cli/verb.hpp"
#include "sim/build_info.hpp"
#include "sim/experiment.hpp"
#include "sim/text.hpp"

#if MEMWALL_HAS_GUI
#include "gui/run.hpp"
#include "gui/views.hpp"
#endif

namespace cli {
namespace {

#if MEMWALL_HAS_GUI
namespace fs = std::filesystem;

template <class T>
T number(std::string_view text, bool& ok) {
    T value{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    ok &= error == std::errc() && end == text.data() + text.size();
    return value;
}

template <class T, std::size_t N>
T one_of(const char* option, const std::string& text, const std::array<T, N>& values) {
    std::vector<std::string_view> names;
    for (const T v : values) {
        if (gui::to_string(v) == text) return v;
        names.push_back(gui::to_string(v));
    }
    throw sim::BadInput(fmt::format("{} {}: expected one of {}", option, sim::quote(text), sim::listed(names)));
}

gui::ShotOptions options_of(const Arguments& arguments) {
    gui::ShotOptions options;
    if (const std::string* size = arguments.value("--size")) {
        const std::size_t x = size->find('x');
        bool ok = x != std::string::npos;
        if (ok) {
            options.width = number<int>(std::string_view(*size).substr(0, x), ok);
            options.height = number<int>(std::string_view(*size).substr(x + 1), ok);
        }
        if (!ok)
            throw sim::BadInput(fmt::format("--size {}: expected WxH in pixels, such as 1600x1000", sim::quote(*size)));
    }
    if (const std::string* scale = arguments.value("--scale")) {
        bool ok = true;
        options.appearance.scale = number<float>(*scale, ok);
        if (!ok || !(options.appearance.scale >= gui::min_scale && options.appearance.scale <= gui::max_scale))
            throw sim::BadInput(fmt::format("--scale {}: expected a number from {} to {}", sim::quote(*scale),
                                            gui::min_scale, gui::max_scale));
    }
    if (const std::string* theme = arguments.value("--theme"))
        options.appearance.theme =
            one_of("--theme", *theme, std::array{gui::Theme::dark, gui::Theme::light, gui::Theme::contrast});
    if (const std::string* lang = arguments.value("--lang"))
        options.appearance.language = one_of("--lang", *lang, std::array{gui::Language::en, gui::Language::zh});
    if (const std::string* view = arguments.value("--view")) {
        std::vector<std::string_view> views = {"learn", "explore", "measure"};
        for (const gui::ViewRow& row : gui::views())
            if (gui::name_of(row) != "measure") views.push_back(gui::name_of(row));
        if (std::find(views.begin(), views.end(), *view) == views.end())
            throw sim::BadInput(fmt::format("--view {}: expected one of {}", sim::quote(*view), sim::listed(views)));
        options.view = *view;
    }
    if (const std::string* lesson = arguments.value("--lesson")) options.lesson = *lesson;
    if (const std::string* step = arguments.value("--step")) {
        bool ok = !options.lesson.empty();
        options.step = number<int>(*step, ok);
        if (!ok)
            throw sim::BadInput(fmt::format("--step {}: expected a step's number, beside --lesson", sim::quote(*step)));
    }
    options.welcome = arguments.has("--welcome");
    return options;
}

/// Writes the whole file beside its place and renames it there, so that no half file is ever seen.
void write_whole(const std::string& path, const std::string& bytes) {
    std::error_code error;
    if (fs::exists(path, error) && !fs::is_regular_file(path, error))
        throw sim::BadInput(fmt::format("cannot write {}; expected a file, and this is none", sim::quote(path)));
    const std::string part = path + ".part";
    std::ofstream out(part, std::ios::binary);
    out << bytes;
    out.close();
    if (out) fs::rename(part, path, error);
    if (out && !error) return;
    fs::remove(part, error);
    throw sim::BadInput(fmt::format("cannot write {}; expected a file in a folder that is there", sim::quote(path)));
}
#endif

int screenshot(const Arguments& arguments, Session& session) {
    const std::string* picture = arguments.value("-o");
    if (!picture) throw sim::BadInput("screenshot needs -o FILE.png");
#if MEMWALL_HAS_GUI
    const gui::ShotOptions options = options_of(arguments);
    const std::string scene = arguments.words.empty() ? std::string(gui::first_scene) : arguments.words[0];
    if (scene.empty())
        throw sim::BadInput("the scene is empty: expected an experiment, or nothing for the first scene");
    const gui::Shot shot = gui::screenshot(scene, options, session.devices_for({&scene, 1}));
    if (!shot.problem.empty()) session.err() << fmt::format("memwall: {}\n", shot.problem);
    write_whole(*picture, shot.png);
    if (const std::string* texts = arguments.value("--text")) write_whole(*texts, shot.text);
    return done;
#else
    (void)session;
    throw NotAvailable(
        fmt::format("screenshot is not available here: no window in this build ({})", sim::build_info().window.why));
#endif
}

}  // namespace

const Verb screenshot_verb = {
    .name = "screenshot",
    .operands = "[\"SCENE\"]",
    .what = "the lab as a picture; needs no display",
    .least = 0,
    .most = 1,
    .joins = true,
    .options = {{"-o", "FILE.png", "where to; must be said"},
                {"--text", "FILE", "also the strings drawn, one a line with its box"},
                {"--view", "learn|explore|measure|VIEW",
                 "the layout (default: the scene's), or one view alone: tiles, capacity, …"},
                {"--lesson", "ID",
                 "a step of a lesson, before an answer: its number, its name or a file ending in .md"},
                {"--step", "N", "of that lesson (default 1)"},
                {"--welcome", "", "with the card of the first start"},
                {"--lang", "en|zh", ""},
                {"--size", "WxH", "pixels (default 1600x1000)"},
                {"--scale", "S", "text size, 0.75 to 3 (default 1)"},
                {"--theme", "dark|light|contrast", ""}},
    .run = screenshot,
};

}  // namespace cli
