// A challenge's goal is told in words of the reader's language.

#include <doctest/doctest.h>

#include <algorithm>

#include "lessons/course.hpp"
#include "lessons/goal.hpp"
#include "tests/english.hpp"

using lessons::Language;

namespace {

const sim::Catalogue& devices() { return sim::Catalogue::builtin(); }

}  // namespace

TEST_CASE("lessons: every goal of the course is told in words of both languages") {
    lessons::Model model(devices());
    const lessons::Course course(lessons::builtin_files(), devices());
    int goals = 0;
    for (const Language l : {Language::en, Language::zh})
        for (const lessons::Lesson* lesson : course.lessons(l))
            for (const lessons::Step& s : lesson->steps) {
                if (!s.question || s.question->kind != lessons::Question::reach) continue;
                ++goals;
                const std::string text = lessons::goal_text(s.question->goal, s.scene, lesson->scenes, model, l);
                CAPTURE(text);
                for (const char* code : {"<", ">", "==", "[", "@", "\"", "wave_use", "flops", "ceiling"})
                    CHECK(text.find(code) == std::string::npos);
                if (l == Language::zh) CHECK(tests::english_in(text) == "");
                const auto conditions =
                    lessons::conditions_of(s.question->goal, s.scene, s.scene, lesson->scenes, model, l);
                CHECK(conditions.size() == s.question->goal.conditions().size());
                CHECK(std::any_of(conditions.begin(), conditions.end(), [](const auto& c) { return !c.met; }));
                for (const lessons::Condition& c : conditions) CHECK(text.find(c.text) != std::string::npos);
            }
    CHECK(goals >= 24);
    const auto said = [&](const char* goal, Language l) {
        return lessons::goal_text(lessons::Expression::parse(goal),
                                  "scratchpad 512x512x512 f32 forward fused tile 64x64x64",
                                  {{"first", "scratchpad 512x512x512 f32 forward fused tile 64x64x64"}}, model, l);
    };
    CHECK(said("time < 8ms and need <= 160KiB", Language::en) ==
          "predicted time below 8 ms and on-chip bytes of a tile at most 160 KiB");
    CHECK(said("time < 8ms and need <= 160KiB", Language::zh) ==
          "预测时间低于 8 ms，且分块所需的片上字节不超过 160 KiB");
    CHECK(said("time < 0.9 * time[@first]", Language::en) == "predicted time below 0.9 × predicted time at the start");
    CHECK(said("time < 0.9 * time[@first]", Language::zh) == "预测时间低于 0.9 × 开始时的预测时间");
    CHECK(said("dram < 2us * dram[tile best]", Language::zh) == "DRAM 字节低于 2 µs × tile best 时的 DRAM 字节");
    CHECK(said("ceiling == \"math\"", Language::zh) == "决定下界的屋顶：运算");
    CHECK(said("max(time, 1ms) < (time + 2ms) * 2", Language::en) == "max(time, 1ms) below (time + 2ms) * 2");
}
