#include "cli/lesson_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "cli/page.hpp"
#include "cli/published.hpp"
#include "cli/story.hpp"
#include "cli/text.hpp"
#include "lessons/figures.hpp"
#include "lessons/goal.hpp"
#include "lessons/messages.hpp"
#include "lessons/phrases.hpp"
#include "sim/sweep.hpp"
#include "sim/text.hpp"

namespace cli {
namespace {

using lessons::Phrase;

std::string_view colon(lessons::Language l) { return lessons::phrase(Phrase::colon, l); }

std::string rule(const std::string& text, int width) {
    std::string line = "── " + text + " ";
    for (int i = display_width(line); i < width; ++i) line += "─";
    return line + "\n";
}

std::string roofline_text(const sim::Report& r, lessons::Model& model, const std::string& scene, lessons::Language l) {
    static constexpr std::pair<const char*, Phrase> rows[] = {
        {"intensity", Phrase::roof_intensity},           {"ridge", Phrase::roof_ridge},
        {"best_intensity", Phrase::roof_best_intensity}, {"device.peak", Phrase::roof_peak},
        {"device.bandwidth", Phrase::roof_bandwidth},    {"rate", Phrase::roof_rate}};
    Table table("lr");
    for (const auto& [name, words] : rows) {
        if (!r.predicted) break;
        table.row({lessons::phrase(words, l), lessons::to_text(model.quantity(name, "", scene))});
    }
    return table.text(2);
}

std::string sweep_text(const sim::Report& r, const sim::Catalogue& devices, lessons::Language l) {
    Table table("rlrr");
    table.row({"", lessons::phrase(Phrase::page_tile, l), lessons::phrase(Phrase::page_time, l),
               lessons::phrase(Phrase::page_dram_bytes, l)});
    for (const sim::SweepRow& row : sim::sweep(r.experiment, devices)) {
        if (row.rank == 0 || row.rank > 8) continue;
        table.row({std::to_string(row.rank) + (row.tie ? "=" : ""), to_string(row.experiment.tile),
                   sim::format_us(row.time_us), sim::format_bytes(static_cast<double>(row.dram_bytes))});
    }
    return table.text(2);
}

/// What glass counted, the whole run and line by line; the text of the lines under it.
std::string counters_text(const kernels::glass::Comparison& c, lessons::Language l, int width) {
    const auto word = [&](Phrase p) { return std::string(lessons::phrase(p, l)); };
    Table totals("lrr");
    totals.row({"", word(Phrase::counter_sound), word(Phrase::counter_faulty)});
    for (const auto& t : c.totals) totals.row({lessons::counter_name(t.name, l), t.sound, t.faulty});
    Table lines("rrrrr");
    lines.row({word(Phrase::counter_line), word(Phrase::counter_instructions), word(Phrase::counter_bytes),
               word(Phrase::counter_sectors_each), word(Phrase::counter_wavefronts_each)});
    std::string source;
    for (const auto& line : c.lines) {
        lines.row({std::to_string(line.line), line.instructions, line.bytes, line.sectors, line.wavefronts});
        source += wrap(fmt::format("{:>4}  {}", line.line, line.source), width, 2, 8);
    }
    return totals.text(2) + '\n' + lines.text(2) + '\n' + source + wrap(word(Phrase::counter_legend), width, 2, 2) +
           (c.races ? wrap(word(Phrase::counter_legend_race), width, 2, 2) : "");
}

std::string fault_text(const kernels::glass::Comparison& c, lessons::Language l, int width) {
    std::string out;
    for (const auto& line : c.changed)
        out += fmt::format("  {}:{}\n  - {}\n  + {}\n", c.file, line.line, line.was, line.becomes);
    for (const std::string& finding : c.findings) out += wrap(lessons::translated(finding, l), width, 2, 4);
    return out;
}

std::string figure_text(std::string_view id, const lessons::Step& step, Oracle& oracle, lessons::Language l,
                        int width) {
    lessons::Model& model = oracle.model;
    const std::string& scene = step.scene;
    if (const auto* fault = kernels::glass::find_fault(step.fault); fault && (id == "counters" || id == "fault")) {
        const auto c = oracle.counts->compare(sim::parse_experiment(scene, model.devices()), *fault);
        return id == "counters" ? counters_text(c, l, width) : fault_text(c, l, width);
    }
    const sim::Report& r = model.report(scene);
    const sim::Device& d = model.devices().at(r.experiment.device);
    if (!r.fit.ok()) return wrap(lessons::translated(r.fit.why, l), width, 2, 2);
    const auto groups = published(r.experiment, model.devices(), l);
    if (id == "headline") return verdict_text(r, measured_lines(groups, l), width, l);
    if (id == "traffic") return traffic_text(r, d, width, l);
    if (id == "time") return time_split_text(r, width, l);
    if (id == "tiles") {
        std::string out = subject_text(r, d, width, l);
        for (const std::string& line : on_chip(r, d, l)) out += wrap(line, width, 2, 2);
        return out;
    }
    if (id == "roofline") return roofline_text(r, model, scene, l);
    if (id == "sweep") return sweep_text(r, model.devices(), l);
    if (id == "experiment") return "  " + scene + "\n";
    Table table("lrl");
    for (const MeasuredGroup& g : groups) table.row({g.what, times_text(g, l), g.source});
    return table.text(2, width);
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
            case Block::bullet: out += wrap("- " + text, width, 2, 4); break;
            case Block::numbered: out += wrap(fmt::format("{}. {}", b.number, text), width, 2, 5); break;
            case Block::quote: out += wrap(text, width, 4, 4); break;
            case Block::code: {
                std::string_view code = b.code_text;
                while (!code.empty()) {
                    const std::size_t end = std::min(code.find('\n'), code.size());
                    out += "    " + std::string(code.substr(0, end)) + '\n';
                    code.remove_prefix(std::min(end + 1, code.size()));
                }
                break;
            }
            default: out += wrap(text, width);
        }
    }
    flush();
    return out;
}

std::string figures_text(const std::vector<std::string>& ids, const lessons::Walk& walk, Oracle& oracle, int width) {
    const lessons::Language l = walk.lesson().language;
    std::string out;
    for (const std::string& id : ids)
        if (const lessons::Figure* figure = lessons::find_figure(id))
            out += fmt::format("\n[{}]\n", lessons::phrase(figure->name, l)) +
                   figure_text(id, walk.step(), oracle, l, width);
    return out;
}

std::string step_text(const lessons::Walk& walk, Oracle& oracle, int width) {
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
    out += '\n' + wrap(fmt::format("{}{}{}", lessons::phrase(Phrase::scene, l), colon(l), step.scene), width, 0, 2);
    out += figures_text(shown, walk, oracle, width);
    if (!hidden.empty()) out += wrap(lessons::say(Phrase::covered, l, figure_names(hidden, l)), width);
    if (step.kind == lessons::StepKind::why && !walk.claim_text().empty()) out += '\n' + wrap(walk.claim_text(), width);
    if (walk.asks() && step.question->kind == lessons::Question::reach)
        out += '\n' +
               wrap(fmt::format("{}{}{}", lessons::phrase(Phrase::goal, l), colon(l),
                                lessons::goal_text(step.question->goal, step.scene, lesson.scenes, oracle.model, l)),
                    width, 0, 2);
    const auto choices = walk.choices();
    if (!choices.empty()) out += '\n';
    for (const lessons::Choice& c : choices)
        out += wrap(fmt::format("{}. {}", c.letter, plain_text(c.text)), width, 2, 5);

    std::vector<std::string> marks;
    for (const lessons::Block& b : prose) {
        collect(b.spans, marks);
        for (const lessons::Spans& cell : b.cells) collect(cell, marks);
    }
    if (!marks.empty()) out += '\n';
    for (const std::string& mark : marks)
        if (const lessons::Footnote* f = lesson.footnote(mark))
            out += wrap(fmt::format("[{}] {}", mark, plain_text(f->text)), width, 0, 4);
    return out;
}

std::string feedback_text(const lessons::Walk& walk, const lessons::Feedback& feedback, int width) {
    std::string out, marks_text;
    std::vector<std::string> marks;
    for (const lessons::Spans& line : feedback.lines) {
        out += wrap(plain_text(line), width, 2, 2);
        collect(line, marks);
    }
    for (const std::string& mark : marks)
        if (const lessons::Footnote* f = walk.lesson().footnote(mark))
            out += wrap(fmt::format("[{}] {}", mark, plain_text(f->text)), width, 2, 6);
    return out;
}

Oracle::Oracle(const sim::Catalogue& devices)
    : counts(std::make_shared<kernels::glass::Counts>(devices)), model(devices, kernels::glass::counting(counts)) {}

Oracle oracle_of(Session& session) {
    session.add_calibrated_cpu();
    return Oracle(session.devices());
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
