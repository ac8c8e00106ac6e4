#pragma once
// A lesson on a terminal: its prose wrapped (Chinese too), and its figures as the text that other verbs print.

#include <string>

#include "cli/verb.hpp"
#include "lessons/walk.hpp"

namespace cli {

/// Breaks a line at spaces and between Chinese characters, never before a mark that closes; `first` and `rest` are the
/// columns before the first line and the others. Ends in a newline.
std::string wrap_prose(std::string_view text, int width, int first = 0, int rest = 0);

/// Spans as text: `code` in backquotes, footnotes as [1].
std::string plain_text(const lessons::Spans& spans);
/// Blocks with an empty line before each but an item after an item.
std::string prose_text(const lessons::Prose& prose, int width);

/// The step a walk stands at: its heading, prose, figures and question; `covered` figures are named, not drawn.
std::string step_text(const lessons::Walk& walk, lessons::Model& model, int width);
/// What was said after an answer, and the figures that it uncovered.
std::string feedback_text(const lessons::Walk& walk, const lessons::Feedback& feedback, int width);

/// The model that lessons ask, over the devices of a session.
lessons::Model lesson_model(Session& session);
/// --lang, or the language of the environment's messages.
lessons::Language language_of(const Arguments& arguments);

}  // namespace cli
