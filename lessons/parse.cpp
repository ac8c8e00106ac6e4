// Reads a lesson's file: a title, a TOML head, and steps of prose, each with settings in TOML and perhaps a question.

#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>

#include "lessons/edit.hpp"
#include "lessons/lesson.hpp"
#include "sim/text.hpp"

namespace lessons {
namespace {

constexpr std::string_view kinds[] = {"look", "predict", "reveal", "why", "transfer", "challenge", "pre", "post"};
constexpr std::string_view asks[] = {"choice", "number", "order", "reach"};

std::string_view trimmed(std::string_view s) {
    const auto begin = s.find_first_not_of(" \t\r");
    if (begin == s.npos) return {};
    return s.substr(begin, s.find_last_not_of(" \t\r") - begin + 1);
}

/// A table of settings that knows its lines and which keys were read.
class Settings {
public:
    Settings(std::string_view file, int line, std::string_view text) : file_(file), line_(line) {
        try {
            table_ = toml::parse(text);
        } catch (const toml::parse_error& e) {
            throw sim::BadInput(fmt::format("{}:{}: {}; expected TOML", file_,
                                            line_ + static_cast<int>(e.source().begin.line),
                                            sim::one_line(e.description(), 120)));
        }
    }

    int line(std::string_view key) const {
        const auto* node = table_.get(key);
        return node ? line_ + static_cast<int>(node->source().begin.line) : line_;
    }
    std::string where(std::string_view key) const { return fmt::format("{}:{}", file_, line(key)); }
    [[noreturn]] void bad(std::string_view key, std::string_view expected) const {
        throw sim::BadInput(fmt::format("{}: {}: expected {}", where(key), key, expected));
    }
    bool has(std::string_view key) const { return table_.contains(key); }

    std::string text(std::string_view key, std::string_view expected, bool must = false) {
        known_.push_back(key);
        const auto* node = table_.get(key);
        if (!node) {
            if (must) bad(key, fmt::format("it to be there: {}", expected));
            return {};
        }
        const auto value = node->value<std::string>();
        if (!value || !node->is_string()) bad(key, expected);
        return *value;
    }
    double number(std::string_view key, double low, double high, double fallback, std::string_view expected) {
        known_.push_back(key);
        const auto* node = table_.get(key);
        if (!node) return fallback;
        const auto value = node->value<double>();
        if (!value || !(*value >= low && *value <= high)) bad(key, expected);
        return *value;
    }
    std::vector<std::string> list(std::string_view key) {
        known_.push_back(key);
        const auto* node = table_.get(key);
        std::vector<std::string> out;
        if (!node) return out;
        if (!node->is_array()) bad(key, "a list of words in quotes");
        for (const auto& item : *node->as_array()) {
            const auto value = item.value<std::string>();
            if (!value || !item.is_string()) bad(key, "a list of words in quotes");
            out.push_back(*value);
        }
        return out;
    }
    std::map<std::string, std::string> table(std::string_view key) {
        known_.push_back(key);
        const auto* node = table_.get(key);
        std::map<std::string, std::string> out;
        if (!node) return out;
        if (!node->is_table()) bad(key, "a table of names and texts");
        for (const auto& [name, item] : *node->as_table()) {
            const auto value = item.value<std::string>();
            if (!value || !item.is_string()) bad(key, "a table of names and texts");
            out[std::string(name.str())] = *value;
        }
        return out;
    }
    Expression expression(std::string_view key, bool must, std::string_view expected) {
        const std::string said = text(key, expected, must);
        if (said.empty()) return {};
        try {
            return Expression::parse(said);
        } catch (const sim::BadInput& e) {
            throw sim::BadInput(fmt::format("{}: {}: {}", where(key), key, e.what()));
        }
    }
    /// Fails on a key that nobody asked for.
    void finish() const {
        for (const auto& [key, node] : table_)
            if (std::find(known_.begin(), known_.end(), key.str()) == known_.end())
                throw sim::BadInput(fmt::format("{}:{}: {} is no key here; expected {}", file_,
                                                line_ + static_cast<int>(node.source().begin.line),
                                                sim::quote(key.str()), sim::listed(known_)));
    }

private:
    std::string file_;
    int line_;
    toml::table table_;
    std::vector<std::string_view> known_;
};

class Reader {
public:
    Reader(std::string_view text, std::string_view file, Language language, const sim::Catalogue& devices)
        : file_(file), devices_(devices) {
        lesson_.file = file;
        lesson_.language = language;
        int number = 0;
        while (!text.empty()) {
            const std::size_t end = std::min(text.find('\n'), text.size());
            lines_.push_back({++number, text.substr(0, end)});
            text.remove_prefix(std::min(end + 1, text.size()));
        }
    }

    Lesson all() {
        title();
        head();
        while (at_ < lines_.size()) step();
        if (lesson_.steps.empty()) bad(last_line(), "expected steps: lines such as \"## look: One tile\"");
        return std::move(lesson_);
    }

private:
    [[noreturn]] void bad(int line, std::string_view what) const {
        throw sim::BadInput(fmt::format("{}:{}: {}", file_, line, what));
    }
    int last_line() const { return lines_.empty() ? 1 : lines_.back().number; }
    std::string where(int line) const { return fmt::format("{}:{}", file_, line); }
    void skip_empty() {
        while (at_ < lines_.size() && trimmed(lines_[at_].text).empty()) ++at_;
    }

    void title() {
        skip_empty();
        if (at_ == lines_.size() || !lines_[at_].text.starts_with("# "))
            bad(at_ < lines_.size() ? lines_[at_].number : 1, "expected the title: a line that begins with \"# \"");
        lesson_.title = trimmed(lines_[at_++].text.substr(2));
    }

    /// A fenced block of TOML that begins here, if one does.
    std::optional<Settings> settings() {
        skip_empty();
        if (at_ == lines_.size() || trimmed(lines_[at_].text) != "```toml") return {};
        const int line = lines_[at_++].number;
        std::string text;
        while (at_ < lines_.size() && trimmed(lines_[at_].text) != "```")
            text += std::string(lines_[at_++].text) + '\n';
        if (at_ == lines_.size()) bad(line, "expected ``` after the settings");
        ++at_;
        return Settings(file_, line, text);
    }

    /// A scene: words that change the one before it, or a whole experiment; sound on its device.
    std::string scene(Settings& s, std::string_view key, const std::string& before) {
        const std::string said = s.text(key, "an experiment, or words that change the scene before");
        if (said.empty()) return before;
        return sound(said, before, s.where(key), key);
    }
    std::string sound(const std::string& said, const std::string& before, const std::string& place,
                      std::string_view key) {
        try {
            const std::string line = Model(devices_).scene(said, before, lesson_.scenes);
            return sim::to_string(sim::parse_experiment(line, devices_), devices_);
        } catch (const sim::BadInput& e) {
            throw sim::BadInput(fmt::format("{}: {}: {}", place, key, e.what()));
        }
    }

    void head() {
        std::optional<Settings> s = settings();
        if (!s)
            bad(at_ < lines_.size() ? lines_[at_].number : last_line(),
                "expected the head: ```toml with id, minutes, scene …");
        lesson_.id = s->text("id", "a short name in lower case", true);
        if (lesson_.id.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-") != std::string::npos)
            s->bad("id", "lower-case letters, digits and dashes");
        lesson_.quiz = s->text("quiz", "\"yes\"") == "yes";
        lesson_.drill = s->text("drill", "\"yes\"") == "yes";
        lesson_.minutes = static_cast<int>(s->number("minutes", 1, 60, 0, "a number of minutes from 1 to 60"));
        lesson_.needs = s->list("needs");
        for (const auto& [name, line] : s->table("scenes"))
            lesson_.scenes[name] = sound(line, "", s->where("scenes"), name);
        lesson_.scene = scene(*s, "scene", "");
        if (lesson_.scene.empty())
            s->bad("scene", "an experiment such as \"scratchpad 512x512x512 f32 forward fused tile 64x64x64\"");
        lesson_.also = s->text("also", "words that give a second shape");
        lesson_.claim.model = s->expression("claim", false, "a comparison that the model makes true");
        if (s->has("measured") &&
            s->text("measured", "a comparison of measured rows, or \"model only\"") != "model only")
            lesson_.claim.measured =
                s->expression("measured", false, "a comparison of measured rows, or \"model only\"");
        if (!lesson_.claim.model.empty() && !s->has("measured"))
            s->bad("measured", "a comparison of measured rows, or \"model only\"");
        s->finish();
        scene_ = lesson_.scene;
        skip_empty();
        if (at_ < lines_.size() && !lines_[at_].text.starts_with("## "))
            bad(lines_[at_].number, "expected a step: a line such as \"## look: One tile\"");
    }

    void step() {
        Step step;
        step.line = lines_[at_].number;
        const std::string_view heading = lines_[at_++].text.substr(3);
        const std::size_t colon = heading.find(": ");
        const std::string_view kind = trimmed(heading.substr(0, colon));
        const auto found = std::find(std::begin(kinds), std::end(kinds), kind);
        if (found == std::end(kinds) || colon == heading.npos)
            bad(step.line,
                fmt::format("{}: expected KIND: TITLE, the kind one of {}", sim::quote(heading), sim::listed(kinds)));
        step.kind = static_cast<StepKind>(found - std::begin(kinds));
        step.title = trimmed(heading.substr(colon + 2));

        Question question;
        question.line = step.line;
        bool asked = false;
        step.scene = scene_;
        if (auto s = settings()) {
            step.scene = scene_ = scene(*s, "scene", scene_);
            if (s->has("baseline")) step.baseline = scene(*s, "baseline", step.scene);
            step.hide = s->list("hide");
            step.show = s->list("show");
            if (s->has("also")) step.also = s->text("also", "words that give a second shape");
            step.fault = s->text("fault", "the id of a planted fault");
            step.only_here = s->text("only_here", "why the answer holds for this shape alone");
            if (s->has("ask")) {
                asked = true;
                ask(*s, question);
            }
            s->finish();
        }
        std::vector<Line> prose;
        while (at_ < lines_.size() && !lines_[at_].text.starts_with("## ")) {
            const Line& line = lines_[at_];
            if (line.text.starts_with("[^") && line.text.find("]:") == line.text.find(']')) {
                footnote(line);
            } else if (asked && line.text.starts_with("- `")) {
                option(question);
                continue;
            } else {
                prose.push_back(line);
            }
            ++at_;
        }
        step.prose = parse_prose(prose, file_);
        if (asked) {
            check(question);
            step.question = std::move(question);
        }
        lesson_.steps.push_back(std::move(step));
    }

    void ask(Settings& s, Question& q) {
        const std::string kind = s.text("ask", "choice, number, order or reach");
        const auto found = std::find(std::begin(asks), std::end(asks), kind);
        if (found == std::end(asks)) s.bad("ask", "choice, number, order or reach");
        q.kind = static_cast<Question::Kind>(found - std::begin(asks));
        q.line = s.line("ask");
        q.id = s.text("id", "a name for the question", true);
        q.tolerance = s.number("tolerance", 1e-6, 0.5, 0.02, "a share from 0.000001 to 0.5");
        q.measured = s.expression("measured", false, "an expression of measured rows");
        if (q.kind == Question::choice) q.expect = s.expression("expect", false, "what the model says");
        if (q.kind == Question::number) {
            q.expect = s.expression("expect", true, "what the model says");
            q.unit = s.text("unit", "a unit such as MB, KiB, ms, % or x");
            if (!q.unit.empty() && !find_unit(q.unit)) s.bad("unit", "a unit such as MB, KiB, ms, % or x");
            q.figure = s.text("read", "the figure that the number is read from");
        }
        if (q.kind == Question::reach) {
            q.goal = s.expression("goal", true, "a condition such as \"dram < 600MB and need <= 48KiB\"");
            q.may = s.list("may");
            if (q.may.empty()) s.bad("may", "a list of the words that may be changed, such as [\"tile\"]");
        }
    }

    /// "- `CODE` text", lines indented under it, and quoted ones ("> ") that say why.
    void option(Question& q) {
        Option o;
        o.line = lines_[at_].number;
        std::string_view first = lines_[at_++].text.substr(3);
        const std::size_t close = first.find('`');
        if (close == first.npos) bad(o.line, "expected a closing ` after the option's value");
        o.code = std::string(first.substr(0, close));
        std::vector<Line> text = {{o.line, trimmed(first.substr(close + 1))}}, because;
        while (at_ < lines_.size() && lines_[at_].text.starts_with("  ") && !trimmed(lines_[at_].text).empty()) {
            const std::string_view line = trimmed(lines_[at_].text);
            (line.starts_with('>') ? because : text).push_back({lines_[at_].number, line});
            ++at_;
        }
        const auto joined = [&](const std::vector<Line>& lines) {
            const Prose prose = parse_prose(lines, file_);
            if (prose.size() > 1)
                bad(o.line, "expected one paragraph of text, and one of reasons that begin with \"> \"");
            return prose.empty() ? Spans{} : prose[0].spans;
        };
        o.text = joined(text);
        o.because = joined(because);
        if (q.kind != Question::reach) try {
                o.value = Expression::parse(o.code);
            } catch (const sim::BadInput& e) {
                bad(o.line, e.what());
            }
        q.options.push_back(std::move(o));
    }

    void check(const Question& q) const {
        const std::size_t least = q.kind == Question::choice  ? 2
                                  : q.kind == Question::order ? 3
                                  : q.kind == Question::reach ? 1
                                                              : 0;
        if (q.options.size() < least)
            bad(q.line, fmt::format("question {}: expected at least {} lines \"- `{}` text\" under it", q.id, least,
                                    q.kind == Question::reach ? "WORDS" : "VALUE"));
        if (q.options.size() > 9) bad(q.line, fmt::format("question {}: expected at most 9 options", q.id));
    }

    void footnote(const Line& line) {
        const std::size_t close = line.text.find("]:");
        lesson_.footnotes.push_back({line.number, std::string(line.text.substr(2, close - 2)),
                                     parse_spans(trimmed(line.text.substr(close + 2)), where(line.number))});
    }

    std::string file_;
    const sim::Catalogue& devices_;
    std::vector<Line> lines_;
    std::size_t at_ = 0;
    std::string scene_;
    Lesson lesson_;
};

}  // namespace

std::string_view to_string(Language l) { return l == Language::en ? "en" : "zh"; }
std::string_view to_string(StepKind k) { return kinds[static_cast<int>(k)]; }

const Footnote* Lesson::footnote(std::string_view mark) const {
    const auto at = std::find_if(footnotes.begin(), footnotes.end(), [&](const Footnote& f) { return f.mark == mark; });
    return at == footnotes.end() ? nullptr : &*at;
}

Lesson parse_lesson(std::string_view text, std::string_view file, Language language, const sim::Catalogue& devices) {
    return Reader(text, file, language, devices).all();
}

}  // namespace lessons
