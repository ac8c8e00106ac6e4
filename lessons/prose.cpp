#include "lessons/prose.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "sim/error.hpp"
#include "sim/text.hpp"

namespace lessons {
namespace {

std::string_view trimmed(std::string_view s) {
    const auto begin = s.find_first_not_of(" \t\r");
    if (begin == s.npos) return {};
    return s.substr(begin, s.find_last_not_of(" \t\r") - begin + 1);
}

class SpanReader {
public:
    SpanReader(std::string_view text, std::string_view where) : text_(text), where_(where) {}

    Spans all() {
        while (at_ < text_.size()) {
            if (!mark()) plain_ += text_[at_++];
        }
        flush();
        return std::move(spans_);
    }

private:
    [[noreturn]] void bad(std::string_view what) const {
        throw sim::BadInput(fmt::format("{}: {} {}", where_, sim::quote(text_.substr(at_, 40)), what));
    }
    void add(Span s) {
        flush();
        s.strong = strong_;
        s.emphasis = emphasis_;
        spans_.push_back(std::move(s));
    }
    void flush() {
        if (plain_.empty()) return;
        Span s;
        s.text = std::exchange(plain_, {});
        s.strong = strong_;
        s.emphasis = emphasis_;
        spans_.push_back(std::move(s));
    }
    /// Takes one mark, if there is one here.
    bool mark() {
        const std::string_view rest = text_.substr(at_);
        if (rest[0] == '\\' && rest.size() > 1 && std::ispunct(static_cast<unsigned char>(rest[1]))) {
            plain_ += rest[1];
            at_ += 2;
            return true;
        }
        if (rest[0] == '`') return code();
        if (rest.starts_with("**")) {
            flush();
            strong_ = !strong_;
            at_ += 2;
            return true;
        }
        if (rest[0] == '*') {
            const bool opens = rest.size() > 1 && rest[1] != ' ';
            if (!emphasis_ && !opens) return false;  // a product
            flush();
            emphasis_ = !emphasis_;
            at_ += 1;
            return true;
        }
        if (rest[0] == '{') return live();
        if (rest.starts_with("[^")) {
            const std::size_t end = rest.find(']');
            if (end == rest.npos) bad("expected a closing ]");
            Span s;
            s.kind = Span::footnote;
            s.text = std::string(rest.substr(2, end - 2));
            add(std::move(s));
            at_ += end + 1;
            return true;
        }
        if (rest[0] == '[') return link();
        return false;
    }
    bool code() {
        const std::size_t end = text_.find('`', at_ + 1);
        if (end == text_.npos) bad("expected a closing `");
        Span s;
        s.text = std::string(text_.substr(at_ + 1, end - at_ - 1));
        s.code = true;
        add(std::move(s));
        at_ = end + 1;
        return true;
    }
    bool live() {
        const std::size_t end = text_.find('}', at_);
        if (end == text_.npos) bad("expected a closing } (a brace of the text is written \\{)");
        const std::string_view inside = text_.substr(at_ + 1, end - at_ - 1);
        const std::size_t bar = inside.find('|');
        Span s;
        s.kind = Span::live;
        s.format = std::string(bar == inside.npos ? "" : trimmed(inside.substr(bar + 1)));
        try {
            s.expression = Expression::parse(trimmed(inside.substr(0, bar)));
        } catch (const sim::BadInput& e) {
            throw sim::BadInput(fmt::format("{}: {}", where_, e.what()));
        }
        add(std::move(s));
        at_ = end + 1;
        return true;
    }
    bool link() {
        const std::size_t close = text_.find(']', at_);
        if (close == text_.npos || text_.substr(close + 1, 1) != "(") return false;
        const std::size_t end = text_.find(')', close);
        if (end == text_.npos) bad("expected a closing )");
        Span s;
        s.text = std::string(text_.substr(at_ + 1, close - at_ - 1));
        s.link = std::string(text_.substr(close + 2, end - close - 2));
        add(std::move(s));
        at_ = end + 1;
        return true;
    }

    std::string_view text_, where_;
    std::size_t at_ = 0;
    bool strong_ = false, emphasis_ = false;
    std::string plain_;
    Spans spans_;
};

/// "- " or "3. ": the length of the mark of an item, 0 where there is none.
std::size_t item_mark(std::string_view line, int& number) {
    if (line.starts_with("- ")) {
        number = 0;
        return 2;
    }
    std::size_t digits = 0;
    while (digits < line.size() && std::isdigit(static_cast<unsigned char>(line[digits]))) ++digits;
    if (digits == 0 || digits > 3 || !line.substr(digits).starts_with(". ")) return 0;
    number = std::stoi(std::string(line.substr(0, digits)));
    return digits + 2;
}

/// Joins the lines of a paragraph: with a space, but with nothing after a full-width mark or between two characters of
/// a script without spaces.
void join(std::string& text, std::string_view line) {
    if (line.empty()) return;
    const auto wide = [](char c) { return (c & 0x80) != 0; };
    const std::string_view last = std::string_view(text).substr(text.size() < 3 ? 0 : text.size() - 3);
    const bool mark = last.starts_with("\xE3\x80") || last.starts_with("\xEF\xBC") || last.starts_with("\xEF\xBD");
    if (!text.empty() && !mark && !(wide(text.back()) && wide(line.front()))) text += ' ';
    text += line;
}

std::vector<Spans> cells_of(std::string_view row, std::string_view where) {
    row = trimmed(row);
    row.remove_prefix(1);
    if (row.ends_with('|')) row.remove_suffix(1);
    std::vector<Spans> cells;
    for (;;) {
        // A bar inside {braces} or `code` is no border.
        std::size_t end = 0;
        bool braces = false, code = false;
        while (end < row.size() && (row[end] != '|' || braces || code)) {
            if (row[end] == '{') braces = true;
            if (row[end] == '}') braces = false;
            if (row[end] == '`') code = !code;
            ++end;
        }
        cells.push_back(parse_spans(trimmed(row.substr(0, end)), where));
        if (end == row.size()) return cells;
        row.remove_prefix(end + 1);
    }
}

}  // namespace

Spans parse_spans(std::string_view text, std::string_view where) { return SpanReader(text, where).all(); }

Prose parse_prose(const std::vector<Line>& lines, std::string_view file) {
    Prose out;
    Block block;
    std::string text;
    const auto flush = [&] {
        if (!text.empty()) {
            block.spans = parse_spans(text, fmt::format("{}:{}", file, block.line));
            out.push_back(block);
        }
        text.clear();
        block = {};
    };
    for (std::size_t i = 0; i < lines.size(); ++i) {
        const std::string_view line = trimmed(lines[i].text);
        const std::string where = fmt::format("{}:{}", file, lines[i].number);
        if (line.empty()) {
            flush();
        } else if (line.starts_with("```")) {
            flush();
            Block code;
            code.kind = Block::code;
            code.line = lines[i].number;
            std::size_t end = i + 1;
            while (end < lines.size() && !trimmed(lines[end].text).starts_with("```"))
                code.code_text += std::string(lines[end++].text) + '\n';
            if (end == lines.size()) throw sim::BadInput(where + ": code without a closing ```");
            out.push_back(code);
            i = end;
        } else if (line.starts_with('|')) {
            flush();
            const bool rule = line.find_first_not_of("|-: ") == line.npos;
            const bool head = i + 1 < lines.size() && trimmed(lines[i + 1].text).starts_with("|-");
            if (rule) continue;
            Block row;
            row.kind = head ? Block::table_head : Block::table_row;
            row.line = lines[i].number;
            row.cells = cells_of(line, where);
            out.push_back(row);
        } else {
            int number = 0;
            const std::size_t mark = item_mark(line, number);
            const bool quote = line.starts_with(">");
            if (mark || (quote && block.kind != Block::quote)) flush();
            if (text.empty()) {
                block.line = lines[i].number;
                block.kind = quote ? Block::quote : !mark ? Block::paragraph : number ? Block::numbered : Block::bullet;
                block.number = number;
            }
            join(text, trimmed(line.substr(quote ? 1 : mark)));
        }
    }
    flush();
    return out;
}

std::string bare_text(const Spans& spans) {
    std::string out;
    for (const Span& s : spans)
        if (s.kind != Span::footnote) out += s.text;
    return out;
}

}  // namespace lessons
