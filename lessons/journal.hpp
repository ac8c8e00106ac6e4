#pragma once
// What a learner did, as lines of JSON in a file of theirs: each line is one event, and nothing is ever rewritten.

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "lessons/walk.hpp"

namespace lessons {

/// A flat JSON object; numbers and truths are kept as their text.
using Record = std::map<std::string, std::string>;
/// One line, in the order of the names.
std::string to_json(const Record& record);
/// Reads a line; false where it is no flat object (a line cut short by a crash).
bool from_json(std::string_view line, Record& record);

/// $XDG_STATE_HOME/memwall, else ~/.local/state/memwall; empty when neither variable is set.
std::filesystem::path state_folder();

class Journal {
public:
    /// Keeps its lines in `file`; an empty path keeps them in memory only.
    explicit Journal(std::filesystem::path file = state_folder().empty() ? std::filesystem::path()
                                                                         : state_folder() / "lessons.jsonl");

    /// Writes what is new between two states of a lesson: answers, answers shown, the step, the end. Returns one
    /// sentence where the file could not be written, else an empty string.
    std::string note(const Lesson& lesson, const LessonState& before, const LessonState& after);
    /// Begins a lesson anew: what was before is kept, but no longer counts.
    std::string restart(const Lesson& lesson);
    /// Where a learner is in a lesson.
    LessonState state(const Lesson& lesson) const;
    /// Whether anything is known of a lesson.
    bool knows(const Lesson& lesson) const;

private:
    std::string append(std::vector<Record> records);

    std::filesystem::path file_;
    std::vector<Record> records_;
};

/// The half of a quiz asked before (pre) or after (post) the course, as a lesson of its own.
Lesson half_of(const Lesson& quiz, StepKind half);
/// The misconceptions that wrong first answers named, in order.
std::vector<std::string> misconceptions(const Lesson& lesson, const LessonState& state);
/// Share of what was left to learn that was learnt: (post - pre) / (all - pre); 0 where nothing was left.
double gain(int pre, int post, int all);

class Course;
/// What a learner did in the whole course, as Markdown for a teacher.
std::string report(const Course& course, const Journal& journal, Language language, Model& model);

}  // namespace lessons
