#include "gui/raster.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <span>

namespace gui {
namespace {

using i64 = std::int64_t;
using u32 = std::uint32_t;
constexpr i64 one = 256;  // a pixel in vertex units

struct Clip {
    int x0, y0, x1, y1;  // pixels, upper ends excluded
};

struct Channels {
    int r, g, b, a;
};

Channels split(u32 c) {
    return {static_cast<int>(c & 255), static_cast<int>(c >> 8 & 255), static_cast<int>(c >> 16 & 255),
            static_cast<int>(c >> 24)};
}

/// Rounded x / 255 for 0 <= x <= 255 * 255.
int div255(int x) { return (x + 128 + ((x + 128) >> 8)) >> 8; }

u32 blend(u32 under, Channels over) {
    const auto mix = [&](int s, int d) { return static_cast<u32>(div255(s * over.a + d * (255 - over.a))); };
    const Channels d = split(under);
    return mix(over.r, d.r) | mix(over.g, d.g) << 8 | mix(over.b, d.b) << 16 | 0xff000000u;
}

Channels modulate(Channels a, Channels b) {
    return {div255(a.r * b.r), div255(a.g * b.g), div255(a.b * b.b), div255(a.a * b.a)};
}

/// A texture read with bilinear filtering; coordinates are texels in 16.16 fixed point, clamped at the border.
class Sampler {
  public:
    explicit Sampler(const ImTextureData* texture) : t_(texture) {}

    Channels at(i64 u, i64 v) const {
        if (!t_ || !t_->Pixels) return {255, 255, 255, 255};
        u -= 1 << 15;
        v -= 1 << 15;
        const int x = static_cast<int>(u >> 16), y = static_cast<int>(v >> 16);
        const int fx = static_cast<int>(u >> 8 & 255), fy = static_cast<int>(v >> 8 & 255);
        if ((fx | fy) == 0) return texel(x, y);
        const Channels a = texel(x, y), b = texel(x + 1, y), c = texel(x, y + 1), d = texel(x + 1, y + 1);
        const auto mix = [&](int p, int q, int r, int s) {
            return ((p * (256 - fx) + q * fx) * (256 - fy) + (r * (256 - fx) + s * fx) * fy + (1 << 15)) >> 16;
        };
        return {mix(a.r, b.r, c.r, d.r), mix(a.g, b.g, c.g, d.g), mix(a.b, b.b, c.b, d.b), mix(a.a, b.a, c.a, d.a)};
    }

    double width() const { return t_ ? t_->Width : 1; }
    double height() const { return t_ ? t_->Height : 1; }

  private:
    Channels texel(int x, int y) const {
        x = std::clamp(x, 0, t_->Width - 1);
        y = std::clamp(y, 0, t_->Height - 1);
        const unsigned char* p = t_->Pixels + (static_cast<std::size_t>(y) * t_->Width + x) * t_->BytesPerPixel;
        if (t_->BytesPerPixel == 1) return {255, 255, 255, p[0]};
        return {p[0], p[1], p[2], p[3]};
    }

    const ImTextureData* t_;
};

/// A value that is linear over the triangle, in 16.16 fixed point: value at a pixel's centre and its step in x.
struct Ramp {
    double origin, dx, dy;
    i64 at(double x, double y) const { return std::llround((origin + dx * x + dy * y) * 65536.0); }
    i64 step() const { return std::llround(dx * 65536.0); }
};

class Triangle {
  public:
    Triangle(Image& image, const Clip& clip, const Sampler& sampler) : image_(image), clip_(clip), sampler_(sampler) {}

    void draw(std::array<ImDrawVert, 3> v) {
        std::array<i64, 3> x, y;
        for (int i = 0; i < 3; ++i) {
            if (!std::isfinite(v[i].pos.x) || !std::isfinite(v[i].pos.y)) return;
            x[i] = std::llround(std::clamp(v[i].pos.x, -1e6f, 1e6f) * one);
            y[i] = std::llround(std::clamp(v[i].pos.y, -1e6f, 1e6f) * one);
        }
        i64 area = (x[1] - x[0]) * (y[2] - y[0]) - (x[2] - x[0]) * (y[1] - y[0]);
        if (area == 0) return;
        if (area < 0) {
            std::swap(v[1], v[2]);
            std::swap(x[1], x[2]);
            std::swap(y[1], y[2]);
        }
        prepare(v);
        const auto [low, high] = std::minmax({y[0], y[1], y[2]});
        const int top = std::max(clip_.y0, static_cast<int>((low - one / 2) >> 8));
        const int bottom = std::min(clip_.y1, static_cast<int>((high + one / 2) >> 8) + 1);
        for (int row = top; row < bottom; ++row) {
            // Pixel centres (column + 1/2) inside all three edges: a·column + b >= 0 with the top-left rule in b.
            i64 from = clip_.x0, to = clip_.x1;
            for (int e = 0; e < 3 && from < to; ++e) {
                const int f = (e + 1) % 3;
                const i64 ex = x[f] - x[e], ey = y[f] - y[e];
                const bool top_left = (ey == 0 && ex > 0) || ey < 0;
                const i64 a = -ey * one;
                const i64 b = ex * (row * one + one / 2 - y[e]) - ey * (one / 2 - x[e]) - (top_left ? 0 : 1);
                if (a > 0)
                    from = std::max(from, ceil_over(-b, a));
                else if (a < 0)
                    to = std::min(to, floor_over(b, -a) + 1);
                else if (b < 0)
                    to = from;
            }
            if (from < to) span(row, static_cast<int>(from), static_cast<int>(to));
        }
    }

  private:
    static i64 floor_over(i64 a, i64 b) { return a >= 0 ? a / b : -((-a + b - 1) / b); }
    static i64 ceil_over(i64 a, i64 b) { return -floor_over(-a, b); }

    void prepare(const std::array<ImDrawVert, 3>& v) {
        const auto same_uv = [&](int i) { return v[i].uv.x == v[0].uv.x && v[i].uv.y == v[0].uv.y; };
        flat_colour_ = v[1].col == v[0].col && v[2].col == v[0].col;
        flat_texture_ = same_uv(1) && same_uv(2);
        colour_ = split(v[0].col);
        const double w = sampler_.width(), h = sampler_.height();
        const auto ramp = [&](auto value) {
            const double x1 = v[1].pos.x - v[0].pos.x, y1 = v[1].pos.y - v[0].pos.y;
            const double x2 = v[2].pos.x - v[0].pos.x, y2 = v[2].pos.y - v[0].pos.y;
            const double d1 = value(v[1]) - value(v[0]), d2 = value(v[2]) - value(v[0]), det = x1 * y2 - x2 * y1;
            Ramp r{value(v[0]), 0, 0};
            if (det != 0) {
                r.dx = (d1 * y2 - d2 * y1) / det;
                r.dy = (d2 * x1 - d1 * x2) / det;
            }
            r.origin -= r.dx * v[0].pos.x + r.dy * v[0].pos.y;
            return r;
        };
        const double u0 = v[0].uv.x * w, v0 = v[0].uv.y * h;
        if (flat_texture_)
            tint_ = sampler_.at(std::llround(u0 * 65536), std::llround(v0 * 65536));
        else {
            u_ = ramp([&](const ImDrawVert& p) { return double{p.uv.x} * w; });
            v_ = ramp([&](const ImDrawVert& p) { return double{p.uv.y} * h; });
        }
        if (!flat_colour_)
            for (int c = 0; c < 4; ++c)
                rgba_[c] = ramp([&](const ImDrawVert& p) { return static_cast<double>(p.col >> 8 * c & 255); });
    }

    void span(int row, int from, int to) {
        u32* out = image_.pixels.data() + static_cast<std::size_t>(row) * image_.width;
        if (flat_colour_ && flat_texture_) {
            const Channels c = modulate(colour_, tint_);
            if (c.a == 255)
                std::fill(out + from, out + to, blend(0, c));
            else if (c.a > 0)
                for (int x = from; x < to; ++x) out[x] = blend(out[x], c);
            return;
        }
        const double cx = from + 0.5, cy = row + 0.5;
        i64 u = 0, v = 0, du = 0, dv = 0;
        if (!flat_texture_) {
            u = u_.at(cx, cy);
            v = v_.at(cx, cy);
            du = u_.step();
            dv = v_.step();
        }
        std::array<i64, 4> c{}, dc{};
        if (!flat_colour_)
            for (int i = 0; i < 4; ++i) {
                c[i] = rgba_[i].at(cx, cy);
                dc[i] = rgba_[i].step();
            }
        Channels colour = colour_;
        for (int x = from; x < to; ++x) {
            if (!flat_colour_) {
                const auto channel = [&](int i) {
                    const int value = static_cast<int>(std::clamp<i64>((c[i] + 32768) >> 16, 0, 255));
                    c[i] += dc[i];
                    return value;
                };
                colour = {channel(0), channel(1), channel(2), channel(3)};
            }
            const Channels texel = flat_texture_ ? tint_ : sampler_.at(u, v);
            u += du;
            v += dv;
            const Channels over = modulate(colour, texel);
            if (over.a > 0) out[x] = blend(out[x], over);
        }
    }

    Image& image_;
    const Clip& clip_;
    const Sampler& sampler_;
    bool flat_colour_ = true, flat_texture_ = true;
    Channels colour_{}, tint_{};
    Ramp u_{}, v_{};
    std::array<Ramp, 4> rgba_{};
};

}  // namespace

void accept_textures(ImDrawData& data) {
    if (!data.Textures) return;
    for (ImTextureData* texture : *data.Textures) {
        if (texture->Status == ImTextureStatus_WantDestroy) {
            texture->SetTexID(ImTextureID_Invalid);
            texture->SetStatus(ImTextureStatus_Destroyed);
        } else if (texture->Status != ImTextureStatus_OK && texture->Status != ImTextureStatus_Destroyed) {
            texture->SetTexID(static_cast<ImTextureID>(texture->UniqueID + 1));
            texture->SetStatus(ImTextureStatus_OK);
        }
    }
}

Image rasterise(const ImDrawData& data, ImU32 background) {
    const ImVec2 scale = data.FramebufferScale, origin = data.DisplayPos;
    Image image;
    image.width = std::max(1, static_cast<int>(data.DisplaySize.x * scale.x));
    image.height = std::max(1, static_cast<int>(data.DisplaySize.y * scale.y));
    image.pixels.assign(static_cast<std::size_t>(image.width) * image.height, background | 0xff000000u);

    for (const ImDrawList* list : data.CmdLists)
        for (const ImDrawCmd& command : list->CmdBuffer) {
            if (command.UserCallback) continue;
            const ImVec4& r = command.ClipRect;
            const Clip clip{std::max(0, static_cast<int>((r.x - origin.x) * scale.x)),
                            std::max(0, static_cast<int>((r.y - origin.y) * scale.y)),
                            std::min(image.width, static_cast<int>((r.z - origin.x) * scale.x)),
                            std::min(image.height, static_cast<int>((r.w - origin.y) * scale.y))};
            if (clip.x0 >= clip.x1 || clip.y0 >= clip.y1) continue;
            const Sampler sampler(command.TexRef._TexData);
            Triangle triangle(image, clip, sampler);
            const std::span indices(list->IdxBuffer.Data + command.IdxOffset, command.ElemCount);
            for (std::size_t i = 0; i + 2 < indices.size(); i += 3) {
                std::array<ImDrawVert, 3> corners;
                for (int k = 0; k < 3; ++k) {
                    corners[k] = list->VtxBuffer[static_cast<int>(command.VtxOffset + indices[i + k])];
                    corners[k].pos = {(corners[k].pos.x - origin.x) * scale.x, (corners[k].pos.y - origin.y) * scale.y};
                }
                triangle.draw(corners);
            }
        }
    return image;
}

}  // namespace gui
