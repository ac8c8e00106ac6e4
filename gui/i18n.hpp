#pragma once
// Every word the lab shows, in English and Chinese: one row of gui/strings.inc each, switched live.

#include <fmt/core.h>

#include <span>
#include <string>

#include "gui/theme.hpp"

namespace lessons {
enum class Language;
}

namespace gui {

enum class Str {
#define MEMWALL_STRING(id, en, zh) id,
#include "gui/strings.inc"
#undef MEMWALL_STRING
};

struct StringRow {
    const char *id, *en, *zh;
};
std::span<const StringRow> strings();

void set_language(Language);
Language language();
/// The language in use, as the lessons name it.
lessons::Language lesson_language();

/// The text in the language in use.
const char* tr(Str);
/// The text as an ImGui label whose identity stays the same in every language ("文件###menu_file").
const char* label(Str);
/// The text with its {} filled in.
template <class... Args>
std::string say(Str id, const Args&... args) {
    return fmt::vformat(tr(id), fmt::make_format_args(args...));
}

/// What the model, a kernel or a file's reader said (they speak English) in the language in use. Remembered: asking again
/// in every frame costs a look-up. Only for the thread that draws.
std::string translated(const std::string& said);

}  // namespace gui
