#include "gui/drawn_text.hpp"

#include <imgui_internal.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <span>

namespace gui {
namespace {

/// Which glyph each texel of the font atlas belongs to.
class AtlasIndex {
  public:
    explicit AtlasIndex(const ImFontAtlas& atlas)
        : texture_(*atlas.TexData), owner_(static_cast<std::size_t>(texture_.Width) * texture_.Height, 0) {
        for (int i = 0; i < atlas.Builder->BakedPool.Size; ++i) {
            ImFontBaked& baked = atlas.Builder->BakedPool[i];
            if (baked.WantDestroy) continue;
            for (ImFontGlyph& glyph : baked.Glyphs) {
                if (!glyph.Visible) continue;
                entries_.push_back({&baked, &glyph});
                const int x0 = texel(glyph.U0, texture_.Width), x1 = texel(glyph.U1, texture_.Width);
                const int y0 = texel(glyph.V0, texture_.Height), y1 = texel(glyph.V1, texture_.Height);
                for (int y = y0; y < y1; ++y)
                    std::fill_n(owner_.begin() + static_cast<std::ptrdiff_t>(y) * texture_.Width + x0, x1 - x0,
                                static_cast<std::uint32_t>(entries_.size()));
            }
        }
    }

    struct Entry {
        ImFontBaked* baked;
        const ImFontGlyph* glyph;
    };

    const Entry* find(float u, float v) const {
        const int x = static_cast<int>(u * static_cast<float>(texture_.Width));
        const int y = static_cast<int>(v * static_cast<float>(texture_.Height));
        if (x < 0 || y < 0 || x >= texture_.Width || y >= texture_.Height) return nullptr;
        const std::uint32_t id = owner_[static_cast<std::size_t>(y) * texture_.Width + x];
        return id ? &entries_[id - 1] : nullptr;
    }

    const ImTextureData* texture() const { return &texture_; }

  private:
    static int texel(float coordinate, int size) {
        return static_cast<int>(std::lround(coordinate * static_cast<float>(size)));
    }

    const ImTextureData& texture_;
    std::vector<std::uint32_t> owner_;  // (height, width): 1 + index of entries_, 0 = none
    std::vector<Entry> entries_;
};

/// A glyph quad in its own line's directions: `along` in reading direction, `across` downwards from the line's top.
struct Quad {
    const AtlasIndex::Entry* entry;
    float along, across;  // pen position (glyph origin)
    float scale;
    bool vertical;
    bool cut_x, cut_y;
    ImU32 colour;
};

std::optional<Quad> read_quad(const AtlasIndex& atlas, const ImDrawVert* v0, const ImDrawVert* v1, const ImDrawVert* v2,
                              const ImVec4& clip) {
    if ((v0->col >> IM_COL32_A_SHIFT & 255) == 0 || v0->uv.x >= v2->uv.x || v0->uv.y >= v2->uv.y) return {};
    const AtlasIndex::Entry* entry = atlas.find((v0->uv.x + v2->uv.x) / 2, (v0->uv.y + v2->uv.y) / 2);
    if (!entry) return {};
    const ImFontGlyph& g = *entry->glyph;
    const bool vertical = std::fabs(v1->pos.y - v0->pos.y) > std::fabs(v1->pos.x - v0->pos.x);
    const float length = vertical ? v0->pos.y - v1->pos.y : v1->pos.x - v0->pos.x;
    const float share = (v2->uv.x - v0->uv.x) / (g.U1 - g.U0);
    if (length <= 0 || share <= 0 || g.X1 <= g.X0) return {};
    Quad q{entry, 0, 0, length / (share * (g.X1 - g.X0)), vertical, false, false, v0->col};
    const float before = (v0->uv.x - g.U0) / (g.U1 - g.U0) * (g.X1 - g.X0) + g.X0;
    const float above = (v0->uv.y - g.V0) / (g.V1 - g.V0) * (g.Y1 - g.Y0) + g.Y0;
    q.along = (vertical ? -v0->pos.y : v0->pos.x) - before * q.scale;
    q.across = (vertical ? v0->pos.x : v0->pos.y) - above * q.scale;
    const float slack = 0.75f;  // antialiasing of the last column is no loss
    const auto outside = [&](float low, float high, float from, float to) {
        return low < from - slack || high > to + slack;
    };
    const auto shortened = [&](float drawn, float whole) { return drawn < whole * (1 - 1e-3f) - slack * 1e-3f; };
    const ImVec2 low{std::min(v0->pos.x, v2->pos.x), std::min(v0->pos.y, v2->pos.y)};
    const ImVec2 high{std::max(v0->pos.x, v2->pos.x), std::max(v0->pos.y, v2->pos.y)};
    q.cut_x = outside(low.x, high.x, clip.x, clip.z);
    q.cut_y = outside(low.y, high.y, clip.y, clip.w);
    (vertical ? q.cut_y : q.cut_x) |= shortened(v2->uv.x - v0->uv.x, g.U1 - g.U0);
    (vertical ? q.cut_x : q.cut_y) |= shortened(v2->uv.y - v0->uv.y, g.V1 - g.V0);
    return q;
}

void append_utf8(std::string& out, unsigned c) {
    const auto tail = [&](int shift) { out += static_cast<char>(0x80 | (c >> shift & 0x3f)); };
    if (c < 0x80) {
        out += static_cast<char>(c);
    } else if (c < 0x800) {
        out += static_cast<char>(0xc0 | c >> 6);
        tail(0);
    } else if (c < 0x10000) {
        out += static_cast<char>(0xe0 | c >> 12);
        tail(6);
        tail(0);
    } else {
        out += static_cast<char>(0xf0 | c >> 18);
        tail(12);
        tail(6);
        tail(0);
    }
}

/// Joins quads into runs while each continues the line where the pen of the one before stopped.
class Runs {
  public:
    void add(const Quad& q) {
        const ImFontGlyph& g = *q.entry->glyph;
        const float gap = q.along - pen_;
        const float space = q.entry->baked->GetCharAdvance(' ') * q.scale;
        const float slack = 0.12f * q.entry->baked->Size * q.scale;
        const bool joins = open_ && q.entry->baked == last_.entry->baked && q.vertical == last_.vertical &&
                           q.colour == last_.colour && std::fabs(q.across - last_.across) < 1.0f && gap > -slack &&
                           gap < 2 * space + slack;
        if (!joins) {
            flush();
            open_ = true;
            run_ = {};
            run_.colour = q.colour;
            run_.vertical = q.vertical;
            start_ = q.along;
        } else if (space > 0) {
            run_.text.append(static_cast<std::size_t>(std::lround(std::max(0.0f, gap) / space)), ' ');
        }
        append_utf8(run_.text, g.Codepoint);
        run_.cut_x |= q.cut_x;
        run_.cut_y |= q.cut_y;
        pen_ = q.along + g.AdvanceX * q.scale;
        last_ = q;
    }

    void flush() {
        if (!open_) return;
        open_ = false;
        const float height = last_.entry->baked->Size * last_.scale;
        run_.box = last_.vertical ? ImVec4(last_.across, -pen_, last_.across + height, -start_)
                                  : ImVec4(start_, last_.across, pen_, last_.across + height);
        found.push_back(run_);
    }

    std::vector<DrawnText> found;

  private:
    bool open_ = false;
    DrawnText run_;
    Quad last_{};
    float start_ = 0, pen_ = 0;
};

}  // namespace

std::vector<DrawnText> drawn_text(const ImDrawData& data) {
    const AtlasIndex atlas(*ImGui::GetIO().Fonts);
    Runs runs;
    for (const ImDrawList* list : data.CmdLists) {
        for (const ImDrawCmd& command : list->CmdBuffer) {
            if (command.UserCallback || command.TexRef._TexData != atlas.texture()) continue;
            if (command.ClipRect.x >= command.ClipRect.z || command.ClipRect.y >= command.ClipRect.w) continue;
            const std::span index(list->IdxBuffer.Data + command.IdxOffset, command.ElemCount);
            for (std::size_t i = 0; i + 5 < index.size(); i += 3) {
                const ImDrawIdx a = index[i];
                if (index[i + 3] != a || index[i + 2] != index[i + 4]) continue;  // not the two halves of a quad
                const ImDrawVert* v = list->VtxBuffer.Data + command.VtxOffset;
                if (const auto quad = read_quad(atlas, v + a, v + index[i + 1], v + index[i + 2], command.ClipRect)) {
                    runs.add(*quad);
                    i += 3;
                }
            }
        }
        runs.flush();
    }
    return std::move(runs.found);
}

std::string to_lines(const std::vector<DrawnText>& texts) {
    std::string out;
    for (const DrawnText& t : texts) {
        std::string flags;
        const auto flag = [&](bool on, const char* name) {
            if (on) flags += (flags.empty() ? "" : ",") + std::string(name);
        };
        flag(t.cut_x, "cut");
        flag(t.cut_y, "cut-y");
        flag(t.vertical, "up");
        char box[96];
        std::snprintf(box, sizeof box, "%.0f %.0f %.0f %.0f ", t.box.x, t.box.y, t.box.z, t.box.w);
        out += box + (flags.empty() ? std::string("-") : flags) + ' ' + t.text + '\n';
    }
    return out;
}

}  // namespace gui
