#pragma once
// The parts of a predicted time in the language in use: sim and the command line name them by short words.

#include <string>
#include <string_view>

namespace gui {

/// "smem" -> "shared memory"; a word that is no term stays as it is.
std::string term_name(std::string_view term);
/// What a term is, in one line; empty for a word that is none.
std::string term_meaning(std::string_view term);
/// "matmul: smem" -> "matmul: shared memory", as the steps between two times are named.
std::string step_name(std::string_view step);
/// The term of a step; the whole where it names no kernel.
std::string_view term_of(std::string_view step);

}  // namespace gui
