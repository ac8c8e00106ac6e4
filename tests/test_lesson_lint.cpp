// Every kind of fault that a lesson can have is planted in one that has none, and is found and named.

#include <doctest/doctest.h>

#include <algorithm>

#include "kernels/glass/faults.hpp"
#include "lessons/lint.hpp"

using namespace lessons;

namespace {

CourseFile file(Language language, const char* stem) {
    for (const CourseFile& f : builtin_files())
        if (f.language == language && f.name.find(stem) != std::string::npos) return f;
    FAIL("no such lesson");
    return {};
}

const Counted& counted() {
    static const Counted c =
        kernels::glass::counting(std::make_shared<kernels::glass::Counts>(sim::Catalogue::builtin()));
    return c;
}

struct Fault {
    const char *there, *instead, *says;
};

/// Puts the fault into the file and returns what the checker says of it, and of `beside`.
std::vector<std::string> findings(CourseFile f, const Fault& fault, std::vector<CourseFile> beside = {}) {
    const std::size_t at = f.text.find(fault.there);
    REQUIRE(at != std::string::npos);
    f.text.replace(at, std::string(fault.there).size(), fault.instead);
    beside.insert(beside.begin(), f);
    return lint(beside, sim::Catalogue::builtin(), counted());
}

void check_each(const CourseFile& f, const std::vector<Fault>& faults, const std::vector<CourseFile>& beside = {}) {
    std::vector<CourseFile> all = beside;
    all.insert(all.begin(), f);
    for (const std::string& line : lint(all, sim::Catalogue::builtin(), counted())) FAIL_CHECK(line);  // none before
    for (const Fault& fault : faults) {
        CAPTURE(fault.instead);
        const auto lines = findings(f, fault, beside);
        std::string text;
        for (const std::string& line : lines) text += line + '\n';
        CAPTURE(text);
        CHECK(text.find(fault.says) != std::string::npos);
        for (const std::string& line : lines) {
            CHECK(line.find(".md:") != std::string::npos);  // says where
            CHECK(line.find('\n') == std::string::npos);
        }
    }
}

}  // namespace

TEST_CASE("lesson lint: what cannot be read is named with its line") {
    check_each(file(Language::en, "02-tile"),
               {
                   {"# What a tile is", "What a tile is", "02-tile.md:1: expected the title"},
                   {"id = \"tile\"", "id = \"Tile!\"", "id: expected lower-case"},
                   {"id = \"tile\"", "id = tile", "expected TOML"},
                   {"minutes = 10", "minutes = \"ten\"", "minutes: expected"},
                   {"minutes = 10", "minuets = 10", "\"minuets\" is no key here"},
                   {"tile 64x64x64\"\nalso", "tile 64x64\"\nalso", "02-tile.md:7: scene:"},
                   {"## look: One", "## gaze: One", "expected KIND: TITLE"},
                   {"ask = \"choice\"", "ask = \"guess\"", "ask: expected choice, number, order or reach"},
                   {"expect = \"dram[tile 128x128x64] / dram\"", "expect = \"dram[tile 128x128x64] /\"", "expect: "},
                   {"{dram[tile 64x64x64]}", "{dram[tile 64x64x64}", "closing ]"},
                   {"- `1/2` about half.", "- `1/2 about half.", "closing ` after"},
                   {"- `1/2` about half.", "- `1/` about half.", "expected a number"},
                   {"unit = \"MB\"", "unit = \"Mb\"", "unit: expected"},
                   {"may = [\"tile\"]", "may = \"tile\"", "may: expected a list"},
               });
}

TEST_CASE("lesson lint: answers are computed, single, apart and hold at a second shape") {
    check_each(
        file(Language::en, "02-tile"),
        {
            {"- `1/2` about half.", "- `1/3` about half.", "question double-both: 0 options are right"},
            {"- `1/4` about a quarter", "- `0.505` about a quarter", "2 options are right"},
            {"- `1/4` about a quarter", "- `0.6` about a quarter", "not apart by more than twice the tolerance"},
            {"- `1/4` about a quarter", "- `1MB` about a quarter", "question double-both"},
            {"also = \"1536x2560x1024\"", "also = \"64x64x4096\"", "at the second shape (64x64x4096)"},
            {"also = \"1536x2560x1024\"", "also = \"4096x4096x4096\"", "expected a second shape that is not"},
            {"also = \"1536x2560x1024\"\n", "", "expected also:"},
            {"  > There are four times fewer tiles, but each reads strips that are twice as wide: 2 / 4 = 1/2.\n", "",
             "option \"1/4\" is not explained"},
            {"expect = \"dram.x.read\"", "expect = \"dram.q.read\"", "no quantity"},
            {"expect = \"dram.x.read\"", "expect = \"time\"", "has no unit MB"},
            {"expect = \"dram.x.read\"", "expect = \"counted.dram.read\"", "give everywhere"},
            {"id = \"read-x\"", "id = \"double-both\"", "there is one of that id before"},
        });
}

TEST_CASE("lesson lint: answers hold for SMs in lockstep and staggered" * doctest::test_suite("slow")) {
    check_each(file(Language::en, "07-raster"),
               {
                   {"expect = \"dram.w.read\"", "expect = \"dram\"", "expected, but"},
                   {"goal = \"dram < 0.85 * dram[raster along_n]\"", "goal = \"dram < 0.75 * dram[raster along_n]\"",
                    "does not reach the goal staggered"},
                   {"claim = \"dram[raster grouped:8] < dram\"", "claim = \"dram[raster grouped:8] > dram\"",
                    "the claim is false staggered"},
               });
}

TEST_CASE("lesson lint: a challenge fails at its start and its worked solution passes") {
    check_each(
        file(Language::en, "02-tile"),
        {
            {"dram < 0.4 * dram[tile 64x64x64]", "dram <= dram[tile 64x64x64]", "the start already reaches the goal"},
            {"- `tile 256x128x16`", "- `tile 128x128x16`", "the worked solution does not reach the goal"},
            {"- `tile 128x128x64` Half", "- `tile 256x128x16` Half", "already reaches the goal; expected the last"},
            {"may = [\"tile\"]", "may = [\"order\"]", "changes tile, which is not in may"},
            {"goal = \"dram < 0.4", "goal = \"drum < 0.4", "no quantity"},
        });
}

TEST_CASE("lesson lint: figures, words, links, footnotes and numbers") {
    check_each(file(Language::en, "01-memory-wall"),
               {
                   {"hide = [\"roofline\", \"headline\"]", "hide = [\"rooftop\"]", "\"rooftop\" is no figure"},
                   {"hide = [\"roofline\", \"headline\"]\n", "", "a prediction hides what would give it away"},
                   {"read = \"roofline\"", "read = \"screen\"", "\"screen\" is no figure"},
                   {"glossary.md#dram", "glossary.md#dramm", "\"dramm\" is not in the glossary"},
                   {"glossary.md#dram", "elsewhere.md", "leads nowhere"},
                   {"[^h100]", "[^h200]", "footnote h200 is not there"},
                   {"[^roofline]\n", "\n", "footnote roofline is nowhere referred to"},
                   {", https://doi.org/10.1145/1498765.1498785", "", "names no source"},
                   {"fetches numbers from", "fetches 3.05 TB of numbers from", "\"3.05 TB\" is typed in"},
                   {"{m * k * element}", "{m * k * element | ms}", "cannot be written in"},
                   {"{device.bandwidth}", "{device.bandwith}", "no quantity"},
               });
}

TEST_CASE("lesson lint: what was measured must not contradict what is taught") {
    check_each(file(Language::en, "04-keras"),
               {
                   {"measured = \"measured.time[keras-guide-custom-05] / measured.time[keras-guide-custom-04]\"",
                    "measured = \"measured.time[keras-guide-custom-04] / measured.time[keras-guide-custom-05]\"",
                    "contradicts what is taught"},
                   {"measured = \"measured.time[keras-guide-custom-05] >",
                    "measured = \"measured.time[keras-guide-custom-05] <", "measured rows contradict the claim"},
                   {"measured = \"measured.time[keras-guide-custom-05] >",
                    "measured = \"measured.time[keras-guide-custom-99] >", "no row"},
                   {"measured = \"measured.time[keras-guide-custom-05] > 4 * measured.time[keras-guide-custom-04]\"",
                    "measured = \"time > 1ms\"", "expected rows such as"},
                   {"claim = \"time > 3", "claim = \"time < 3", "the claim is false"},
               });
}

TEST_CASE("lesson lint: a lesson has its parts") {
    const CourseFile f = file(Language::en, "05-loop-order");
    const std::vector<Fault> faults = {
        {"minutes = 9", "minutes = 4", "minutes: expected 5 to 15"},
        {"claim = \"dram[order kmn] > dram and dram[order knm] > dram\"\nmeasured = \"model only\"\n", "",
         "the lesson's one claim"},
        {"measured = \"model only\"\n", "", "measured: expected"},
        {"read = \"traffic\"\n", "", "a number that is read from a figure"},
        {"## predict: K", "## reveal: K", "expected a step predict"},
        {"## transfer: One", "## reveal: One", "expected a step transfer"},
        {"## challenge: Order", "## transfer: Order", "expected a step challenge"},
        {"## why: Count", "## reveal: Count", "expected a step why"},
        {"## look: Three", "## pre: Three", "are steps of a quiz"},
    };
    check_each(f, faults);
}

TEST_CASE("lesson lint: the two languages say the same") {
    const CourseFile en = file(Language::en, "02-tile"), zh = file(Language::zh, "02-tile");
    check_each(zh,
               {
                   {"id = \"tile\"", "id = \"tiles\"", "there is no lesson tile in zh"},
                   {"minutes = 10", "minutes = 11", "the head differs from"},
                   {"## transfer: ", "## reveal: ", "the kind of step"},
                   {"hide = [\"traffic\", \"headline\", \"roofline\"]", "hide = [\"traffic\"]",
                    "the settings of this step differs from"},
                   {"{dram[tile 64x64x64]}", "{dram[tile 64x64x32]}", "what the model fills in here differs from"},
                   {"- `1/2` ", "- `0.5` ", "question double-both differs from"},
                   {"tolerance = 0.1", "tolerance = 0.09", "question double-both differs from"},
               },
               {en});
}

TEST_CASE("lesson lint: a quiz has twelve pairs and names its misconceptions" * doctest::test_suite("slow")) {
    check_each(file(Language::en, "quiz"),
               {
                   {"> **Time follows operations.** Here", "> Here", "the misconception's name in bold"},
                   {"id = \"reuse\"", "id = \"re-use\"", "expected a pair"},
                   {"## pre: Twice", "## look: Twice", "a quiz has steps pre and post"},
               });
}

TEST_CASE("lesson lint: a drill asks of one fault, tells it by counts, and covers its line") {
    check_each(
        file(Language::en, "drill"),
        {
            {"fault = \"short-k\"\n", "", "expected fault"},
            {"fault = \"short-k\"", "fault = \"lost-mask\"", "fault lost-mask is asked about before"},
            {"fault = \"lost-barrier\"\nshow = [\"counters\"]\nhide = [\"fault\"]",
             "fault = \"lost-barrier\"\nshow = [\"counters\", \"fault\"]", "shows the counters and hides"},
            {"`faulty.races[lost-barrier] > 0`", "`faulty.races[short-k] > 0`", "expected counted.NAME or faulty"},
            {"`faulty.races[lost-barrier] > 0`", "`faulty.marbles[lost-barrier] > 0`", "is not counted here"},
            {"`faulty.races[lost-barrier] > 0`", "`faulty.races[lost-barrier] > 9`", "0 options are right"},
            {"`faulty.early[lost-barrier] > 0`", "`faulty.wrong[lost-barrier] > 0`", "2 options are right"},
        });
}
