#include "gui/context.hpp"

#include <imgui.h>
#include <implot.h>

namespace gui {

Context::Context() : imgui_(ImGui::CreateContext()), implot_(ImPlot::CreateContext()) {
    ImGuiIO& io = ImGui::GetIO();
    io.IniFilename = nullptr;
    io.LogFilename = nullptr;
    io.ConfigFlags |= ImGuiConfigFlags_NavEnableKeyboard | ImGuiConfigFlags_DockingEnable;
    io.ConfigInputTextCursorBlink = false;  // a blinking caret would redraw for ever
    io.ConfigNavCursorVisibleAlways = false;
    io.ConfigDockingTransparentPayload = true;
    io.ConfigWindowsMoveFromTitleBarOnly = true;
    fonts_ = load_fonts(*io.Fonts);
    io.FontDefault = fonts_.regular;
    io.UserData = this;
    apply({}, 1);
}

Context::~Context() {
    ImPlot::DestroyContext(implot_);
    ImGui::DestroyContext(imgui_);
}

namespace {
const Fonts& fonts_in_use() { return static_cast<const Context*>(ImGui::GetIO().UserData)->fonts(); }
}  // namespace

ImFont* bold() { return fonts_in_use().bold; }
ImFont* italic() { return fonts_in_use().italic; }
ImFont* mono() { return fonts_in_use().mono; }

}  // namespace gui
