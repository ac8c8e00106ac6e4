# Dear ImGui 1.92 (docking) + ImPlot + GLFW with the OpenGL 3 backend, as one target: DearImGui::DearImGui.
# In this order: installed CMake packages; the unpacked `comma-deps-imgui` wheel that ./lab puts into the user's cache
# (or -DDearImGui_ROOT=FOLDER with include/ and lib/); the pinned upstream sources. None: DearImGui_NOT_FOUND_MESSAGE.
# OpenGL, X11 and Wayland are opened at run time, so nothing but dl, threads and m is linked.

set(DearImGui_NOT_FOUND_MESSAGE "")
add_library(DearImGui::DearImGui INTERFACE IMPORTED GLOBAL)
target_compile_definitions(DearImGui::DearImGui INTERFACE GLFW_INCLUDE_NONE)  # else glfw3.h asks for OpenGL's headers
target_link_libraries(DearImGui::DearImGui INTERFACE Threads::Threads ${CMAKE_DL_LIBS} m)

find_package(imgui 1.92 CONFIG QUIET)
find_package(implot CONFIG QUIET)
find_package(glfw3 3.3 CONFIG QUIET)
if(TARGET imgui::imgui AND TARGET implot::implot AND TARGET glfw)
    target_link_libraries(DearImGui::DearImGui INTERFACE implot::implot imgui::imgui glfw)
    set(DearImGui_FOUND TRUE)
    return()
endif()

if(NOT "$ENV{XDG_CACHE_HOME}" STREQUAL "")
    set(cache "$ENV{XDG_CACHE_HOME}")
else()
    set(cache "$ENV{HOME}/.cache")
endif()
file(GLOB wheels LIST_DIRECTORIES TRUE "${cache}/memwall/imgui-*")
list(SORT wheels COMPARE NATURAL ORDER DESCENDING)
find_path(DearImGui_INCLUDE_DIR implot.h PATHS ${wheels} PATH_SUFFIXES include NO_CACHE)
find_library(DearImGui_LIBRARY NAMES libimgui.a PATHS ${wheels} PATH_SUFFIXES lib NO_CACHE)
find_library(DearImGui_glfw_LIBRARY NAMES libglfw3.a PATHS ${wheels} PATH_SUFFIXES lib NO_CACHE)
if(EXISTS "${DearImGui_INCLUDE_DIR}/imgui_impl_glfw.h" AND DearImGui_LIBRARY AND DearImGui_glfw_LIBRARY)
    target_include_directories(DearImGui::DearImGui SYSTEM INTERFACE "${DearImGui_INCLUDE_DIR}")
    target_link_libraries(DearImGui::DearImGui INTERFACE "${DearImGui_LIBRARY}" "${DearImGui_glfw_LIBRARY}")
    set(DearImGui_FOUND TRUE)
    return()
endif()

# GLFW's own build stops the configuration without these headers, so they are looked for first.
find_package(X11 QUIET)
if(X11_Xrandr_FOUND AND X11_Xinerama_FOUND AND X11_Xcursor_FOUND AND X11_Xi_FOUND AND X11_Xkb_FOUND)
    memwall_fetch(imgui ocornut/imgui 934c6a5f5ef2355d6df25395d555cb71f790c4e9)
    memwall_fetch(implot epezent/implot 93c801b4bb801c5c11031d880b6af1d1f70bd79d)
    memwall_dependency(glfw3 glfw glfw/glfw 7b6aead9fb88b3623e3b3725ebb42670cbe4c579)
endif()
if(imgui_SOURCE_DIR AND implot_SOURCE_DIR AND TARGET glfw)
    set(imgui "${imgui_SOURCE_DIR}")
    set(implot "${implot_SOURCE_DIR}")
    add_library(memwall_imgui STATIC EXCLUDE_FROM_ALL
        ${imgui}/imgui.cpp ${imgui}/imgui_draw.cpp ${imgui}/imgui_tables.cpp ${imgui}/imgui_widgets.cpp
        ${imgui}/imgui_demo.cpp ${imgui}/backends/imgui_impl_glfw.cpp ${imgui}/backends/imgui_impl_opengl3.cpp
        ${implot}/implot.cpp ${implot}/implot_items.cpp)
    target_include_directories(memwall_imgui SYSTEM PUBLIC ${imgui} ${imgui}/backends ${implot})
    target_link_libraries(memwall_imgui PUBLIC glfw)
    set_target_properties(memwall_imgui PROPERTIES COMPILE_WARNING_AS_ERROR OFF)
    target_link_libraries(DearImGui::DearImGui INTERFACE memwall_imgui)
    set(DearImGui_FOUND TRUE)
    return()
endif()

set(DearImGui_FOUND FALSE)
set(DearImGui_NOT_FOUND_MESSAGE "Dear ImGui, ImPlot and GLFW were not found when this program was built")
