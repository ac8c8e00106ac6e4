#pragma once
// What the stepper says of its own, in both languages: one row of phrases.inc each.

#include <fmt/core.h>

#include <string>

#include "lessons/lesson.hpp"

namespace lessons {

enum class Phrase {
#define MEMWALL_PHRASE(id, en, zh) id,
#include "lessons/phrases.inc"
#undef MEMWALL_PHRASE
};

/// The phrase in a language.
const char* phrase(Phrase, Language);
/// The phrase with its {} filled in.
template <class... Args>
std::string say(Phrase id, Language l, const Args&... args) {
    return fmt::vformat(phrase(id, l), fmt::make_format_args(args...));
}

/// "look" for a person: "Look", "看".
const char* kind_name(StepKind, Language);

}  // namespace lessons
