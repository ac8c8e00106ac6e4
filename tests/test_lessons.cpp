// The course: the checker finds nothing in it, a robot walks every lesson in both languages with right and with wrong
// answers, and what a learner did is kept.

#include <doctest/doctest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>

#include "kernels/glass/faults.hpp"
#include "lessons/goal.hpp"
#include "lessons/journal.hpp"
#include "lessons/lint.hpp"
#include "sim/error.hpp"

using namespace lessons;
namespace fs = std::filesystem;

namespace {

const Counted& counted() {
    static const Counted c =
        kernels::glass::counting(std::make_shared<kernels::glass::Counts>(sim::Catalogue::builtin()));
    return c;
}
Model& model() {
    static Model m(sim::Catalogue::builtin(), counted());
    return m;
}
const Course& course() {
    static const Course c(builtin_files(), sim::Catalogue::builtin());
    return c;
}
std::vector<const Lesson*> everything() {
    std::vector<const Lesson*> out;
    for (const Language l : {Language::en, Language::zh}) {
        for (const Lesson* lesson : course().listed(l)) out.push_back(lesson);
        out.push_back(course().quiz(l));
    }
    return out;
}

/// What the robot types: the right answer, or each wrong one that the lesson has words for.
std::vector<std::string> answers(const Walk& walk, bool right) {
    const Step& step = walk.step();
    const Question& q = *step.question;
    if (q.kind == Question::reach)
        return {right ? q.options.back().code : q.options.size() > 1 ? q.options[0].code : step.scene};
    const Judgement j = judge(q, step.scene, walk.lesson().scenes, model());
    std::vector<std::string> out;
    if (q.kind == Question::number) {
        if (right) return {to_text(*j.expect, q.unit)};
        for (const Value& v : j.options) out.push_back(to_text(v, q.unit));
        out.push_back(to_text({j.expect->number() * 3.7 + 1, j.expect->unit}, q.unit));
        return out;
    }
    if (q.kind == Question::order) {
        std::string letters;
        for (const int i : j.right) letters += static_cast<char>('a' + i);
        if (!right) std::swap(letters[0], letters[1]);
        return {letters};
    }
    for (int i = 0; i < static_cast<int>(q.options.size()); ++i)
        if ((std::find(j.right.begin(), j.right.end(), i) != j.right.end()) == right)
            out.emplace_back(1, static_cast<char>('a' + i));
    return out;
}

/// Every number is filled in, and no mark is left over.
void check_text(const Spans& spans) {
    for (const Span& s : spans) {
        CAPTURE(s.expression.text());
        if (s.kind == Span::live) CHECK((!s.text.empty() && s.text != "?"));
        CHECK(s.text.find("nan") == std::string::npos);
        CHECK(s.text.find_first_of("{}") == std::string::npos);
        CHECK(s.text.find("**") == std::string::npos);
    }
}

/// A folder of this test's own, gone afterwards.
struct Folder {
    fs::path path = fs::temp_directory_path() / ("memwall-lessons-" + std::to_string(::getpid()));
    Folder() { fs::create_directories(path); }
    ~Folder() { fs::remove_all(path); }
};

}  // namespace

TEST_SUITE("slow") {
    TEST_CASE("lessons: the checker finds nothing in the course") {
        for (const std::string& line : lint(builtin_files(), sim::Catalogue::builtin(), counted())) FAIL_CHECK(line);
    }

    TEST_CASE("lessons: a robot walks every lesson, all right") {
        for (const Lesson* lesson : everything()) {
            CAPTURE(lesson->file);
            Walk walk(*lesson, model());
            while (!walk.state().finished) {
                CAPTURE(walk.step().line);
                CHECK(walk.hidden() == (walk.asks() ? walk.step().hide : std::vector<std::string>{}));
                for (const Block& b : walk.prose()) {
                    check_text(b.spans);
                    for (const Spans& cell : b.cells) check_text(cell);
                }
                for (const Choice& c : walk.choices()) CHECK(!bare_text(c.text).empty());
                if (walk.asks()) {
                    CHECK_FALSE(walk.advance());  // locked until something is answered
                    CHECK(!walk.expected().empty());
                    const auto right = answers(walk, true);
                    REQUIRE(right.size() == 1);
                    CAPTURE(right[0]);
                    const Feedback f = walk.answer(right[0]);
                    CHECK(f.kind == Feedback::right);
                    CHECK(!f.lines.empty());
                    CHECK(walk.settled());
                    CHECK(walk.hidden().empty());
                }
                CHECK(walk.advance());
            }
            CHECK(walk.first_right() == walk.questions());
            CHECK(walk.questions() > 0);
        }
    }

    TEST_CASE(
        "lessons: a robot walks every lesson with every wrong answer it has words for, then is shown the right one") {
        for (const Lesson* lesson : everything()) {
            CAPTURE(lesson->file);
            Walk walk(*lesson, model());
            while (!walk.state().finished) {
                CAPTURE(walk.step().line);
                if (walk.asks()) {
                    for (const std::string& wrong : answers(walk, false)) {
                        CAPTURE(wrong);
                        const Feedback f = walk.answer(wrong, true);
                        CHECK(f.kind == Feedback::wrong);
                        CHECK(f.lines.size() > 1);  // it says why, or by how much
                        for (const Spans& line : f.lines) check_text(line);
                        CHECK(walk.locked());
                        CHECK_FALSE(walk.settled());
                    }
                    CHECK(walk.show().kind == Feedback::shown);
                    CHECK(walk.settled());
                }
                CHECK(walk.advance());
            }
            CHECK(walk.first_right() == 0);
        }
    }
}

TEST_CASE("lessons: twelve lessons in two languages, each findable by id, number and file") {
    CHECK(course().lessons(Language::en).size() >= 12);
    CHECK(course().lessons(Language::zh).size() == course().lessons(Language::en).size());
    std::set<std::string> known;
    for (const Lesson* lesson : course().lessons(Language::en)) {
        CHECK(course().find(lesson->id, Language::zh) != nullptr);
        CHECK(course().find(std::to_string(lesson->number), Language::en) == lesson);
        CHECK(course().find(fs::path(lesson->file).stem().string(), Language::en) == lesson);
        for (const std::string& need : lesson->needs)
            CHECK(known.count(need) == 1);  // what a lesson builds on came before
        known.insert(lesson->id);
    }
    CHECK(course().find("no-such-lesson", Language::en) == nullptr);
    CHECK(course().meaning("tile", Language::zh) != nullptr);
    CHECK(course().meaning("no-such-word", Language::en) == nullptr);
}

TEST_CASE("lessons: an answer that cannot be read changes nothing, a wrong one may be tried again") {
    Walk walk(*course().find("tile", Language::en), model());
    REQUIRE(walk.advance());
    for (const char* bad : {"", "z", "ab", "9", "half", "-"}) {
        CAPTURE(bad);
        CHECK_THROWS_AS(walk.answer(bad), sim::BadInput);
        CHECK(walk.state().steps[1].given.empty());
    }
    CHECK(walk.answer("1").kind == Feedback::wrong);
    CHECK(walk.answer("B").kind == Feedback::right);
    CHECK(walk.state().steps[1].given.size() == 2);
    CHECK(walk.state().steps[1].given[1].text == "b");
    walk.answer("a");  // settled: not asked again
    CHECK(walk.state().steps[1].given.size() == 2);
    CHECK(walk.first_right() == 0);
    CHECK(walk.back());
    CHECK_FALSE(walk.back());
    CHECK_THROWS_AS(walk.answer("a"), sim::BadInput);  // nothing is asked there
}

TEST_CASE("lessons: what a goal asks is told in the goal's own unit") {
    const std::string scene = "scratchpad 2048x2048x2048 f32 forward fused tile 64x64x64";
    const auto now = [&](const char* goal, std::size_t i = 0) {
        return conditions_of(Expression::parse(goal), scene, scene, {}, model(), Language::en).at(i).now;
    };
    CHECK(now("need <= 48KiB") == "48 KiB");
    CHECK(now("dram < 600MB").ends_with(" MB"));
    CHECK(now("dram < 0.5 * dram[tile 128x64x64]").find("GB, DRAM bytes with tile 128x64x64 = ") != std::string::npos);
    CHECK(now("ceiling == \"math\" and flops <= 20GFLOP", 0) == "math");
    CHECK(now("ceiling == \"math\" and flops <= 20GFLOP", 1) == "17.2 GFLOP");
}

TEST_CASE("lessons: a challenge lets only its words be changed, and takes a whole scene too") {
    Walk walk(*course().find("tile", Language::en), model());
    LessonState last;
    last.step = static_cast<int>(walk.lesson().steps.size()) - 1;
    walk = Walk(walk.lesson(), model(), last);
    REQUIRE(walk.step().kind == StepKind::challenge);
    CHECK_THROWS_AS(walk.answer("tpu-v5e"), sim::BadInput);
    CHECK_THROWS_AS(walk.answer("512x512x512"), sim::BadInput);
    CHECK_THROWS_AS(walk.answer("tile 7"), sim::BadInput);
    CHECK(walk.answer("tile 32x32x32").kind == Feedback::wrong);
    CHECK(walk.answer("scratchpad 2048x2048x2048 f32 forward fused tile 256x128x16").kind == Feedback::right);
}

TEST_CASE("lessons: what was answered is kept, also across languages, and begun anew on request") {
    Folder folder;
    const fs::path file = folder.path / "deep" / "lessons.jsonl";
    const Lesson &en = *course().find("tile", Language::en), &zh = *course().find("tile", Language::zh);
    {
        Journal journal(file);
        CHECK_FALSE(journal.knows(en));
        Walk walk(en, model());
        const auto note = [&](auto&& act) {
            const LessonState before = walk.state();
            act();
            CHECK(journal.note(en, before, walk.state()) == "");
        };
        note([&] { walk.advance(); });
        note([&] { walk.answer("a", true); });
        note([&] { walk.show(); });
        note([&] { walk.advance(); });
    }
    {
        std::ofstream torn(file, std::ios::app);
        torn << "{\"event\": \"answer\", \"lesson\": \"ti";  // a crash in the middle of a line
    }
    Journal journal(file);
    const LessonState s = journal.state(zh);
    CHECK(journal.knows(zh));
    CHECK(s.step == 2);
    REQUIRE(s.steps[1].given.size() == 1);
    CHECK(s.steps[1].given[0] == Given{"a", false, true});
    CHECK(s.steps[1].shown);
    CHECK(report(course(), journal, Language::zh, model()).find(zh.title) != std::string::npos);
    CHECK(journal.restart(zh) == "");
    CHECK_FALSE(journal.knows(en));
    CHECK(journal.state(en).step == 0);
}

TEST_CASE("lessons: an answer kept of an older lesson is judged anew, or dropped where it means nothing any more") {
    const Lesson& lesson = *course().find("tile", Language::en);
    LessonState kept;
    kept.step = 99;
    kept.steps.resize(3);
    kept.steps[0].given = {{"a", true, false}};  // nothing is asked there now
    kept.steps[1].given = {{"z", true, false}, {"a", true, true}};
    const Walk walk(lesson, model(), kept);
    CHECK(walk.state().step == static_cast<int>(lesson.steps.size()) - 1);
    CHECK(walk.state().steps[0].given.empty());
    REQUIRE(walk.state().steps[1].given.size() == 1);
    CHECK(walk.state().steps[1].given[0] == Given{"a", false, true});
}

TEST_CASE("lessons: no text makes the reader do worse than say where it is wrong") {
    const std::string good = builtin_files()[1].text;
    unsigned seed = 7;
    const auto next = [&](std::size_t below) {
        seed = seed * 1664525u + 1013904223u;
        return static_cast<std::size_t>(seed >> 8) % below;
    };
    int refused = 0;
    for (int i = 0; i < 300; ++i) {
        std::string text = good;
        const std::string pieces = "`{}[]()|>#-*\"\\^x0 \n";
        for (std::size_t n = 1 + next(3); n > 0; --n) {
            const std::size_t at = next(text.size());
            if (next(2)) {
                text.insert(at, 1, pieces[next(pieces.size())]);
            } else {
                text.erase(at, 1 + next(40));
            }
        }
        try {
            parse_lesson(text, "mutant.md", Language::en, sim::Catalogue::builtin());
        } catch (const sim::BadInput& e) {
            ++refused;
            const std::string why = e.what();
            CAPTURE(why);
            CHECK(why.starts_with("mutant.md:"));
            CHECK(why.find('\n') == std::string::npos);
        }
    }
    CHECK(refused > 50);
}

TEST_CASE("lessons: a line of the journal reads back, whatever is in it") {
    for (const std::string text : {"", "a\"b\\c", "tab\there", "分块 128x128", "true", "12", "0012345678901"}) {
        CAPTURE(text);
        Record read;
        CHECK(from_json(to_json({{"answer", text}, {"n", "3"}}), read));
        CHECK(read["answer"] == text);
        CHECK(read["n"] == "3");
    }
    Record read;
    for (const char* bad : {"", "{", "[]", "{\"a\": \"b", "{\"a\" \"b\"}", "{\"a\": 1} x"})
        CHECK_FALSE(from_json(bad, read));
}

TEST_CASE("lessons: the quiz names misconceptions, and its gain is of what was left to learn") {
    const Lesson pre = half_of(*course().quiz(Language::en), StepKind::pre);
    CHECK(pre.steps.size() == 12);
    Walk walk(pre, model());
    walk.answer("a");
    CHECK(walk.step_state().given[0].right == false);
    CHECK(misconceptions(pre, walk.state()) == std::vector<std::string>{"Time follows operations."});
    CHECK(gain(4, 10, 12) == doctest::Approx(0.75));
    CHECK(gain(12, 12, 12) == 0);
    CHECK(gain(6, 3, 12) == doctest::Approx(-0.5));
}
