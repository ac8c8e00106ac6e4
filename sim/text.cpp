#include "sim/text.hpp"

#include <algorithm>

namespace sim {
namespace {

/// Insertions, deletions, replacements and swaps of neighbours, byte by byte, that turn a into b.
std::size_t edits(std::string_view a, std::string_view b) {
    std::vector<std::vector<std::size_t>> to(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
    for (std::size_t i = 0; i <= a.size(); ++i) {
        for (std::size_t j = 0; j <= b.size(); ++j) {
            if (i == 0 || j == 0) {
                to[i][j] = i + j;
                continue;
            }
            to[i][j] = std::min({to[i - 1][j - 1] + (a[i - 1] != b[j - 1]), to[i - 1][j] + 1, to[i][j - 1] + 1});
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
                to[i][j] = std::min(to[i][j], to[i - 2][j - 2] + 1);
            }
        }
    }
    return to[a.size()][b.size()];
}

}  // namespace

std::string one_line(std::string_view text, std::size_t longest) {
    std::size_t end = std::min(text.size(), longest);
    while (end < text.size() && end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) {
        --end;  // not inside a character
    }
    std::string shown(text.substr(0, end));
    for (char& c : shown) {
        c = static_cast<unsigned char>(c) < 0x20 || c == 0x7F ? '?' : c;
    }
    return end < text.size() ? shown + "…" : shown;
}

std::string quote(std::string_view text) { return '"' + one_line(text, 60) + '"'; }

std::string listed(std::span<const std::string_view> words) {
    std::string list;
    for (const std::string_view word : words) {
        list += list.empty() ? "" : ", ";
        list += word;
    }
    return list;
}

std::vector<std::string_view> nearest(std::string_view text, std::span<const std::string_view> words) {
    if (text.empty() || text.size() > 100) {
        return {};
    }
    std::size_t least = std::max<std::size_t>(1, text.size() / 3);
    std::vector<std::string_view> found;
    for (const std::string_view word : words) {
        const std::size_t at = text.size() >= 2 ? word.find(text) : word.npos;
        const std::size_t distance = at == word.npos ? edits(text, word) : at != 0;
        if (distance < least) {
            found.clear();
            least = distance;
        }
        if (distance == least && found.size() < 3 && std::find(found.begin(), found.end(), word) == found.end()) {
            found.push_back(word);
        }
    }
    return found;
}

std::string did_you_mean(std::string_view text, std::span<const std::string_view> words) {
    const auto near = nearest(text, words);
    return near.empty() ? "" : "; did you mean " + listed(near) + "?";
}

}  // namespace sim
