#pragma once
// What the model and the kernels say to a person, in Chinese: why a tile does not fit, why something cannot run here, how
// a number came about, what is wrong with a line. They say it in English and know no languages; lessons/messages.inc has
// the format of each sentence beside its Chinese, and a sentence is read back by matching it.

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "lessons/lesson.hpp"

namespace lessons {

/// A row of messages.inc. {} in the English is a value, said in Chinese where a row knows it, else as it stands; {!} is
/// one that a row must know. {0}, {1} … in the Chinese put them in another order.
struct Message {
    std::string_view en, zh;
};
std::span<const Message> messages();

/// The Chinese of what was said; nothing where no row is its format.
std::optional<std::string> chinese(std::string_view said);
/// What was said, in a language; as it stands where no row is its format (a compiler's error, a person's own text).
std::string translated(std::string_view said, Language l);

}  // namespace lessons
