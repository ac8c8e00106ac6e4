#include "lessons/messages.hpp"

#include <fmt/args.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <vector>

#include "lessons/line_breaks.hpp"
#include "lessons/terms.hpp"

namespace lessons {
namespace {

constexpr std::array rows = {
#define MEMWALL_MESSAGE(en, zh) Message{en, zh},
#include "lessons/messages.inc"
#undef MEMWALL_MESSAGE
};

constexpr std::size_t longest = 1000;  // what is longer is no sentence of ours

/// A row's English cut at its values.
struct Format {
    std::vector<std::string_view> literals;  ///< one more than there are values
    std::vector<bool> known;                 ///< whether a row must know the value
    std::string_view zh;
    std::size_t letters = 0;
};

Format format_of(const Message& m) {
    Format f;
    f.zh = m.zh;
    std::string_view rest = m.en;
    for (std::size_t open; (open = rest.find('{')) != rest.npos;) {
        f.literals.push_back(rest.substr(0, open));
        f.known.push_back(rest[open + 1] == '!');
        rest.remove_prefix(rest.find('}') + 1);
    }
    f.literals.push_back(rest);
    for (const std::string_view l : f.literals) f.letters += l.size();
    return f;
}

/// Sentences without a value, and the formats of the others: what says most of itself is tried first.
struct Catalogue {
    std::map<std::string_view, std::string_view> whole;
    std::vector<Format> formats;
};
const Catalogue& catalogue() {
    static const Catalogue read = [] {
        Catalogue c;
        for (const Message& m : rows)
            if (m.en.find('{') == m.en.npos)
                c.whole.emplace(m.en, m.zh);
            else
                c.formats.push_back(format_of(m));
        std::stable_sort(c.formats.begin(), c.formats.end(),
                         [](const Format& a, const Format& b) { return a.letters > b.letters; });
        return c;
    }();
    return read;
}

/// Chinese, and how many letters of it stand as they were said.
struct Chinese {
    std::string text;
    std::size_t unread = 0;
};

/// One reading of a sentence. What was found of its parts is kept, so that no part is read twice.
class Reading {
public:
    const std::optional<Chinese>& find(std::string_view said) {
        const auto at = found_.find(said);
        return at != found_.end() ? at->second : found_.emplace(said, look_up(said)).first->second;
    }

private:
    /// Of the formats that fit, the one that leaves the least unread; of those, the one that says most of itself.
    std::optional<Chinese> look_up(std::string_view said) {
        const Catalogue& c = catalogue();
        if (const auto at = c.whole.find(said); at != c.whole.end()) return Chinese{std::string(at->second)};
        if (const char* term = term_name(said, Language::zh)) return Chinese{term};
        std::optional<Chinese> best;
        for (const Format& f : c.formats) {
            std::vector<std::string_view> values(f.known.size());
            if (!may_match(f, said) || !match(f, 0, said.substr(f.literals[0].size()), values)) continue;
            fmt::dynamic_format_arg_store<fmt::format_context> store;
            Chinese all;
            for (const std::string_view v : values) {
                const std::optional<Chinese>& zh = find(v);
                store.push_back(zh ? zh->text : std::string(v));
                all.unread += zh ? zh->unread : v.size();
            }
            if (best && best->unread <= all.unread) continue;
            all.text = closed_up(fmt::vformat(f.zh, store));
            best = std::move(all);
        }
        return best;
    }
    /// Whether all that a format says stands in the sentence, in its order.
    static bool may_match(const Format& f, std::string_view said) {
        if (!said.starts_with(f.literals.front()) || !said.ends_with(f.literals.back())) return false;
        for (const std::string_view l : f.literals) {
            const std::size_t at = said.find(l);
            if (at == said.npos) return false;
            said.remove_prefix(at + l.size());
        }
        return true;
    }
    /// The values of a format in what is left of a sentence, from value `i` on; the shortest that fit.
    bool match(const Format& f, std::size_t i, std::string_view rest, std::vector<std::string_view>& values) {
        if (i == f.known.size()) return rest.empty();
        const std::string_view next = f.literals[i + 1];
        const bool last = i + 1 == f.known.size();
        if (last && !rest.ends_with(next)) return false;
        for (std::size_t at = last ? rest.size() - next.size() : rest.find(next); at != rest.npos;
             at = last ? rest.npos : rest.find(next, at + 1)) {
            values[i] = rest.substr(0, at);
            if (std::count(values[i].begin(), values[i].end(), '"') % 2 != 0) continue;  // not within quotes
            if (f.known[i] && !find(values[i])) continue;
            if (match(f, i + 1, rest.substr(at + next.size()), values)) return true;
        }
        return false;
    }

    std::map<std::string_view, std::optional<Chinese>> found_;
};

}  // namespace

std::span<const Message> messages() { return rows; }

std::optional<std::string> chinese(std::string_view said) {
    if (said.size() > longest) return {};
    Reading reading;
    const std::optional<Chinese>& zh = reading.find(said);
    return zh ? std::optional(zh->text) : std::nullopt;
}

std::string translated(std::string_view said, Language l) {
    if (l == Language::en) return std::string(said);
    return chinese(said).value_or(std::string(said));
}

}  // namespace lessons
