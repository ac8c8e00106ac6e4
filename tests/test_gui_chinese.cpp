// In Chinese the lab says everything in Chinese, and changes with the language while it is open.

#include "gui/i18n.hpp"
#include "sim/embedded.hpp"
#include "tests/english.hpp"
#include "tests/robot.hpp"

namespace {

/// What stays as it is: a kernel's source, and whose a measured row is.
bool is_quoted(const Robot& robot, std::string text) {
    if (text.ends_with("…")) text.resize(text.size() - std::string_view("…").size());
    for (const sim::EmbeddedFile& f : sim::embedded_kernels())
        if (f.text.find(text) != std::string_view::npos) return true;
    const auto& rows = robot.lab->measured.rows();
    return std::any_of(rows.begin(), rows.end(),
                       [&](const gui::MeasuredRow& r) { return r.row.source.find(text) != std::string::npos; });
}

void all_chinese(const Robot& robot) {
    for (const gui::DrawnText& t : robot.screen.texts())
        if (!is_quoted(robot, t.text)) CHECK(tests::english_in(t.text) == "");
}

constexpr gui::Appearance chinese{.language = gui::Language::zh};

}  // namespace

TEST_CASE("in Chinese no view keeps a sentence of English, whether the tile fits or not") {
    Robot robot("h200-sxm 8192x8192x8192 bf16 forward fused tile 256x512x64", chinese);
    if (!robot.screen.fonts().problem.empty()) return;
    for (const char* scene : {"h200-sxm 8192x8192x8192 bf16 forward fused tile 256x512x64",
                              "h200-sxm 4096x4096x4096 bf16 train fused residual mask tile 128x256x64",
                              "a100-sxm4-80gb 4096x4096x4096 bf16 forward fused tile 128x128x32 cluster 2x1",
                              "rtx-a6000 1024x1024x1024 f32 wgrad fused tile 64x64x16 rung 01_naive",
                              "b200-sxm 4096x4096x4096 bf16 forward fused tile 128x256x64 rung 10_tcgen05",
                              "tpu-v5e 8192x8192x8192 f32 forward fused tile 1024x1024x4096 buffers 2",
                              "tpu-v5e 8192x8192x8192 f32 forward fused tile 128x128x8192",
                              "scratchpad 500x700x300 f32 forward fused tile 128x128x64 order kmn"}) {
        robot.lab->paste(scene);
        CAPTURE(scene);
        for (const gui::ViewRow& view : gui::views()) {
            if (view.figure.empty()) continue;  // prose, which has a translation of its own
            CAPTURE(gui::name_of(view));
            robot.show(gui::name_of(view));
            robot.screen.frames(2);
            robot.rest();
            all_chinese(robot);
        }
        robot.show("");
        for (bool* popup : {&robot.lab->show_formulas, &robot.lab->show_limits}) {
            *popup = true;
            robot.rest();
            all_chinese(robot);
            robot.key(ImGuiKey_Escape);
        }
    }
}

TEST_CASE("a reason and a bad line change with the language") {
    Robot robot("tpu-v5e 8192x8192x8192 f32 forward fused tile 1024x1024x4096 buffers 2", {}, 1280, 800);
    const auto speak = [&](gui::Language l) {
        robot.lab->appearance.language = l;
        robot.rest();
    };
    CHECK(robot.sees("2 copies of every tile take 76"));
    speak(gui::Language::zh);
    if (!robot.screen.fonts().problem.empty()) return;
    CHECK(robot.sees("每个分块各 2 份"));
    CHECK_FALSE(robot.sees("copies of every tile"));
    robot.lab->paste("tpu-v5e 8192x8192x8192 f32 forward fused tile 12");
    robot.rest();
    CHECK(robot.sees("tile \"12\"：应为 AxBxC，各为 1 到 2147483647 的整数"));
    speak(gui::Language::en);
    CHECK(robot.sees("tile \"12\": expected AxBxC of whole numbers"));
}
