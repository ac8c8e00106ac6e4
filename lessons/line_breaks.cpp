#include "lessons/line_breaks.hpp"

#include <algorithm>

namespace lessons {
namespace {

bool among(std::string_view c, std::string_view marks) { return marks.find(c) != marks.npos; }
bool closes(std::string_view c) { return among(c, "，。、；：！？）”’」》…,.;:!?)]"); }
bool opens(std::string_view c) { return among(c, "（“‘「《(["); }

}  // namespace

Character first_character(std::string_view text) {
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
    const unsigned char c = byte(0);
    const std::size_t size = c < 0xC2 ? 1 : c < 0xE0 ? 2 : c < 0xF0 ? 3 : c < 0xF5 ? 4 : 1;
    if (size > text.size()) return {text.substr(0, 1), false};
    for (std::size_t i = 1; i < size; ++i)
        if ((byte(i) & 0xC0) != 0x80) return {text.substr(0, 1), false};
    // From U+2E80 on: Chinese characters and full-width marks.
    const bool wide = size == 4 || (size == 3 && (c > 0xE2 || (c == 0xE2 && byte(1) >= 0xBA)));
    return {text.substr(0, size), wide};
}

std::string closed_up(std::string_view text) {
    std::string out;
    bool wide = false;
    for (Character c; !text.empty(); text.remove_prefix(c.text.size())) {
        c = first_character(text);
        const std::string_view after = text.substr(c.text.size());
        if (c.text == " " && wide && !after.empty() && first_character(after).wide) continue;
        out += c.text;
        wide = c.wide;
    }
    return out;
}

std::optional<LineBreaks::Next> LineBreaks::next(std::string_view& text) {
    while (!text.empty() && (text[0] == ' ' || text[0] == '\n')) {
        space_ = true;
        glue_ = false;
        text.remove_prefix(1);
    }
    if (text.empty()) return {};
    Next n;
    static_cast<Character&>(n) = first_character(text);
    text.remove_prefix(n.text.size());
    n.spaced = space_;
    n.begins = first_ || space_ || !(glue_ || closes(n.text) || (!n.wide && !after_wide_));
    first_ = space_ = false;
    after_wide_ = n.wide;
    glue_ = opens(n.text);
    return n;
}

}  // namespace lessons
