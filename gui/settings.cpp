#include "gui/settings.hpp"

#include <fmt/format.h>

#include <charconv>
#include <sstream>

#include "gui/state_files.hpp"
#include "sim/error.hpp"

namespace gui {

std::string to_text(const Settings& s) {
    const Appearance& a = s.appearance;
    std::string text = fmt::format("theme {}\nlanguage {}\nscale {}\nreduced_motion {}\n", to_string(a.theme),
                                   to_string(a.language), a.scale, a.reduced_motion ? "yes" : "no");
    if (s.welcomed) text += "welcomed yes\n";
    if (!s.scene.empty()) text += "scene " + s.scene + "\n";
    return text;
}

Settings parse_settings(std::string_view text) {
    Settings s;
    std::istringstream lines{std::string(text)};
    int number = 0;
    for (std::string line; std::getline(lines, line);) {
        ++number;
        const std::size_t space = line.find(' ');
        const std::string word = line.substr(0, space),
                          value = space == std::string::npos ? "" : line.substr(space + 1);
        const auto bad = [&](const char* expected) {
            return sim::BadInput(fmt::format("line {}: \"{}\", expected {}", number, line.substr(0, 60), expected));
        };
        const auto one_of = [&](auto& slot, auto values, const char* expected) {
            for (auto v : values)
                if (to_string(v) == value) {
                    slot = v;
                    return;
                }
            throw bad(expected);
        };
        if (word == "theme") {
            one_of(s.appearance.theme, std::initializer_list<Theme>{Theme::dark, Theme::light, Theme::contrast},
                   "dark, light or contrast");
        } else if (word == "language") {
            one_of(s.appearance.language, std::initializer_list<Language>{Language::en, Language::zh}, "en or zh");
        } else if (word == "scale") {
            float scale = 0;
            const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), scale);
            if (error != std::errc{} || end != value.data() + value.size() ||
                !(scale >= min_scale && scale <= max_scale))
                throw bad("a text size from 0.75 to 3");
            s.appearance.scale = scale;
        } else if (word == "reduced_motion") {
            if (value != "yes" && value != "no") throw bad("yes or no");
            s.appearance.reduced_motion = value == "yes";
        } else if (word == "welcomed") {
            if (value != "yes" && value != "no") throw bad("yes or no");
            s.welcomed = value == "yes";
        } else if (word == "scene") {
            s.scene = value;
        } else {
            throw bad("theme, language, scale, reduced_motion, welcomed or scene");
        }
    }
    return s;
}

Settings load_settings(const std::filesystem::path& file, std::string& note) {
    const auto text = read_whole(file);
    if (!text) return {};
    try {
        return parse_settings(*text);
    } catch (const sim::BadInput& e) {
        note = set_aside(file, e.what());
        return {};
    }
}

}  // namespace gui
