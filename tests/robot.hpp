#pragma once
// Drives the lab's real widgets without a display: it reads what is drawn, clicks and types, and looks at the document.

#include <doctest/doctest.h>
#include <imgui.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <string>

#include "gui/headless.hpp"
#include "gui/lab.hpp"
#include "gui/views.hpp"

class Robot {
public:
    explicit Robot(std::string_view scene, gui::Appearance appearance = {}, int width = 1600, int height = 1000,
                   std::string_view alone = {})
        : screen(width, height, appearance, [this] { lab->draw(); }) {
        const auto devices = std::make_shared<const sim::Catalogue>(sim::Catalogue::builtin());
        gui::Lab::Setup setup;
        setup.devices = devices;
        setup.scene = sim::parse_scene(scene, *devices);
        setup.appearance = appearance;
        setup.wake = [this] { ++wakes; };
        lab = std::make_unique<gui::Lab>(std::move(setup));
        show(alone);
        screen.frames(2);
        rest();
    }
    /// One view alone, by its name; all of them for an empty one.
    void show(std::string_view view) {
        lab->alone.reset();
        for (std::size_t i = 0; i < gui::views().size(); ++i)
            if (gui::name_of(gui::views()[i]) == view) lab->alone = i;
        if (!view.empty()) REQUIRE(lab->alone);
    }
    /// Lets the workers finish and the frames settle.
    void rest() {
        lab->finish_work();
        screen.frames(2);  // what some views ask for follows from what others were told
        lab->finish_work();
        screen.settle();
    }
    bool sees(std::string_view text) const {
        const auto texts = screen.texts();
        return std::any_of(texts.begin(), texts.end(),
                           [&](const auto& t) { return t.text.find(text) != std::string::npos; });
    }
    /// The box of the first text that reads exactly so.
    ImVec4 box(std::string_view text) const {
        for (const auto& t : screen.texts())
            if (t.text == text) return t.box;
        FAIL("not on screen: " << text);
        return {};
    }
    /// The name of a view whose tab has scrolled half out of its bar.
    static bool is_part_of_tab(std::string_view text) {
        return std::any_of(gui::views().begin(), gui::views().end(), [&](const gui::ViewRow& v) {
            return std::string_view(gui::tr(v.title)).find(text) != std::string_view::npos;
        });
    }
    void click(std::string_view text, float right = 0, int button = 0) {
        const ImVec4 b = box(text);
        screen.click({(b.x + b.z) / 2 + right, (b.y + b.w) / 2}, button);
        rest();
    }
    void key(ImGuiKeyChord chord) {
        screen.key(chord);
        rest();
    }
    const sim::Tile& tile() const { return lab->document.experiment().tile; }

    std::atomic<int> wakes = 0;  // how often a worker asked for a frame
    gui::Headless screen;
    std::unique_ptr<gui::Lab> lab;
};
