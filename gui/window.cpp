#include "gui/window.hpp"

#include <GLFW/glfw3.h>
#include <imgui.h>
#include <imgui_impl_glfw.h>
#include <imgui_impl_opengl3.h>

#include <atomic>
#include <cstdlib>
#include <string>

namespace gui {
namespace {

std::atomic<bool> woken = false;

std::string last_error() {
    const char* text = nullptr;
    glfwGetError(&text);
    return text ? text : "no reason given";
}

/// The three OpenGL calls that ImGui's renderer leaves to the program; core since 1.0.
struct Gl {
    void (*viewport)(int, int, int, int);
    void (*clear_colour)(float, float, float, float);
    void (*clear)(unsigned);
    static constexpr unsigned colour_buffer = 0x4000;

    template <class F>
    static void load(F& f, const char* name) {
        f = reinterpret_cast<F>(glfwGetProcAddress(name));
    }
    Gl() {
        load(viewport, "glViewport");
        load(clear_colour, "glClearColor");
        load(clear, "glClear");
    }
};

Redraw& redraw_of(GLFWwindow* window) { return static_cast<Window*>(glfwGetWindowUserPointer(window))->redraw(); }

/// Any event that ImGui may want to show makes frames due. ImGui chains to these callbacks.
void watch(GLFWwindow* w) {
    glfwSetCursorPosCallback(w, [](GLFWwindow* g, double, double) { redraw_of(g).input(glfwGetTime()); });
    glfwSetMouseButtonCallback(w, [](GLFWwindow* g, int, int, int) { redraw_of(g).input(glfwGetTime()); });
    glfwSetScrollCallback(w, [](GLFWwindow* g, double, double) { redraw_of(g).input(glfwGetTime()); });
    glfwSetKeyCallback(w, [](GLFWwindow* g, int, int, int, int) { redraw_of(g).input(glfwGetTime()); });
    glfwSetCharCallback(w, [](GLFWwindow* g, unsigned) { redraw_of(g).input(glfwGetTime()); });
    glfwSetWindowFocusCallback(w, [](GLFWwindow* g, int) { redraw_of(g).input(glfwGetTime()); });
    glfwSetCursorEnterCallback(w, [](GLFWwindow* g, int) { redraw_of(g).input(glfwGetTime()); });
    glfwSetFramebufferSizeCallback(w, [](GLFWwindow* g, int, int) { redraw_of(g).input(glfwGetTime()); });
    glfwSetWindowRefreshCallback(w, [](GLFWwindow* g) { redraw_of(g).data(); });
    glfwSetWindowContentScaleCallback(w, [](GLFWwindow* g, float, float) { redraw_of(g).data(); });
}

}  // namespace

bool can_open(std::string& why) {
#ifdef __linux__
    const auto is_set = [](const char* name) {
        const char* value = std::getenv(name);
        return value && *value;
    };
    if (!is_set("DISPLAY") && !is_set("WAYLAND_DISPLAY")) {
        why = "no window can be opened: neither DISPLAY nor WAYLAND_DISPLAY is set";
        return false;
    }
#ifdef GLFW_PLATFORM  // since 3.4
    // Asking for Wayland where there is none makes its library complain on stderr.
    if (!is_set("WAYLAND_DISPLAY")) glfwInitHint(GLFW_PLATFORM, GLFW_PLATFORM_X11);
#endif
#endif
    if (!glfwInit()) {
        why = "no window can be opened: " + last_error();
        return false;
    }
    why.clear();
    return true;
}

Window::Window(const char* title, int width, int height, std::string& why) {
    if (!can_open(why)) return;
    glfwWindowHint(GLFW_CONTEXT_VERSION_MAJOR, 3);
    glfwWindowHint(GLFW_CONTEXT_VERSION_MINOR, 3);
    glfwWindowHint(GLFW_OPENGL_PROFILE, GLFW_OPENGL_CORE_PROFILE);
    glfwWindowHint(GLFW_SCALE_TO_MONITOR, GLFW_TRUE);
    window_ = glfwCreateWindow(width, height, title, nullptr, nullptr);
    if (!window_) {
        why = "no window can be opened: " + last_error();
        return;
    }
    glfwSetWindowUserPointer(window_, this);
    watch(window_);
    glfwSetDropCallback(window_, [](GLFWwindow* w, int count, const char** paths) {
        auto& self = *static_cast<Window*>(glfwGetWindowUserPointer(w));
        self.dropped_.insert(self.dropped_.end(), paths, paths + count);
        self.redraw().input(glfwGetTime());
    });
    glfwMakeContextCurrent(window_);
    glfwSwapInterval(1);
    context_ = std::make_unique<Context>();
    ImGui_ImplGlfw_InitForOpenGL(window_, true);
    ImGui_ImplOpenGL3_Init("#version 330");
}

Window::~Window() {
    if (context_) {
        ImGui_ImplOpenGL3_Shutdown();
        ImGui_ImplGlfw_Shutdown();
        context_.reset();
    }
    if (window_) glfwDestroyWindow(window_);
    glfwTerminate();
}

bool Window::begin_frame() {
    glfwPollEvents();
    while (!glfwWindowShouldClose(window_)) {
        if (woken.exchange(false)) redraw_.data();
        const bool hidden = glfwGetWindowAttrib(window_, GLFW_ICONIFIED);
        if (!hidden && redraw_.due(now())) break;
        const double wait = hidden ? Redraw::never : redraw_.wait(now());
        if (wait == Redraw::never)
            glfwWaitEvents();
        else
            glfwWaitEventsTimeout(wait);
    }
    if (glfwWindowShouldClose(window_)) return false;
    ImGui_ImplOpenGL3_NewFrame();
    ImGui_ImplGlfw_NewFrame();
    ImGui::NewFrame();
    return true;
}

void Window::end_frame() {
    static const Gl gl;
    ImGui::Render();
    int width = 0, height = 0;
    glfwGetFramebufferSize(window_, &width, &height);
    const ImVec4 c = ImGui::ColorConvertU32ToFloat4(colours().background);
    gl.viewport(0, 0, width, height);
    gl.clear_colour(c.x, c.y, c.z, 1);
    gl.clear(Gl::colour_buffer);
    ImGui_ImplOpenGL3_RenderDrawData(ImGui::GetDrawData());
    glfwSwapBuffers(window_);
    redraw_.drawn(now());
}

void Window::wake() {
    woken = true;
    glfwPostEmptyEvent();
}

double Window::now() const { return glfwGetTime(); }

float Window::dpi() const { return ImGui_ImplGlfw_GetContentScaleForWindow(window_); }

void Window::close() { glfwSetWindowShouldClose(window_, GLFW_TRUE); }

}  // namespace gui
