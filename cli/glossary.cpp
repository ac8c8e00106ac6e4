// memwall glossary: what the words of the course mean.

#include <fmt/format.h>

#include <algorithm>
#include <ostream>

#include "cli/lesson_text.hpp"
#include "cli/text.hpp"
#include "lessons/course.hpp"
#include "sim/text.hpp"

namespace cli {
namespace {

int glossary(const Arguments& arguments, Session& session) {
    const lessons::Language l = language_of(arguments);
    const lessons::Course course(lessons::builtin_files(), session.devices());
    const auto& terms = course.glossary(l);
    const int width = session.terminal().width;
    const auto print = [&](const std::string& term, const lessons::Prose& meaning) {
        session.out() << term << '\n';
        for (const lessons::Block& b : meaning) session.out() << wrap(plain_text(b.spans), width, 2, 2);
    };
    if (arguments.words.empty()) {
        for (const auto& [term, meaning] : terms) print(term, meaning);
        return done;
    }
    std::string asked = arguments.words[0];
    for (char& c : asked)
        if (c >= 'A' && c <= 'Z') c += 'a' - 'A';
    if (const lessons::Prose* meaning = course.meaning(asked, l)) {
        print(asked, *meaning);
        return done;
    }
    // No word of its own: those whose meaning speaks of it (its name in the learner's language stands there).
    bool found = false;
    for (const auto& [term, meaning] : terms)
        if (std::any_of(meaning.begin(), meaning.end(), [&](const lessons::Block& b) {
                return !asked.empty() && plain_text(b.spans).find(arguments.words[0]) != std::string::npos;
            })) {
            print(term, meaning);
            found = true;
        }
    if (found) return done;
    std::vector<std::string_view> known;
    for (const auto& [term, text] : terms) known.push_back(term);
    throw sim::BadInput(fmt::format("{} is no word of the glossary (`memwall glossary` lists them){}",
                                    sim::quote(arguments.words[0]), sim::did_you_mean(asked, known)));
}

}  // namespace

const Verb glossary_verb = {
    .name = "glossary",
    .operands = "[TERM]",
    .what = "what the words of the course mean",
    .least = 0,
    .most = 1,
    .options = {{"--lang", "en|zh", "(default: the terminal's language)"}},
    .run = glossary,
};

}  // namespace cli
