#include "gui/terms.hpp"

#include "gui/i18n.hpp"
#include "lessons/terms.hpp"

namespace gui {

std::string term_name(std::string_view term) {
    const char* name = lessons::term_name(term, lesson_language());
    return name ? name : std::string(term);
}

std::string term_meaning(std::string_view term) { return lessons::term_meaning(term, lesson_language()); }

std::string_view term_of(std::string_view step) {
    const std::size_t colon = step.find(": ");
    return colon == step.npos ? step : step.substr(colon + 2);
}

std::string step_name(std::string_view step) {
    const std::string_view term = term_of(step);
    return std::string(step.substr(0, step.size() - term.size())) + term_name(term);
}

}  // namespace gui
