#pragma once
// How an error shows somebody's text: quoted, short, on one line, beside the words it was probably meant to be.

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sim {

/// The text with control characters as '?', cut at a character after `longest` bytes: always one line.
std::string one_line(std::string_view text, std::size_t longest);

/// one_line in double quotes, short.
std::string quote(std::string_view text);

/// "a, b, c".
std::string listed(std::span<const std::string_view> words);

/// Up to three of `words` that `text` was probably meant to be: those that start with it, else those that are one edit
/// away or contain it, else those the fewest edits away. Empty where none is near.
std::vector<std::string_view> nearest(std::string_view text, std::span<const std::string_view> words);

/// "; did you mean h200-sxm, h200-nvl?", or "" where nothing is near.
std::string did_you_mean(std::string_view text, std::span<const std::string_view> words);

}  // namespace sim
