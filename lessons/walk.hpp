#pragma once
// Going through a lesson: predict, lock, reveal, why. A plain state, and a walk that says what is asked, what is
// covered and what an answer was worth. The lab, the terminal and the screenshots share it.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lessons/lesson.hpp"

namespace lessons {

/// An answer as it was given.
struct Given {
    std::string text;
    bool right = false, unsure = false;
    bool operator==(const Given&) const = default;
};

struct StepState {
    std::vector<Given> given;
    bool shown = false;  ///< the learner asked to be shown the answer
    bool operator==(const StepState&) const = default;
};

/// Where a learner is, as a value.
struct LessonState {
    int step = 0;
    std::vector<StepState> steps;  ///< one a step of the lesson; missing ones are untouched
    bool finished = false;
    bool operator==(const LessonState&) const = default;
};

/// What is said after an answer: prose in which the numbers are filled in.
struct Feedback {
    enum Kind { right, wrong, shown } kind = right;
    std::vector<Spans> lines;
};

/// An option as it is offered: its letter and its text, numbers filled in.
struct Choice {
    char letter;
    Spans text;
};

/// How a question judges: what the model expects, what each option is worth, and which is right.
struct Judgement {
    std::optional<Value> expect;  ///< choice with `expect`, and number
    std::vector<Value> options;   ///< in the order of the file; not of reach
    std::vector<int> right;       ///< choice: the options that are right (one, in a sound lesson); order: least to most
};
/// Judges a question in a scene. BadInput where an expression has no value there.
Judgement judge(const Question& q, const std::string& scene, const Scenes& scenes, Model& model);

class Walk {
public:
    /// Both must outlive it. A kept state is made to fit the lesson as it is now, and its answers are judged anew.
    Walk(const Lesson& lesson, Model& model, LessonState state = {});

    const Lesson& lesson() const { return *lesson_; }
    const LessonState& state() const { return state_; }
    const Step& step() const { return lesson_->steps[static_cast<std::size_t>(state_.step)]; }
    const StepState& step_state() const { return state_.steps[static_cast<std::size_t>(state_.step)]; }

    /// The step's prose with its numbers filled in; a paragraph whose counts cannot be had here is left out.
    Prose prose() const { return filled(step().prose); }
    Spans filled(const Spans& spans) const;
    /// The options to choose from or to put in order; empty for other questions.
    std::vector<Choice> choices() const;
    /// What may be typed: "a letter from a to c".
    std::string expected() const;
    /// The figures to cover now.
    std::vector<std::string> hidden() const;

    bool asks() const { return step().question.has_value(); }
    /// An answer was given or shown: the prediction is locked, the figures are uncovered.
    bool locked() const { return !asks() || !step_state().given.empty() || step_state().shown; }
    /// Nothing is left to answer here.
    bool settled() const;
    bool last() const { return state_.step + 1 == static_cast<int>(lesson_->steps.size()); }

    /// Takes an answer: a letter, a number, letters in order, or words that change the scene (a whole experiment's line
    /// too). BadInput, and nothing changed, where it cannot be read; a right answer is not asked again.
    Feedback answer(std::string_view text, bool unsure = false);
    /// Tells the answer.
    Feedback show();
    /// What was said last in this step; nothing before an answer.
    std::optional<Feedback> feedback() const;

    /// To the next step; at the last one the lesson is finished. False, and nothing changed, while a question is open.
    bool advance();
    bool back();

    /// Questions answered right at the first try, and all of them.
    int first_right() const;
    int questions() const;
    /// How the key claim is known: the rows it was measured in, or that it is the model's alone; empty without a claim.
    std::string claim_text() const;

private:
    Prose filled(const Prose& prose) const;
    Feedback judged(const Given& given) const;
    Feedback told() const;
    Given read(std::string_view text) const;
    const std::string& scene() const { return step().scene; }

    const Lesson* lesson_;
    Model* model_;
    LessonState state_;
};

}  // namespace lessons
