// A lab killed at any moment: what the next start finds is whole, and no older than a second before.

#include <doctest/doctest.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <random>
#include <thread>

#include "gui/autosave.hpp"
#include "gui/headless.hpp"
#include "gui/lab.hpp"
#include "gui/state_files.hpp"
#include "lessons/journal.hpp"

namespace {

namespace fs = std::filesystem;

constexpr const char* folder_variable = "MEMWALL_TEST_KILLED";  // where the lab that will be killed keeps its files
constexpr std::string_view first = "scratchpad 512x512x512 f32 forward fused tile 128x128x64";

/// Seconds of a clock that all processes share.
double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

/// What a frame showed: the settings that a start at this moment should find, and where the learner was.
struct Frame {
    double at = 0;
    std::string lesson;
    int step = 0;
    std::string settings;
};
std::string to_record(const Frame& f) {
    const std::string body =
        fmt::format("{:.6f} {} {}\n{}", f.at, f.lesson.empty() ? "-" : f.lesson, f.step, f.settings);
    return fmt::format("{}\n{}", body.size(), body);
}
/// All that were written whole.
std::vector<Frame> read_frames(const fs::path& file) {
    std::vector<Frame> out;
    const std::string all = gui::read_whole(file).value_or("");
    for (std::size_t at = 0; at < all.size();) {
        const std::size_t line = all.find('\n', at);
        if (line == std::string::npos) break;
        const auto size = static_cast<std::size_t>(std::atoll(all.c_str() + at));
        if (line + 1 + size > all.size()) break;
        const std::string body = all.substr(line + 1, size);
        const std::size_t head = body.find('\n');
        Frame f;
        std::array<char, 64> lesson{};
        REQUIRE(std::sscanf(body.c_str(), "%lf %63s %d", &f.at, lesson.data(), &f.step) == 3);
        if (std::strcmp(lesson.data(), "-") != 0) f.lesson = lesson.data();
        f.settings = body.substr(head + 1);
        out.push_back(std::move(f));
        at = line + 1 + size;
    }
    return out;
}

/// One of the things a person does, by chance.
void do_something(gui::Lab& lab, gui::Headless& screen, std::mt19937& chance) {
    const auto any = [&](int n) { return static_cast<int>(chance() % static_cast<unsigned>(n)); };
    switch (any(10)) {
        case 0:
        case 1:
        case 2: lab.take_tile({16 << any(5), 16 << any(5), 16 << any(4)}); break;
        case 3: lab.change({{"shape", fmt::format("{0}x{0}x{0}", 128 << any(4))}}); break;
        case 4: screen.key(ImGuiMod_Ctrl | (any(2) ? ImGuiKey_Z : ImGuiKey_Y)); break;
        case 5: lab.set_step(any(60)); break;
        case 6: screen.key(ImGuiKey_B); break;
        case 7: lab.appearance.theme = static_cast<gui::Theme>(any(3)); break;
        case 8: lab.document.set_view(any(2) ? "explore" : "measure"); break;
        default: {
            gui::Learning& learning = lab.learning;
            if (!learning.lesson() && learning.course())
                learning.open(*learning.course()->lessons(learning.language()).front(), lab.document);
            else if (learning.lesson())
                learning.act({.kind = any(2) ? gui::Deed::show : gui::Deed::next, .text = {}, .step = 0});
        }
    }
}

/// A lab without a window that works until it is killed, and first notes what each frame showed.
[[noreturn]] void work_until_killed(const fs::path& folder) {
    std::mt19937 chance(static_cast<unsigned>(::getpid()));
    const int log = ::open((folder / "frames").c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    const auto devices = std::make_shared<const sim::Catalogue>(sim::Catalogue::builtin());
    std::unique_ptr<gui::Lab> lab;
    std::unique_ptr<gui::Autosave> autosave;
    gui::Headless screen(640, 400, {}, [&] {
        lab->draw();
        const gui::Settings shown = gui::settings_of(*lab);
        const lessons::Lesson* lesson = lab->learning.lesson();
        const std::string record =
            to_record({now(), lesson ? lesson->id : "", lab->learning.state().step, gui::to_text(shown)});
        if (::write(log, record.data(), record.size()) != static_cast<ssize_t>(record.size())) ::_exit(1);
        autosave->frame(*lab, now());
    });
    lab = std::make_unique<gui::Lab>(
        gui::Lab::Setup{devices, sim::parse_scene(first, *devices), {}, {}, [] {}, {folder / "lessons.jsonl", {}}});
    autosave = std::make_unique<gui::Autosave>(folder, gui::Settings{}, now());
    for (;;) {
        screen.frames();
        do_something(*lab, screen, chance);
        std::this_thread::sleep_for(std::chrono::milliseconds(15));
    }
}

pid_t start_one(const fs::path& folder) {
    const pid_t child = ::fork();
    REQUIRE(child >= 0);
    if (child > 0) return child;
    ::setenv(folder_variable, folder.c_str(), 1);
    ::execl("/proc/self/exe", "memwall_tests", "--test-case=killed while it works*", "--out=/dev/null", nullptr);
    ::_exit(127);
}

/// What a start after the kill finds in `folder`, held to what the frames showed.
void check_found(const fs::path& folder, double killed) {
    const std::vector<Frame> frames = read_frames(folder / "frames");
    REQUIRE(frames.size() > 1);
    // A machine with much to do lets a frame wait, and nobody can save meanwhile.
    double longest = killed - frames.back().at;
    for (std::size_t i = 1; i < frames.size(); ++i) longest = std::max(longest, frames[i].at - frames[i - 1].at);
    const double may_be_lost = gui::Autosave::every + 2 * longest + 0.05;
    CAPTURE(longest);

    std::string note;
    const gui::Settings found = gui::load_settings(folder / "settings", note);
    CHECK(note == "");
    if (!fs::exists(folder / "settings")) {
        CHECK(killed - frames.front().at < may_be_lost);
    } else {
        CHECK_NOTHROW(sim::parse_scene(found.scene, sim::Catalogue::builtin()));
        std::size_t newest = frames.size();
        for (std::size_t i = 0; i < frames.size(); ++i)
            if (frames[i].settings == gui::to_text(found)) newest = i;
        REQUIRE(newest < frames.size());  // else nobody ever saw such a scene
        const double lost = newest + 1 < frames.size() ? killed - frames[newest + 1].at : 0;
        CHECK(lost < may_be_lost);
    }
    if (const auto layout = gui::read_whole(folder / "layout.ini")) CHECK(layout->find("[Window]") == 0);

    const Frame& last = frames.back();
    if (last.lesson.empty()) return;
    const lessons::Course course(lessons::builtin_files(), sim::Catalogue::builtin());
    const lessons::Lesson* lesson = course.find(last.lesson, lessons::Language::en);
    REQUIRE(lesson);
    CHECK(lessons::Journal(folder / "lessons.jsonl").state(*lesson).step >= last.step);
}

}  // namespace

TEST_CASE("killed while it works, a lab loses at most the last second" * doctest::test_suite("slow")) {
    if (const char* own = std::getenv(folder_variable)) work_until_killed(own);
    const fs::path folder = fs::temp_directory_path() / ("memwall-lab-killed-" + std::to_string(::getpid()));
    std::mt19937 chance(7);
    constexpr int rounds = 2, labs = 5;
    bool any_lesson = false;
    for (int round = 0; round < rounds; ++round) {
        struct One {
            fs::path folder;
            pid_t process;
            double killed;
        };
        std::vector<One> all;
        for (int i = 0; i < labs; ++i) {
            const fs::path own = folder / fmt::format("{}", round * labs + i);
            fs::create_directories(own);
            all.push_back({own, start_one(own), 0});
        }
        for (const One& one : all)  // until each draws
            for (int i = 0; i < 3000 && read_frames(one.folder / "frames").size() < 2; ++i)
                std::this_thread::sleep_for(std::chrono::milliseconds(10));
        for (One& one : all) {
            std::this_thread::sleep_for(std::chrono::milliseconds(chance() % 900));
            ::kill(one.process, SIGKILL);
            one.killed = now();
            int status = 0;
            ::waitpid(one.process, &status, 0);
            CHECK(WIFSIGNALED(status));  // else it ended by itself
        }
        for (const One& one : all) {
            CAPTURE(one.folder.string());
            check_found(one.folder, one.killed);
            any_lesson |= fs::exists(one.folder / "lessons.jsonl");
        }
    }
    CHECK(any_lesson);
    fs::remove_all(folder);
}
