#pragma once
// What the plots share: ticks of logarithmic axes, labels that keep clear of each other.

#include <imgui.h>
#include <implot.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace gui {

/// 1, 2, 5 of every decade in sight, or fewer where those would crowd: `room` pixels of axis, `word` for one label.
struct Ticks {
    std::vector<double> at;
    std::vector<std::string> text;

    template <class Write>
    Ticks(double low, double high, float room, float word, Write write) {
        const double decades = std::log10(high / low), each = room / std::max(decades, 0.01);
        const int skip = std::max(1, static_cast<int>(std::ceil(word / each)));  // decades from label to label
        for (int e = static_cast<int>(std::floor(std::log10(low))); e <= static_cast<int>(std::ceil(std::log10(high)));
             ++e)
            for (int step : {1, 2, 5}) {
                if (step != 1 && each * 0.3 < word) continue;
                if (e % skip != 0) continue;
                at.push_back(step * std::pow(10.0, e));
                text.push_back(write(at.back()));
            }
    }
    void setup(ImAxis axis) const {
        std::vector<const char*> labels;
        for (const std::string& t : text) labels.push_back(t.c_str());
        ImPlot::SetupAxisTicks(axis, at.data(), static_cast<int>(at.size()), labels.data());
    }
};

struct Box {
    ImVec2 low, high;
    bool meets(const Box& o) const {
        return low.x < o.high.x && high.x > o.low.x && low.y < o.high.y && high.y > o.low.y;
    }
};

struct Segment {
    ImVec2 a, b;
    /// Whether the line comes into the box.
    bool meets(const Box& box) const;
    bool crosses(const Segment& other) const;
};

/// Places labels beside their points where they cover neither each other, nor a mark, nor a line. A label that found no
/// free place beside its point stands where there is one, and a thin line leads to it.
class Labels {
public:
    Labels(ImDrawList& list, Box plot) : list_(list), plot_(plot) {}

    void keep_clear(Box box) { taken_.push_back(box); }
    void keep_clear_of_line(ImVec2 a, ImVec2 b) { lines_.push_back({a, b}); }
    /// Where it stands. A point out of sight has none. An optional label is left out where there is no free place within
    /// `reach` pixels (0: 12 em).
    std::optional<Box> place(ImVec2 at, float radius, const std::string& text, ImU32 colour, bool optional = false,
                             float reach = 0);
    /// At the first of these corners (its upper left) where it is free; left out where none is.
    std::optional<Box> place_at(std::span<const ImVec2> corners, const std::string& text, ImU32 colour);
    /// Reads upwards, its foot at `foot`; left out where it would cover another.
    bool place_upright(ImVec2 foot, const std::string& text, ImU32 colour);

private:
    bool inside(const Box& box) const;
    int hits(const Box& box) const;
    void write(const Box& box, const std::string& text, ImU32 colour);

    ImDrawList& list_;
    Box plot_;
    std::vector<Box> taken_, written_;  // the labels among them
    std::vector<Segment> lines_;
};

}  // namespace gui
