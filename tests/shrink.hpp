#pragma once
// The smallest experiment that still breaks a law: what a failing property test prints.

#include <algorithm>
#include <cctype>
#include <sstream>
#include <string>
#include <vector>

namespace tests {

/// Shrinks a line of text for which fails(line) is true: drops words and their values, then makes numbers (sizes,
/// tiles, counts) smaller by half, a quarter and so on down to one, while it still fails. `fails` must be false for
/// lines that are no legal experiment.
template <class Fails>
std::string shrink(const std::string& line, Fails&& fails) {
    std::vector<std::string> tokens;
    std::stringstream stream(line);
    for (std::string token; stream >> token;) tokens.push_back(token);
    const auto joined = [](const std::vector<std::string>& all) {
        std::string text;
        for (const std::string& t : all) text += (text.empty() ? "" : " ") + t;
        return text;
    };
    const auto try_instead = [&](std::vector<std::string> smaller) {
        if (smaller == tokens || !fails(joined(smaller))) return false;
        tokens = std::move(smaller);
        return true;
    };
    /// Makes the number at `at` of token i as small as it can be.
    const auto shrink_number = [&](std::size_t i, std::size_t at) {
        const auto length = [&] { return tokens[i].find_first_not_of("0123456789", at) - at; };
        bool some = false;
        for (long long less = std::stoll(tokens[i].substr(at, length())) / 2; less > 0;) {
            const long long value = std::stoll(tokens[i].substr(at, length()));
            std::vector<std::string> smaller = tokens;
            smaller[i].replace(at, length(), std::to_string(std::max(1LL, value - less)));
            if (try_instead(smaller))
                some = true;
            else
                less /= 2;
        }
        return some;
    };
    const auto each_number = [&](std::size_t i, auto&& f) {
        const auto digit = [&](std::size_t p) { return std::isdigit(static_cast<unsigned char>(tokens[i][p])) != 0; };
        if (std::isalpha(static_cast<unsigned char>(tokens[i][0])) && tokens[i].find(':') == std::string::npos)
            return;  // a name, such as a device's
        for (std::size_t p = 0; p < tokens[i].size(); ++p)
            if (digit(p) && (p == 0 || !digit(p - 1))) f(p);
    };
    for (bool smaller = true; smaller;) {
        smaller = false;
        for (std::size_t i = 0; i + 1 < tokens.size();) {
            std::vector<std::string> without = tokens;
            without.erase(without.begin() + static_cast<long>(i), without.begin() + static_cast<long>(i) + 2);
            if (try_instead(without))
                smaller = true;
            else
                ++i;
        }
        for (std::size_t i = 0; i < tokens.size(); ++i)
            each_number(i, [&](std::size_t p) { smaller |= shrink_number(i, p); });
    }
    return joined(tokens);
}

}  // namespace tests
