#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "tests/fuzz.hpp"

namespace fuzz {
namespace {

/// Numbers at which a reader may stumble: limits of its own, of 32 and 64 bits, of a double, and what is none.
constexpr std::string_view edges[] = {"0",
                                      "1",
                                      "-1",
                                      "-0",
                                      "2",
                                      "7",
                                      "65536",
                                      "2147483647",
                                      "2147483648",
                                      "4294967296",
                                      "9223372036854775807",
                                      "9223372036854775808",
                                      "18446744073709551616",
                                      "99999999999999999999999",
                                      "1e308",
                                      "1e309",
                                      "-1e308",
                                      "1e-320",
                                      "0.1",
                                      ".5",
                                      "5.",
                                      "nan",
                                      "inf",
                                      "-inf",
                                      "0x10",
                                      "1_000",
                                      "00008",
                                      "+8",
                                      "8e",
                                      "",
                                      " ",
                                      "1e18"};

std::size_t below(std::size_t limit, Random& random) { return limit ? static_cast<std::size_t>(random() % limit) : 0; }

bool in_word(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.' || c == '-' || c == '+';
}

struct Token {
    std::size_t begin, size;
};

/// Words and numbers; an 'x' between digits parts two numbers.
std::vector<Token> tokens_of(const std::string& text, std::size_t most = 4096) {
    std::vector<Token> tokens;
    const auto digit = [&](std::size_t i) {
        return i < text.size() && std::isdigit(static_cast<unsigned char>(text[i]));
    };
    for (std::size_t at = 0; at < text.size() && tokens.size() < most;) {
        if (!in_word(text[at])) {
            ++at;
            continue;
        }
        const std::size_t begin = at;
        while (at < text.size() && in_word(text[at]) &&
               !(text[at] == 'x' && at > begin && digit(at - 1) && digit(at + 1)))
            ++at;
        if (at == begin) ++at;
        tokens.push_back({begin, at - begin});
        if (at < text.size() && text[at] == 'x' && digit(at + 1)) ++at;
    }
    return tokens;
}

std::string token_of(const std::string& text, Random& random) {
    const std::vector<Token> tokens = tokens_of(text);
    if (tokens.empty()) return "";
    const Token t = tokens[below(tokens.size(), random)];
    return text.substr(t.begin, t.size);
}

void mutate_token(std::string& text, const std::vector<std::string>& corpus, Random& random) {
    const std::vector<Token> tokens = tokens_of(text);
    if (tokens.empty()) return;
    const Token t = tokens[below(tokens.size(), random)], u = tokens[below(tokens.size(), random)];
    const std::string word = text.substr(t.begin, t.size), other = text.substr(u.begin, u.size);
    switch (below(5, random)) {
        case 0: text.insert(t.begin, word + ' '); break;
        case 1: text.erase(t.begin, t.size); break;
        case 2: text.replace(t.begin, t.size, other); break;
        case 3: text.replace(t.begin, t.size, token_of(corpus[below(corpus.size(), random)], random)); break;
        case 4: {
            const std::string taken = token_of(corpus[below(corpus.size(), random)], random);
            text.insert(t.begin, taken + ' ');
            break;
        }
    }
}

void mutate_number(std::string& text, Random& random) {
    std::vector<Token> numbers = tokens_of(text);
    std::erase_if(numbers, [&](const Token& t) { return !std::isdigit(static_cast<unsigned char>(text[t.begin])); });
    if (numbers.empty()) return;
    const Token t = numbers[below(numbers.size(), random)];
    text.replace(t.begin, t.size, edges[below(std::size(edges), random)]);
}

void mutate_bytes(std::string& text, Random& random) {
    if (text.empty()) return;
    const std::size_t at = below(text.size(), random);
    switch (below(4, random)) {
        case 0: text[at] = static_cast<char>(text[at] ^ (1 << below(8, random))); break;
        case 1: text[at] = static_cast<char>(random()); break;
        case 2: text.insert(at, 1, static_cast<char>(random())); break;
        case 3: text.erase(at, 1 + below(8, random)); break;
    }
}

void mutate_lines(std::string& text, Random& random) {
    std::vector<std::size_t> starts = {0};
    for (std::size_t i = 0; i + 1 < text.size(); ++i)
        if (text[i] == '\n') starts.push_back(i + 1);
    if (starts.size() < 2) return;
    const std::size_t which = below(starts.size(), random), begin = starts[which];
    const std::size_t end = which + 1 < starts.size() ? starts[which + 1] : text.size();
    const std::string line = text.substr(begin, end - begin);
    switch (below(3, random)) {
        case 0: text.erase(begin, end - begin); break;
        case 1: text.insert(begin, line); break;
        case 2: text.insert(starts[below(starts.size(), random)], line); break;
    }
}

void splice(std::string& text, const std::vector<std::string>& corpus, Random& random) {
    const std::string& other = corpus[below(corpus.size(), random)];
    const std::size_t from = below(other.size() + 1, random);
    text = text.substr(0, below(text.size() + 1, random)) + other.substr(from);
}

}  // namespace

std::string mutate(const std::vector<std::string>& corpus, Random& random) {
    std::string text = corpus[below(corpus.size(), random)];
    // Mostly one wound: a text with many is refused at the first and tells nothing of the others.
    for (std::size_t rounds = below(3, random) ? 1 : 2 + below(4, random); rounds > 0; --rounds)
        switch (below(16, random)) {
            case 0:
            case 1: mutate_bytes(text, random); break;
            case 2: text.resize(below(text.size() + 1, random)); break;
            case 3: splice(text, corpus, random); break;
            case 4:
            case 5: mutate_lines(text, random); break;
            case 6:
            case 7:
            case 8:
            case 9: mutate_number(text, random); break;
            default: mutate_token(text, corpus, random); break;
        }
    return text;
}

std::string escaped(std::string_view text) {
    std::string out = "\"";
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        if (c == '"' || c == '\\') {
            out += fmt::format("\\{}", c);
        } else if (c == '\n') {
            out += "\\n";
        } else if (byte < 32 || byte > 126) {
            out += fmt::format("\\{:03o}", byte);
        } else {
            out += c;
        }
    }
    return out + '"';
}

}  // namespace fuzz
