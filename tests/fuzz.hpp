#pragma once
// A seeded fuzz driver: valid texts are damaged and given to the readers. The same seed gives the same cases.

#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace fuzz {

using Random = std::mt19937_64;

/// A damaged copy of one of the texts: bytes flipped, tokens moved, doubled or taken from another text, numbers
/// replaced by those at the edges, cut short or spliced.
std::string mutate(const std::vector<std::string>& corpus, Random& random);

/// One reader: the valid texts it is tried on, and what must hold of any text.
struct Target {
    std::string_view name;
    std::vector<std::string> corpus;
    /// Empty where all is well, else what went wrong. Sets `accepted` where the text was read. An exception that leaves
    /// it is a finding too.
    std::string (*check)(const std::string& text, bool& accepted);
};

/// Every reader. A valid text must pass its own check.
const std::vector<Target>& targets();

/// The text as a C string literal, so that it can be pasted into a test.
std::string escaped(std::string_view text);

}  // namespace fuzz
