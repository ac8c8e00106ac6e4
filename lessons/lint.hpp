#pragma once
// What is wrong with a course: lines FILE:LINE: WHAT, empty where all is well.

#include <string>
#include <vector>

#include "lessons/course.hpp"

namespace lessons {

/// Checks every file: that it can be read; that every expected answer is computed, is the one right option, stands
/// apart from the others by more than twice the tolerance, at a second shape too, in lockstep and staggered alike; that
/// wrong options are explained; that figures, words and links exist; that start states fail their challenge and worked
/// solutions pass; that what was measured does not contradict what is taught; and, where both languages are there, that
/// they say the same. `counted` answers what the drill asks of kernels that really run.
std::vector<std::string> lint(const std::vector<CourseFile>& files, const sim::Catalogue& devices,
                              const Counted& counted);

/// Where a lesson differs from its English other than in words: FILE:LINE of the other language.
std::vector<std::string> differences(const Lesson& en, const Lesson& other);

}  // namespace lessons
