#pragma once
// Whether a text that should be Chinese still has a sentence of English in it.

#include <cctype>
#include <set>
#include <string>
#include <string_view>

namespace tests {

/// The first word of English grammar in a text, apart from what stands in quotes or is an experiment's line; empty where
/// there is none. Names, units and the words of the text form are the same in every language.
inline std::string english_in(std::string_view text) {
    static const std::set<std::string_view> grammar = {
        "the",   "of",   "is",    "are",  "for",   "has",  "have",     "needs", "must",  "and",    "which", "that",
        "where", "with", "from",  "not",  "a",     "an",   "its",      "it",    "takes", "be",     "been",  "can",
        "may",   "than", "found", "more", "needs", "runs", "expected", "there", "every", "nobody", "while"};
    bool quoted = false;
    for (std::size_t at = 0; at < text.size();) {
        if (text[at] == '"') quoted = !quoted;
        std::size_t end = at;
        while (end < text.size() && (std::isalnum(static_cast<unsigned char>(text[end])) || text[end] == '_')) ++end;
        if (!quoted && grammar.count(text.substr(at, end - at))) return std::string(text);
        at = std::max(end, at + 1);
    }
    return {};
}

}  // namespace tests
