#pragma once
// One Dear ImGui + ImPlot context with our fonts, our style and no files of its own.

#include "gui/fonts.hpp"
#include "gui/theme.hpp"

struct ImGuiContext;
struct ImPlotContext;

namespace gui {

/// Owns the context; while it lives it is the current one. At most one at a time.
class Context {
public:
    Context();
    ~Context();
    Context(const Context&) = delete;
    Context& operator=(const Context&) = delete;

    const Fonts& fonts() const { return fonts_; }

private:
    ImGuiContext* imgui_;
    ImPlotContext* implot_;
    Fonts fonts_;
};

/// The other faces of the context in use.
ImFont* bold();
ImFont* italic();
ImFont* mono();

}  // namespace gui
