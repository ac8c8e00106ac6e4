#include "gui/prose.hpp"

#include <fmt/format.h>
#include <imgui_internal.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include "gui/context.hpp"
#include "gui/draw.hpp"
#include "gui/theme.hpp"
#include "lessons/line_breaks.hpp"

namespace gui {

using lessons::Block;
using lessons::Span;
using lessons::Spans;

namespace {

constexpr float line_share = 1.5f;  // a line's height in font sizes

ImFont* face_of(const Span& s) {
    if (s.code) return mono();
    if (s.strong) return bold();
    return s.emphasis ? italic() : ImGui::GetFont();
}
float size_of(const Span& s) {
    const float size = ImGui::GetFontSize();
    return s.kind == Span::footnote ? size * 0.72f : s.code ? size * 0.94f : size;
}
float width_of(const Span& s, std::string_view text) {
    return face_of(s)->CalcTextSizeA(size_of(s), FLT_MAX, 0, text.data(), text.data() + text.size()).x;
}

/// What stays on one line: a word or a Chinese character, with the marks that cling to it, in one or more faces.
struct Piece {
    struct Run {
        const Span* span;
        std::string text;
    };
    std::vector<Run> runs;
    float space = 0;  // pixels before it, unless it begins a line
    float width() const {
        float sum = 0;
        for (const Run& r : runs) sum += width_of(*r.span, r.text);
        return sum;
    }
    void add(const Span& span, std::string_view text) {
        if (runs.empty() || runs.back().span != &span) runs.push_back({&span, {}});
        runs.back().text += text;
    }
};

std::vector<Piece> pieces_of(const Spans& spans) {
    std::vector<Piece> out;
    lessons::LineBreaks breaks;
    for (const Span& span : spans) {
        std::string_view text = span.text;
        if (span.kind == Span::footnote) {  // a raised mark clings to what it follows
            if (out.empty()) out.emplace_back();
            out.back().add(span, text);
            breaks.mark();
            continue;
        }
        bool within = false;  // code has spaces of its own width; those between spans are the prose's
        while (const auto c = breaks.next(text)) {
            if (out.empty() || c->begins) {
                out.emplace_back();
                if (c->spaced) out.back().space = within ? width_of(span, " ") : ImGui::CalcTextSize(" ").x;
            }
            out.back().add(span, c->text);
            within = true;
        }
    }
    return out;
}

void show_tip(const std::string& text) {
    if (text.empty() || !ImGui::BeginTooltip()) return;
    ImGui::PushTextWrapPos(em(26));
    ImGui::TextUnformatted(in_lines(text, em(26) - ImGui::GetCursorPosX()).c_str());
    ImGui::PopTextWrapPos();
    ImGui::EndTooltip();
}

}  // namespace

Flow::Flow(Spans words, float width)
    : spans_(std::make_shared<const Spans>(std::move(words))),
      line_height_(std::round(ImGui::GetFontSize() * line_share)) {
    const Spans& spans = *spans_;
    float x = 0;
    const auto put = [&](const Span& span, std::string text, float w) {
        if (lines_.empty()) lines_.emplace_back();
        Line& line = lines_.back();
        if (!line.empty() && line.back().span == &span && std::fabs(line.back().x + line.back().width - x) < 0.01f) {
            line.back().text += text;
            line.back().width += w;
        } else {
            line.push_back({&span, std::move(text), x, w});
        }
        x += w;
        widest_ = std::max(widest_, x);
    };
    const auto fresh = [&] {
        lines_.emplace_back();
        x = 0;
    };
    for (const Piece& p : pieces_of(spans)) {
        const float w = p.width();
        if (x > 0 && x + p.space + w > width)
            fresh();
        else if (x > 0 && p.space > 0) {
            const Span& span = *p.runs.front().span;
            if (lines_.back().back().span == &span)
                put(span, " ", p.space);
            else
                x += p.space;
        }
        if (x + w <= width) {
            for (const Piece::Run& r : p.runs) put(*r.span, r.text, width_of(*r.span, r.text));
            continue;
        }
        for (const Piece::Run& r : p.runs)  // longer than a line, such as an address: broken anywhere
            for (std::string_view text = r.text; !text.empty();) {
                const std::string_view one = lessons::first_character(text).text;
                text.remove_prefix(one.size());
                const float step = width_of(*r.span, one);
                if (x > 0 && x + step > width) fresh();
                put(*r.span, std::string(one), step);
            }
    }
}

float Flow::height() const { return line_height_ * static_cast<float>(std::max<std::size_t>(1, lines_.size())); }

void Flow::draw(ImVec2 at, ImU32 colour, const ProseLinks* links) const {
    ImDrawList& list = *ImGui::GetWindowDrawList();
    const Palette& p = colours();
    const float size = ImGui::GetFontSize();
    const ImVec2 cursor = ImGui::GetCursorScreenPos();
    float y = at.y;
    for (const Line& line : lines_) {
        for (const Part& part : line) {
            const Span& s = *part.span;
            const float part_size = size_of(s);
            ImVec2 low{at.x + part.x, y}, high{at.x + part.x + part.width, y + line_height_};
            const float top = s.kind == Span::footnote ? y + (line_height_ - size) / 2 - size * 0.18f
                                                       : std::round(y + (line_height_ - part_size) / 2);
            const bool is_link = !s.link.empty() && links && links->open;
            ImU32 ink = s.kind == Span::footnote || is_link ? p.accent : colour;
            bool hovered = false;
            if (is_link) {
                ImGui::SetCursorScreenPos(low);
                // Named by its place in the window: the same in every frame, however far it is scrolled.
                ImGui::PushID(static_cast<int>(low.x - ImGui::GetWindowPos().x));
                ImGui::PushID(static_cast<int>(low.y - ImGui::GetWindowPos().y + ImGui::GetScrollY()));
                if (ImGui::InvisibleButton("link", {std::max(1.0f, part.width), line_height_},
                                           ImGuiButtonFlags_EnableNav))
                    links->open(s.link);
                hovered = ImGui::IsItemHovered();
                ImGui::PopID();
                ImGui::PopID();
                if (hovered) ImGui::SetMouseCursor(ImGuiMouseCursor_Hand);
            } else if (links && links->explain) {
                hovered = ImGui::IsWindowHovered() && ImGui::IsMouseHoveringRect(low, high);
            }
            if (s.code) {
                const float pad = size * 0.12f;
                list.AddRectFilled({low.x - pad, top - pad}, {high.x + pad, top + part_size + pad}, p.raised, em(0.2f));
            }
            list.AddText(face_of(s), part_size, {low.x, top}, ink, part.text.c_str());
            if (is_link)
                list.AddLine({low.x, top + part_size * 1.08f}, {high.x, top + part_size * 1.08f},
                             with_alpha(p.accent, hovered ? 1.0f : 0.45f));
            if (hovered && links->explain) show_tip(links->explain(s));
        }
        y += line_height_;
    }
    ImGui::SetCursorScreenPos(cursor);
}

lessons::Spans plain_spans(std::string text) {
    Span s;
    s.text = std::move(text);
    return {s};
}

void draw_spans(const Spans& spans, float width, ImU32 colour, const ProseLinks* links) {
    const Flow flow(spans, width);
    flow.draw(ImGui::GetCursorScreenPos(), colour, links);
    ImGui::Dummy({width, flow.height()});
}

namespace {

/// A row of a table: cells wrapped to their columns.
void table_row(const Block& b, std::span<const float> widths, bool head, bool last, const ProseLinks* links) {
    const float gap = em(1.2f), pad = em(0.22f);
    std::vector<Flow> flows;
    float height = 0;
    if (head) ImGui::PushFont(bold(), 0);
    for (std::size_t i = 0; i < b.cells.size() && i < widths.size(); ++i) {
        flows.emplace_back(b.cells[i], widths[i]);
        height = std::max(height, flows.back().height());
    }
    const ImVec2 at = ImGui::GetCursorScreenPos();
    float x = at.x, right = at.x;
    for (std::size_t i = 0; i < flows.size(); ++i) {
        flows[i].draw({x, at.y + pad}, head ? colours().dim : colours().text, links);
        right = x + widths[i];
        x += widths[i] + gap;
    }
    if (head) ImGui::PopFont();
    if (!last)
        ImGui::GetWindowDrawList()->AddLine({at.x, at.y + height + 2 * pad}, {right, at.y + height + 2 * pad},
                                            colours().border, head ? 1.5f : 1.0f);
    ImGui::Dummy({right - at.x, height + 2 * pad + 1});
}

/// Widths of a table's columns: as wide as their longest cell, and narrowed in proportion where that is too much.
std::vector<float> column_widths(std::span<const Block> rows, float width) {
    std::vector<float> widths;
    for (const Block& b : rows)
        for (std::size_t i = 0; i < b.cells.size(); ++i) {
            if (widths.size() <= i) widths.push_back(em(2));
            ImGui::PushFont(b.kind == Block::table_head ? bold() : ImGui::GetFont(), 0);
            widths[i] = std::max(widths[i], std::ceil(Flow(b.cells[i], FLT_MAX).width()) + 1);
            ImGui::PopFont();
        }
    const float room = width - em(1.2f) * static_cast<float>(widths.size() - 1);
    float sum = 0;
    for (const float w : widths) sum += w;
    // The widest gives way first.
    while (sum > room) {
        auto widest = std::max_element(widths.begin(), widths.end());
        if (*widest <= em(2.5f)) break;
        const float less = std::min(sum - room, em(0.5f));
        *widest -= less;
        sum -= less;
    }
    return widths;
}

void code_block(const Block& b, float width) {
    const float pad = em(0.7f);
    std::vector<Flow> flows;
    std::vector<Spans> lines;
    for (std::string_view rest = b.code_text; !rest.empty();) {
        const std::size_t end = std::min(rest.find('\n'), rest.size());
        std::string line;
        for (const char c : rest.substr(0, end))
            line += c == ' ' ? std::string("\u00a0") : std::string(1, c);  // as it stands
        lines.push_back(plain_spans(std::move(line)));
        rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    ImGui::PushFont(mono(), ImGui::GetStyle().FontSizeBase * 0.92f);
    float height = 0;
    for (const Spans& line : lines) {
        flows.emplace_back(line, width - 2 * pad);
        height += flows.back().height() * 0.9f;
    }
    const ImVec2 at = ImGui::GetCursorScreenPos();
    ImGui::GetWindowDrawList()->AddRectFilled(at, {at.x + width, at.y + height + 2 * pad}, colours().raised, em(0.35f));
    float y = at.y + pad;
    for (const Flow& f : flows) {
        f.draw({at.x + pad, y}, colours().text);
        y += f.height() * 0.9f;
    }
    ImGui::PopFont();
    ImGui::Dummy({width, height + 2 * pad});
}

bool is_table(const Block& b) { return b.kind == Block::table_head || b.kind == Block::table_row; }
bool is_item(const Block& b) { return b.kind == Block::bullet || b.kind == Block::numbered; }

}  // namespace

void draw_prose(const lessons::Prose& prose, float width, const ProseLinks* links) {
    ImGui::PushStyleVarY(ImGuiStyleVar_ItemSpacing, 0);
    for (std::size_t i = 0; i < prose.size(); ++i) {
        const Block& b = prose[i];
        if (i > 0) {
            const bool close = (is_item(b) && is_item(prose[i - 1])) || (is_table(b) && is_table(prose[i - 1]));
            if (!close) ImGui::Dummy({0, em(0.75f)});
            if (close && is_item(b)) ImGui::Dummy({0, em(0.3f)});
        }
        const ImVec2 at = ImGui::GetCursorScreenPos();
        const ImU32 ink = colours().text;
        switch (b.kind) {
            case Block::table_head:
            case Block::table_row: {
                std::size_t first = i, end = i;
                while (first > 0 && is_table(prose[first - 1])) --first;
                while (end < prose.size() && is_table(prose[end])) ++end;
                table_row(b, column_widths(std::span(prose).subspan(first, end - first), width),
                          b.kind == Block::table_head, i + 1 == end, links);
                break;
            }
            case Block::bullet:
            case Block::numbered: {
                const float indent = em(1.7f);
                const float line = std::round(ImGui::GetFontSize() * line_share);
                if (b.kind == Block::bullet) {
                    ImGui::GetWindowDrawList()->AddCircleFilled({at.x + em(0.75f), at.y + line / 2}, em(0.16f),
                                                                colours().dim);
                } else {
                    const std::string number = fmt::format("{}.", b.number);
                    ImGui::GetWindowDrawList()->AddText({at.x + em(0.25f), at.y + (line - ImGui::GetFontSize()) / 2},
                                                        colours().dim, number.c_str());
                }
                ImGui::SetCursorScreenPos({at.x + indent, at.y});
                draw_spans(b.spans, width - indent, ink, links);
                break;
            }
            case Block::quote: {
                const float indent = em(1.1f);
                const Flow flow(b.spans, width - indent);
                ImGui::GetWindowDrawList()->AddRectFilled(at, {at.x + em(0.2f), at.y + flow.height()},
                                                          colours().border);
                flow.draw({at.x + indent, at.y}, colours().dim, links);
                ImGui::Dummy({width, flow.height()});
                break;
            }
            case Block::code: code_block(b, width); break;
            case Block::paragraph: draw_spans(b.spans, width, ink, links); break;
        }
        if (links && links->after) links->after(b, width);
    }
    ImGui::PopStyleVar();
}

}  // namespace gui
