// memwall glossary: what the words of the course mean.

#include <fmt/format.h>

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
    const std::string& asked = arguments.words[0];
    const lessons::Prose* meaning = course.meaning(asked, l);
    if (!meaning) {
        std::vector<std::string_view> known;
        for (const auto& [term, text] : terms) known.push_back(term);
        throw sim::BadInput(fmt::format("{} is no word of the glossary (`memwall glossary` lists them){}",
                                        sim::quote(asked), sim::did_you_mean(asked, known)));
    }
    print(asked, *meaning);
    return done;
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
