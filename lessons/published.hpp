#pragma once
// Numbers that others have published, as lessons name them: measured.time[ROW], impossible.time[ROW].

#include <string_view>

#include "lessons/value.hpp"

namespace lessons {

/// The value of `name` ("measured.time", "measured.dram", "measured.rate", "impossible.time") in a row of
/// kernels/measured. BadInput on another name, a row that is not there or that lacks the number.
Value published(std::string_view name, std::string_view row);

}  // namespace lessons
