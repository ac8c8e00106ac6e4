#include "gui/plot.hpp"

#include <implot_internal.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "gui/theme.hpp"

namespace gui {

bool Segment::meets(const Box& box) const {
    if (std::max(a.x, b.x) < box.low.x || std::min(a.x, b.x) > box.high.x || std::max(a.y, b.y) < box.low.y ||
        std::min(a.y, b.y) > box.high.y)
        return false;
    // All four corners on one side of the line: it passes by.
    const auto side = [&](float x, float y) { return (b.x - a.x) * (y - a.y) - (b.y - a.y) * (x - a.x); };
    const float s[] = {side(box.low.x, box.low.y), side(box.high.x, box.low.y), side(box.low.x, box.high.y),
                       side(box.high.x, box.high.y)};
    return *std::min_element(s, s + 4) <= 0 && *std::max_element(s, s + 4) >= 0;
}

bool Segment::crosses(const Segment& o) const {
    const auto side = [](const Segment& s, ImVec2 p) {
        return (s.b.x - s.a.x) * (p.y - s.a.y) - (s.b.y - s.a.y) * (p.x - s.a.x) > 0;
    };
    return side(*this, o.a) != side(*this, o.b) && side(o, a) != side(o, b);
}

namespace {
/// With the half of a line's thickness around it.
Box and_edge(const Box& box) {
    const float edge = em(0.15f);
    return {{box.low.x - edge, box.low.y - edge}, {box.high.x + edge, box.high.y + edge}};
}
}  // namespace

bool Labels::inside(const Box& box) const {
    return box.low.x >= plot_.low.x + 2 && box.high.x <= plot_.high.x - 2 && box.low.y >= plot_.low.y + 2 &&
           box.high.y <= plot_.high.y - 2;
}

/// How much a label there would cover; outside the plot is worse than anything.
int Labels::hits(const Box& box) const {
    const auto met = [&](const auto& taken) { return taken.meets(box); };
    return static_cast<int>(
               std::count_if(taken_.begin(), taken_.end(), met) +
               std::count_if(lines_.begin(), lines_.end(), [&](const Segment& s) { return s.meets(and_edge(box)); })) +
           (inside(box) ? 0 : 1000);
}

void Labels::write(const Box& box, const std::string& text, ImU32 colour) {
    list_.AddRectFilled({box.low.x - 2, box.low.y}, {box.high.x + 2, box.high.y}, with_alpha(colours().panel, 0.7f), 2);
    list_.AddText(box.low, colour, text.c_str());
    keep_clear(box);
    written_.push_back(box);
}

std::optional<Box> Labels::place(ImVec2 at, float radius, const std::string& text, ImU32 colour, bool optional,
                                 float reach) {
    if (!plot_.meets({{at.x - radius, at.y - radius}, {at.x + radius, at.y + radius}})) return {};
    const ImVec2 size = ImGui::CalcTextSize(text.c_str());
    const float gap = em(0.35f);
    const auto around = [&](ImVec2 centre) {
        const ImVec2 low{std::floor(centre.x - size.x / 2), std::floor(centre.y - size.y / 2)};
        return Box{low, {low.x + size.x, low.y + size.y}};
    };
    Box best{};
    int fewest = 1 << 30;
    const auto take = [&](const Box& box) {
        if (const int met = hits(box); met < fewest) {
            fewest = met;
            best = box;
        }
        return fewest == 0;
    };
    for (const auto& [dx, dy] : {std::pair{1.0f, 0.0f},
                                 {-1.0f, 0.0f},
                                 {1.0f, 1.0f},
                                 {1.0f, -1.0f},
                                 {-1.0f, 1.0f},
                                 {-1.0f, -1.0f},
                                 {0.0f, 1.0f},
                                 {0.0f, -1.0f}})
        if (take(around({at.x + dx * (radius + gap + size.x / 2), at.y + dy * (radius + gap * 0.5f + size.y / 2)})))
            break;
    if (fewest == 0) {
        write(best, text, colour);
        return best;
    }
    // Further and further away: the nearest free place wins, and one to which nothing bars the way.
    const float across = em(1.5f), down = size.y * 0.6f, far = reach > 0 ? reach : em(12), barred = em(8);
    const Box all{{at.x - far - size.x, at.y - far - size.y}, {at.x + far + size.x, at.y + far + size.y}};
    std::vector<Segment> near;
    std::copy_if(lines_.begin(), lines_.end(), std::back_inserter(near),
                 [&](const Segment& s) { return s.meets(all); });
    const auto is_free = [&](const Box& box) {
        const Box wide = and_edge(box);
        return inside(box) && std::none_of(taken_.begin(), taken_.end(), [&](const Box& t) { return t.meets(box); }) &&
               std::none_of(near.begin(), near.end(), [&](const Segment& s) { return s.meets(wide); });
    };
    const auto nearest_of = [&](const Box& box) {
        return ImVec2{std::clamp(at.x, box.low.x, box.high.x), std::clamp(at.y, box.low.y, box.high.y)};
    };
    float nearest = INFINITY;
    const int rows = static_cast<int>(far / down), cols = static_cast<int>(far / across);
    for (int i = 0; i <= 2 * rows; ++i)  // from the middle out, so that most are seen to be farther than one before
        for (int j = 0; j <= 2 * cols; ++j) {
            const float y = down * static_cast<float>(i % 2 ? (i + 1) / 2 : -i / 2),
                        x = across * static_cast<float>(j % 2 ? (j + 1) / 2 : -j / 2);
            const Box box = around({at.x + x, at.y + y});
            const ImVec2 end = nearest_of(box);
            float away = std::hypot(end.x - at.x, end.y - at.y);
            if (away < radius + gap || away >= nearest || !is_free(box)) continue;
            // From a little off the point, which may itself lie on a line.
            const float off = std::min(1.0f, em(0.4f) / away);
            const Segment leader{{at.x + (end.x - at.x) * off, at.y + (end.y - at.y) * off}, end};
            if (std::any_of(near.begin(), near.end(), [&](const Segment& s) { return s.crosses(leader); }) ||
                std::any_of(written_.begin(), written_.end(), [&](const Box& b) { return leader.meets(b); }))
                away += barred;
            if (away >= nearest) continue;
            nearest = away;
            best = box;
            fewest = 0;
        }
    if (fewest > 0 && optional) return {};
    if (fewest >= 1000) {  // no room at all: at least within the plot
        const ImVec2 low{std::clamp(best.low.x, plot_.low.x + 2, std::max(plot_.low.x + 2, plot_.high.x - 2 - size.x)),
                         std::clamp(best.low.y, plot_.low.y + 2, std::max(plot_.low.y + 2, plot_.high.y - 2 - size.y))};
        best = {low, {low.x + size.x, low.y + size.y}};
    }
    const ImVec2 end = nearest_of(best);
    if (const float length = std::hypot(end.x - at.x, end.y - at.y); length > radius + gap) {
        list_.AddLine({at.x + (end.x - at.x) * radius / length, at.y + (end.y - at.y) * radius / length}, end,
                      with_alpha(colour, 0.5f), std::max(1.0f, em(0.06f)));
        keep_clear_of_line(at, end);
    }
    write(best, text, colour);
    return best;
}

std::optional<Box> Labels::place_at(std::span<const ImVec2> corners, const std::string& text, ImU32 colour) {
    const ImVec2 size = ImGui::CalcTextSize(text.c_str());
    for (const ImVec2 corner : corners) {
        const ImVec2 low{std::floor(corner.x), std::floor(corner.y)};
        const Box box{low, {low.x + size.x, low.y + size.y}};
        if (hits(box) > 0) continue;
        write(box, text, colour);
        return box;
    }
    return {};
}

bool Labels::place_upright(ImVec2 foot, const std::string& text, ImU32 colour) {
    const ImVec2 size = ImGui::CalcTextSize(text.c_str());
    const Box box{{foot.x, foot.y - size.x}, {foot.x + size.y, foot.y}};
    if (box.low.x < plot_.low.x || box.low.y < plot_.low.y || box.high.x > plot_.high.x ||
        std::any_of(taken_.begin(), taken_.end(), [&](const Box& t) { return t.meets(box); }))
        return false;
    ImPlot::AddTextVertical(&list_, foot, colour, text.c_str());
    keep_clear(box);
    return true;
}

}  // namespace gui
