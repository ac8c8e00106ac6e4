#include "lessons/walk.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "lessons/edit.hpp"
#include "lessons/figures.hpp"
#include "lessons/goal.hpp"
#include "lessons/messages.hpp"
#include "lessons/phrases.hpp"
#include "sim/text.hpp"

namespace lessons {
namespace {

Span words(std::string text) {
    Span s;
    s.text = std::move(text);
    return s;
}
Span code(std::string text) {
    Span s = words(std::move(text));
    s.code = true;
    return s;
}
Spans line(std::string text) { return {words(std::move(text))}; }

char letter(int i) { return static_cast<char>('a' + i); }

std::string trimmed(std::string_view s) {
    const auto begin = s.find_first_not_of(" \t\r\n");
    return begin == s.npos ? std::string() : std::string(s.substr(begin, s.find_last_not_of(" \t\r\n") - begin + 1));
}

/// Whether two values are the same answer.
bool agrees(const Value& said, const Value& expected, double tolerance) {
    if (!said.is_number() || !expected.is_number()) return said.is == expected.is;
    const double e = expected.number();
    return said.unit == expected.unit && std::fabs(said.number() - e) <= tolerance * std::fabs(e) + 1e-300;
}

/// "2.1x" or "12 %": by how much a number misses.
std::string miss(double said, double expected) {
    const double ratio = said > expected ? said / expected : expected / said;
    if (std::isfinite(ratio) && ratio > 0 && ratio < 1.995)
        return fmt::format("{:.0f} %", 100 * std::fabs(said / expected - 1));
    return std::isfinite(ratio) && ratio > 0 ? fmt::format("{:.3g}x", ratio) : "∞";
}

}  // namespace

Judgement judge(const Question& q, const std::string& scene, const Scenes& scenes, Model& model) {
    Judgement j;
    if (!q.expect.empty()) j.expect = model.value(q.expect, scene, scenes);
    if (q.kind == Question::reach) return j;
    for (const Option& o : q.options) j.options.push_back(model.value(o.value, scene, scenes));
    const int n = static_cast<int>(q.options.size());
    if (q.kind == Question::choice)
        for (int i = 0; i < n; ++i) {
            const Value& v = j.options[static_cast<std::size_t>(i)];
            if (j.expect ? agrees(v, *j.expect, q.tolerance) : v.truth()) j.right.push_back(i);
        }
    if (q.kind == Question::order) {
        j.right.resize(q.options.size());
        std::iota(j.right.begin(), j.right.end(), 0);
        std::stable_sort(j.right.begin(), j.right.end(), [&](int a, int b) {
            return j.options[static_cast<std::size_t>(a)].number() < j.options[static_cast<std::size_t>(b)].number();
        });
    }
    return j;
}

Walk::Walk(const Lesson& lesson, Model& model, LessonState state)
    : lesson_(&lesson), model_(&model), state_(std::move(state)) {
    state_.steps.resize(lesson.steps.size());
    const int last = static_cast<int>(lesson.steps.size()) - 1, at = std::clamp(state_.step, 0, last);
    for (state_.step = 0; state_.step <= last; ++state_.step) {
        std::vector<Given>& given = state_.steps[static_cast<std::size_t>(state_.step)].given;
        std::vector<Given> sound;  // a kept answer is judged anew; one that the lesson no longer understands is dropped
        for (const Given& g : given) try {
                if (!asks()) break;
                sound.push_back(read(g.text));
                sound.back().unsure = g.unsure;
            } catch (const sim::BadInput&) {
            }
        given = std::move(sound);
    }
    state_.step = at;
}

Spans Walk::filled(const Spans& spans) const {
    Spans out = spans;
    for (Span& s : out)
        if (s.kind == Span::live) try {
                s.text = to_text(model_->value(s.expression, scene(), lesson_->scenes), s.format);
            } catch (const sim::BadInput&) {
                s.text = "?";  // what the checker refuses; a lesson being written may have it
            }
    return out;
}

Prose Walk::filled(const Prose& prose) const {
    Prose out;
    const auto counted = [&](const Spans& spans) {
        return std::all_of(spans.begin(), spans.end(), [&](const Span& s) {
            return s.kind != Span::live || model_->has_counts(s.expression, scene(), lesson_->scenes);
        });
    };
    for (Block b : prose) {
        if (!counted(b.spans) || !std::all_of(b.cells.begin(), b.cells.end(), counted)) continue;
        b.spans = filled(b.spans);
        for (Spans& cell : b.cells) cell = filled(cell);
        out.push_back(std::move(b));
    }
    return out;
}

std::vector<Choice> Walk::choices() const {
    std::vector<Choice> out;
    if (!asks() || (step().question->kind != Question::choice && step().question->kind != Question::order)) return out;
    for (const Option& o : step().question->options)
        out.push_back({letter(static_cast<int>(out.size())), filled(o.text)});
    return out;
}

std::string Walk::expected() const {
    if (!asks()) return {};
    const Question& q = *step().question;
    const Language l = lesson_->language;
    const int n = static_cast<int>(q.options.size());
    switch (q.kind) {
        case Question::choice: return say(Phrase::expect_letter, l, letter(n - 1));
        case Question::number:
            return say(Phrase::expect_number, l, q.unit.empty() ? std::string() : say(Phrase::in_unit, l, q.unit));
        case Question::order: {
            std::string sample;
            for (int i = n; i-- > 0;) sample += letter(i);
            return say(Phrase::expect_order, l, sample);
        }
        case Question::reach: break;
    }
    std::string may;
    for (const std::string& word : q.may) may += (may.empty() ? "" : ", ") + word;
    return say(Phrase::expect_words, l, may);
}

std::vector<std::string> Walk::hidden() const { return locked() ? std::vector<std::string>{} : step().hide; }

bool Walk::settled() const {
    const StepState& s = step_state();
    return !asks() || s.shown || (!s.given.empty() && s.given.back().right);
}

Given Walk::read(std::string_view said) const {
    const Question& q = *step().question;
    const Language l = lesson_->language;
    Given g;
    g.text = trimmed(said);
    const auto refuse = [&](const std::string& why) {
        return sim::BadInput(fmt::format("{}: {}{}", sim::quote(g.text), why.empty() ? expected() : why, ""));
    };
    if (q.kind == Question::number) {
        const Value v = parse_number(g.text, q.unit);
        const Value expect = *judge(q, scene(), lesson_->scenes, *model_).expect;
        // What is asked for is an amount: less than none is no answer, nor is none where answers are judged by ratio.
        const std::string unit = q.unit.empty() ? std::string() : say(Phrase::in_unit, l, q.unit);
        if (expect.number() > 0 && v.number() <= 0) throw refuse(say(Phrase::expect_above_zero, l, unit));
        if (expect.number() == 0 && v.number() < 0) throw refuse({});
        g.right = agrees(v, expect, q.tolerance);
        return g;
    }
    if (q.kind == Question::reach) {
        const auto& devices = model_->devices();
        const auto before = words_of(scene(), devices);
        const bool whole = g.text.find(' ') != std::string::npos && devices.find(g.text.substr(0, g.text.find(' ')));
        std::string after;
        try {
            after = sim::to_string(sim::parse_experiment(whole ? g.text : edited(scene(), g.text, devices), devices),
                                   devices);
        } catch (const sim::BadInput& e) {
            const bool lone = std::all_of(g.text.begin(), g.text.end(),
                                          [](char c) { return std::isalpha(static_cast<unsigned char>(c)); });
            if (lone && std::find(q.may.begin(), q.may.end(), g.text) == q.may.end()) throw refuse({});
            throw refuse(e.what());
        }
        const auto now = words_of(after, devices);
        std::string may;
        for (const std::string& word : q.may) may += (may.empty() ? "" : ", ") + word;
        const auto same = [&](const auto& a, const auto& b) {
            for (const auto& [name, value] : a) {
                const auto at = b.find(name);
                if ((at == b.end() || at->second != value) &&
                    std::find(q.may.begin(), q.may.end(), name) == q.may.end())
                    throw refuse(say(Phrase::may_change, l, may));
            }
        };
        same(before, now);
        same(now, before);
        g.right = model_->report(after).fit.ok() && model_->value(q.goal, after, lesson_->scenes).truth();
        g.text = whole ? after : g.text;
        return g;
    }
    std::vector<int> picked;
    for (const char c : g.text) {
        if (c == ' ' || c == ',') continue;
        const int i =
            std::isdigit(static_cast<unsigned char>(c)) ? c - '1' : std::tolower(static_cast<unsigned char>(c)) - 'a';
        if (i < 0 || i >= static_cast<int>(q.options.size())) throw refuse({});
        picked.push_back(i);
    }
    const Judgement j = judge(q, scene(), lesson_->scenes, *model_);
    g.text.clear();
    for (const int i : picked) g.text += letter(i);
    if (q.kind == Question::choice) {
        if (picked.size() != 1) throw refuse({});
        g.right = std::find(j.right.begin(), j.right.end(), picked[0]) != j.right.end();
        return g;
    }
    std::vector<int> sorted = picked, all(q.options.size());
    std::sort(sorted.begin(), sorted.end());
    std::iota(all.begin(), all.end(), 0);
    if (sorted != all) throw refuse({});
    g.right = picked == j.right;
    return g;
}

Feedback Walk::judged(const Given& given) const {
    const Question& q = *step().question;
    const Language l = lesson_->language;
    Feedback f;
    f.kind = given.right ? Feedback::right : Feedback::wrong;
    f.lines.push_back(line(phrase(given.right ? Phrase::right : Phrase::not_yet, l)));
    const auto add = [&](std::string text) { f.lines.push_back(line(std::move(text))); };
    const auto add_because = [&](const Option& o) {
        if (!o.because.empty()) f.lines.push_back(filled(o.because));
    };
    const auto option = [&](int i) -> const Option& { return q.options[static_cast<std::size_t>(i)]; };

    if (q.kind == Question::reach) {
        const bool whole = model_->devices().find(given.text.substr(0, given.text.find(' '))) != nullptr;
        const std::string after = whole ? given.text : edited(scene(), given.text, model_->devices());
        const sim::Report& r = model_->report(after);
        if (!r.fit.ok()) {
            add(say(Phrase::does_not_fit, l, translated(r.fit.why, l)));
            return f;
        }
        for (const Condition& c : conditions_of(q.goal, scene(), after, lesson_->scenes, *model_, l))
            add(say(c.met ? Phrase::goal_met : Phrase::goal_missed, l, c.text, c.now));
        return f;
    }
    const Judgement j = judge(q, scene(), lesson_->scenes, *model_);
    if (q.kind == Question::choice) {
        const int i = given.text[0] - 'a';
        if (given.right && j.expect && j.expect->is_number()) add(say(Phrase::answer_is, l, to_text(*j.expect)));
        add_because(option(i));
    } else if (q.kind == Question::number) {
        const Value said = parse_number(given.text, q.unit);
        const std::string mine = to_text(said, q.unit), truth = to_text(*j.expect, q.unit);
        if (given.right) {
            add(say(Phrase::model_agrees, l, mine, truth, fmt::format("{:.3g} %", 100 * q.tolerance)));
        } else {
            const auto named = std::find_if(j.options.begin(), j.options.end(),
                                            [&](const Value& v) { return agrees(said, v, q.tolerance); });
            if (named != j.options.end()) {
                add_because(option(static_cast<int>(named - j.options.begin())));
            } else {
                const double x = said.number(), e = j.expect->number();
                add(say(x > e ? Phrase::too_large : Phrase::too_small, l, mine, miss(x, e)));
            }
        }
    } else if (!given.right) {  // the first two neighbours that stand the wrong way round
        for (std::size_t at = 0; at + 1 < given.text.size(); ++at) {
            const int a = given.text[at] - 'a', b = given.text[at + 1] - 'a';
            const Value &va = j.options[static_cast<std::size_t>(a)], &vb = j.options[static_cast<std::size_t>(b)];
            if (va.number() <= vb.number()) continue;
            add(say(Phrase::order_wrong, l, letter(b), to_text(vb), letter(a), to_text(va)));
            add_because(option(b));
            break;
        }
    }
    if (given.right && !q.measured.empty())
        add(say(Phrase::answer_measured, l, to_text(model_->value(q.measured, scene(), lesson_->scenes), q.unit)));
    return f;
}

Feedback Walk::told() const {
    const Question& q = *step().question;
    const Language l = lesson_->language;
    Feedback f;
    f.kind = Feedback::shown;
    if (q.kind == Question::reach) {
        for (const Option& o : q.options) {
            f.lines.push_back({words(say(Phrase::worked, l, "")), code(o.code), words(" ")});
            const Spans text = filled(o.text);
            f.lines.back().insert(f.lines.back().end(), text.begin(), text.end());
        }
        return f;
    }
    const Judgement j = judge(q, scene(), lesson_->scenes, *model_);
    if (q.kind == Question::choice) {
        for (const int i : j.right) {
            Spans text = filled(q.options[static_cast<std::size_t>(i)].text);
            text.insert(text.begin(), words(std::string(1, letter(i)) + ". "));
            f.lines.push_back(std::move(text));
            if (const Option& o = q.options[static_cast<std::size_t>(i)]; !o.because.empty())
                f.lines.push_back(filled(o.because));
        }
    } else if (q.kind == Question::order) {
        std::string order;
        for (const int i : j.right)
            order += fmt::format("{}{} ({})", order.empty() ? "" : " < ", letter(i),
                                 to_text(j.options[static_cast<std::size_t>(i)]));
        f.lines.push_back(line(say(Phrase::order_is, l, order)));
    } else {
        f.lines.push_back(line(say(Phrase::answer_is, l, to_text(*j.expect, q.unit))));
    }
    return f;
}

Feedback Walk::answer(std::string_view text, bool unsure) {
    if (!asks()) throw sim::BadInput(fmt::format("{}: nothing is asked here", sim::quote(text)));
    if (settled()) return *feedback();
    Given g = read(text);
    g.unsure = unsure;
    state_.steps[static_cast<std::size_t>(state_.step)].given.push_back(g);
    return judged(g);
}

Feedback Walk::show() {
    if (!asks()) throw sim::BadInput("nothing is asked here");
    state_.steps[static_cast<std::size_t>(state_.step)].shown = true;
    return told();
}

std::optional<Feedback> Walk::feedback() const {
    if (!asks()) return {};
    const StepState& s = step_state();
    if (s.shown) return told();
    if (s.given.empty()) return {};
    return judged(s.given.back());
}

bool Walk::advance() {
    if (!locked()) return false;
    if (last()) {
        state_.finished = true;
    } else {
        ++state_.step;
    }
    return true;
}

bool Walk::back() {
    if (state_.step == 0) return false;
    --state_.step;
    return true;
}

int Walk::first_right() const {
    int n = 0;
    for (const StepState& s : state_.steps) n += !s.given.empty() && s.given.front().right;
    return n;
}

int Walk::questions() const {
    return static_cast<int>(std::count_if(lesson_->steps.begin(), lesson_->steps.end(),
                                          [](const Step& s) { return s.question.has_value(); }));
}

std::string Walk::claim_text() const {
    const Language l = lesson_->language;
    if (lesson_->claim.model.empty()) return {};
    if (lesson_->claim.measured.empty()) return phrase(Phrase::model_only, l);
    std::string rows;
    for (const Expression::Name& n : lesson_->claim.measured.names()) {
        const std::string row =
            fmt::format("{} {}", n.edit, to_text(model_->quantity(n.name, n.edit, lesson_->scene, lesson_->scenes)));
        if (rows.find(row) == std::string::npos) rows += (rows.empty() ? "" : phrase(Phrase::comma, l)) + row;
    }
    return say(Phrase::claim_measured, l, rows);
}

}  // namespace lessons
