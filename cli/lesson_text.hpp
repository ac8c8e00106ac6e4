#pragma once
// A lesson on a terminal: its prose wrapped (Chinese too), and its figures as the text that other verbs print.

#include <string>

#include "cli/verb.hpp"
#include "kernels/glass/faults.hpp"
#include "lessons/walk.hpp"

namespace cli {

/// Spans as text: `code` in backquotes, footnotes as [1].
std::string plain_text(const lessons::Spans& spans);
/// Blocks with an empty line before each but an item after an item.
std::string prose_text(const lessons::Prose& prose, int width);

/// Whom lessons ask: the model, and the kernels under glass.
struct Oracle {
    explicit Oracle(const sim::Catalogue& devices);
    std::shared_ptr<kernels::glass::Counts> counts;
    lessons::Model model;
};

/// The step a walk stands at: its heading, prose, figures and question; `covered` figures are named, not drawn.
std::string step_text(const lessons::Walk& walk, Oracle& oracle, int width);
/// Figures of the step by id, each under its name.
std::string figures_text(const std::vector<std::string>& ids, const lessons::Walk& walk, Oracle& oracle, int width);
/// What was said after an answer.
std::string feedback_text(const lessons::Walk& walk, const lessons::Feedback& feedback, int width);

/// The same over the devices of a session.
Oracle oracle_of(Session& session);
/// --lang, or the language of the environment's messages.
lessons::Language language_of(const Arguments& arguments);

}  // namespace cli
