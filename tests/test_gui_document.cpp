#include <doctest/doctest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <memory>

#include "gui/document.hpp"
#include "gui/settings.hpp"
#include "gui/state_files.hpp"

namespace {

namespace fs = std::filesystem;

gui::Devices devices() {
    static const auto all = std::make_shared<const sim::Catalogue>(sim::Catalogue::builtin());
    return all;
}

gui::Document document(std::string_view scene) { return {devices(), sim::parse_scene(scene, *devices())}; }

constexpr std::string_view start = "h100-sxm5 4096x4096x4096 bf16 forward fused tile 128x256x64 raster grouped:8";

/// A folder of this test's own, gone afterwards.
struct Folder {
    fs::path path = fs::temp_directory_path() / ("memwall-test-" + std::to_string(::getpid()));
    Folder() { fs::create_directories(path); }
    ~Folder() { fs::remove_all(path); }
};

}  // namespace

TEST_CASE("each change is undone and redone on its own") {
    gui::Document d = document(start);
    CHECK_FALSE(d.can_undo());
    CHECK(d.change({{"tile", "128x128x64"}}) == "");
    CHECK(d.change({{"raster", "along_m"}}) == "");
    CHECK(d.experiment().tile.bn == 128);
    d.undo();
    CHECK(d.experiment().raster.kind == sim::Raster::grouped);
    d.undo();
    CHECK(d.experiment().tile.bn == 256);
    CHECK_FALSE(d.can_undo());
    d.redo();
    d.redo();
    CHECK(d.experiment().raster.kind == sim::Raster::along_m);
    CHECK_FALSE(d.can_redo());
}

TEST_CASE("a drag is one entry of history, and the next drag another") {
    gui::Document d = document(start);
    for (const char* tile : {"64x256x64", "128x128x64", "256x128x64"}) CHECK(d.change({{"tile", tile}}, 7) == "");
    d.end_gesture();
    for (const char* tile : {"64x64x64", "64x128x64"}) CHECK(d.change({{"tile", tile}}, 7) == "");
    d.undo();
    CHECK(d.experiment().tile == sim::Tile{256, 128, 64});
    d.undo();
    CHECK(d.experiment().tile == sim::Tile{128, 256, 64});
    CHECK_FALSE(d.can_undo());
}

TEST_CASE("looking at another step is not a change, and a change after undo drops what could be redone") {
    gui::Document d = document(start);
    d.look(12, {"y", 3, 4});
    CHECK_FALSE(d.can_undo());
    CHECK(d.change({{"shape", "512x512x512"}}) == "");
    d.undo();
    CHECK(d.change({{"shape", "256x256x256"}}) == "");
    CHECK_FALSE(d.can_redo());
}

TEST_CASE("words that no longer apply give way to the usual ones") {
    gui::Document d = document(start);
    CHECK(d.change({{"device", "tpu-v5e"}}) == "");  // no raster on a TPU, and its own usual tile
    CHECK(d.experiment().device == "tpu-v5e");
    CHECK(d.experiment().tile == sim::Tile{512, 512, 512});
    CHECK(d.experiment().dense.m == 4096);

    gui::Document g = document(start);
    CHECK(g.change({{"device", "a100-sxm4-80gb"}}) == "");  // the same kind: the raster stays
    CHECK(g.experiment().raster.kind == sim::Raster::grouped);
    CHECK(g.change({{"pass", "wgrad"}}) == "");
    CHECK(g.change({{"fusion", "upstream"}}) == "");
    CHECK(g.change({{"pass", "forward"}}) != "");  // forward has no upstream: said, and nothing changed
    CHECK(g.experiment().pass == sim::Pass::wgrad);
}

TEST_CASE("a usual tile follows the dtype and a chosen one stays") {
    gui::Document d = document("h100-sxm5 4096x4096x4096 bf16 forward fused");
    const sim::Tile usual = d.experiment().tile;
    CHECK(d.change({{"dtype", "f32"}}) == "");
    CHECK_FALSE(d.experiment().tile == usual);
    CHECK(d.change({{"tile", "64x32x16"}}) == "");
    CHECK(d.change({{"dtype", "bf16"}}) == "");
    CHECK(d.experiment().tile == sim::Tile{64, 32, 16});
}

TEST_CASE("a pasted line is taken whole or not at all") {
    gui::Document d = document(start);
    CHECK(d.paste("tpu-v5e 64x64x64 f32 forward fused tile 64x64x64 | step 1 vs (scratchpad 8x8x8 f32 forward none)") ==
          "");
    CHECK(d.scene().step == 1);
    CHECK(d.scene().baseline);
    const std::string before = d.text();
    for (const char* bad :
         {"", "tpu-v5e 0x1x1 f32 forward fused", "nonsense", "tpu-v5e 64x64x64 f32 forward fused | step -1"}) {
        CAPTURE(bad);
        CHECK(d.paste(bad) != "");
        CHECK(d.text() == before);
    }
    d.undo();
    CHECK(d.experiment().device == "h100-sxm5");
}

TEST_CASE("words of a line are changed, added and left out") {
    const std::string line = "h100-sxm5 batch 2 64x64x64 e4m3 out f16 forward fused tile 64x64x64 stages 4";
    const auto with = [&](std::initializer_list<gui::Word> w) { return gui::with_words(line, {w.begin(), w.size()}); };
    CHECK(with({{"stages", "5"}}) == "h100-sxm5 batch 2 64x64x64 e4m3 out f16 forward fused tile 64x64x64 stages 5");
    CHECK(with({{"stages", ""}, {"raster", "hilbert"}}) ==
          "h100-sxm5 batch 2 64x64x64 e4m3 out f16 forward fused tile 64x64x64 raster hilbert");
    CHECK(with({{"device", "h200-sxm"}, {"shape", "8x8x8"}, {"out", ""}}) ==
          "h200-sxm batch 2 8x8x8 e4m3 forward fused tile 64x64x64 stages 4");
    CHECK(with({}) == line);
}

TEST_CASE("settings survive their text, and bad ones are named by line") {
    const gui::Settings s{{gui::Theme::light, gui::Language::zh, 1.75f, true}, std::string(start)};
    CHECK(gui::parse_settings(gui::to_text(s)) == s);
    CHECK(gui::parse_settings("") == gui::Settings{});
    for (const char* bad :
         {"theme pink\n", "scale 9\n", "scale nan\n", "scale\n", "reduced_motion maybe\n", "what 1\n"}) {
        CAPTURE(bad);
        CHECK_THROWS_AS(gui::parse_settings(bad), sim::BadInput);
    }
    CHECK_THROWS_WITH(gui::parse_settings("theme dark\nscale 0.5\n"), doctest::Contains("line 2"));
}

TEST_CASE("killed in the middle of writing, a file is whole and no older than the last write that was done") {
    const fs::path folder = fs::temp_directory_path() / ("memwall-killed-" + std::to_string(::getpid()));
    const fs::path file = folder / "settings";
    const auto text_of = [](int i) {
        return std::to_string(i) + ":" + std::string(3000, static_cast<char>('a' + i % 26));
    };
    for (int round = 0; round < 12; ++round) {
        int done[2];
        REQUIRE(::pipe(done) == 0);
        const pid_t writer = ::fork();
        REQUIRE(writer >= 0);
        if (writer == 0) {
            for (int i = 1;; ++i) {
                if (!gui::write_whole(file, text_of(i)).empty()) ::_exit(1);
                if (::write(done[1], &i, sizeof i) != sizeof i) ::_exit(1);
            }
        }
        ::usleep(static_cast<useconds_t>(3000 + 2711 * round));
        ::kill(writer, SIGKILL);
        ::waitpid(writer, nullptr, 0);
        ::close(done[1]);
        int last = 0;
        for (int i = 0; ::read(done[0], &i, sizeof i) == sizeof i;) last = i;
        ::close(done[0]);
        const auto read = gui::read_whole(file);
        CAPTURE(last);
        if (last > 0) {
            REQUIRE(read);
            CHECK((*read == text_of(last) || *read == text_of(last + 1)));
        } else if (read) {
            CHECK((*read == text_of(1) || round > 0));
        }
        if (last == 0) continue;
        std::error_code bad;
        fs::remove(file, bad);
    }
    fs::remove_all(folder);
}

TEST_CASE("a file is replaced whole, and one that can't be used is kept aside") {
    const Folder folder;
    const fs::path file = folder.path / "deep" / "settings";
    CHECK(gui::write_whole(file, "one") == "");
    CHECK(gui::write_whole(file, "theme nonsense\n") == "");
    CHECK(gui::read_whole(file) == "theme nonsense\n");
    CHECK_FALSE(fs::exists(file.string() + ".new"));
    std::string note;
    CHECK(gui::load_settings(file, note) == gui::Settings{});
    CHECK(note.find("line 1") != std::string::npos);
    CHECK_FALSE(fs::exists(file));
    CHECK(gui::read_whole(file.string() + ".bad") == "theme nonsense\n");
    note.clear();
    CHECK(gui::load_settings(file, note) == gui::Settings{});  // and the next start is clean
    CHECK(note == "");
    CHECK(gui::write_whole(folder.path / "deep", "over a folder") != "");
    CHECK_FALSE(gui::read_whole(folder.path / "nothing"));
}
