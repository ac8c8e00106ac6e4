#include <doctest/doctest.h>
#include <imgui.h>

#include <cmath>
#include <set>
#include <string>
#include <vector>

#include "gui/draw.hpp"
#include "gui/headless.hpp"
#include "gui/i18n.hpp"
#include "gui/theme.hpp"
#include "lessons/messages.hpp"

using gui::Palette;
using gui::Theme;

TEST_CASE("contrast is 21 for black on white, 1 for a colour on itself, and the same both ways") {
    CHECK(gui::contrast(IM_COL32_BLACK, IM_COL32_WHITE) == doctest::Approx(21));
    CHECK(gui::contrast(IM_COL32(9, 99, 199, 255), IM_COL32(9, 99, 199, 255)) == doctest::Approx(1));
    CHECK(gui::contrast(IM_COL32(118, 118, 118, 255), IM_COL32_WHITE) == doctest::Approx(4.54).epsilon(0.01));
    CHECK(gui::contrast(IM_COL32_WHITE, IM_COL32(118, 118, 118, 255)) == doctest::Approx(4.54).epsilon(0.01));
}

TEST_CASE("words reach 4.5:1 and marks 3:1 on every surface of every theme") {
    for (Theme theme : {Theme::dark, Theme::light, Theme::contrast}) {
        CAPTURE(gui::to_string(theme));
        const Palette& p = gui::palette(theme);
        for (ImU32 surface : {p.background, p.panel, p.raised, p.hover}) {
            CAPTURE(surface);
            CHECK(gui::contrast(p.text, surface) >= 4.5);
            CHECK(gui::contrast(p.dim, surface) >= 4.5);
        }
        for (ImU32 surface : {p.background, p.panel, p.raised})
            for (ImU32 words : {p.error, p.warn, p.accent}) CHECK(gui::contrast(words, surface) >= 4.5);
        CHECK(gui::contrast(p.on_accent, p.accent) >= 4.5);
        for (ImU32 mark : {p.blue, p.orange, p.green, p.yellow, p.deep_blue, p.vermilion, p.purple, p.grey}) {
            CAPTURE(mark);
            CHECK(gui::contrast(mark, p.panel) >= 3);
            CHECK(gui::contrast(gui::ink_on(mark), mark) >= 4.5);  // words inside a bar
        }
    }
}

TEST_CASE("the style in use has readable words, also where they are disabled") {
    for (Theme theme : {Theme::dark, Theme::light, Theme::contrast}) {
        CAPTURE(gui::to_string(theme));
        gui::Headless screen(64, 64, {.theme = theme}, [] {});
        const auto colour = [](ImGuiCol role) {
            return ImGui::ColorConvertFloat4ToU32(ImGui::GetStyle().Colors[role]);
        };
        for (ImGuiCol surface : {ImGuiCol_WindowBg, ImGuiCol_PopupBg, ImGuiCol_FrameBg, ImGuiCol_FrameBgHovered,
                                 ImGuiCol_Button, ImGuiCol_ButtonHovered, ImGuiCol_HeaderHovered, ImGuiCol_Tab,
                                 ImGuiCol_TabSelected, ImGuiCol_TableHeaderBg, ImGuiCol_MenuBarBg})
            for (ImGuiCol words : {ImGuiCol_Text, ImGuiCol_TextDisabled}) {
                CAPTURE(surface);
                CHECK(gui::contrast(colour(words), colour(surface)) >= 4.5);
            }
    }
}

TEST_CASE("the scales of maps grow lighter without a step back") {
    for (auto scale : {gui::viridis, gui::cividis}) {
        double before = 0;
        for (int i = 0; i <= 100; ++i) {
            const double now = gui::contrast(scale(static_cast<float>(i) / 100), IM_COL32_BLACK);
            CHECK(now >= before);
            before = now;
        }
        CHECK(scale(-1) == scale(0));
        CHECK(scale(2) == scale(1));
        CHECK(scale(NAN) == scale(0));
    }
}

TEST_CASE("kinds of number and operands never share a look") {
    std::set<std::string> symbols;
    std::set<std::pair<ImU32, bool>> looks;
    for (int i = 0; i < sim::operand_count; ++i) {
        const auto o = static_cast<sim::Operand>(i);
        symbols.insert(std::string(gui::symbol(o)));
        looks.insert({gui::colour_of(o), gui::is_hatched(o)});
    }
    CHECK(symbols.size() == sim::operand_count);
    CHECK(looks.size() == sim::operand_count);
    CHECK(gui::colour_of(gui::Mark::bound) != gui::colour_of(gui::Mark::predicted));
    CHECK(gui::colour_of(gui::Mark::measured) != gui::colour_of(gui::Mark::predicted));
}

TEST_CASE("every string is there in both languages, with the same places to fill") {
    const auto places = [](std::string_view s) {
        int n = 0;
        for (char c : s) n += c == '{';
        return n;
    };
    std::set<std::string> ids;
    for (const gui::StringRow& row : gui::strings()) {
        CAPTURE(row.id);
        CHECK(row.en[0] != '\0');
        CHECK(row.zh[0] != '\0');
        CHECK(places(row.en) == places(row.zh));
        ids.insert(row.id);
    }
    CHECK(ids.size() == gui::strings().size());
    CHECK(ids.size() > 100);
}

TEST_CASE("no character of any string is missing from the fonts in use") {
    gui::Headless screen(64, 64, {}, [] {});
    const bool chinese = screen.fonts().problem.empty();
    if (!chinese) MESSAGE("Chinese is left out: " << screen.fonts().problem);
    std::vector<std::string> texts;
    for (const gui::StringRow& row : gui::strings()) texts.insert(texts.end(), {row.en, chinese ? row.zh : row.en});
    for (const lessons::Message& m : lessons::messages()) texts.emplace_back(chinese ? m.zh : m.en);
    for (ImFont* font : {screen.fonts().regular, screen.fonts().bold})
        for (const std::string& text : texts) {
            CAPTURE(text);
            for (const char* c = text.c_str(); *c;) {
                unsigned code = 0;
                const auto lead = static_cast<unsigned char>(*c);
                const int bytes = lead < 0x80 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
                code = bytes == 1 ? lead : lead & (0xffu >> (bytes + 1));
                for (int i = 1; i < bytes; ++i) code = code << 6 | (static_cast<unsigned char>(c[i]) & 0x3f);
                c += bytes;
                if (code >= 0x20)
                    CHECK_MESSAGE(font->IsGlyphInFont(static_cast<ImWchar>(code)), "U+" << std::hex << code);
            }
        }
}

TEST_CASE("a label keeps its identity when the language changes") {
    gui::set_language(gui::Language::en);
    const std::string en = gui::label(gui::Str::undo);
    gui::set_language(gui::Language::zh);
    const std::string zh = gui::label(gui::Str::undo);
    gui::set_language(gui::Language::en);
    CHECK(en != zh);
    CHECK(en.substr(en.find("###")) == zh.substr(zh.find("###")));
}
