// memwall lessons: the course, how far one is in it, and a report for a teacher.

#include <fmt/format.h>

#include <fstream>
#include <ostream>

#include "cli/course.hpp"
#include "cli/json.hpp"
#include "cli/lesson_text.hpp"
#include "cli/text.hpp"
#include "lessons/phrases.hpp"
#include "sim/text.hpp"

namespace cli {
namespace {

std::string page(const lessons::Course& course, const lessons::Journal& journal, lessons::Language l) {
    Table table("rllll");
    for (const lessons::Lesson* lesson : course.listed(l)) {
        const lessons::LessonState s = journal.state(*lesson);
        const std::string at = s.finished ? "✓"
                               : journal.knows(*lesson)
                                   ? lessons::say(lessons::Phrase::step_of, l, s.step + 1, lesson->steps.size())
                                   : "";
        table.row({lesson->drill ? std::string() : std::to_string(lesson->number), lesson->id,
                   lessons::say(lessons::Phrase::minutes, l, lesson->minutes), lesson->title, at});
    }
    return table.text() + "\nmemwall lesson ID; memwall drill; memwall quiz pre|post; memwall glossary [TERM]\n";
}

int list(const Arguments& arguments, Session& session) {
    const lessons::Language l = language_of(arguments);
    Oracle oracle = oracle_of(session);
    const lessons::Course course(lessons::builtin_files(), oracle.model.devices());
    const lessons::Journal journal;
    if (const std::string* path = arguments.value("--report")) {
        std::ofstream out(*path, std::ios::binary);
        out << lessons::report(course, journal, l, oracle.model) << std::flush;
        if (!out)
            throw sim::BadInput(
                fmt::format("cannot write {}; expected a file in a folder that is there", sim::quote(*path)));
        return done;
    }
    session.out() << (arguments.has("--json") ? lessons_document(course, journal, oracle.model)
                                              : page(course, journal, l));
    return done;
}

}  // namespace

const Verb lessons_verb = {
    .name = "lessons",
    .operands = "",
    .what = "the course: its lessons, and how far you are",
    .options = {{"--json", "", "a list of objects"},
                {"--lang", "en|zh", "(default: the terminal's language)"},
                {"--report", "FILE.md", "what you answered, as Markdown for a teacher"}},
    .run = list,
};

}  // namespace cli
