#include "lessons/lint.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <set>

#include "lessons/edit.hpp"
#include "lessons/figures.hpp"
#include "lessons/walk.hpp"
#include "sim/text.hpp"

namespace lessons {
namespace {

/// The known machines, their SMs in step (0) or fully staggered (1).
sim::Catalogue with_drift(const sim::Catalogue& devices, double drift) {
    sim::Catalogue out = devices;
    for (const sim::Device* d : devices.all()) {
        if (d->kind != sim::DeviceKind::gpu || !d->l2.drift.known()) continue;
        sim::Device changed = *d;
        changed.l2.drift.value = drift;
        out.add(std::move(changed));
    }
    return out;
}

/// Where a question is judged: the model, the scene and the named scenes.
struct Place {
    std::string what;  ///< "", "at the second shape", "in lockstep", "staggered"
    Model* model;
    std::string scene;
    Scenes scenes;
};

bool apart(const Value& a, const Value& b, double tolerance) {
    if (!a.is_number() || !b.is_number()) return !(a.is == b.is);
    if (!(a.unit == b.unit)) return false;
    return std::fabs(a.number() - b.number()) > 2 * tolerance * std::max(std::fabs(a.number()), std::fabs(b.number()));
}

class Checker {
public:
    Checker(const sim::Catalogue& devices, const Counted& counted)
        : devices_(devices),
          likely_(devices, counted),
          lockstep_(with_drift(devices, 0), counted),
          staggered_(with_drift(devices, 1), counted) {}

    std::vector<std::string> all(const std::vector<CourseFile>& files) {
        std::vector<Lesson> lessons;
        for (const CourseFile& f : files) try {
                if (is_glossary(f)) {
                    for (const auto& [term, prose] : parse_glossary(f)) terms_[f.language].insert(term);
                } else {
                    names_[f.language].insert(std::filesystem::path(f.name).filename().string());
                    lessons.push_back(parse_lesson(f, devices_));
                }
            } catch (const sim::BadInput& e) {
                found_.emplace_back(e.what());
            }
        for (const CourseFile& f : builtin_files())  // a lone lesson may use the course's words
            if (is_glossary(f) && terms_[f.language].empty())
                for (const auto& [term, prose] : parse_glossary(f)) terms_[f.language].insert(term);
        for (const Lesson& l : lessons) lesson(l);
        const bool both = !names_[Language::en].empty() && !names_[Language::zh].empty();
        if (both) languages(lessons);
        return std::move(found_);
    }

private:
    void say(int line, std::string_view what) { found_.push_back(fmt::format("{}:{}: {}", lesson_->file, line, what)); }

    void lesson(const Lesson& l) {
        lesson_ = &l;
        if (l.quiz) {
            quiz();
        } else if (l.drill) {
            drill();
        } else {
            course();
        }
        claim();
        std::set<std::string> ids, marks;
        for (const Step& s : l.steps) {
            step_ = &s;
            figures();
            prose(s.prose, marks);
            if (!s.question) continue;
            const Question& q = *s.question;
            if (!ids.insert(q.id + (s.kind == StepKind::post ? " post" : "")).second)
                say(q.line, fmt::format("question {}: there is one of that id before", q.id));
            for (const Option& o : q.options) {
                spans(o.text, o.line, marks);
                spans(o.because, o.line, marks);
            }
            question(q);
        }
        for (const Footnote& f : l.footnotes) {
            if (!marks.count(f.mark)) say(f.line, fmt::format("footnote {} is nowhere referred to", f.mark));
            const bool sourced =
                std::any_of(f.text.begin(), f.text.end(), [](const Span& s) { return !s.link.empty(); }) ||
                bare_text(f.text).find("http") != std::string::npos ||
                bare_text(f.text).find("doi") != std::string::npos;
            if (!sourced)
                say(f.line, fmt::format("footnote {} names no source; expected a link, a doi or an address", f.mark));
        }
    }

    void course() {
        const Lesson& l = *lesson_;
        if (l.minutes < 5 || l.minutes > 15) say(1, "minutes: expected 5 to 15");
        if (l.claim.model.empty()) say(1, "claim: expected the lesson's one claim, as a comparison");
        const auto any = [&](auto&& is) { return std::any_of(l.steps.begin(), l.steps.end(), is); };
        const auto kind = [&](StepKind k) { return any([&](const Step& s) { return s.kind == k; }); };
        for (const StepKind k : {StepKind::look, StepKind::why})
            if (!kind(k)) say(1, fmt::format("expected a step {}", to_string(k)));
        if (!any([](const Step& s) { return s.kind == StepKind::predict && s.question && !s.hide.empty(); }))
            say(1, "expected a step predict that asks and hides a figure");
        if (!any([](const Step& s) { return s.question && !s.question->figure.empty(); }))
            say(1, "expected a number that is read from a figure (read = \"traffic\")");
        if (!any([](const Step& s) {
                return s.kind == StepKind::challenge && s.question && s.question->kind == Question::reach;
            }))
            say(1, "expected a step challenge with a goal to reach");
        const auto first = sim::parse_experiment(l.scene, devices_);
        const auto elsewhere = [&](const Step& s) {
            if (s.kind != StepKind::transfer || !s.question) return false;
            const auto e = sim::parse_experiment(s.scene, devices_);
            return e.device != first.device || !(e.dense == first.dense);
        };
        if (!any(elsewhere)) say(1, "expected a step transfer that asks about another device or shape");
        for (const Step& s : l.steps)
            if (s.kind == StepKind::pre || s.kind == StepKind::post) say(s.line, "pre and post are steps of a quiz");
    }

    void quiz() {
        std::map<std::string, int> seen;
        for (const Step& s : lesson_->steps) {
            if ((s.kind != StepKind::pre && s.kind != StepKind::post) || !s.question ||
                s.question->kind != Question::choice) {
                say(s.line, "a quiz has steps pre and post, each with a choice");
                continue;
            }
            seen[s.question->id] |= s.kind == StepKind::pre ? 1 : 2;
            std::vector<int> right;
            try {
                right = judge(*s.question, s.scene, lesson_->scenes, likely_).right;
            } catch (const sim::BadInput&) {
                continue;  // said when the question itself is checked
            }
            for (std::size_t i = 0; i < s.question->options.size(); ++i) {
                const Option& o = s.question->options[i];
                if (std::find(right.begin(), right.end(), static_cast<int>(i)) == right.end() && !o.because.empty() &&
                    !o.because[0].strong)
                    say(o.line, "expected the misconception's name in bold at the start of the reason");
            }
        }
        for (const auto& [id, halves] : seen)
            if (halves != 3)
                say(1,
                    fmt::format("question {} is asked {} only; expected a pair", id, halves == 1 ? "before" : "after"));
        if (seen.size() != 12) say(1, fmt::format("{} pairs of questions; expected 12", seen.size()));
    }

    void drill() {
        std::set<std::string> faults;
        for (const Step& s : lesson_->steps) {
            if (!s.question) continue;
            if (s.fault.empty()) say(s.line, "expected fault: what is wrong with the kernel of this step");
            if (!faults.insert(s.fault).second) say(s.line, fmt::format("fault {} is asked about before", s.fault));
            if (s.question->kind != Question::choice || !s.question->expect.empty())
                say(s.line, "a drill asks for a choice among comparisons of what was counted");
            if (s.show != std::vector<std::string>{"counters"} || s.hide != std::vector<std::string>{"fault"})
                say(s.line,
                    "a drill shows the counters and hides the fault (show = [\"counters\"], hide = [\"fault\"])");
            for (const Option& o : s.question->options)
                for (const Expression::Name& n : o.value.names())
                    if (!is_count(n.name) || (n.name.starts_with("faulty.") && n.edit != s.fault))
                        say(o.line, fmt::format("{}: expected counted.NAME or faulty.NAME[{}]", n.name, s.fault));
        }
        if (faults.size() < 4) say(1, fmt::format("{} faults; expected at least 4", faults.size()));
    }

    void figures() {
        for (const auto* list : {&step_->hide, &step_->show})
            for (const std::string& id : *list) figure(id, step_->line);
        if (step_->question && !step_->question->figure.empty()) figure(step_->question->figure, step_->question->line);
        if (step_->kind == StepKind::predict && step_->question && step_->hide.empty())
            say(step_->line, "a prediction hides what would give it away (hide = [\"traffic\"])");
    }
    void figure(const std::string& id, int line) {
        if (find_figure(id)) return;
        std::vector<std::string_view> known;
        for (const Figure& f : lessons::figures()) known.push_back(f.id);
        say(line, fmt::format("{} is no figure; expected one of {}", sim::quote(id), sim::listed(known)));
    }

    void prose(const Prose& blocks, std::set<std::string>& marks) {
        for (const Block& b : blocks) {
            spans(b.spans, b.line, marks);
            for (const Spans& cell : b.cells) spans(cell, b.line, marks);
        }
    }
    void spans(const Spans& all, int line, std::set<std::string>& marks) {
        for (const Span& s : all) {
            if (s.kind == Span::live) live(s, line);
            if (s.kind == Span::footnote) {
                marks.insert(s.text);
                if (!lesson_->footnote(s.text))
                    say(line, fmt::format("footnote {} is not there; expected [^{}]: SOURCE", s.text, s.text));
            }
            if (s.kind == Span::words && !s.code) typed_number(s.text, line);
            if (!s.link.empty()) link(s.link, line);
        }
    }
    void live(const Span& s, int line) {
        if (!lesson_->drill && !likely_.has_counts(s.expression, step_->scene, lesson_->scenes)) return;
        try {
            to_text(likely_.value(s.expression, step_->scene, lesson_->scenes), s.format);
        } catch (const sim::BadInput& e) {
            say(line, e.what());
        }
    }
    void link(const std::string& to, int line) {
        if (to.starts_with("http://") || to.starts_with("https://")) return;
        const std::string term = "glossary.md#";
        if (to.starts_with(term)) {
            if (!terms_[lesson_->language].count(to.substr(term.size())))
                say(line, fmt::format("{} is not in the glossary", sim::quote(to.substr(term.size()))));
        } else if (!names_[lesson_->language].count(to)) {
            say(line,
                fmt::format("the link to {} leads nowhere; expected an address, glossary.md#TERM or a lesson's file",
                            sim::quote(to)));
        }
    }
    /// Numbers with a unit come from the model: "{dram}", not "17.2 GB".
    void typed_number(const std::string& text, int line) {
        static const std::string_view units[] = {"KB", "MB", "GB",    "TB",    "KiB",   "MiB", "GiB", "ns",    "us",
                                                 "µs", "ms", "TFLOP", "GFLOP", "PFLOP", "%",   "x",   "times", "倍"};
        for (std::size_t i = 0; i < text.size(); ++i) {
            if (!std::isdigit(static_cast<unsigned char>(text[i]))) continue;
            std::size_t end = i;
            while (end < text.size() &&
                   (std::isdigit(static_cast<unsigned char>(text[end])) || text[end] == '.' || text[end] == ','))
                ++end;
            std::size_t at = end;
            while (at < text.size() && text[at] == ' ') ++at;
            for (const std::string_view unit : units) {
                const char after = at + unit.size() < text.size() ? text[at + unit.size()] : ' ';
                if (text.compare(at, unit.size(), unit) != 0 || std::isalnum(static_cast<unsigned char>(after)))
                    continue;
                say(line, fmt::format("{} is typed in; expected an expression of the model, such as {{dram | MB}}",
                                      sim::quote(text.substr(i, at + unit.size() - i))));
                break;
            }
            i = end;
        }
    }

    /// The places where the step's answer must hold; the last two only where SMs can drift.
    std::vector<Place> places() {
        const Lesson& l = *lesson_;
        std::vector<Place> out = {{"", &likely_, step_->scene, l.scenes},
                                  {" in lockstep", &lockstep_, step_->scene, l.scenes},
                                  {" staggered", &staggered_, step_->scene, l.scenes}};
        const std::string also = step_->also.value_or(l.also);
        if (!step_->only_here.empty()) return out;
        if (also.empty()) {
            say(step_->line,
                "expected also: words for a second shape at which the answer must hold (or only_here: why not)");
            return out;
        }
        Place second = out[0];
        second.what = fmt::format(" at the second shape ({})", also);
        second.scene = edited(step_->scene, also, devices_);
        for (auto& [name, line] : second.scenes) line = edited(line, also, devices_);
        const auto e = sim::parse_experiment(second.scene, devices_);
        if (e.dense.m == e.dense.n && e.dense.n == e.dense.k &&
            e.device == sim::parse_experiment(step_->scene, devices_).device)
            say(step_->line, fmt::format("also: {} is square; expected a second shape that is not", also));
        out.push_back(std::move(second));
        return out;
    }

    void question(const Question& q) {
        for (const Expression::Name& n : q.expect.names())
            if (is_count(n.name))
                return say(q.line, "an expected answer must be one that the model can give everywhere");
        std::optional<Judgement> first;
        try {
            for (const Place& p : places()) {
                if (q.kind == Question::reach) {
                    reach(q, p);
                } else {
                    const Judgement j = judge(q, p.scene, p.scenes, *p.model);
                    options(q, j, p);
                    if (!first) {
                        first = j;
                    } else if (j.right != first->right) {
                        say(q.line, fmt::format("question {}: the right answer is another one{}", q.id, p.what));
                    } else if (q.kind == Question::number && p.scene == step_->scene &&
                               std::fabs(j.expect->number() - first->expect->number()) >
                                   q.tolerance * std::fabs(first->expect->number())) {
                        say(q.line, fmt::format("question {}: {} expected, but {}{}", q.id, to_text(*first->expect),
                                                to_text(*j.expect), p.what));
                    }
                }
            }
        } catch (const sim::BadInput& e) {
            return say(q.line, fmt::format("question {}: {}", q.id, e.what()));
        }
        if (first) explained(q, *first);
        if (first && !q.measured.empty()) against_measured(q, *first);
    }

    void options(const Question& q, const Judgement& j, const Place& p) {
        const auto code = [&](std::size_t i) { return q.options[i].code; };
        if (q.kind == Question::choice && j.right.size() != 1)
            say(q.line, fmt::format("question {}: {} options are right{}{}; expected one", q.id, j.right.size(), p.what,
                                    j.expect ? " (the model says " + to_text(*j.expect) + ")" : ""));
        if (q.kind == Question::choice && !j.expect) return;  // statements: each is true or false
        std::vector<std::pair<std::string, Value>> all;
        for (std::size_t i = 0; i < j.options.size(); ++i) {
            const bool right = q.kind == Question::choice &&
                               std::find(j.right.begin(), j.right.end(), static_cast<int>(i)) != j.right.end();
            if (!right) all.emplace_back(code(i), j.options[i]);
        }
        if (j.expect) all.emplace_back("the answer", *j.expect);
        for (std::size_t a = 0; a < all.size(); ++a)
            for (std::size_t b = a + 1; b < all.size(); ++b)
                if (!apart(all[a].second, all[b].second, q.tolerance))
                    say(q.line,
                        fmt::format("question {}: {} ({}) and {} ({}) are not apart by more than twice the tolerance{}",
                                    q.id, all[a].first, to_text(all[a].second), all[b].first, to_text(all[b].second),
                                    p.what));
        if (j.expect && q.kind == Question::number &&
            (!can_format(j.expect->unit, q.unit) || (q.unit.empty() && !(j.expect->unit == plain))))
            say(q.line, fmt::format("question {}: the answer {} has no unit {}", q.id, to_text(*j.expect),
                                    q.unit.empty() ? "(plain)" : q.unit));
    }

    void explained(const Question& q, const Judgement& j) {
        for (std::size_t i = 0; i < q.options.size(); ++i) {
            const bool right = q.kind == Question::choice &&
                               std::find(j.right.begin(), j.right.end(), static_cast<int>(i)) != j.right.end();
            if (!right && q.options[i].because.empty())
                say(q.options[i].line,
                    fmt::format("option {} is not explained; expected a line that begins with \"> \"",
                                sim::quote(q.options[i].code)));
        }
    }

    void reach(const Question& q, const Place& p) {
        const auto holds = [&](const std::string& scene) {
            return p.model->report(scene).fit.ok() && p.model->value(q.goal, scene, p.scenes).truth();
        };
        if (holds(p.scene)) say(q.line, fmt::format("question {}: the start already reaches the goal{}", q.id, p.what));
        std::string scene;
        for (const Option& o : q.options) {
            scene = sim::to_string(sim::parse_experiment(edited(p.scene, o.code, devices_), devices_), devices_);
            const auto before = words_of(sim::to_string(sim::parse_experiment(p.scene, devices_), devices_), devices_);
            for (const auto& [name, value] : words_of(scene, devices_)) {
                const auto at = before.find(name);
                if ((at == before.end() || at->second != value) &&
                    std::find(q.may.begin(), q.may.end(), name) == q.may.end())
                    say(o.line, fmt::format("the worked solution changes {}, which is not in may", name));
            }
        }
        if (!holds(scene))
            say(q.options.back().line,
                fmt::format("question {}: the worked solution does not reach the goal{}", q.id, p.what));
        else
            for (std::size_t i = 0; i + 1 < q.options.size(); ++i)
                if (p.what.empty() && holds(edited(p.scene, q.options[i].code, devices_)))
                    say(q.options[i].line,
                        "this step of the worked solution already reaches the goal; expected the last to be the one");
        if (q.options.back().text.empty()) say(q.options.back().line, "expected a text with the worked solution");
    }

    /// What was measured must pick the same option, or lie on the same side.
    void against_measured(const Question& q, const Judgement& j) {
        try {
            const Value v = likely_.value(q.measured, step_->scene, lesson_->scenes);
            bool agrees = true;
            if (q.kind == Question::choice && j.expect && j.expect->is_number() && !j.right.empty()) {
                std::size_t nearest = 0;
                const auto distance = [&](std::size_t i) {
                    return std::fabs(std::log(v.number() / j.options[i].number()));
                };
                for (std::size_t i = 1; i < j.options.size(); ++i)
                    if (distance(i) < distance(nearest)) nearest = i;
                agrees = static_cast<int>(nearest) == j.right[0];
            } else if (q.kind == Question::number) {
                const double a = v.number(), b = j.expect->number();
                agrees = v.unit == j.expect->unit &&
                         (j.expect->unit == plain ? (a > 1) == (b > 1) : std::fabs(std::log(a / b)) < std::log(1.5));
            } else {
                agrees = v.truth();
            }
            if (!agrees)
                say(q.line, fmt::format("question {}: measured says {}, which contradicts what is taught{}", q.id,
                                        to_text(v), j.expect ? " (" + to_text(*j.expect) + ")" : ""));
        } catch (const sim::BadInput& e) {
            say(q.line, fmt::format("question {}: measured: {}", q.id, e.what()));
        }
    }

    void claim() {
        const Claim& c = lesson_->claim;
        if (c.model.empty()) return;
        Step here;
        here.line = 1;
        here.scene = lesson_->scene;
        step_ = &here;
        try {
            for (const Place& p : places())
                if (!p.model->value(c.model, p.scene, p.scenes).truth())
                    say(1, fmt::format("the claim is false{}", p.what));
            if (c.measured.empty()) return;
            const auto names = c.measured.names();
            if (std::none_of(names.begin(), names.end(), [](const auto& n) { return n.name.starts_with("measured."); }))
                say(1, "measured: expected rows such as measured.time[ID], or \"model only\"");
            if (!likely_.value(c.measured, lesson_->scene, lesson_->scenes).truth())
                say(1, fmt::format("measured rows contradict the claim: {} is false", c.measured.text()));
        } catch (const sim::BadInput& e) {
            say(1, fmt::format("claim: {}", e.what()));
        }
    }

    void languages(const std::vector<Lesson>& all) {
        for (const Lesson& en : all) {
            if (en.language != Language::en) continue;
            const auto zh = std::find_if(all.begin(), all.end(),
                                         [&](const Lesson& l) { return l.language == Language::zh && l.id == en.id; });
            lesson_ = &en;
            if (zh == all.end()) {
                say(1, fmt::format("there is no lesson {} in zh", en.id));
                continue;
            }
            for (std::string& line : differences(en, *zh)) found_.push_back(std::move(line));
        }
        for (const Lesson& zh : all)
            if (zh.language == Language::zh && std::none_of(all.begin(), all.end(), [&](const Lesson& l) {
                    return l.language == Language::en && l.id == zh.id;
                })) {
                lesson_ = &zh;
                say(1, fmt::format("there is no lesson {} in en", zh.id));
            }
    }

    const sim::Catalogue& devices_;
    Model likely_, lockstep_, staggered_;
    const Lesson* lesson_ = nullptr;
    const Step* step_ = nullptr;
    std::map<Language, std::set<std::string>> terms_, names_;
    std::vector<std::string> found_;
};

}  // namespace

std::vector<std::string> lint(const std::vector<CourseFile>& files, const sim::Catalogue& devices,
                              const Counted& counted) {
    return Checker(devices, counted).all(files);
}

}  // namespace lessons
