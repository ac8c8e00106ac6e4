// The course in a terminal: a lesson from start to finish with answers from a pipe, left and taken up again, the list,
// the report and the quiz.

#include <doctest/doctest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "cli/cli.hpp"
#include "cli/lesson_text.hpp"
#include "cli/text.hpp"
#include "lessons/course.hpp"

namespace fs = std::filesystem;

namespace {

struct Answer {
    int exit;
    std::string out, err;
};

/// A home of its own for what a learner does, gone afterwards.
struct Home {
    fs::path path = fs::temp_directory_path() / ("memwall-course-" + std::to_string(::getpid()));
    std::string before = std::getenv("XDG_STATE_HOME") ? std::getenv("XDG_STATE_HOME") : "";
    Home() {
        fs::create_directories(path);
        setenv("XDG_STATE_HOME", path.c_str(), 1);
    }
    ~Home() {
        if (before.empty()) {
            unsetenv("XDG_STATE_HOME");
        } else {
            setenv("XDG_STATE_HOME", before.c_str(), 1);
        }
        fs::remove_all(path);
    }
};

Answer ask(const std::vector<std::string>& words, const std::string& input = "") {
    std::istringstream in(input);
    std::ostringstream out, err;
    cli::Terminal terminal{out, err};
    terminal.in = &in;
    const int exit = cli::main(words, terminal, cli::explain_default);
    return {exit, out.str(), err.str()};
}

bool has(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("cli lesson: from start to finish through a pipe, in both languages") {
    Home home;
    for (const std::string lang : {"en", "zh"}) {
        CAPTURE(lang);
        const std::string& first = ask({"lesson", "2", "--lang", lang, "--text"}).out;
        CHECK(has(first, lang == "en" ? "What a tile is" : "什么是分块"));
        const Answer a = ask({"lesson", "tile", "--lang", lang, "--restart"}, "\nb\n");
        CHECK(a.exit == cli::done);
        CHECK(a.err == "");
        CHECK(has(a.out, lang == "en" ? "Saved:" : "已保存"));
        CHECK(has(a.out, lang == "en" ? "Covered until you have answered" : "回答之前先遮住"));
        CHECK(has(a.out, lang == "en" ? "Right." : "答对了"));
    }
}

TEST_CASE("cli lesson: 4 in Chinese, every answer wrong first, then shown") {
    Home home;
    std::string input = "\n";
    for (int i = 0; i < 30; ++i) input += "a\nshow\n\n";
    const Answer a = ask({"lesson", "4", "--lang", "zh"}, input);
    CHECK(a.exit == cli::done);
    CHECK(has(a.out, "本课完成"));
    CHECK(has(a.out, "memwall lesson loop-order"));
}

TEST_CASE("cli lesson: what was begun goes on where it was left; a bad answer is told and asked again") {
    Home home;
    const Answer begun = ask({"lesson", "tile", "--lang", "en"}, "\nq\nb\n");
    CHECK(has(begun.out, "\"q\""));
    CHECK(has(begun.out, "3/"));
    const Answer on = ask({"lesson", "tile", "--lang", "en"}, "");
    CHECK_FALSE(has(on.out, "1/7"));
    CHECK(has(on.out, "3/7"));
    CHECK(has(ask({"lessons", "--lang", "en"}).out, "step 3 of 7"));
    const Answer anew = ask({"lesson", "tile", "--lang", "en", "--restart"}, "");
    CHECK(has(anew.out, "1/7"));

    const fs::path report = home.path / "report.md";
    CHECK(ask({"lesson", "tile", "--lang", "en", "--restart"}, "\nd?\nb\n").exit == cli::done);
    CHECK(ask({"lessons", "--lang", "en", "--report", report.string()}).exit == cli::done);
    std::ifstream in(report);
    const std::string text{std::istreambuf_iterator<char>(in), {}};
    CHECK(has(text, "`d` ✗ (unsure); `b` ✓"));
}

TEST_CASE("cli lesson: in Chinese the figures are Chinese too") {
    for (const char* id : {"4", "8", "10"}) {
        const std::string out = ask({"lesson", id, "--lang", "zh", "--text"}).out;
        CAPTURE(id);
        for (const char* english :
             {"bound ", "predicted", "measured ", "limited by", "What would help", "compulsory", "written", "no kernel",
              "nothing recorded", "faster", "Under 1 %", "copies of", "a CTA needs", "multiply-adds", "SMs drift"})
            CHECK_MESSAGE(!has(out, english), english);
        CHECK(has(out, "下界"));
        CHECK(has(out, "瓶颈："));
    }
}

TEST_CASE("cli predict: a published row is the experiment where it means the same, whatever words it leaves out") {
    const auto measured = [](const std::string& line) {
        const std::string out = ask({"predict", line}).out;
        const std::size_t at = out.find("\n  measured");
        return out.substr(at, out.find("\n", at + 1) - at);
    };
    CHECK(has(measured("rtx-a6000 4096x4096x4096 f32 forward none tile 32x32x32 rung 01_naive"), "445 ms"));
    CHECK(has(measured("rtx-a6000 4096x4096x4096 f32 forward none tile 32x32x32 rung 02_coalesced"), "69.2 ms"));
    CHECK(has(measured("rtx-a6000 4096x4096x4096 f32 forward none tile 32x32x32 rung 03_shared_tile thread 1x1"),
              "46.1 ms"));
    const std::string double_buffered = "a100-sxm4-40gb 8192x8192x8192 bf16 forward none tile 128x128x64 stages 2";
    CHECK(has(measured(double_buffered), "4.89 ms"));
    CHECK_FALSE(has(measured(double_buffered + " raster grouped:8"), "4.89 ms"));
    CHECK(
        has(measured("a100-sxm4-40gb 8192x8192x8192 bf16 forward none tile 128x128x64 stages 3"), "nothing recorded"));
}

TEST_CASE("cli drill: a wrong answer is explained and uncovers the line; a number or a name begins at that fault") {
    Home home;
    for (const std::string lang : {"en", "zh"}) {
        CAPTURE(lang);
        const Answer a = ask({"drill", "tensor-core", "--lang", lang, "--restart"}, "a\nd\n");
        CHECK(a.exit == cli::done);
        CHECK(a.err == "");
        CHECK(has(a.out, "5/8"));
        CHECK(has(a.out, "kernels/device/async_operand.cuh:"));
        const std::size_t told = a.out.find(lang == "en" ? "Not this time" : "这次不对");
        REQUIRE(told != std::string::npos);
        CHECK(a.out.find("async_operand.cuh") > told);  // covered until then
        CHECK(has(a.out, "memwall drill"));
        CHECK(has(ask({"drill", "4", "--lang", lang}, "").out, "5/8"));
    }
    std::string all;
    for (int i = 0; i < 8; ++i) all += "show\n\n";
    CHECK(has(ask({"drill", "--lang", "en", "--restart"}, "\n" + all).out, "0 of 6"));
    CHECK(ask({"drill", "9"}).exit == cli::bad_input);
}

TEST_CASE("cli glossary: every word, one word, and the nearest of one that is none") {
    for (const std::string lang : {"en", "zh"}) {
        const Answer all = ask({"glossary", "--lang", lang});
        const Answer one = ask({"glossary", "tile", "--lang", lang});
        CHECK(all.exit == cli::done);
        CHECK(has(all.out, one.out));
        CHECK(one.out.size() < all.out.size());
    }
    CHECK(ask({"glossary", "Tile", "--lang", "en"}).out == ask({"glossary", "tile", "--lang", "en"}).out);
    CHECK(has(ask({"glossary", "片上", "--lang", "zh"}).out, "片上"));  // by what the meaning says
    const Answer bad = ask({"glossary", "tyle", "--lang", "en"});
    CHECK(bad.exit == cli::bad_input);
    CHECK(has(bad.err, "did you mean tile"));
}

TEST_CASE("cli lesson: where nothing can be kept, one line says so and nothing claims the opposite") {
    Home home;
    std::ofstream(home.path / "file") << "";
    setenv("XDG_STATE_HOME", (home.path / "file").c_str(), 1);
    const Answer a = ask({"lesson", "tile", "--lang", "en"}, "\nd\nb\n");
    CHECK(a.exit == cli::done);
    CHECK_FALSE(has(a.out, "Saved"));
    CHECK(has(a.err, "Not saved: "));
    CHECK(std::count(a.err.begin(), a.err.end(), '\n') == 1);
}

TEST_CASE("cli lesson: refuses what is no lesson and no language") {
    Home home;
    for (const auto& words : {std::vector<std::string>{"lesson", "99"},
                              {"lesson", "tile", "--lang", "fr"},
                              {"lesson"},
                              {"quiz", "now"},
                              {"lessons", "--report", (home.path / "nowhere" / "r.md").string()}}) {
        CAPTURE(words.back());
        const Answer a = ask(words);
        CHECK(a.exit == cli::bad_input);
        CHECK(std::count(a.err.begin(), a.err.end(), '\n') == 1);
    }
}

TEST_CASE("cli lesson: a file of one's own is run and checked without being built in") {
    Home home;
    std::string text;
    for (const lessons::CourseFile& f : lessons::builtin_files())
        if (has(f.name, "en/02-tile")) text = f.text;
    const fs::path file = home.path / "13-mine.md";
    std::ofstream(file) << text;
    CHECK(has(ask({"lesson", file.string(), "--text"}).out, "What a tile is"));
    CHECK(has(ask({"lint", file.string()}).out, "1 lesson file: nothing found"));
    text.replace(text.find("minutes = 10"), 12, "minutes = 99");
    std::ofstream(file) << text;
    const Answer bad = ask({"lint", file.string()});
    CHECK(bad.exit == cli::bad_input);
    CHECK(has(bad.out, "13-mine.md:5: minutes: expected"));
}

TEST_CASE("cli lessons --json lists id, titles, languages, minutes, steps and what was done") {
    Home home;
    CHECK(has(ask({"lessons", "--json"}).out, "\"progress\": null"));
    ask({"lesson", "tile", "--lang", "en"}, "\nb\n");
    CHECK(has(ask({"lessons", "--json"}).out, "\"first_right\": 1"));
    const std::string out = ask({"lessons", "--json"}).out;
    for (const char* part : {"\"id\": \"memory-wall\"", "\"en\": \"The memory wall\"", "\"zh\": \"内存墙\"",
                             "\"minutes\": 8", "\"steps\": "})
        CHECK_MESSAGE(has(out, part), part);
}

TEST_SUITE("slow") {
    TEST_CASE("cli quiz: before, after, and the gain between") {
        Home home;
        std::string all_a, worse;
        for (int i = 0; i < 12; ++i) all_a += "a\n";
        const Answer pre = ask({"quiz", "pre", "--lang", "en"}, all_a);
        CHECK(has(pre.out, "Before the course: "));
        CHECK_FALSE(has(pre.out, "Right."));  // nothing is told yet
        const Answer post = ask({"quiz", "post", "--lang", "en"}, all_a);
        CHECK(has(post.out, "After the course: "));
        CHECK(has(post.out, "Gain: "));
        CHECK(has(ask({"quiz", "post", "--lang", "zh"}, "").out, "1/12"));  // begun anew once done
    }
}

TEST_CASE("cli lesson: Chinese is wrapped at its own width, and no line begins with a closing mark") {
    const std::string text =
        "每个数至少要从那扇慢门进来一次；整门课讲的，就是它还要再进来几次。ReLU（融合）之后 DRAM 的字节。";
    for (int width = 12; width < 60; ++width) {
        std::istringstream lines(cli::wrap(text, width));
        for (std::string line; std::getline(lines, line);) {
            CAPTURE(line);
            for (const char* mark : {"，", "。", "；", "）"}) CHECK_FALSE(line.starts_with(mark));
            CHECK_FALSE(line.ends_with("（"));
        }
    }
    CHECK(cli::wrap("one two three", 8, 2, 4) == "  one\n    two\n    three\n");
}

TEST_CASE("cli quiz: before the course no answer is judged, also by going back; leaving names the way on") {
    Home home;
    for (const std::string lang : {"en", "zh"}) {
        CAPTURE(lang);
        for (const char* option : {"a", "b", "c", "d"}) {
            const Answer a = ask({"quiz", "pre", "--lang", lang, "--restart"}, std::string(option) + "\nback\n");
            CHECK(a.exit == cli::done);
            CHECK_FALSE(has(a.out, lang == "en" ? "Try again" : "再试一次"));
            CHECK_FALSE(has(a.out, lang == "en" ? "Right." : "答对了"));
            CHECK(has(a.out, "memwall quiz pre"));
        }
    }
}

TEST_CASE("cli lesson: what is no answer is refused in a line that says what may be typed") {
    Home home;
    const Answer look = ask({"lesson", "2", "--lang", "en", "--restart"}, "nonsense\n");
    CHECK(has(look.out, "\"nonsense\": nothing is asked here"));
    CHECK(has(ask({"lesson", "2", "--lang", "zh", "--restart"}, "nonsense\n").out, "\"nonsense\"：这里没有提问"));
    for (const char* none : {"-5", "0", "-0.1 GB"}) {
        const Answer a = ask({"lesson", "2", "--lang", "en", "--restart"}, "\nshow\n\n" + std::string(none) + "\n");
        CHECK(has(a.out, "no answer here; expected a number"));
        CHECK_FALSE(has(a.out, "too small"));
    }
    const std::string past = "show\n\n", challenge = '\n' + past + past + '\n' + past + past;
    const Answer hint = ask({"lesson", "2", "--lang", "en", "--restart"}, challenge + "hint\n");
    CHECK(has(hint.out, "\"hint\": words that change the scene: tile"));
    CHECK_FALSE(has(hint.out, "expected a value after it"));
}
