// memwall quiz: twelve questions before the course and their twins after it, and what was gained between.

#include <fmt/format.h>

#include <ostream>

#include "cli/course.hpp"
#include "cli/lesson_text.hpp"
#include "cli/text.hpp"
#include "lessons/phrases.hpp"
#include "sim/text.hpp"

namespace cli {
namespace {

using lessons::Phrase;

int quiz(const Arguments& arguments, Session& session) {
    const lessons::Language l = language_of(arguments);
    const std::string& word = arguments.words[0];
    if (word != "pre" && word != "post") throw sim::BadInput(fmt::format("{}: expected pre or post", sim::quote(word)));
    const bool post = word == "post";
    Oracle oracle = oracle_of(session);
    const lessons::Course course(lessons::builtin_files(), oracle.model.devices());
    const lessons::Lesson& whole = *course.quiz(l);
    const lessons::Lesson half = lessons::half_of(whole, post ? lessons::StepKind::post : lessons::StepKind::pre);
    const lessons::Lesson other = lessons::half_of(whole, lessons::StepKind::pre);

    lessons::Journal journal;
    if (arguments.has("--restart") || journal.state(half).finished) journal.restart(half);
    lessons::Walk walk(half, oracle.model, journal.state(half));
    if (!step_through(walk, oracle, journal, session, false, "quiz " + word)) return done;
    const int width = session.terminal().width, all = static_cast<int>(half.steps.size()), right = walk.first_right();
    session.out() << '\n'
                  << wrap(lessons::say(post ? Phrase::quiz_post_done : Phrase::quiz_pre_done, l, right, all), width);
    if (!post) return done;
    for (int i = 0; i < all; ++i) {  // only now are the answers explained
        lessons::LessonState at = walk.state();
        at.step = i;
        lessons::Walk one(half, oracle.model, at);
        if (one.step_state().given[0].right) continue;
        session.out() << fmt::format("\n{}. {}\n", i + 1, one.step().title)
                      << feedback_text(one, *one.feedback(), width);
    }
    const lessons::LessonState before = journal.state(other);
    const int pre = lessons::Walk(other, oracle.model, before).first_right();
    session.out() << '\n'
                  << wrap(before.finished ? lessons::say(Phrase::quiz_gain, l, pre, all,
                                                         fmt::format("{:.0f} %", 100 * lessons::gain(pre, right, all)))
                                          : std::string(lessons::phrase(Phrase::quiz_no_pre, l)),
                          width);
    return done;
}

}  // namespace

const Verb quiz_verb = {
    .name = "quiz",
    .operands = "pre|post",
    .what = "twelve questions before the course, their twins after it, and the gain",
    .least = 1,
    .most = 1,
    .options = {{"--lang", "en|zh", "(default: the terminal's language)"}, {"--restart", "", "begin anew"}},
    .run = quiz,
};

}  // namespace cli
