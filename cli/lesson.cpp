// memwall lesson: a lesson of the course, step by step in a terminal.

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iostream>

#include "cli/course.hpp"
#include "cli/lesson_text.hpp"
#include "cli/text.hpp"
#include "lessons/journal.hpp"
#include "lessons/messages.hpp"
#include "lessons/phrases.hpp"
#include "sim/text.hpp"

namespace cli {

using lessons::Phrase;

namespace {

/// Everything at once, answers too: for screen readers and for paper.
int print_all(lessons::Walk walk, Oracle& oracle, Session& session) {
    const int width = session.terminal().width;
    for (;;) {
        session.out() << step_text(walk, oracle, width);
        if (walk.asks()) {
            session.out() << '\n' << feedback_text(walk, walk.show(), width);
            if (walk.lesson().drill) session.out() << figures_text(walk.step().hide, walk, oracle, width);
        }
        if (walk.last()) return done;
        walk.advance();
    }
}

std::string trimmed(const std::string& line) {
    const auto begin = line.find_first_not_of(" \t\r");
    return begin == line.npos ? std::string() : line.substr(begin, line.find_last_not_of(" \t\r") - begin + 1);
}

}  // namespace

bool step_through(lessons::Walk& walk, Oracle& oracle, lessons::Journal& journal, Session& session, bool teaches,
                  const std::string& command) {
    const int width = session.terminal().width;
    const lessons::Language l = walk.lesson().language;
    std::ostream& out = session.out();
    const auto folder = lessons::state_folder();
    bool kept = !folder.empty();
    const auto leave = [&](bool finished) {  // said once, at the end, and nothing of the kind where all went well
        if (!kept)
            session.err() << "memwall: "
                          << (folder.empty() ? std::string(lessons::phrase(Phrase::not_saved_nowhere, l))
                                             : lessons::say(Phrase::not_saved, l, folder.string()))
                          << '\n';
        else if (!finished)
            out << wrap(lessons::say(Phrase::saved, l, command), width);
        return finished;
    };
    bool fresh = true;  // the step has not been printed yet
    const auto tell = [&](const lessons::Feedback& f, const std::vector<std::string>& hidden_before) {
        out << feedback_text(walk, f, width);
        if (walk.lesson().drill) out << figures_text(hidden_before, walk, oracle, width);  // no step to reveal it
    };
    while (!walk.state().finished) {
        if (fresh) {
            out << step_text(walk, oracle, width);
            if (const auto f = walk.feedback(); f && teaches) out << '\n' << feedback_text(walk, *f, width);
        }
        fresh = false;
        // A quiz takes one answer, and does not tell by asking again that it was wrong.
        const bool open = walk.asks() && !(teaches ? walk.settled() : walk.locked());
        out << '\n'
            << (!open ? std::string(lessons::phrase(Phrase::prompt_next, l))
                : walk.locked()
                    ? lessons::say(Phrase::prompt_again, l, walk.expected())
                    : lessons::say(teaches ? Phrase::prompt_answer : Phrase::prompt_quiz, l, walk.expected()))
            << "\n> " << std::flush;
        std::string line;
        if (!std::getline(session.in(), line)) {
            out << '\n';
            return leave(false);
        }
        line = trimmed(line);
        const lessons::LessonState before = walk.state();
        const std::vector<std::string> hidden = walk.hidden();
        try {
            if (line == "back") {
                fresh = walk.back();
            } else if (line.empty()) {
                fresh = walk.advance();
                if (!fresh) out << wrap(walk.expected(), width, 2, 2);
            } else if (line == "show" && walk.asks() && teaches) {
                tell(walk.show(), hidden);
            } else if (!open) {
                throw sim::BadInput(fmt::format("{}: nothing is asked here", sim::quote(line)));  // the prompt follows
            } else {
                const bool unsure = line.ends_with('?') || line.ends_with("？");
                if (unsure) line.resize(line.size() - (line.ends_with('?') ? 1 : std::string_view("？").size()));
                const lessons::Feedback f = walk.answer(line, unsure);
                if (teaches) tell(f, hidden);
                if (walk.settled() || !teaches) fresh = walk.advance();
            }
        } catch (const sim::BadInput& e) {
            out << wrap(lessons::translated(e.what(), l), width, 2, 2);
        }
        kept &= journal.note(walk.lesson(), before, walk.state()).empty();
    }
    return leave(true);
}

namespace {

int lesson(const Arguments& arguments, Session& session) {
    const lessons::Language l = language_of(arguments);
    Oracle oracle = oracle_of(session);
    lessons::Model& model = oracle.model;
    const std::string& id = arguments.words[0];
    std::error_code error;
    const bool file = id.ends_with(".md") && std::filesystem::exists(id, error);
    const lessons::Course course(file ? lessons::read_files(id) : lessons::builtin_files(), model.devices());
    const lessons::Lesson* found = nullptr;
    if (file) {
        for (const lessons::Language any : {lessons::Language::en, lessons::Language::zh})
            if (const auto all = course.lessons(any); !all.empty()) found = all[0];
    } else {
        found = course.find(id, l);
    }
    if (!found) {
        std::vector<std::string_view> ids;
        for (const lessons::Lesson* one : course.lessons(l)) ids.push_back(one->id);
        throw sim::BadInput(fmt::format("{} is no lesson; expected a number, a file ending in .md, or one of {}",
                                        sim::quote(id), sim::listed(ids)));
    }
    session.out() << fmt::format("{} ({})\n", found->title,
                                 lessons::say(Phrase::minutes, found->language, found->minutes));
    if (arguments.has("--text")) return print_all(lessons::Walk(*found, model), oracle, session);

    lessons::Journal journal;
    if (arguments.has("--restart") || journal.state(*found).finished) journal.restart(*found);
    lessons::Walk walk(*found, model, journal.state(*found));
    if (!step_through(walk, oracle, journal, session, true, "lesson " + id)) return done;
    session.out() << '\n'
                  << wrap(lessons::say(Phrase::finished, found->language, walk.first_right(), walk.questions()),
                          session.terminal().width);
    const auto all = course.lessons(found->language);
    const auto at = std::find(all.begin(), all.end(), found);
    if (at != all.end() && at + 1 != all.end())
        session.out() << wrap(lessons::say(Phrase::next_lesson, found->language, (*(at + 1))->id, (*(at + 1))->title),
                              session.terminal().width);
    return done;
}

}  // namespace

const Verb lesson_verb = {
    .name = "lesson",
    .operands = "ID",
    .what = "step through a lesson in the terminal; `memwall lessons` lists them",
    .least = 1,
    .most = 1,
    .options = {{"--lang", "en|zh", "(default: the terminal's language)"},
                {"--text", "", "print all of it, answers too, and ask nothing"},
                {"--restart", "", "begin anew"}},
    .run = lesson,
};

}  // namespace cli
