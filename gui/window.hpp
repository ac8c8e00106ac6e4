#pragma once
// A real window: GLFW and OpenGL 3. Sleeps until a frame is due.

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gui/context.hpp"
#include "gui/redraw.hpp"

struct GLFWwindow;

namespace gui {

/// Whether a window could be opened here; if not, `why` says so in one sentence. Opens nothing.
bool can_open(std::string& why);

class Window {
  public:
    /// Opens the window. `why` is empty on success, else one sentence and the object is of no use.
    Window(const char* title, int width, int height, std::string& why);
    ~Window();
    Window(const Window&) = delete;
    Window& operator=(const Window&) = delete;

    /// Sleeps until a frame is due and begins it; false when the person has closed the window.
    bool begin_frame();
    void end_frame();
    /// Something to show has changed: ends the sleep. From any thread, while a window is open.
    static void wake();

    Redraw& redraw() { return redraw_; }
    /// Seconds on the clock that `redraw` is told.
    double now() const;
    /// The monitor's scale, 1 at 96 dots per inch.
    float dpi() const;
    const Fonts& fonts() const { return context_->fonts(); }
    void close();
    /// Paths of files that were dropped on the window since the last call.
    std::vector<std::string> dropped() { return std::exchange(dropped_, {}); }

  private:
    GLFWwindow* window_ = nullptr;
    std::unique_ptr<Context> context_;
    Redraw redraw_;
    std::vector<std::string> dropped_;
};

}  // namespace gui
