#pragma once
// Where a line of English or Chinese may break: at spaces and between Chinese characters, never before a mark that
// closes or after one that opens. The terminal counts columns and the lab pixels; both read their text through this.

#include <optional>
#include <string>
#include <string_view>

namespace lessons {

/// A character of UTF-8 and whether it is as wide as a Chinese one.
struct Character {
    std::string_view text;
    bool wide = false;
};
/// The character that a text begins with; broken UTF-8 is read a byte at a time.
Character first_character(std::string_view text);

/// Text put together of parts, without the spaces that then stand between two Chinese characters.
std::string closed_up(std::string_view text);

/// Reads text character by character, several texts as one.
class LineBreaks {
public:
    struct Next : Character {
        bool begins = false;  ///< a line may break before it
        bool spaced = false;  ///< spaces stood before it: a line that goes on shows one
    };
    /// Takes the next character that is no space off the text; nothing where only spaces were left.
    std::optional<Next> next(std::string_view& text);
    /// A mark that is no text clings to what was read, and a line may break after it.
    void mark() { after_wide_ = true; }

private:
    bool first_ = true, space_ = false, glue_ = false, after_wide_ = false;
};

}  // namespace lessons
