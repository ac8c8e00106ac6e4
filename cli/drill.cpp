// memwall drill: kernels with one line wrong, and what glass counted of them.

#include <fmt/format.h>

#include <algorithm>
#include <ostream>

#include "cli/course.hpp"
#include "cli/text.hpp"
#include "lessons/phrases.hpp"
#include "sim/text.hpp"

namespace cli {
namespace {

using lessons::Phrase;

/// The step that a word names: the place of its question, counted from 1, or the question's name.
int step_of(const lessons::Lesson& drill, const std::string& word) {
    int question = 0;
    std::vector<std::string_view> ids;
    for (std::size_t i = 0; i < drill.steps.size(); ++i) {
        if (!drill.steps[i].question) continue;
        ids.push_back(drill.steps[i].question->id);
        if (word == ids.back() || word == std::to_string(++question)) return static_cast<int>(i);
    }
    throw sim::BadInput(fmt::format("{} is no fault of the drill; expected a number from 1 to {}, or one of {}",
                                    sim::quote(word), ids.size(), sim::listed(ids)));
}

int drill(const Arguments& arguments, Session& session) {
    const lessons::Language l = language_of(arguments);
    Oracle oracle = oracle_of(session);
    const lessons::Course course(lessons::builtin_files(), oracle.model.devices());
    const lessons::Lesson& whole = *course.drill(l);
    lessons::Journal journal;
    if (arguments.has("--restart") || journal.state(whole).finished) journal.restart(whole);
    lessons::LessonState state = journal.state(whole);
    if (!arguments.words.empty()) state.step = step_of(whole, arguments.words[0]);
    lessons::Walk walk(whole, oracle.model, state);
    session.out() << fmt::format("{}\n", whole.title);
    if (step_through(walk, oracle, journal, session, true, "drill"))
        session.out() << '\n'
                      << wrap(lessons::say(Phrase::finished, l, walk.first_right(), walk.questions()),
                              session.terminal().width);
    return done;
}

}  // namespace

const Verb drill_verb = {
    .name = "drill",
    .operands = "[ID]",
    .what = "find the wrong line of a kernel by what was counted under glass, sound beside faulty",
    .least = 0,
    .most = 1,
    .options = {{"--lang", "en|zh", "(default: the terminal's language)"}, {"--restart", "", "begin anew"}},
    .run = drill,
};

}  // namespace cli
