// A robot goes through the course in the lab: it reads what is drawn, clicks and types, and looks at what was noted.

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <imgui.h>
#include <imgui_internal.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>
#include <set>
#include <sstream>

#include "gui/headless.hpp"
#include "gui/i18n.hpp"
#include "gui/lab.hpp"
#include "gui/run.hpp"
#include "gui/settings.hpp"
#include "lessons/edit.hpp"
#include "lessons/figures.hpp"
#include "lessons/phrases.hpp"

namespace {

namespace fs = std::filesystem;
using gui::Str;
using lessons::Question;
using lessons::StepKind;

struct Look {
    gui::Language language = gui::Language::en;
    int width = 1600, height = 1400;
    float scale = 1;
    gui::Theme theme = gui::Theme::dark;
};

const std::shared_ptr<const sim::Catalogue>& devices() {
    static const auto all = std::make_shared<const sim::Catalogue>(sim::Catalogue::builtin());
    return all;
}

/// A file of the test's own that goes away with it.
struct Scratch {
    fs::path path = fs::temp_directory_path() / fmt::format("memwall-learn-{}", ::getpid());
    Scratch() { fs::create_directories(path); }
    ~Scratch() { fs::remove_all(path); }
};

class Robot {
public:
    explicit Robot(const Look& look, gui::Learning::Setup learning = {},
                   std::string_view scene = "scratchpad 512x512x512 f32 forward fused tile 128x128x64 | view learn")
        : screen(look.width, look.height, appearance_of(look), [this] { lab->draw(); }) {
        lab = std::make_unique<gui::Lab>(gui::Lab::Setup{
            devices(), sim::parse_scene(scene, *devices()), appearance_of(look), {}, [] {}, std::move(learning)});
        screen.frames(2);
        rest();
    }
    void rest() {
        for (int i = 0; i < 2; ++i) {
            lab->finish_work();
            screen.settle();
        }
    }
    bool sees(std::string_view text) const {
        const auto texts = screen.texts();
        return std::any_of(texts.begin(), texts.end(),
                           [&](const auto& t) { return t.text.find(text) != std::string::npos; });
    }
    void click(std::string_view text) {
        for (int tries = 0; tries < 12; ++tries) {
            for (const auto& t : screen.texts())
                if (t.text == text && !t.cut_y) {
                    screen.click({(t.box.x + t.box.z) / 2, (t.box.y + t.box.w) / 2});
                    return rest();
                }
            screen.move({200, 400});
            screen.wheel(-3);
        }
        FAIL("not on screen: " << text);
    }
    void key(ImGuiKeyChord chord) {
        screen.key(chord);
        rest();
    }
    void write(std::string_view text) {
        screen.key(ImGuiMod_Ctrl | ImGuiKey_A);
        screen.type(text);
    }
    gui::Learning& learning() { return lab->learning; }
    const lessons::LessonState& state() { return learning().state(); }
    const lessons::StepState& told() { return state().steps[static_cast<std::size_t>(state().step)]; }

    static gui::Appearance appearance_of(const Look& look) {
        gui::Appearance a;
        a.language = look.language;
        a.scale = look.scale;
        a.theme = look.theme;
        return a;
    }
    gui::Headless screen;
    std::unique_ptr<gui::Lab> lab;
};

lessons::Model& model() {
    static lessons::Model m(*devices(), kernels::glass::counting(std::make_shared<kernels::glass::Counts>(*devices())));
    return m;
}

/// A right and a wrong answer to a question, as they would be typed in a terminal.
struct Answers {
    std::string right, wrong;
};
Answers answers_to(const lessons::Lesson& lesson, const lessons::Step& step) {
    const Question& q = *step.question;
    const auto line_of = [&](const std::string& edit) {
        return sim::to_string(sim::parse_experiment(lessons::edited(step.scene, edit, *devices()), *devices()),
                              *devices());
    };
    if (q.kind == Question::reach) return {line_of(q.options.back().code), line_of("")};
    const lessons::Judgement j = lessons::judge(q, step.scene, lesson.scenes, model());
    std::string right, wrong;
    if (q.kind == Question::number) {
        const auto number = [&](double v) {
            lessons::Value value = *j.expect;
            value.is = v;
            return lessons::to_text(value, q.unit);
        };
        return {number(j.expect->number()),
                q.options.empty() ? number(3 * j.expect->number()) : lessons::to_text(j.options[0], q.unit)};
    }
    for (const int i : j.right) right += static_cast<char>('a' + i);
    if (q.kind == Question::order) return {right, {right.rbegin(), right.rend()}};
    right.resize(1);
    return {right, right == "a" ? "b" : "a"};
}

void give(Robot& robot, const Question& q, const std::string& answer, bool by_mouse) {
    if (q.kind == Question::choice || q.kind == Question::order) {
        for (const char letter : answer) {
            if (by_mouse)
                robot.click(std::string(1, letter));
            else
                robot.key(static_cast<ImGuiKey>(ImGuiKey_1 + (letter - 'a')));
        }
    } else if (q.kind == Question::number) {
        if (by_mouse) {
            const std::string hint = gui::tr(Str::a_number);
            if (robot.sees(hint)) robot.click(hint);
        }
        robot.write(answer);
        robot.screen.frames(2);
    } else {
        ImGui::SetClipboardText(answer.c_str());
        robot.key(ImGuiMod_Ctrl | ImGuiMod_Shift | ImGuiKey_V);
    }
    if (by_mouse)
        robot.click(gui::tr(Str::lock_in));
    else
        robot.key(ImGuiKey_Enter);
}

/// Where figures stand: they have tests of their own.
std::vector<ImRect> figures_on_screen() {
    std::vector<ImRect> out;
    for (const ImGuiWindow* w : ImGui::GetCurrentContext()->Windows)
        for (const lessons::Figure& f : lessons::figures())
            if (w->WasActive && std::string_view(w->Name).find(fmt::format("/{}_", f.id)) != std::string_view::npos)
                out.push_back(w->OuterRectClipped);
    return out;
}

bool speaks(const Robot& robot, gui::Language l) {
    return l == gui::Language::en || robot.screen.fonts().problem.empty();
}

/// The beginning of some spans, short enough to stand on one line.
std::string beginning(const lessons::Spans& spans) {
    std::string text = spans.empty() ? std::string() : spans[0].text;
    std::size_t n = 0;
    for (int i = 0; i < 4 && n < text.size() && text[n] != ' '; ++i) {
        ++n;
        while (n < text.size() && (text[n] & 0xc0) == 0x80) ++n;
    }
    return text.substr(0, n);
}

void go_through(Robot& robot, const lessons::Lesson& lesson, bool by_mouse) {
    CAPTURE(lesson.id);
    const auto& course = *robot.learning().course();
    robot.learning().open(lesson, robot.lab->document);
    robot.rest();
    REQUIRE(course.lessons(lesson.language).size() >= 12);
    for (std::size_t i = 0; i < lesson.steps.size(); ++i) {
        CAPTURE(i);
        REQUIRE(robot.state().step == static_cast<int>(i));
        const lessons::Step& step = lesson.steps[i];
        REQUIRE(robot.learning().page());
        CHECK(robot.learning().refused() == "");
        CHECK(robot.lab->document.experiment() == sim::parse_experiment(step.scene, *devices()));
        if (step.question) {
            const Question& q = *step.question;
            const Answers answers = answers_to(lesson, step);
            for (const std::string& figure : step.hide) CHECK(robot.learning().covers(figure));
            if (!step.hide.empty()) CHECK(robot.sees(gui::tr(Str::covered_figure)));
            robot.key(ImGuiKey_Enter);  // without an answer nothing goes on
            if (q.kind != Question::reach) {
                CHECK(robot.state().step == static_cast<int>(i));
                CHECK(robot.told().given.empty());
                give(robot, q, answers.wrong, by_mouse);
            }
            REQUIRE(robot.told().given.size() == 1);
            CHECK_FALSE(robot.told().given[0].right);
            CHECK(robot.sees(lessons::phrase(lessons::Phrase::not_yet, lesson.language)));
            REQUIRE(robot.learning().page()->feedback);
            const auto& lines = robot.learning().page()->feedback->lines;
            REQUIRE(lines.size() > 1);
            CHECK_MESSAGE(robot.sees(beginning(lines[1])), beginning(lines[1]));
            for (const std::string& figure : step.hide) CHECK_FALSE(robot.learning().covers(figure));
            CHECK_FALSE(robot.sees(gui::tr(Str::covered_figure)));
            give(robot, q, answers.right, by_mouse);
            REQUIRE(robot.told().given.size() == 2);
            CHECK(robot.told().given[1].right);
            CHECK(robot.sees(lessons::phrase(lessons::Phrase::right, lesson.language)));
        }
        const bool last = i + 1 == lesson.steps.size();
        if (by_mouse)
            robot.click(gui::tr(last ? Str::finish : Str::next_step));
        else
            robot.key(ImGuiKey_Enter);
    }
    CHECK(robot.learning().at_end());
    CHECK(robot.learning().progress(lesson).finished);
    CHECK(robot.learning().progress(lesson).first_right == 0);
    CHECK(robot.sees(lesson.title.substr(0, 6)));
    robot.learning().leave(robot.lab->document);
    robot.rest();
}

void go_through_all(gui::Language language, bool by_mouse) {
    Robot robot({.language = language});
    if (!speaks(robot, language)) return;
    const sim::Scene own = robot.lab->document.scene();
    for (const lessons::Lesson* lesson : robot.learning().course()->listed(robot.learning().language()))
        go_through(robot, *lesson, by_mouse);
    CHECK(robot.lab->document.experiment() == own.experiment);
    CHECK(robot.lab->document.can_undo());
}

}  // namespace

TEST_CASE("every lesson in English, by mouse: each question wrong, then right") {
    go_through_all(gui::Language::en, true);
}

TEST_CASE("every lesson in Chinese, by keyboard: each question wrong, then right") {
    go_through_all(gui::Language::zh, false);
}

TEST_CASE("no word of a step is cut, covered by another or missing, in either language, small or large" *
          doctest::test_suite("slow")) {
    for (const gui::Language language : {gui::Language::en, gui::Language::zh})
        for (const auto& [width, height, scale] :
             {std::tuple{1280, 800, 1.0f}, {1280, 800, 2.0f}, {640, 480, 1.0f}, {640, 480, 2.0f}}) {
            Robot robot({language, width, height, scale, scale > 1 ? gui::Theme::light : gui::Theme::dark});
            if (!speaks(robot, language)) continue;
            const float menu = ImGui::GetFrameHeight() + 2;
            for (const lessons::Lesson* lesson : robot.learning().course()->listed(robot.learning().language()))
                for (int step = 0; step < static_cast<int>(lesson->steps.size()); ++step) {
                    robot.learning().open_at(*lesson, step, robot.lab->document);
                    robot.rest();
                    CAPTURE(lesson->file);
                    CAPTURE(step);
                    CAPTURE(width);
                    CAPTURE(scale);
                    const auto texts = robot.screen.texts();
                    const std::string line = sim::to_string(robot.lab->document.experiment(), *devices());
                    const std::vector<ImRect> pictures = figures_on_screen();
                    std::vector<gui::DrawnText> words;
                    for (const auto& t : texts) {
                        CAPTURE(t.text);
                        CHECK(t.text.find("\xef\xbf\xbd") == std::string::npos);
                        const ImVec2 middle{(t.box.x + t.box.z) / 2, (t.box.y + t.box.w) / 2};
                        const bool in_picture = std::any_of(pictures.begin(), pictures.end(),
                                                            [&](const ImRect& r) { return r.Contains(middle); });
                        // A text field scrolls; menus and figures are not the course's.
                        if (t.box.y < menu || in_picture || line.starts_with(t.text.substr(0, 12))) continue;
                        CHECK_FALSE(t.cut_x);
                        if (!t.cut_y) words.push_back(t);  // else it lies under an edge
                    }
                    for (std::size_t a = 0; a < words.size(); ++a)
                        for (std::size_t b = 0; b < a; ++b) {
                            const ImVec4 &p = words[a].box, &q = words[b].box;
                            const float w = std::min(p.z, q.z) - std::max(p.x, q.x),
                                        h = std::min(p.w, q.w) - std::max(p.y, q.y);
                            CHECK_MESSAGE((w < 2 || h < 3), words[a].text << " | " << words[b].text);
                        }
                }
        }
}

TEST_CASE("the list shows every lesson, glows at the next one, and opens what is clicked") {
    Robot robot({});
    const auto all = robot.learning().course()->listed(lessons::Language::en);
    for (const lessons::Lesson* lesson : all) CHECK_MESSAGE(robot.sees(lesson->title), lesson->title);
    robot.click(all[2]->title);
    REQUIRE(robot.learning().lesson());
    CHECK(robot.learning().lesson()->id == all[2]->id);
    robot.click(gui::tr(Str::lessons) == std::string("Lessons") ? "‹ Lessons" : "");
    CHECK_FALSE(robot.learning().lesson());
}

TEST_CASE("leaving a lesson gives the person's own scene back, and undo reaches past it") {
    Robot robot({}, {}, "scratchpad 500x700x300 f32 forward fused tile 128x128x64 | view explore");
    const sim::Experiment own = robot.lab->document.experiment();
    robot.learning().open(*robot.learning().course()->find("4", lessons::Language::en), robot.lab->document);
    robot.rest();
    CHECK(robot.lab->document.experiment().device == "tpu-v5e");
    CHECK(robot.learning().own_scene(robot.lab->document).experiment == own);
    robot.key(ImGuiMod_Ctrl | ImGuiKey_Z);
    CHECK(robot.lab->document.experiment() == own);
    CHECK(robot.lab->document.scene().view == "learn");
    robot.key(ImGuiMod_Ctrl | ImGuiKey_Y);
    robot.key(ImGuiMod_Ctrl | ImGuiKey_L);
    CHECK_FALSE(robot.learning().lesson());
    CHECK(robot.lab->document.experiment() == own);
    robot.learning().open(*robot.learning().course()->find("4", lessons::Language::en), robot.lab->document);
    robot.learning().leave(robot.lab->document, true);
    CHECK(robot.lab->document.experiment().device == "tpu-v5e");
}

TEST_CASE("a view of the lab is covered too, until the answer is locked") {
    Robot robot({});
    robot.learning().open_at(*robot.learning().course()->find("4", lessons::Language::en), 1, robot.lab->document);
    robot.lab->document.set_view("explore");
    robot.rest();
    CHECK(robot.sees("Covered until you have answered: bytes by level and operand."));
    CHECK(robot.sees("Covered until you have answered: bound, predicted and measured."));
    robot.learning().act({.kind = gui::Deed::answer, .text = "a"});
    robot.rest();
    CHECK_FALSE(robot.sees("Covered until"));
}

TEST_CASE("progress is found again at the next start, in the other language too, and can be begun anew") {
    const Scratch scratch;
    const gui::Learning::Setup setup{scratch.path / "lessons.jsonl", {}};
    {
        Robot robot({}, setup);
        robot.learning().open(*robot.learning().course()->find("2", lessons::Language::en), robot.lab->document);
        robot.rest();
        robot.key(ImGuiKey_Enter);
        REQUIRE(robot.learning().step().question);
        robot.click(gui::tr(Str::not_sure));
        robot.key(ImGuiKey_1);
        robot.key(ImGuiKey_Enter);
        CHECK(robot.told().given.at(0).unsure);
        CHECK(robot.sees(robot.told().given[0].right ? "Right." : "Not this time."));
    }
    Robot robot({.language = gui::Language::zh}, setup);
    const lessons::Lesson& zh = *robot.learning().course()->find("2", lessons::Language::zh);
    CHECK(robot.learning().progress(zh).begun);
    robot.learning().open(zh, robot.lab->document);
    robot.rest();
    CHECK(robot.state().step == 1);
    CHECK(robot.told().given.size() == 1);
    robot.lab->appearance.language = gui::Language::en;
    robot.rest();
    CHECK(robot.learning().lesson()->language == lessons::Language::en);
    CHECK(robot.told().given.size() == 1);
    CHECK(robot.learning().report().find("✗") + robot.learning().report().find("✓") != 2 * std::string::npos);
    robot.learning().again(robot.lab->document);
    robot.rest();
    CHECK(robot.state().step == 0);
    CHECK(robot.state().steps[1].given.empty());
}

TEST_CASE("the quiz tells nothing before its end; the second half explains and says what was gained") {
    Robot robot({});
    for (const StepKind half : {StepKind::pre, StepKind::post}) {
        const lessons::Lesson& quiz = *robot.learning().quiz(half);
        robot.learning().open(quiz, robot.lab->document);
        robot.rest();
        for (std::size_t i = 0; i < quiz.steps.size(); ++i) {
            REQUIRE(robot.state().step == static_cast<int>(i));
            const Answers answers = answers_to(quiz, quiz.steps[i]);
            give(robot, *quiz.steps[i].question,
                 half == StepKind::pre && i % 2 ? answers.wrong
                 : i == 3                       ? answers.wrong
                                                : answers.right,
                 i % 3 == 0);
            CHECK_FALSE(robot.sees("Not this time."));
            CHECK_FALSE(robot.sees("Right."));
        }
        CHECK(robot.learning().at_end());
        const auto all = static_cast<int>(quiz.steps.size());
        CHECK(robot.learning().progress(quiz).first_right == (half == StepKind::pre ? all - all / 2 : all - 1));
        if (half == StepKind::post) {
            CHECK(robot.sees("of what was left to learn"));
            REQUIRE(robot.learning().page()->explained.size() == 1);
            CHECK(robot.sees(robot.learning().page()->explained[0].title));
        }
        robot.learning().leave(robot.lab->document);
        robot.rest();
    }
    CHECK(robot.learning().gain().value() ==
          doctest::Approx(1 - 1.0 / (static_cast<double>(robot.learning().quiz(StepKind::pre)->steps.size()) / 2)));
}

TEST_CASE("a word in the prose is one click from its meaning") {
    Robot robot({});
    robot.learning().open(*robot.learning().course()->find("1", lessons::Language::en), robot.lab->document);
    robot.rest();
    CHECK_FALSE(robot.sees("Glossary"));
    robot.click("HBM");
    CHECK(robot.sees("Glossary"));
    CHECK(robot.lab->term == "dram");
    CHECK(robot.sees("The large, slow memory"));
}

TEST_CASE("a lesson being written is read again when it is saved, and what is wrong with it stands beside it") {
    const Scratch scratch;
    const fs::path file = scratch.path / "en" / "01-own.md";
    fs::create_directories(file.parent_path());
    const auto write = [&](std::string_view prose, std::string_view expect, int age) {
        std::ofstream(file) << "# My own\n\n```toml\nid = \"own\"\nminutes = 5\nscene = \"scratchpad 512x512x512 f32 "
                               "forward fused tile 64x64x64\"\n"
                               "claim = \"dram[tile 128x128x64] < dram\"\nmeasured = \"model only\"\n```\n\n## "
                               "predict: Bytes\n\n```toml\nask = \"choice\"\nid = \"q\"\nexpect = \""
                            << expect << "\"\n```\n\n"
                            << prose << "\n\n- `0.5` Half.\n- `1` The same.\n  > No.\n";
        fs::last_write_time(file, fs::file_time_type::clock::now() + std::chrono::seconds(age));
    };
    write("Twice the tile.", "dram[tile 128x128x64] / dram", -60);
    Robot robot({});
    robot.lab->load(file.string());
    robot.rest();
    REQUIRE(robot.learning().lesson());
    CHECK(robot.learning().lesson()->id == "own");
    CHECK(robot.sees("Twice the tile."));
    CHECK(robot.lab->next_frame());
    write("Four times the tile.", "dram / dram[tile 128x128x64]", -30);  // no option is right any more
    ::usleep(500'000);
    robot.screen.frames();
    robot.rest();
    CHECK(robot.sees("Four times the tile."));
    CHECK_FALSE(robot.learning().findings().empty());
    write("Broken.", "dram[", -10);
    ::usleep(500'000);
    robot.screen.frames();
    robot.rest();
    CHECK(robot.sees("Four times the tile."));  // the last that could be read stays
    CHECK(robot.learning().trouble().find("01-own.md:") != std::string::npos);
    CHECK(robot.sees("01-own.md"));
}

TEST_CASE("the welcome card has three doors, by mouse or key, and can be skipped; nothing on it is cut") {
    for (const Look& look :
         {Look{}, Look{gui::Language::zh, 1280, 800, 1, gui::Theme::light}, Look{gui::Language::en, 640, 480, 1},
          Look{gui::Language::zh, 1280, 800, 2}, Look{gui::Language::en, 640, 480, 2}}) {
        CAPTURE(look.width);
        CAPTURE(look.scale);
        const auto fresh = [&] {
            auto robot = std::make_unique<Robot>(look, gui::Learning::Setup{},
                                                 "scratchpad 512x512x512 f32 forward fused tile 128x128x64");
            robot->lab->show_welcome = true;
            robot->rest();
            return robot;
        };
        {
            auto robot = fresh();
            if (!speaks(*robot, look.language)) continue;
            CHECK(robot->sees("Memwall"));
            std::set<std::string> wanted = {gui::tr(Str::door_learn), gui::tr(Str::door_explore),
                                            gui::tr(Str::door_measure)};
            for (const auto& t : robot->screen.texts())
                if (wanted.erase(t.text)) CHECK_FALSE(t.cut_x);
            if (look.height > 30 * 16 * look.scale) CHECK(wanted.empty());
            robot->key(ImGuiKey_Escape);
            CHECK_FALSE(robot->lab->show_welcome);
            CHECK_FALSE(robot->sees(gui::tr(Str::motto)));
            CHECK(robot->lab->document.scene().view == "explore");
        }
        auto robot = fresh();
        robot->key(ImGuiKey_3);
        CHECK(robot->lab->document.scene().view == "measure");
        CHECK_FALSE(robot->lab->show_welcome);
        if (look.scale > 1) continue;
        robot.reset();
        robot = fresh();
        robot->click(gui::tr(Str::door_learn_about) == std::string() ? ""
                                                                     : "Memwall");  // beside the doors nothing happens
        CHECK(robot->lab->show_welcome);
        robot->key(ImGuiKey_1);
        CHECK(robot->lab->document.scene().view == "learn");
        CHECK(robot->sees(gui::tr(Str::learn_title)));
    }
}

TEST_CASE("that the card was seen is remembered") {
    CHECK_FALSE(gui::parse_settings("theme dark\n").welcomed);
    CHECK(gui::parse_settings("welcomed yes\n").welcomed);
    gui::Settings s;
    s.welcomed = true;
    CHECK(gui::parse_settings(gui::to_text(s)) == s);
    CHECK_THROWS_AS(gui::parse_settings("welcomed perhaps\n"), sim::BadInput);
}

TEST_CASE("a picture of a step needs a lesson and a step that are there") {
    gui::ShotOptions options;
    options.width = 900;
    options.height = 600;
    options.lesson = "4";
    options.step = 2;
    const gui::Shot shot = gui::screenshot(gui::first_scene, options, *devices());
    CHECK(shot.text.find("The fused kernel takes") != std::string::npos);
    CHECK(shot.png == gui::screenshot(gui::first_scene, options, *devices()).png);
    options.step = 99;
    CHECK_THROWS_AS(gui::screenshot(gui::first_scene, options, *devices()), sim::BadInput);
    options.step = 0;
    CHECK_THROWS_AS(gui::screenshot(gui::first_scene, options, *devices()), sim::BadInput);
    options.lesson = "nothing";
    CHECK_THROWS_AS(gui::screenshot(gui::first_scene, options, *devices()), sim::BadInput);
}
