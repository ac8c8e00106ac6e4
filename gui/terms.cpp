#include "gui/terms.hpp"

#include <algorithm>
#include <array>

#include "gui/i18n.hpp"
#include "lessons/terms.hpp"

namespace gui {
namespace {

struct TermWords {
    std::string_view term;
    Str name;
};
#define TERM(name) \
    TermWords { #name, Str::term_##name }
constexpr std::array words = {TERM(math),    TERM(smem),   TERM(l2),       TERM(dram),
                              TERM(latency), TERM(waves),  TERM(fill),     TERM(epilogue),
                              TERM(power),   TERM(launch), TERM(dispatch), TERM(step_overhead)};
#undef TERM

const TermWords* find(std::string_view term) {
    const auto at = std::find_if(words.begin(), words.end(), [&](const TermWords& w) { return w.term == term; });
    return at == words.end() ? nullptr : &*at;
}

}  // namespace

std::string term_name(std::string_view term) {
    const TermWords* w = find(term);
    return w ? tr(w->name) : std::string(term);
}

std::string term_meaning(std::string_view term) {
    return lessons::term_meaning(term, language() == Language::zh ? lessons::Language::zh : lessons::Language::en);
}

std::string_view term_of(std::string_view step) {
    const std::size_t colon = step.find(": ");
    return colon == step.npos ? step : step.substr(colon + 2);
}

std::string step_name(std::string_view step) {
    const std::string_view term = term_of(step);
    return std::string(step.substr(0, step.size() - term.size())) + term_name(term);
}

}  // namespace gui
