#pragma once
// The figures that a lesson may show, cover or ask to be read from. The lab has a view of each, the command line a
// text.

#include <span>
#include <string_view>

#include "lessons/phrases.hpp"

namespace lessons {

struct Figure {
    std::string_view id;  ///< as lessons write it
    Phrase name;
};
std::span<const Figure> figures();
/// The figure of that id, or null.
const Figure* find_figure(std::string_view id);

/// What a number of a run under glass is called: "races", "l2.read" as the drill's table has them.
const char* counter_name(std::string_view name, Language language);

}  // namespace lessons
