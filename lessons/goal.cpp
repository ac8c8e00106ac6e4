#include "lessons/goal.hpp"

#include <algorithm>

#include "lessons/edit.hpp"
#include "lessons/line_breaks.hpp"
#include "lessons/messages.hpp"
#include "lessons/phrases.hpp"

namespace lessons {
namespace {

constexpr std::pair<std::string_view, Phrase> quantity_names[] = {
    {"time", Phrase::goal_time},           {"dram", Phrase::goal_dram},       {"l2", Phrase::goal_l2},
    {"need", Phrase::goal_need},           {"flops", Phrase::goal_flops},     {"intensity", Phrase::goal_intensity},
    {"ceiling", Phrase::goal_ceiling},     {"limiter", Phrase::goal_limiter}, {"buffers", Phrase::goal_buffers},
    {"occupancy", Phrase::goal_occupancy}, {"waves", Phrase::goal_waves},     {"wave_use", Phrase::goal_wave_use},
    {"share", Phrase::goal_share},
};
constexpr std::pair<std::string_view, Phrase> comparisons[] = {
    {"<", Phrase::goal_below},     {"<=", Phrase::goal_at_most}, {">", Phrase::goal_above},
    {">=", Phrase::goal_at_least}, {"==", Phrase::goal_equal},   {"!=", Phrase::goal_unequal},
};

template <std::size_t N>
std::string named(const std::pair<std::string_view, Phrase> (&table)[N], std::string_view name, Language l) {
    for (const auto& [id, words] : table)
        if (id == name) return phrase(words, l);
    return std::string(name);
}

/// A quantity for a reader, with the words in brackets that change the scene it is asked in.
std::string name_of(const Expression::Name& n, const std::string& start, const Scenes& scenes, const Model& model,
                    Language l) {
    const std::string name = named(quantity_names, n.name, l);
    if (n.edit.empty()) return name;
    if (model.scene(n.edit, start, scenes) == edited(start, "", model.devices()))
        return say(Phrase::goal_at_start, l, name);
    return say(Phrase::goal_with, l, name, n.edit);
}

std::string text_of(const Expression& condition, const std::string& start, const Scenes& scenes, const Model& model,
                    Language l) {
    Expression::Wording w;
    w.name = [&](const Expression::Name& n) { return name_of(n, start, scenes, model, l); };
    w.word = [&](const std::string& word) { return translated(word, l); };
    w.compared = [&](std::string_view sign, const std::string& a, const std::string& b) {
        for (const auto& [id, words] : comparisons)
            if (id == sign) return say(words, l, a, b);
        return a;
    };
    return closed_up(condition.worded(w));
}

/// The unit of the first number of a condition that is of the same kind; none where it has no such number.
std::string unit_beside(const std::string& text, Unit unit) {
    for (std::size_t at = 0; (at = text.find_first_of("0123456789", at)) != text.npos;) {
        const std::size_t from = text.find_first_not_of("0123456789.", at);
        if (from == text.npos) break;
        at = std::min(text.find_first_of(" )<>=", from), text.size());
        const std::string name = text.substr(from, at - from);
        if (const Value* worth = find_unit(name); worth && worth->unit == unit) return name;
    }
    return {};
}

}  // namespace

std::vector<Condition> conditions_of(const Expression& goal, const std::string& start, const std::string& scene,
                                     const Scenes& scenes, Model& model, Language l) {
    std::vector<Condition> out;
    for (const Expression& c : goal.conditions()) {
        std::string now;
        const auto names = c.names();
        for (const Expression::Name& n : names) {
            const Value v = model.quantity(n.name, n.edit, scene, scenes);
            const std::string value =
                v.is_number() ? to_text(v, unit_beside(c.text(), v.unit)) : translated(to_text(v), l);
            if (!now.empty()) now += phrase(Phrase::comma, l);
            now += names.size() == 1 ? value
                                     : closed_up(say(Phrase::goal_is, l, name_of(n, start, scenes, model, l), value));
        }
        out.push_back({text_of(c, start, scenes, model, l), now, model.value(c, scene, scenes).truth()});
    }
    return out;
}

std::string goal_text(const Expression& goal, const std::string& start, const Scenes& scenes, const Model& model,
                      Language l) {
    std::string out;
    for (const Expression& c : goal.conditions())
        out += (out.empty() ? "" : phrase(Phrase::goal_and, l)) + text_of(c, start, scenes, model, l);
    return closed_up(out);
}

}  // namespace lessons
