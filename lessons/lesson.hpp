#pragma once
// A lesson as a value: what its file says, with every scene and expression read. lessons/README.md has the format.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lessons/model.hpp"
#include "lessons/prose.hpp"

namespace lessons {

enum class Language { en, zh };
std::string_view to_string(Language);

/// The kinds of step, in the order of their work; pre and post are the two halves of a quiz.
enum class StepKind { look, predict, reveal, why, transfer, challenge, pre, post };
std::string_view to_string(StepKind);

/// An answer that can be given: of a choice, a named wrong number, an item to put in order, a step of a worked
/// solution.
struct Option {
    int line = 0;
    std::string code;  ///< as it stands between backquotes: an expression, or of a worked solution the words to change
    Expression value;  ///< not of a worked solution
    Spans text;        ///< what the learner reads
    Spans because;     ///< why it is wrong (or right); empty = nothing said
};

/// What a step asks. choice: one of the options; number: typed in; order: the options from least to most; reach: a
/// change of the scene that makes the goal true.
struct Question {
    enum Kind { choice, number, order, reach } kind = choice;
    int line = 0;
    std::string id;
    Expression expect;        ///< choice (empty: each option is a statement) and number
    double tolerance = 0.02;  ///< share of the expected number
    std::string unit;         ///< number: of an answer without one
    std::string figure;       ///< number: read from this figure
    std::vector<Option> options;
    Expression goal;               ///< reach
    std::vector<std::string> may;  ///< reach: the words that may be changed
    Expression measured;           ///< what was measured of it, where it was
};

struct Step {
    int line = 0;
    StepKind kind = StepKind::look;
    std::string title;
    std::string scene;                    ///< an experiment's line
    std::string baseline;                 ///< likewise, or empty
    std::vector<std::string> hide, show;  ///< figures covered until the answer is locked; figures to look at
    std::optional<std::string> also;      ///< words for the second shape, in place of the lesson's
    std::string only_here;                ///< why the answer is of this shape alone
    std::string fault;                    ///< planted in the scene's kernel, or empty
    Prose prose;
    std::optional<Question> question;
};

struct Footnote {
    int line = 0;
    std::string mark;
    Spans text;
};

/// The one thing the lesson says: true in the model, and in measured rows or "model only".
struct Claim {
    Expression model, measured;  ///< measured is empty where it is "model only"
};

struct Lesson {
    std::string file, id, title;
    Language language = Language::en;
    int number = 0;  ///< its place in the course, from the file's name; 0 = none
    int minutes = 0;
    bool quiz = false, drill = false;
    std::vector<std::string> needs;
    std::string scene, also;
    Scenes scenes;
    Claim claim;
    std::vector<Step> steps;
    std::vector<Footnote> footnotes;

    const Footnote* footnote(std::string_view mark) const;
};

/// Reads a lesson's file. Throws BadInput: one line, FILE:LINE, what was found and what was expected.
Lesson parse_lesson(std::string_view text, std::string_view file, Language language, const sim::Catalogue& devices);

}  // namespace lessons
