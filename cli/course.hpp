#pragma once
// What the verbs lesson and quiz share: asking, answering and keeping what was said.

#include "cli/lesson_text.hpp"
#include "cli/verb.hpp"
#include "lessons/course.hpp"
#include "lessons/journal.hpp"
#include "lessons/walk.hpp"

namespace cli {

/// Steps through a lesson with answers from the session's input until it is done (true) or the input ends: then it says
/// whether all was saved, and that `memwall COMMAND` goes on. Where it does not teach, an answer gets no feedback and goes
/// on.
bool step_through(lessons::Walk& walk, Oracle& oracle, lessons::Journal& journal, Session& session, bool teaches,
                  const std::string& command);

}  // namespace cli
