#include "lessons/phrases.hpp"

#include <array>

namespace lessons {
namespace {

struct Row {
    const char *en, *zh;
};
constexpr std::array rows = {
#define MEMWALL_PHRASE(id, en, zh) Row{en, zh},
#include "lessons/phrases.inc"
#undef MEMWALL_PHRASE
};

}  // namespace

const char* phrase(Phrase id, Language l) {
    const Row& row = rows[static_cast<std::size_t>(id)];
    return l == Language::en ? row.en : row.zh;
}

const char* kind_name(StepKind k, Language l) {
    return phrase(static_cast<Phrase>(static_cast<int>(Phrase::kind_look) + static_cast<int>(k)), l);
}

}  // namespace lessons
