#include "lessons/edit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <sstream>
#include <vector>

#include "sim/error.hpp"
#include "sim/text.hpp"
#include "sim/workload.hpp"

namespace lessons {
namespace {

constexpr std::array<std::string_view, 5> unnamed = {"device", "shape", "dtype", "pass", "fusion"};

using Words = std::vector<std::pair<std::string, std::string>>;

Words read(std::string_view line, const sim::Catalogue& devices) {
    std::istringstream in(std::string(line.substr(0, line.find('|'))));
    Words words;
    for (std::string token; in >> token;) {
        if (devices.find(token) || (words.empty() && token == "cpu")) {
            words.emplace_back("device", token);
        } else if (std::isdigit(static_cast<unsigned char>(token[0]))) {
            words.emplace_back("shape", token);
        } else if (sim::parse_dtype(token)) {
            words.emplace_back("dtype", token);
        } else if (sim::parse_pass(token)) {
            words.emplace_back("pass", token);
        } else if (sim::parse_fusion(token)) {
            words.emplace_back("fusion", token);
        } else {
            std::string value;
            if (!(in >> value))
                throw sim::BadInput(
                    fmt::format("{} in {}: expected a value after it", sim::quote(token), sim::quote(line)));
            words.emplace_back(token, value);
        }
    }
    return words;
}

/// Puts another size into MxNxK; a shape that is none is left for the experiment's own error.
void resize(Words& words, char size, const std::string& value) {
    for (auto& [name, shape] : words) {
        const std::size_t first = shape.find('x'), second = shape.find('x', first + 1);
        if (name != "shape" || first == shape.npos || second == shape.npos) continue;
        const std::string m = shape.substr(0, first), n = shape.substr(first + 1, second - first - 1),
                          k = shape.substr(second + 1);
        shape = (size == 'm' ? value : m) + 'x' + (size == 'n' ? value : n) + 'x' + (size == 'k' ? value : k);
    }
}

}  // namespace

std::map<std::string, std::string> words_of(std::string_view line, const sim::Catalogue& devices) {
    std::map<std::string, std::string> out;
    for (auto& [name, value] : read(line, devices)) out[name] = value;
    return out;
}

std::string edited(std::string_view line, std::string_view edit, const sim::Catalogue& devices) {
    const Words changes = read(edit, devices);
    const bool whole = std::all_of(unnamed.begin(), unnamed.end(), [&](std::string_view must) {
        return std::any_of(changes.begin(), changes.end(), [&](const auto& w) { return w.first == must; });
    });
    Words words = whole ? Words{} : read(line, devices);
    for (const auto& [name, value] : changes) {
        const auto at = std::find_if(words.begin(), words.end(), [&](const auto& w) { return w.first == name; });
        if (name == "m" || name == "n" || name == "k") {
            resize(words, name[0], value);
        } else if (at == words.end()) {
            words.emplace_back(name, value);
        } else {
            at->second = value;
        }
    }
    std::string out;
    for (const auto& [name, value] : words) {
        const bool bare = std::find(unnamed.begin(), unnamed.end(), name) != unnamed.end();
        out += (out.empty() ? "" : " ") + (bare ? "" : name + " ") + value;
    }
    return out;
}

}  // namespace lessons
