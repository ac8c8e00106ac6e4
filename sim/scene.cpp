#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "sim/experiment.hpp"
#include "sim/experiment_words.hpp"

namespace sim {

using words::bad;
using words::read_integer;

Scene parse_scene(std::string_view text, const Catalogue& devices) {
    Scene s;
    const std::size_t bar = text.find('|');
    s.experiment = parse_experiment(text, devices);
    if (bar == std::string_view::npos) return s;
    std::string_view rest = text.substr(bar + 1);
    if (const std::size_t open = rest.find('('); open != std::string_view::npos) {
        const std::size_t close = rest.rfind(')');
        const std::string_view before = rest.substr(0, open);
        const auto words_before = words::split(before);
        if (close == std::string_view::npos || close < open || words_before.empty() || words_before.back() != "vs" ||
            !words::split(rest.substr(close + 1)).empty())
            bad("", rest.substr(open), "vs (EXPERIMENT) at the end of the scene");
        s.baseline = parse_experiment(rest.substr(open + 1, close - open - 1), devices);
        rest = before.substr(0, before.rfind("vs"));
    }
    const auto tokens = words::split(rest);
    std::map<std::string_view, bool> seen;
    for (std::size_t i = 0; i < tokens.size(); ++i) {
        const std::string_view word = tokens[i];
        const auto argument = [&](std::string_view expected) {
            if (i + 1 >= tokens.size()) bad("", word, expected);
            return tokens[++i];
        };
        if (seen[word]) bad("", word, "to be said once");
        seen[word] = true;
        if (word == "step") {
            s.step = read_integer("step", argument("a step number after it"), 0, words::max_work);
        } else if (word == "select") {
            const std::string_view name = argument("OPERAND ROW COL after it");
            const std::string_view known[] = {"x", "w", "bias", "z", "y", "mask", "dy", "dz", "dx", "dw", "partial"};
            if (std::find(std::begin(known), std::end(known), name) == std::end(known))
                bad("select", name, "an operand: x w bias z y mask dy dz dx dw partial");
            s.select.operand = name;
            s.select.row = read_integer("select", argument("OPERAND ROW COL after it"), 0, words::max_size);
            s.select.col = read_integer("select", argument("OPERAND ROW COL after it"), 0, words::max_size);
        } else if (word == "view") {
            s.view = argument("learn, explore or measure after it");
            if (s.view != "learn" && s.view != "explore" && s.view != "measure")
                bad("view", s.view, "learn, explore or measure");
        } else {
            bad("", word, "step N, select OPERAND ROW COL, view NAME or vs (EXPERIMENT)");
        }
    }
    return s;
}

std::string to_string(const Scene& s, const Catalogue& devices) {
    std::string out = to_string(s.experiment, devices) + " |";
    if (s.step != 0) out += fmt::format(" step {}", s.step);
    if (!s.select.operand.empty()) out += fmt::format(" select {} {} {}", s.select.operand, s.select.row, s.select.col);
    out += " view " + s.view;
    if (s.baseline) out += " vs (" + to_string(*s.baseline, devices) + ")";
    return out;
}

}  // namespace sim
