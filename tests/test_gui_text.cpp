#include <doctest/doctest.h>
#include <imgui.h>
#include <implot.h>

#include <algorithm>
#include <string>
#include <vector>

#include "gui/headless.hpp"

namespace {

const gui::DrawnText* find(const std::vector<gui::DrawnText>& texts, std::string_view text) {
    const auto at = std::find_if(texts.begin(), texts.end(), [&](const gui::DrawnText& t) { return t.text == text; });
    return at == texts.end() ? nullptr : &*at;
}

void window_of(float width) {
    ImGui::SetNextWindowPos({20, 20});
    ImGui::SetNextWindowSize({width, 300});
    ImGui::Begin("A window");
}

}  // namespace

TEST_CASE("every label of a small window is read back with the box it was drawn in") {
    ImVec2 low, high;
    gui::Headless screen(600, 400, {}, [&] {
        window_of(500);
        ImGui::TextUnformatted("17.2 GB from memory, W 64 times");
        low = ImGui::GetItemRectMin();
        high = ImGui::GetItemRectMax();
        ImGui::Button("Run");
        if (ImPlot::BeginPlot("Roof", {400, 180})) {
            ImPlot::SetupAxes("intensity", "rate");
            ImPlot::EndPlot();
        }
        ImGui::End();
    });
    screen.settle();
    const auto texts = screen.texts();
    for (const char* text : {"A window", "17.2 GB from memory, W 64 times", "Run", "Roof", "intensity", "rate"}) {
        CAPTURE(text);
        const gui::DrawnText* t = find(texts, text);
        REQUIRE(t);
        CHECK_FALSE(t->cut_x);
        CHECK_FALSE(t->cut_y);
    }
    CHECK(find(texts, "rate")->vertical);
    CHECK_FALSE(find(texts, "intensity")->vertical);
    const ImVec4 box = find(texts, "17.2 GB from memory, W 64 times")->box;
    CHECK(box.x == doctest::Approx(low.x).epsilon(0.01));
    CHECK(box.z == doctest::Approx(high.x).epsilon(0.01));
    CHECK(box.y == doctest::Approx(low.y).epsilon(0.01));
    CHECK(box.w == doctest::Approx(high.y).epsilon(0.01));
}

TEST_CASE("text that its window cuts is flagged, and text that just fits is not") {
    float width = 500, right = 0;
    const char* text = "a line of words that is rather long";
    gui::Headless screen(600, 400, {}, [&] {
        window_of(width);
        ImGui::TextUnformatted(text);
        right = ImGui::GetItemRectMax().x;
        ImGui::End();
    });
    screen.settle();
    const float whole = width = right - 20 + ImGui::GetStyle().WindowPadding.x;
    screen.settle();
    REQUIRE(find(screen.texts(), text));
    CHECK_FALSE(find(screen.texts(), text)->cut_x);
    int flagged = 0, cuts = 0;
    for (float less = 15; less < 110; less += 5, ++cuts) {
        width = whole - less;
        screen.settle();
        for (const gui::DrawnText& t : screen.texts()) flagged += t.text.starts_with("a line") && t.cut_x;
    }
    CHECK(flagged >= cuts / 2);  // a cut that falls between two letters leaves no trace
}

TEST_CASE("a character that no font has reads U+FFFD, and lines say where their text is") {
    gui::Headless screen(600, 400, {}, [&] {
        window_of(500);
        ImGui::TextUnformatted("odd \xf3\xb0\x80\x80 sign");  // a private-use character
        ImGui::TextUnformatted("µs × ≥");
        ImGui::End();
    });
    screen.settle();
    CHECK(find(screen.texts(), "odd \xef\xbf\xbd sign"));
    CHECK(find(screen.texts(), "µs × ≥"));
    CHECK(gui::to_lines({{"two words", {1, 2, 30, 18}, true, false, true, 0}}) == "1 2 30 18 cut,up two words\n");
    CHECK(gui::to_lines({{"x", {0, 0, 1, 1}}}) == "0 0 1 1 - x\n");
}

TEST_CASE("text that cannot be seen is not listed") {
    gui::Headless screen(600, 400, {}, [&] {
        window_of(500);
        ImGui::PushStyleColor(ImGuiCol_Text, IM_COL32(255, 255, 255, 0));
        ImGui::TextUnformatted("hidden");
        ImGui::PopStyleColor();
        ImGui::TextUnformatted("seen");
        ImGui::End();
    });
    screen.settle();
    CHECK(find(screen.texts(), "seen"));
    CHECK_FALSE(find(screen.texts(), "hidden"));
}
