#include "cli/lesson_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "cli/page.hpp"
#include "cli/published.hpp"
#include "cli/story.hpp"
#include "cli/text.hpp"
#include "lessons/figures.hpp"
#include "lessons/phrases.hpp"
#include "sim/sweep.hpp"
#include "sim/text.hpp"

namespace cli {
namespace {

using lessons::Phrase;

/// The bytes of the character that begins here, and the columns it takes.
struct Character {
    std::size_t bytes;
    int columns;
};
Character character(std::string_view text) {
    const auto c = static_cast<unsigned char>(text[0]);
    const std::size_t bytes = std::min<std::size_t>(c < 0x80 ? 1 : c < 0xE0 ? 2 : c < 0xF0 ? 3 : 4, text.size());
    // Three bytes from U+2E80 on: Chinese characters and full-width marks.
    const bool wide =
        bytes == 4 || (bytes == 3 && (c > 0xE2 || (c == 0xE2 && static_cast<unsigned char>(text[1]) >= 0xBA)));
    return {bytes, wide ? 2 : 1};
}
bool closes(std::string_view c) {
    static constexpr std::string_view marks[] = {"，", "。", "、", "；", "：", "！", "？", "）", "”", "」", "》", "…"};
    return std::find(std::begin(marks), std::end(marks), c) != std::end(marks);
}
bool opens(std::string_view c) { return c == "（" || c == "“" || c == "「" || c == "《"; }

/// A piece that stays on one line: a word, or a Chinese character with the marks that cling to it.
struct Piece {
    std::string text;
    int columns = 0;
    bool space = false;  ///< a space stood before it
};
std::vector<Piece> pieces(std::string_view text) {
    std::vector<Piece> out;
    bool space = false, glue = false, after_wide = false;
    while (!text.empty()) {
        if (text[0] == ' ') {
            space = true;
            glue = false;
            text.remove_prefix(1);
            continue;
        }
        const Character c = character(text);
        const std::string_view one = text.substr(0, c.bytes);
        text.remove_prefix(c.bytes);
        const bool wide = c.columns == 2;
        if (!out.empty() && !space && (glue || closes(one) || (!wide && !after_wide))) {
            out.back().text += one;
            out.back().columns += c.columns;
        } else {
            out.push_back({std::string(one), c.columns, space});
        }
        space = false;
        after_wide = wide;
        glue = opens(one);
    }
    return out;
}

std::string_view colon(lessons::Language l) { return l == lessons::Language::zh ? "：" : ": "; }

std::string rule(const std::string& text, int width) {
    int columns = 0;
    for (const Piece& p : pieces(text)) columns += p.columns + p.space;
    return "── " + text + " " + [&] {
        std::string line;
        for (int i = columns + 4; i < width; ++i) line += "─";
        return line;
    }() + "\n";
}

std::string roofline_text(const sim::Report& r, lessons::Model& model, const std::string& scene) {
    Table table("lr");
    for (const char* name : {"intensity", "ridge", "best_intensity", "device.peak", "device.bandwidth", "rate"}) {
        if (!r.predicted) break;
        table.row({name, lessons::to_text(model.quantity(name, "", scene))});
    }
    return table.text(2);
}

std::string sweep_text(const sim::Report& r, const sim::Catalogue& devices) {
    Table table("rlrr");
    table.row({"", "tile", "time", "DRAM bytes"});
    for (const sim::SweepRow& row : sim::sweep(r.experiment, devices)) {
        if (row.rank == 0 || row.rank > 8) continue;
        const sim::Tile t = row.experiment.tile;
        table.row({std::to_string(row.rank) + (row.tie ? "=" : ""), fmt::format("{}x{}x{}", t.bm, t.bn, t.bk),
                   sim::format_us(row.time_us), sim::format_bytes(static_cast<double>(row.dram_bytes))});
    }
    return table.text(2);
}

std::string figure_text(std::string_view id, const std::string& scene, lessons::Model& model, int width) {
    const sim::Report& r = model.report(scene);
    const sim::Device& d = model.devices().at(r.experiment.device);
    if (!r.fit.ok()) return fmt::format("  {}\n", r.fit.why);
    const auto groups = published(r.experiment, model.devices());
    if (id == "headline") return verdict_text(r, measured_lines(groups), width);
    if (id == "traffic") return traffic_text(r, d, width);
    if (id == "time") return time_split_text(r, width);
    if (id == "tiles") {
        std::string out = subject_text(r, d, width);
        for (const std::string& line : on_chip(r, d)) out += wrap(line, width, 2, 2);
        return out;
    }
    if (id == "roofline") return roofline_text(r, model, scene);
    if (id == "sweep") return sweep_text(r, model.devices());
    if (id == "experiment") return "  " + scene + "\n";
    Table table("lrl");
    for (const MeasuredGroup& g : groups) table.row({g.what, times_text(g), g.source});
    return table.text(2, width);
}

std::string figures_text(const std::vector<std::string>& ids, const lessons::Step& step, lessons::Model& model,
                         lessons::Language l, int width) {
    std::string out;
    for (const std::string& id : ids) {
        const lessons::Figure* figure = lessons::find_figure(id);
        if (!figure) continue;
        out += fmt::format("\n[{}]\n", lessons::phrase(figure->name, l)) + figure_text(id, step.scene, model, width);
    }
    return out;
}

std::string figure_names(const std::vector<std::string>& ids, lessons::Language l) {
    std::string out;
    for (const std::string& id : ids)
        if (const lessons::Figure* f = lessons::find_figure(id))
            out += (out.empty()                  ? ""
                    : l == lessons::Language::zh ? "、"
                                                 : ", ") +
                   std::string(lessons::phrase(f->name, l));
    return out;
}

void collect(const lessons::Spans& spans, std::vector<std::string>& marks) {
    for (const lessons::Span& s : spans)
        if (s.kind == lessons::Span::footnote && std::find(marks.begin(), marks.end(), s.text) == marks.end())
            marks.push_back(s.text);
}

}  // namespace

std::string wrap_prose(std::string_view text, int width, int first, int rest) {
    std::string out(static_cast<std::size_t>(first), ' ');
    int column = first;
    bool begun = false;
    for (const Piece& p : pieces(text)) {
        const int gap = begun && p.space ? 1 : 0;
        if (begun && column + gap + p.columns > width) {
            out += '\n';
            out.append(static_cast<std::size_t>(rest), ' ');
            column = rest;
        } else if (gap) {
            out += ' ';
            ++column;
        }
        out += p.text;
        column += p.columns;
        begun = true;
    }
    return out + '\n';
}

std::string plain_text(const lessons::Spans& spans) {
    std::string out;
    for (const lessons::Span& s : spans) {
        if (s.kind == lessons::Span::footnote) {
            out += "[" + s.text + "]";
        } else if (s.code) {
            out += "`" + s.text + "`";
        } else if (s.link.starts_with("http")) {
            out += s.text == s.link ? s.link : s.text + " (" + s.link + ")";
        } else {
            out += s.text;
        }
    }
    return out;
}

std::string prose_text(const lessons::Prose& prose, int width) {
    using lessons::Block;
    std::string out;
    Table table("llllll");
    const auto flush = [&] {
        if (!table.empty()) out += '\n' + table.text(2);
        table = Table("llllll");
    };
    auto before = Block::paragraph;
    for (const Block& b : prose) {
        const bool row = b.kind == Block::table_head || b.kind == Block::table_row;
        if (row) {
            std::vector<std::string> cells;
            for (const lessons::Spans& cell : b.cells) cells.push_back(plain_text(cell));
            table.row(std::move(cells));
            continue;
        }
        flush();
        const bool item = b.kind == Block::bullet || b.kind == Block::numbered;
        if (!item || before != b.kind) out += '\n';
        before = b.kind;
        const std::string text = plain_text(b.spans);
        switch (b.kind) {
            case Block::bullet: out += wrap_prose("- " + text, width, 2, 4); break;
            case Block::numbered: out += wrap_prose(fmt::format("{}. {}", b.number, text), width, 2, 5); break;
            case Block::quote: out += wrap_prose(text, width, 4, 4); break;
            case Block::code: {
                std::string_view code = b.code_text;
                while (!code.empty()) {
                    const std::size_t end = std::min(code.find('\n'), code.size());
                    out += "    " + std::string(code.substr(0, end)) + '\n';
                    code.remove_prefix(std::min(end + 1, code.size()));
                }
                break;
            }
            default: out += wrap_prose(text, width);
        }
    }
    flush();
    return out;
}

std::string step_text(const lessons::Walk& walk, lessons::Model& model, int width) {
    const lessons::Lesson& lesson = walk.lesson();
    const lessons::Language l = lesson.language;
    const lessons::Step& step = walk.step();
    std::string out = "\n" + rule(fmt::format("{}/{} {}{}{}", walk.state().step + 1, lesson.steps.size(),
                                              lessons::kind_name(step.kind, l), colon(l), step.title),
                                  width);
    const lessons::Prose prose = walk.prose();
    out += prose_text(prose, width);

    const std::vector<std::string> hidden = walk.hidden();
    std::vector<std::string> shown;
    for (const std::string& id : step.show)
        if (std::find(hidden.begin(), hidden.end(), id) == hidden.end()) shown.push_back(id);
    out +=
        '\n' + wrap_prose(fmt::format("{}{}{}", lessons::phrase(Phrase::scene, l), colon(l), step.scene), width, 0, 2);
    out += figures_text(shown, step, model, l, width);
    if (!hidden.empty()) out += wrap_prose(lessons::say(Phrase::covered, l, figure_names(hidden, l)), width);
    if (step.kind == lessons::StepKind::why && !walk.claim_text().empty())
        out += '\n' + wrap_prose(walk.claim_text(), width);
    if (walk.asks() && step.question->kind == lessons::Question::reach)
        out += '\n' +
               wrap_prose(fmt::format("{}{}{}", lessons::phrase(Phrase::goal, l), colon(l), step.question->goal.text()),
                          width, 0, 2);
    const auto choices = walk.choices();
    if (!choices.empty()) out += '\n';
    for (const lessons::Choice& c : choices)
        out += wrap_prose(fmt::format("{}. {}", c.letter, plain_text(c.text)), width, 2, 5);

    std::vector<std::string> marks;
    for (const lessons::Block& b : prose) {
        collect(b.spans, marks);
        for (const lessons::Spans& cell : b.cells) collect(cell, marks);
    }
    if (!marks.empty()) out += '\n';
    for (const std::string& mark : marks)
        if (const lessons::Footnote* f = lesson.footnote(mark))
            out += wrap_prose(fmt::format("[{}] {}", mark, plain_text(f->text)), width, 0, 4);
    return out;
}

std::string feedback_text(const lessons::Walk& walk, const lessons::Feedback& feedback, int width) {
    std::string out, marks_text;
    std::vector<std::string> marks;
    for (const lessons::Spans& line : feedback.lines) {
        out += wrap_prose(plain_text(line), width, 2, 2);
        collect(line, marks);
    }
    for (const std::string& mark : marks)
        if (const lessons::Footnote* f = walk.lesson().footnote(mark))
            out += wrap_prose(fmt::format("[{}] {}", mark, plain_text(f->text)), width, 2, 6);
    return out;
}

lessons::Model lesson_model(Session& session) {
    session.add_calibrated_cpu();
    return lessons::Model(session.devices());
}

lessons::Language language_of(const Arguments& arguments) {
    if (const std::string* said = arguments.value("--lang")) {
        if (*said == "en") return lessons::Language::en;
        if (*said == "zh") return lessons::Language::zh;
        throw sim::BadInput(fmt::format("--lang {}: expected en or zh", sim::quote(*said)));
    }
    for (const char* name : {"LC_ALL", "LC_MESSAGES", "LANG"})
        if (const char* value = std::getenv(name); value && *value)
            return std::string_view(value).starts_with("zh") ? lessons::Language::zh : lessons::Language::en;
    return lessons::Language::en;
}

}  // namespace cli
