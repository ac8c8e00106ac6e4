#pragma once
// The Markdown of a lesson as blocks and spans: paragraphs, lists, tables, code, quotes; bold, emphasis, code, links,
// footnotes, and {expressions} whose numbers the model fills in. Lines are kept, so that errors can name them.

#include <string>
#include <string_view>
#include <vector>

#include "lessons/expression.hpp"

namespace lessons {

struct Span {
    enum Kind { words, live, footnote } kind = words;
    std::string text;  ///< text as shown; of a footnote its mark
    bool strong = false, emphasis = false, code = false;
    std::string link;       ///< where a link goes: an address, or glossary.md#TERM
    Expression expression;  ///< live: what the number is
    std::string format;     ///< live: how it is written
    bool operator==(const Span& o) const {
        return kind == o.kind && text == o.text && strong == o.strong && emphasis == o.emphasis && code == o.code &&
               link == o.link && expression.text() == o.expression.text() && format == o.format;
    }
};
using Spans = std::vector<Span>;

struct Block {
    enum Kind { paragraph, bullet, numbered, quote, code, table_head, table_row } kind = paragraph;
    int line = 0;              ///< of the file, 1-based
    int number = 0;            ///< of a numbered item
    Spans spans;               ///< not of code and tables
    std::vector<Spans> cells;  ///< of a table row
    std::string code_text;     ///< of code: its lines
};
using Prose = std::vector<Block>;

/// Reads one run of text with its marks; BadInput names `where` (FILE:LINE) for an expression that cannot be read.
Spans parse_spans(std::string_view text, std::string_view where);

/// A line of a file and its number.
struct Line {
    int number = 0;
    std::string_view text;
};
/// Reads blocks; `file` is for errors, which are BadInput.
Prose parse_prose(const std::vector<Line>& lines, std::string_view file);

/// The text alone, without marks.
std::string bare_text(const Spans& spans);

}  // namespace lessons
