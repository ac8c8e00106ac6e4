// What a learner did, as Markdown for a teacher; the halves of the quiz and their gain.

#include <fmt/format.h>

#include <algorithm>

#include "lessons/course.hpp"
#include "lessons/journal.hpp"
#include "lessons/phrases.hpp"

namespace lessons {

Lesson half_of(const Lesson& quiz, StepKind half) {
    Lesson out = quiz;
    std::erase_if(out.steps, [&](const Step& s) { return s.kind != half; });
    out.id = fmt::format("{}-{}", quiz.id, to_string(half));
    return out;
}

std::vector<std::string> misconceptions(const Lesson& lesson, const LessonState& state) {
    std::vector<std::string> out;
    for (std::size_t i = 0; i < lesson.steps.size() && i < state.steps.size(); ++i) {
        const auto& q = lesson.steps[i].question;
        if (!q || q->kind != Question::choice || state.steps[i].given.empty() || state.steps[i].given[0].right)
            continue;
        const auto option = static_cast<std::size_t>(state.steps[i].given[0].text[0] - 'a');
        if (option >= q->options.size()) continue;
        std::string name;
        for (const Span& s : q->options[option].because)
            if (s.strong) name += s.text;
        if (!name.empty()) out.push_back(name);
    }
    return out;
}

double gain(int pre, int post, int all) { return all > pre ? static_cast<double>(post - pre) / (all - pre) : 0; }

std::string report(const Course& course, const Journal& journal, Language l, Model& model) {
    std::string out = fmt::format("# Memwall: {}\n", phrase(Phrase::report_title, l));
    for (const Lesson* lesson : course.lessons(l)) {
        if (!journal.knows(*lesson)) continue;
        const Walk walk(*lesson, model, journal.state(*lesson));
        const LessonState& s = walk.state();
        out += fmt::format("\n## {}. {}\n\n{}\n\n", lesson->number, lesson->title,
                           s.finished ? say(Phrase::finished, l, walk.first_right(), walk.questions())
                                      : say(Phrase::step_of, l, s.step + 1, lesson->steps.size()));
        for (std::size_t i = 0; i < lesson->steps.size(); ++i) {
            const StepState& at = s.steps[i];
            if (!lesson->steps[i].question || (at.given.empty() && !at.shown)) continue;
            out += fmt::format("- {}: {}", kind_name(lesson->steps[i].kind, l), lesson->steps[i].title);
            for (const Given& g : at.given)
                out += fmt::format("; `{}` {}{}", g.text, g.right ? "✓" : "✗",
                                   g.unsure ? fmt::format(" ({})", phrase(Phrase::unsure, l)) : "");
            if (at.given.size() > 1) out += "; " + say(Phrase::report_tries, l, at.given.size());
            out += '\n';
        }
    }
    const Lesson* quiz = course.quiz(l);
    if (!quiz) return out;
    int score[2] = {-1, -1};
    for (const StepKind half : {StepKind::pre, StepKind::post}) {
        const Lesson part = half_of(*quiz, half);
        const LessonState s = journal.state(part);
        if (!s.finished) continue;
        int& right = score[half == StepKind::post];
        right = Walk(part, model, s).first_right();
        out += fmt::format("\n## {}\n\n{} / {}\n", kind_name(half, l), right, part.steps.size());
        for (const std::string& m : misconceptions(part, s)) out += fmt::format("- {}\n", m);
    }
    if (score[0] >= 0 && score[1] >= 0) {
        const int all = static_cast<int>(quiz->steps.size()) / 2;
        out += fmt::format("\n{}\n", say(Phrase::quiz_gain, l, score[0], all,
                                         fmt::format("{:.0f} %", 100 * gain(score[0], score[1], all))));
    }
    return out;
}

}  // namespace lessons
