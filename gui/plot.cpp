#include "gui/plot.hpp"

#include <implot_internal.h>

#include <algorithm>
#include <utility>

#include "gui/theme.hpp"

namespace gui {

void Labels::keep_clear_of_line(ImVec2 a, ImVec2 b) {
    const float length = std::hypot(b.x - a.x, b.y - a.y), step = em(0.3f), half = em(0.12f);
    for (float t = 0; t < length; t += step) {
        const ImVec2 p{a.x + (b.x - a.x) * t / length, a.y + (b.y - a.y) * t / length};
        keep_clear({{p.x - half, p.y - half}, {p.x + half, p.y + half}});
    }
}

void Labels::place(ImVec2 at, float radius, const std::string& text, ImU32 colour, bool optional) {
    const ImVec2 size = ImGui::CalcTextSize(text.c_str());
    const float gap = em(0.35f);
    Box best{};
    int fewest = 1 << 30;
    for (float away : {0.0f, 1.0f, 2.0f, 3.0f})
        for (const auto& [dx, dy] : {std::pair{1.0f, 0.0f},
                                     {-1.0f, 0.0f},
                                     {1.0f, 1.0f},
                                     {1.0f, -1.0f},
                                     {-1.0f, 1.0f},
                                     {-1.0f, -1.0f},
                                     {0.0f, 1.0f},
                                     {0.0f, -1.0f}}) {
            const ImVec2 centre{at.x + dx * (radius + gap + size.x / 2),
                                at.y + dy * (radius + gap * 0.5f + size.y / 2 + away * size.y)};
            const ImVec2 low{centre.x - size.x / 2, centre.y - size.y / 2};
            const Box box{low, {low.x + size.x, low.y + size.y}};
            const bool inside = box.low.x >= plot_.low.x + 2 && box.high.x <= plot_.high.x - 2 &&
                                box.low.y >= plot_.low.y + 2 && box.high.y <= plot_.high.y - 2;
            const int hits = static_cast<int>(std::count_if(taken_.begin(), taken_.end(),
                                                            [&](const Box& t) { return t.meets(box); })) +
                             (inside ? 0 : 1000);
            if (hits < fewest) {
                fewest = hits;
                best = box;
            }
        }
    if (optional && fewest > 0) return;
    list_.AddRectFilled({best.low.x - 2, best.low.y}, {best.high.x + 2, best.high.y}, with_alpha(colours().panel, 0.7f),
                        2);
    list_.AddText(best.low, colour, text.c_str());
    keep_clear(best);
}

bool Labels::place_upright(ImVec2 foot, const std::string& text, ImU32 colour) {
    const ImVec2 size = ImGui::CalcTextSize(text.c_str());
    const Box box{{foot.x, foot.y - size.x}, {foot.x + size.y, foot.y}};
    if (box.low.y < plot_.low.y || box.high.x > plot_.high.x ||
        std::any_of(taken_.begin(), taken_.end(), [&](const Box& t) { return t.meets(box); }))
        return false;
    ImPlot::AddTextVertical(&list_, foot, colour, text.c_str());
    keep_clear(box);
    return true;
}

}  // namespace gui
