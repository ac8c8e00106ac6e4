#pragma once
// Draws the prose of lessons: words of several faces wrapped by the rules of English and Chinese, lists, tables, code,
// and links that can be clicked or reached by the keyboard.

#include <imgui.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "lessons/prose.hpp"

namespace gui {

/// What prose can do beside being read. Each may be empty.
struct ProseLinks {
    std::function<void(const std::string& link)> open;              // a link was clicked
    std::function<std::string(const lessons::Span&)> explain;       // what to say while the mouse is on a span
    std::function<void(const lessons::Block&, float width)> after;  // draws what belongs under a block
};

/// Spans broken into lines of at most `width` pixels. Valid within a frame.
class Flow {
public:
    Flow(lessons::Spans spans, float width);

    float height() const;
    float width() const { return widest_; }
    /// Draws at a screen position; the cursor stays. `links` may be null.
    void draw(ImVec2 at, ImU32 colour, const ProseLinks* links = nullptr) const;

private:
    struct Part {
        const lessons::Span* span;
        std::string text;
        float x, width;
    };
    using Line = std::vector<Part>;
    std::shared_ptr<const lessons::Spans> spans_;  // what the parts point into
    std::vector<Line> lines_;
    float widest_ = 0, line_height_ = 0;
};

/// Draws spans at the cursor, as one item.
void draw_spans(const lessons::Spans& spans, float width, ImU32 colour, const ProseLinks* links = nullptr);
/// Draws blocks one under the other, with the space that belongs between them.
void draw_prose(const lessons::Prose& prose, float width, const ProseLinks* links = nullptr);

/// Plain words as spans.
lessons::Spans plain_spans(std::string text);

}  // namespace gui
