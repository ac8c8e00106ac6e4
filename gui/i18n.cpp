#include "gui/i18n.hpp"

#include <array>
#include <unordered_map>
#include <vector>

#include "lessons/messages.hpp"

namespace gui {
namespace {

constexpr std::array rows = {
#define MEMWALL_STRING(id, en, zh) StringRow{#id, en, zh},
#include "gui/strings.inc"
#undef MEMWALL_STRING
};

Language current = Language::en;

std::vector<std::string> make_labels(Language l) {
    std::vector<std::string> labels;
    for (const StringRow& r : rows) labels.push_back(std::string(l == Language::en ? r.en : r.zh) + "###" + r.id);
    return labels;
}

}  // namespace

std::span<const StringRow> strings() { return rows; }

void set_language(Language l) { current = l; }
Language language() { return current; }
lessons::Language lesson_language() { return current == Language::zh ? lessons::Language::zh : lessons::Language::en; }

const char* tr(Str id) {
    const StringRow& row = rows[static_cast<std::size_t>(id)];
    return current == Language::en ? row.en : row.zh;
}

const char* label(Str id) {
    static const std::array labels = {make_labels(Language::en), make_labels(Language::zh)};
    return labels[current == Language::en ? 0 : 1][static_cast<std::size_t>(id)].c_str();
}

std::string translated(const std::string& said) {
    if (current == Language::en) return said;
    constexpr std::size_t most = 10000;  // of a sweep's reasons, say; then it starts anew
    static std::unordered_map<std::string, std::string> known;
    if (known.size() > most) known.clear();
    const auto [at, is_new] = known.try_emplace(said);
    if (is_new) at->second = lessons::translated(said, lessons::Language::zh);
    return at->second;
}

}  // namespace gui
