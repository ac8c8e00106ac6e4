#include "gui/redraw.hpp"

#include <algorithm>

namespace gui {
namespace {
constexpr int frames_to_settle = 3;
constexpr double tooltip_after = 0.5;  // s; a little more than the style's hover delay
}  // namespace

void Redraw::input(double now) {
    frames_ = frames_to_settle;
    alarm_ = std::min(alarm_ > now ? alarm_ : never, now + tooltip_after);
}

void Redraw::data() { frames_ = std::max(frames_, 2); }

void Redraw::at(double when) { alarm_ = std::min(alarm_, when); }

void Redraw::drawn(double now) {
    frames_ = std::max(0, frames_ - 1);
    if (alarm_ <= now) alarm_ = never;
}

bool Redraw::due(double now) const { return frames_ > 0 || alarm_ <= now; }

double Redraw::wait(double now) const { return due(now) ? 0 : alarm_ - now; }

}  // namespace gui
