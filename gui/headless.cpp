#include "gui/headless.hpp"

#include <cstring>
#include <ctime>

#include "gui/raster.hpp"

namespace gui {
namespace {

/// What a frame would put on screen, as one number.
std::uint64_t triangles(const ImDrawData& data) {
    std::uint64_t hash = 1469598103934665603ull;
    const auto add = [&](const void* at, std::size_t bytes) {
        for (std::size_t i = 0; i + 4 <= bytes; i += 4) {
            std::uint32_t word;
            std::memcpy(&word, static_cast<const char*>(at) + i, 4);
            hash = (hash ^ word) * 1099511628211ull;
        }
    };
    for (const ImDrawList* list : data.CmdLists)
        add(list->VtxBuffer.Data, static_cast<std::size_t>(list->VtxBuffer.size_in_bytes()));
    return hash;
}

/// Processor time of this thread so far, in seconds: other work on the machine does not count.
double thread_seconds() {
    timespec t{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

}  // namespace

Headless::Headless(int width, int height, const Appearance& appearance, Draw draw) : draw_(std::move(draw)) {
    ImGuiIO& io = ImGui::GetIO();
    io.BackendPlatformName = "none";
    io.BackendRendererName = "cpu";
    io.BackendFlags |= ImGuiBackendFlags_RendererHasVtxOffset | ImGuiBackendFlags_RendererHasTextures;
    io.DisplaySize = {static_cast<float>(width), static_cast<float>(height)};
    io.DeltaTime = 1.0f / 60;
    apply(appearance, 1);
}

Headless::~Headless() {
    for (ImTextureData* texture : ImGui::GetPlatformIO().Textures) {
        texture->SetTexID(ImTextureID_Invalid);
        texture->SetStatus(ImTextureStatus_Destroyed);
    }
}

void Headless::frames(int count) {
    for (int i = 0; i < count; ++i) {
        const double start = thread_seconds();
        ImGui::NewFrame();
        draw_();
        ImGui::Render();
        frame_seconds_ = thread_seconds() - start;
        accept_textures(*ImGui::GetDrawData());
    }
}

void Headless::settle(int most) {
    frames(2);
    std::uint64_t before = triangles(*ImGui::GetDrawData());
    for (int i = 2; i < most; ++i) {
        frames();
        const std::uint64_t now = triangles(*ImGui::GetDrawData());
        if (now == before) break;
        before = now;
    }
}

void Headless::move(ImVec2 to) {
    ImGui::GetIO().AddMousePosEvent(to.x, to.y);
    frames();
}

void Headless::press(int button) {
    ImGui::GetIO().AddMouseButtonEvent(button, true);
    frames();
}

void Headless::release(int button) {
    ImGui::GetIO().AddMouseButtonEvent(button, false);
    frames();
}

void Headless::click(ImVec2 at, int button) {
    move(at);
    frames();
    press(button);
    release(button);
    frames();
}

void Headless::wheel(float steps) {
    ImGui::GetIO().AddMouseWheelEvent(0, steps);
    frames(2);
}

void Headless::key(ImGuiKeyChord chord) {
    ImGuiIO& io = ImGui::GetIO();
    const auto send = [&](bool down) {
        for (ImGuiKey mod : {ImGuiMod_Ctrl, ImGuiMod_Shift, ImGuiMod_Alt})
            if (chord & mod) io.AddKeyEvent(mod, down);
        if (const auto key = static_cast<ImGuiKey>(chord & ~ImGuiMod_Mask_); key != ImGuiKey_None)
            io.AddKeyEvent(key, down);
        frames(2);
    };
    send(true);
    send(false);
}

void Headless::type(std::string_view utf8) {
    ImGui::GetIO().AddInputCharactersUTF8(std::string(utf8).c_str());
    frames(2);
}

Image Headless::image() const { return rasterise(*ImGui::GetDrawData(), colours().background); }

std::vector<DrawnText> Headless::texts() const { return drawn_text(*ImGui::GetDrawData()); }

}  // namespace gui
