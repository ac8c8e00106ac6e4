#pragma once
// When the window must draw again. Idle costs nothing: without input, new data or motion no frame is due.

#include <limits>

namespace gui {

/// Decides from reports of what happened; knows no clock and no window. Times are seconds on any one clock.
class Redraw {
  public:
    static constexpr double never = std::numeric_limits<double>::infinity();

    /// A person did something: a few frames until ImGui has settled, and one more when a tooltip's delay has passed.
    void input(double now);
    /// Data to show has changed.
    void data();
    /// Something moves: a frame is due at `when`.
    void at(double when);
    /// A frame was drawn.
    void drawn(double now);

    bool due(double now) const;
    /// How long may be slept from `now` on: 0 when a frame is due, `never` when only input can bring one.
    double wait(double now) const;

  private:
    int frames_ = 3;  // the first frames lay the windows out
    double alarm_ = never;
};

}  // namespace gui
