#pragma once
// Draws Dear ImGui's triangles with the CPU alone: no GPU, no display, the same pixels every time.

#include <imgui.h>

#include "gui/image.hpp"

namespace gui {

/// Does what a renderer must do for ImGui's dynamic textures. Their pixels already lie in main memory, so making and
/// updating one is only saying that it is done. Call once a frame after ImGui::Render().
void accept_textures(ImDrawData& data);

/// The frame as a picture of DisplaySize x FramebufferScale pixels over an opaque background colour.
/// Vertices are snapped to 1/256 pixel and edges are exact integers (top-left rule), so shared edges never gap or
/// overlap.
Image rasterise(const ImDrawData& data, ImU32 background);

}  // namespace gui
