#pragma once
// The model's own words for a person, in both languages: what limits a kernel, and what a term of its time is. The lab
// and the terminal share them.

#include <string>

#include "lessons/lesson.hpp"
#include "sim/report.hpp"

namespace lessons {

/// "on-chip memory": what a prediction is limited by.
const char* limiter_name(sim::Limiter limiter, Language l);
/// "math": the roof that sets a bound.
const char* roof_name(sim::Bound::Ceiling roof, Language l);
/// "smem" -> "shared memory", "共享内存": a part of the predicted time; null where the model has no such term.
const char* term_name(std::string_view term, Language l);
/// What a term of the predicted time stands for; empty where the model has no such term.
std::string term_meaning(std::string_view term, Language l);

}  // namespace lessons
