#pragma once
// Runs the lab's frames with no window and no display: fixed size, fixed clock, synthetic input, CPU pixels.

#include <functional>
#include <string_view>

#include "gui/context.hpp"
#include "gui/drawn_text.hpp"
#include "gui/image.hpp"

namespace gui {

/// A screen that exists only in memory. Each frame lasts 1/60 s, so that a test never depends on a clock.
class Headless {
public:
    using Draw = std::function<void()>;

    Headless(int width, int height, const Appearance& appearance, Draw draw);
    ~Headless();

    /// Draws `count` frames.
    void frames(int count = 1);
    /// Draws until two frames in a row have the same triangles (windows settle over the first few), `most` at most.
    void settle(int most = 12);

    void move(ImVec2 to);
    void press(int button = 0);
    void release(int button = 0);
    /// Moves there, presses and releases, a frame apart.
    void click(ImVec2 at, int button = 0);
    void wheel(float steps);
    /// Presses and releases a key with its modifiers (`ImGuiMod_Ctrl | ImGuiKey_Z`).
    void key(ImGuiKeyChord chord);
    void type(std::string_view utf8);

    Image image() const;
    std::vector<DrawnText> texts() const;
    const Fonts& fonts() const { return context_.fonts(); }
    /// Seconds of this thread's processor that `draw` took in the last frame, ImGui's own work included.
    double frame_seconds() const { return frame_seconds_; }

private:
    Context context_;
    Draw draw_;
    double frame_seconds_ = 0;
};

}  // namespace gui
