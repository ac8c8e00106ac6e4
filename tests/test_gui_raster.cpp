#include <doctest/doctest.h>
#include <imgui.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "gui/headless.hpp"
#include "gui/raster.hpp"
#include "tests/png.hpp"

namespace {

/// A draw list of our own over an untextured context, rasterised on black.
class Canvas {
public:
    Canvas(int width, int height) : list(ImGui::GetDrawListSharedData()), width_(width), height_(height) {
        list._ResetForNewFrame();
        list.PushTexture(ImGui::GetIO().Fonts->TexRef);
        list.PushClipRect({0, 0}, {static_cast<float>(width), static_cast<float>(height)});
        list.Flags = 0;  // hard edges: what is covered is covered whole
    }
    void triangle(ImVec2 a, ImVec2 b, ImVec2 c, ImU32 colour) { list.AddTriangleFilled(a, b, c, colour); }
    gui::Image image() {
        ImDrawData data;
        data.AddDrawList(&list);
        data.DisplaySize = {static_cast<float>(width_), static_cast<float>(height_)};
        data.FramebufferScale = {1, 1};
        return gui::rasterise(data, IM_COL32_BLACK);
    }
    ImDrawList list;

private:
    int width_, height_;
};

gui::Headless empty_screen() {
    return {64, 64, {}, [] {}};
}

using png::big_endian;
using png::inflate;

}  // namespace

TEST_CASE("two triangles that share an edge cover each pixel of their square exactly once") {
    gui::Headless screen = empty_screen();
    screen.frames();
    const ImU32 half = IM_COL32(255, 255, 255, 128);
    for (const float shift : {0.0f, 0.25f, 0.5f, 0.37f}) {
        CAPTURE(shift);
        Canvas canvas(32, 32);
        const ImVec2 a{4 + shift, 4 + shift}, b{20 + shift, 4 + shift}, c{20 + shift, 20 + shift},
            d{4 + shift, 20 + shift};
        canvas.triangle(a, b, c, half);
        canvas.triangle(a, c, d, half);
        const gui::Image image = canvas.image();
        const auto touched =
            std::count_if(image.pixels.begin(), image.pixels.end(), [](std::uint32_t p) { return p != 0xff000000u; });
        CHECK(touched == 16 * 16);
        for (std::uint32_t p : image.pixels) CHECK((p == 0xff000000u || p == 0xff808080u));  // never blended twice
    }
}

TEST_CASE("a rectangle fills the pixels whose centres it covers and no others") {
    gui::Headless screen = empty_screen();
    screen.frames();
    Canvas canvas(16, 16);
    canvas.list.AddRectFilled({2.4f, 3.0f}, {5.6f, 7.5f}, IM_COL32(10, 20, 30, 255));
    const gui::Image image = canvas.image();
    for (int y = 0; y < 16; ++y)
        for (int x = 0; x < 16; ++x) {
            const bool inside = x >= 2 && x < 6 && y >= 3 && y < 7;
            CHECK(image.pixels[static_cast<std::size_t>(y * 16 + x)] == (inside ? 0xff1e140au : 0xff000000u));
        }
}

TEST_CASE("nothing is drawn outside a clip rectangle or outside the picture") {
    gui::Headless screen = empty_screen();
    screen.frames();
    Canvas canvas(16, 16);
    canvas.list.PushClipRect({4, 5}, {9, 10}, true);
    canvas.triangle({-1e5f, -1e5f}, {1e5f, -1e5f}, {0, 1e5f}, IM_COL32_WHITE);
    const gui::Image image = canvas.image();
    for (int y = 0; y < 16; ++y)
        for (int x = 0; x < 16; ++x) {
            const bool inside = x >= 4 && x < 9 && y >= 5 && y < 10;
            CHECK((image.pixels[static_cast<std::size_t>(y * 16 + x)] == 0xffffffffu) == inside);
        }
}

TEST_CASE("the same frames give the same pixels, run after run") {
    const auto picture = [] {
        gui::Headless screen(400, 300, {}, [] {
            ImGui::SetNextWindowPos({10, 10});
            ImGui::SetNextWindowSize({380, 280});
            ImGui::Begin("Raster");
            static float value = 0.3f;
            ImGui::SliderFloat("slider", &value, 0, 1);
            ImGui::TextUnformatted("Move a tile; watch the bytes.");
            ImGui::GetWindowDrawList()->AddCircle({200, 200}, 50, IM_COL32(255, 0, 0, 200), 0, 3);
            ImGui::End();
        });
        screen.settle();
        return screen.image();
    };
    const gui::Image a = picture(), b = picture();
    CHECK(gui::fingerprint(a) == gui::fingerprint(b));
    CHECK(a.pixels == b.pixels);
    std::vector<std::uint32_t> colours = a.pixels;
    std::sort(colours.begin(), colours.end());
    CHECK(std::unique(colours.begin(), colours.end()) - colours.begin() > 20);  // something was drawn, with soft edges
}

TEST_CASE("a PNG inflates to the pixels it was made of") {
    gui::Image image{37, 23, {}};
    std::uint32_t seed = 1;
    for (int i = 0; i < 37 * 23; ++i) {
        seed = seed * 1664525u + 1013904223u;
        const bool flat = (i / 50) % 2 == 0;  // runs and noise in turn
        image.pixels.push_back(0xff000000u | (flat ? 0x336699u : seed >> 8));
    }
    const std::string png = gui::encode_png(image);
    CHECK(png.substr(0, 8) == "\x89PNG\r\n\x1a\n");
    CHECK(big_endian(png, 16) == 37);
    CHECK(big_endian(png, 20) == 23);
    const std::size_t data = png.find("IDAT");
    REQUIRE(data != std::string::npos);
    const std::string rows = inflate(png.substr(data + 4, big_endian(png, data - 4)));
    REQUIRE(rows.size() == 23u * (1 + 37 * 3));
    std::array<unsigned char, 37 * 3> above{};
    for (std::size_t y = 0; y < 23; ++y) {
        CHECK(rows[y * 112] == 2);
        for (std::size_t x = 0; x < 111; ++x) {
            above[x] = static_cast<unsigned char>(above[x] + static_cast<unsigned char>(rows[y * 112 + 1 + x]));
            const std::uint32_t pixel = image.pixels[y * 37 + x / 3];
            REQUIRE(above[x] == (pixel >> 8 * (x % 3) & 255));
        }
    }
    CHECK(png.substr(png.size() - 8, 4) == "IEND");
    CHECK(big_endian(png, png.size() - 4) == 0xae426082u);  // the checksum of an empty IEND, as every PNG ends
}
