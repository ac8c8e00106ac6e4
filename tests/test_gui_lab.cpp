// A robot at the lab: it reads what is drawn, clicks and types, and looks at the document.

#include <filesystem>
#include <fstream>

#include "gui/actions.hpp"
#include "gui/run.hpp"
#include "sim/units.hpp"
#include "tests/robot.hpp"

namespace {

constexpr std::string_view ragged = "scratchpad 500x700x300 f32 forward fused tile 128x128x64 order kmn";

}  // namespace

TEST_CASE("the first screen tells the story: bound, predicted and measured, and where the bytes go") {
    Robot robot(gui::first_scene);
    const gui::Analysis& a = *robot.lab->analysis();
    REQUIRE(a.report.predicted);
    CHECK(robot.sees(sim::format_us(a.report.bound.time_us)));
    CHECK(robot.sees(sim::format_us(a.report.predicted->time_us)));
    CHECK(robot.sees("Keras guide"));
    const auto& dram = a.report.traffic.at(sim::Level::dram);
    CHECK(robot.sees(sim::format_bytes(static_cast<double>(dram.of(sim::Operand::w).read_bytes))));
    CHECK(robot.sees(sim::format_bytes(static_cast<double>(a.report.bound.dram_bytes))));
    CHECK(robot.sees("Not modelled"));
    for (const char* view : {"Experiment", "Tiles", "Traffic", "Roofline", "Sweep", "Measure"}) CHECK(robot.sees(view));
}

TEST_CASE("no word is cut and none is missing, in any theme, language and size that a desk has") {
    struct Look {
        gui::Appearance appearance;
        int width, height;
    };
    for (const Look& look :
         {Look{{}, 1600, 1000}, Look{{.theme = gui::Theme::light, .language = gui::Language::zh}, 1600, 1000},
          Look{{.scale = 2}, 1600, 1000}, Look{{.theme = gui::Theme::contrast, .scale = 0.75f}, 1280, 800},
          Look{{.language = gui::Language::zh, .scale = 3}, 3840, 2160}})
        for (std::string_view scene :
             {gui::first_scene,
              std::string_view("h100-sxm5 4096x4096x4096 bf16 train fused residual mask tile 128x256x64 | step 9000"),
              ragged}) {
            Robot robot(scene, look.appearance, look.width, look.height);
            if (look.appearance.language == gui::Language::zh && !robot.screen.fonts().problem.empty()) continue;
            CAPTURE(scene);
            CAPTURE(look.appearance.scale);
            CAPTURE(gui::to_string(look.appearance.language));
            const std::string line = sim::to_string(robot.lab->document.experiment(), *robot.lab->document.devices());
            for (const auto& t : robot.screen.texts()) {
                CAPTURE(t.text);
                CHECK(t.text.find("\xef\xbf\xbd") == std::string::npos);
                if (!line.starts_with(t.text) && !Robot::is_part_of_tab(t.text)) CHECK_FALSE(t.cut_x);  // those scroll
            }
        }
}

TEST_CASE("a slider takes the nearest tile of the space, as one entry of history") {
    Robot robot("tpu-v5e 8192x8192x8192 f32 forward fused tile 512x512x512");
    const ImVec4 bm = robot.box("bm");
    const ImVec2 at{bm.x + 170, (bm.y + bm.w) / 2};
    robot.screen.move(at);
    robot.screen.press();
    for (int i = 1; i <= 6; ++i) {
        robot.screen.move({at.x + 10.0f * static_cast<float>(i), at.y});
        robot.lab->finish_work();
    }
    robot.screen.release();
    robot.rest();
    const sim::i64 taken = robot.tile().bm;
    CHECK(taken != 512);
    const auto& stops = robot.lab->sweep()->space.bm;
    CHECK(std::find(stops.begin(), stops.end(), taken) != stops.end());
    CHECK(robot.sees(std::to_string(taken)));
    robot.key(ImGuiMod_Ctrl | ImGuiKey_Z);
    CHECK(robot.tile().bm == 512);
    CHECK_FALSE(robot.lab->document.can_undo());
    robot.key(ImGuiMod_Ctrl | ImGuiKey_Y);
    CHECK(robot.tile().bm == taken);
}

TEST_CASE("a typed tile that is no stop is kept") {
    Robot robot(ragged);
    const ImVec4 bn = robot.box("bn"), value = robot.box("128");
    robot.screen.click({value.x + 4, (bn.y + bn.w) / 2});
    robot.screen.key(ImGuiMod_Ctrl | ImGuiKey_A);
    robot.screen.type("100");
    robot.key(ImGuiKey_Enter);
    CHECK(robot.tile() == sim::Tile{128, 100, 64});
}

TEST_CASE("a click on a cell of the sweep takes its tile") {
    Robot robot("tpu-v5e 8192x8192x8192 f32 forward fused tile 512x512x512");
    const gui::Sweep& sweep = *robot.lab->sweep();
    const sim::SweepRow& best = sweep.rows.front();
    REQUIRE(best.rank == 1);
    // The cell's own text, not the colour bar's: the one that stands in the middle of a cell of the best row.
    const std::string text = sim::format_us(best.time_us);
    bool taken = false;
    for (const auto& t : robot.screen.texts()) {
        if (t.text != text || taken) continue;
        robot.screen.click({(t.box.x + t.box.z) / 2, (t.box.y + t.box.w) / 2});
        robot.rest();
        taken = robot.tile() == best.experiment.tile;
    }
    CHECK(taken);
    CHECK(robot.lab->document.can_undo());
}

TEST_CASE("step, scrub and play come to the same state and the same picture") {
    Robot stepped(ragged), scrubbed(ragged), played(ragged);
    for (int i = 0; i < 7; ++i) stepped.key(ImGuiKey_Period);
    stepped.key(ImGuiKey_Period);
    stepped.key(ImGuiKey_Comma);
    CHECK(stepped.lab->document.scene().step == 7);
    scrubbed.lab->set_step(90);
    scrubbed.rest();
    scrubbed.lab->set_step(7);
    scrubbed.rest();
    played.lab->play.on = true;
    for (int i = 0; i < 1000 && played.lab->document.scene().step < 7; ++i) played.screen.frames();
    played.lab->play.on = false;
    played.rest();
    REQUIRE(played.lab->document.scene().step == 7);
    const sim::StepState &a = *stepped.lab->step(), &b = *scrubbed.lab->step(), &c = *played.lab->step();
    CHECK(a.dram_read_bytes == b.dram_read_bytes);
    CHECK(a.dram_read_bytes == c.dram_read_bytes);
    CHECK(a.tile == b.tile);
    CHECK(a.tile == c.tile);
    CHECK(gui::fingerprint(scrubbed.screen.image()) == gui::fingerprint(played.screen.image()));
}

TEST_CASE("stepping by tile goes to another tile and back") {
    Robot robot("scratchpad 512x512x512 f32 forward fused tile 128x128x64 order mnk | step 3");
    const sim::TileIndex from = robot.lab->step()->tile;
    robot.key(ImGuiMod_Shift | ImGuiKey_Period);
    CHECK_FALSE(robot.lab->step()->tile == from);
    CHECK(robot.lab->document.scene().step == 9);  // eight k-steps a tile
    robot.key(ImGuiMod_Shift | ImGuiKey_Comma);
    CHECK(robot.lab->step()->tile == from);
    robot.key(ImGuiMod_Ctrl | ImGuiKey_End);
    CHECK(robot.lab->document.scene().step == robot.lab->analysis()->steps);
    robot.key(ImGuiMod_Ctrl | ImGuiKey_Home);
    CHECK(robot.lab->document.scene().step == 0);
}

TEST_CASE("a tile that cannot run says why, and the lab goes on") {
    Robot robot("tpu-v5e 8192x8192x8192 f32 forward fused tile 8192x8192x8192 buffers 2");
    const sim::Report& report = robot.lab->analysis()->report;
    REQUIRE_FALSE(report.fit.ok());
    CHECK_FALSE(report.predicted);
    CHECK(robot.sees("does not fit"));
    const std::string why = report.fit.why.substr(0, 20);
    CHECK(robot.sees(why));
    robot.lab->take_tile({512, 512, 512});
    robot.rest();
    CHECK_FALSE(robot.sees(why));
}

TEST_CASE("a tile is selected by mouse and moved by the arrow keys, and Escape lets go") {
    Robot robot(ragged);
    const ImVec4 y = robot.box("Y  500×700");
    robot.screen.click({y.x + 8, y.w + 12});
    robot.rest();
    const auto& select = robot.lab->document.scene().select;
    CHECK(select == sim::Scene::Selection{"y", 0, 0});
    robot.key(ImGuiKey_RightArrow);
    robot.key(ImGuiKey_RightArrow);
    robot.key(ImGuiKey_DownArrow);
    CHECK(select == sim::Scene::Selection{"y", 1, 2});
    robot.key(ImGuiKey_UpArrow);
    robot.key(ImGuiKey_UpArrow);  // stops at the edge
    CHECK(select == sim::Scene::Selection{"y", 0, 2});
    robot.key(ImGuiKey_Enter);  // the walk goes there, and with it every view
    robot.lab->finish_work();
    REQUIRE(robot.lab->step());
    CHECK(robot.lab->step()->tile.row == 0);
    CHECK(robot.lab->step()->tile.col == 2);
    const sim::i64 there = robot.lab->document.scene().step;
    CHECK(there > 1);
    robot.lab->set_step(0);
    for (int i = 0; i < 2; ++i) robot.screen.click({y.x + 8, y.w + 12});  // within the time of a double click
    CHECK(robot.lab->document.scene().step == 1);
    robot.key(ImGuiKey_Escape);
    CHECK(select == sim::Scene::Selection{});
    CHECK_FALSE(robot.lab->document.can_undo());
}

TEST_CASE("the sweep's cells are walked by the arrow keys") {
    Robot robot("tpu-v5e 8192x8192x8192 f32 forward fused tile 512x512x512");
    const ImVec4 head = robot.box("bm \\ bn");
    robot.screen.click({head.z + 20, head.w + 20});  // the first cell
    robot.rest();
    const sim::TileSpace& space = robot.lab->sweep()->space;
    CHECK(robot.tile().bm == space.bm[0]);
    CHECK(robot.tile().bn == space.bn[0]);
    robot.key(ImGuiKey_DownArrow);
    robot.key(ImGuiKey_RightArrow);
    CHECK(robot.tile().bm == space.bm[1]);
    CHECK(robot.tile().bn == space.bn[1]);
}

TEST_CASE("any two words make the sweep's map, and a click takes both") {
    Robot robot("h200-sxm 4096x4096x4096 bf16 forward fused tile 128x256x64", {}, 1000, 700, "sweep");
    robot.lab->sweep_axes = {sim::SweepWord::stages, sim::SweepWord::raster};
    robot.rest();
    CHECK(robot.sees("stages \\ raster"));
    const ImVec4 row = robot.box("3"), column = robot.box("grouped:8");
    robot.screen.click({(column.x + column.z) / 2, (row.y + row.w) / 2});
    robot.rest();
    CHECK(robot.lab->document.experiment().stages == 3);
    CHECK(robot.lab->document.experiment().raster == sim::Raster{sim::Raster::grouped, 8});
    robot.key(ImGuiMod_Ctrl | ImGuiKey_Z);
    CHECK(robot.lab->document.experiment().raster == sim::Raster{});
    robot.lab->paste("tpu-v5e 4096x4096x4096 f32 forward fused tile 512x512x512");  // which has neither
    robot.rest();
    CHECK(robot.sees("bm \\ bn"));
    robot.lab->sweep_axes = {sim::SweepWord::bk, sim::SweepWord::bm};
    robot.rest();
    CHECK(robot.sees("bk \\ bm"));
    robot.click("front");
    CHECK(robot.sees("on chip"));
}

TEST_CASE("what the mouse is on is lit in every view") {
    Robot robot(ragged);
    const ImVec4 w = robot.box("W  300×700");
    const auto before = gui::fingerprint(robot.screen.image());
    robot.screen.move({w.x + 30, w.w + 30});
    robot.screen.frames(2);
    CHECK(robot.lab->lit() == sim::Operand::w);
    CHECK(robot.lab->strength(sim::Operand::w) == 1);
    CHECK(robot.lab->strength(sim::Operand::x) < 1);
    CHECK(gui::fingerprint(robot.screen.image()) != before);
    robot.screen.move({2, 2});
    robot.screen.frames(3);
    CHECK_FALSE(robot.lab->lit());
}

TEST_CASE("when nothing changes the picture stays and no frame is asked for") {
    Robot robot(gui::first_scene);
    robot.screen.move({800, 400});
    robot.rest();
    const auto before = gui::fingerprint(robot.screen.image());
    robot.screen.frames(30);
    CHECK(gui::fingerprint(robot.screen.image()) == before);
    CHECK_FALSE(robot.lab->next_frame());
    robot.lab->play.on = true;
    CHECK(robot.lab->next_frame());
}

TEST_CASE("the line of text is edited in place and a bad one changes nothing") {
    Robot robot(ragged);
    const ImVec4 line = robot.box(ragged);
    const auto enter = [&](const char* text) {
        robot.screen.click({(line.x + line.z) / 2, (line.y + line.w) / 2});
        robot.screen.key(ImGuiMod_Ctrl | ImGuiKey_A);
        robot.screen.type(text);
        robot.key(ImGuiKey_Enter);
    };
    enter("tpu-v5e 1024x1024x1024 f32 forward fused tile 128x128x128");
    CHECK(robot.lab->document.experiment().device == "tpu-v5e");
    enter("tpu-v5e 1024x1024 f32 forward fused");
    CHECK(robot.lab->document.experiment().dense.m == 1024);
    CHECK(robot.lab->message.is_error);
    CHECK(robot.sees("1024x1024"));
}

TEST_CASE("measured rows of a file join the table, and a bad file names its line") {
    Robot robot(ragged);
    const auto path = std::filesystem::temp_directory_path() / ("memwall-rows-" + std::to_string(::getpid()) + ".csv");
    const std::string head = "id,source,device,pass,dtype,batch,m,n,k,bm,bn,bk,epilogue,time_us,experiment\n";
    std::ofstream(path) << head << "r1,my own clock,scratchpad,forward,f32,1,500,700,300,128,128,64,relu,321," << ragged
                        << "\n";
    robot.lab->load(path.string());
    robot.rest();
    CHECK_FALSE(robot.lab->message.is_error);
    CHECK(robot.sees("321 µs"));
    CHECK(robot.sees("my own clock"));
    std::ofstream(path) << head << "r1,x,scratchpad,forward,f32,1,500,700,oops,128,128,64,relu,321,\n";
    robot.lab->load(path.string());
    CHECK(robot.lab->message.is_error);
    CHECK(robot.lab->message.text.find("oops") != std::string::npos);
    std::filesystem::remove(path);
    robot.lab->load(path.string());
    CHECK(robot.lab->message.is_error);
}

TEST_CASE("language and text size change live and keep the scene") {
    Robot robot(ragged);
    robot.lab->appearance.language = gui::Language::zh;
    robot.rest();
    if (robot.screen.fonts().problem.empty()) CHECK(robot.sees("撤销"));
    robot.lab->appearance.language = gui::Language::en;
    robot.rest();
    CHECK(robot.sees("Undo"));
    robot.key(ImGuiMod_Ctrl | ImGuiKey_Equal);
    CHECK(robot.lab->appearance.scale == doctest::Approx(1.125f));
    robot.key(ImGuiMod_Ctrl | ImGuiKey_0);
    CHECK(robot.lab->appearance.scale == 1);
    CHECK_FALSE(robot.lab->document.can_undo());
}

TEST_CASE("a pinned baseline is compared with") {
    Robot robot("tpu-v5e 8192x8192x8192 f32 forward fused tile 128x128x8192");
    robot.key(ImGuiKey_B);
    REQUIRE(robot.lab->document.scene().baseline);
    CHECK(robot.sees("+0.0 % against baseline"));
    robot.lab->take_tile({1024, 1024, 512});
    robot.rest();
    CHECK(robot.sees("% against baseline"));
    CHECK_FALSE(robot.sees("+0.0 % against baseline"));
    CHECK(robot.sees("baseline"));
}

TEST_CASE("every action has its own key and a name in the menus") {
    const auto actions = gui::actions();
    for (std::size_t i = 0; i < actions.size(); ++i) {
        CHECK((actions[i].key == 0) == (actions[i].shown == nullptr));
        for (std::size_t j = 0; j < i; ++j) {
            if (actions[i].key != 0) CHECK(actions[i].key != actions[j].key);
            CHECK(actions[i].name != actions[j].name);
        }
    }
}

TEST_CASE("a picture of the lab needs no display, is the same each time, and lists its words") {
    const auto size = [](int width, int height) {
        gui::ShotOptions options;
        options.width = width;
        options.height = height;
        return options;
    };
    const gui::ShotOptions small = size(900, 600);
    const gui::Shot a = gui::screenshot(ragged, small, sim::Catalogue::builtin()),
                    b = gui::screenshot(ragged, small, sim::Catalogue::builtin());
    CHECK(a.png == b.png);
    CHECK(a.text == b.text);
    CHECK(a.text.find(" - Experiment\n") != std::string::npos);
    CHECK(a.problem.empty());
    CHECK(gui::screenshot(std::string(ragged) + " | step 999999", small, sim::Catalogue::builtin())
              .problem.starts_with("step 999999: this scene ends at step "));
    CHECK_THROWS_AS(gui::screenshot("nonsense", small, sim::Catalogue::builtin()), sim::BadInput);
    CHECK_THROWS_AS(gui::screenshot(ragged, size(63, 600), sim::Catalogue::builtin()), sim::BadInput);
    CHECK_NOTHROW(gui::screenshot(ragged, size(64, 64), sim::Catalogue::builtin()));
}
