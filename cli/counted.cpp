#include "cli/counted.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "cli/page.hpp"
#include "cli/text.hpp"
#include "sim/embedded.hpp"

namespace cli {

namespace {

using kernels::glass::LineCount;
using sim::i64;

std::string bytes(i64 n) { return sim::format_bytes(static_cast<double>(n)); }

std::string place(const LineCount& l) { return fmt::format("{}:{}", l.file.substr(l.file.rfind('/') + 1), l.line); }

std::string levels_text(const sim::Report& r, const sim::Device& d, const kernels::glass::Counted& c) {
    Table table("llrrr");
    table.row({"bytes", "", "bound", "predicted", "counted"});
    const auto rows = [&](sim::Level level, i64 least, const kernels::glass::LevelBytes* got, const char* into) {
        const sim::LevelTraffic& t = r.traffic.at(level);
        if (!t.present && !got) return;
        const std::string name = level_name(d, level);
        const i64 read = t.total().read_bytes, written = t.total().write_bytes;
        table.row({name, "read", "", bytes(read), got ? bytes(got->read_bytes) : "-"});
        table.row({"", into, "", bytes(written), got ? bytes(got->write_bytes) : "-"});
        table.row({"", "all", least ? bytes(least) : "-", bytes(read + written),
                   got ? bytes(got->read_bytes + got->write_bytes) : "-"});
    };
    rows(sim::Level::dram, r.bound.dram_bytes, c.dram ? &*c.dram : nullptr, "written");
    rows(sim::Level::l2, r.bound.l2_bytes, &c.l2, "written");
    rows(sim::Level::sram, 0, c.sram.read_bytes + c.sram.write_bytes ? &c.sram : nullptr, "filled");
    return table.text(2);
}

}  // namespace

std::string finding_text(const kernels::glass::Finding& f) {
    const std::string_view file = f.here.file;
    return fmt::format("{}:{}: {}", file.substr(file.rfind('/') + 1), f.here.line, f.what);
}

std::string counted_text(const sim::Report& r, const sim::Device& d, const kernels::glass::Counted& c, int width) {
    std::string out = '\n' + levels_text(r, d, c);
    out += wrap("bound: reads and writes that no kernel can avoid. counted: payload of active lanes" +
                    std::string(c.dram ? "; DRAM by whole sectors through a set-associative L2."
                                       : "; DRAM is not counted of a sample."),
                width, 2, 2);
    out += heading("Under glass");
    out += wrap(c.sampled ? "One CTA of each class (interior, each edge, each alignment) ran and stands for its like; "
                            "the counts are exact sums over all."
                          : "Every CTA ran.",
                width, 2, 2);
    out += wrap(fmt::format("Checked against a double-precision reference: {}; largest error {:.1e} of the largest "
                            "value.{}",
                            c.checked, c.max_error, c.first_wrong.empty() ? "" : " WRONG: " + c.first_wrong),
                width, 2, 2);
    out += wrap(fmt::format("{} sectors; {} wavefronts of shared memory, {} of them bank conflicts.",
                            grouped(c.sectors), grouped(c.wavefronts), grouped(c.bank_conflicts())),
                width, 2, 2);
    for (const kernels::glass::Finding& f : c.findings) out += wrap(finding_text(f), width, 2, 4);
    if (c.findings.empty())
        out += wrap("No race, no access out of bounds, no read of what was never written.", width, 2, 2);

    std::vector<LineCount> lines = c.lines;
    std::stable_sort(lines.begin(), lines.end(), [](const LineCount& a, const LineCount& b) {
        return a.sectors + a.wavefronts > b.sectors + b.wavefronts;
    });
    constexpr std::size_t most = 8;
    Table table("lrrrr");
    table.row({"line", "instructions", "bytes", "sectors each", "wavefronts each"});
    for (std::size_t i = 0; i < std::min(most, lines.size()); ++i) {
        const LineCount& l = lines[i];
        table.row({place(l), grouped(l.instructions), bytes(l.bytes),
                   kernels::glass::per_instruction(l.sectors, l.ideal_sectors, l.instructions, " of "),
                   kernels::glass::per_instruction(l.wavefronts, l.ideal_wavefronts, l.instructions, " of ")});
    }
    return out + heading("Lines that move most (of: as few as these bytes could take)") + table.text(2);
}

std::string source_text(const kernels::glass::Counted& c) {
    std::map<std::string, std::map<int, LineCount>> by_file;
    for (const LineCount& l : c.lines) by_file[l.file][l.line] = l;
    std::string out;
    for (const auto& [file, lines] : by_file) {
        const std::string name = file.substr(file.rfind('/') + 1);
        for (const sim::EmbeddedFile& source : sim::embedded_kernels()) {
            if (source.name != name) continue;
            out += heading(file) +
                   fmt::format("{:>12} {:>9} {:>14} {:>14}\n", "instructions", "bytes", "sectors", "wavefronts");
            std::string_view text = source.text;
            for (int n = 1; !text.empty(); ++n) {
                const std::string_view line = text.substr(0, text.find('\n'));
                text.remove_prefix(std::min(text.size(), line.size() + 1));
                const auto at = lines.find(n);
                const std::string margin =
                    at == lines.end()
                        ? std::string(52, ' ')
                        : fmt::format(
                              "{:>12} {:>9} {:>14} {:>14}", grouped(at->second.instructions), bytes(at->second.bytes),
                              kernels::glass::per_instruction(at->second.sectors, at->second.ideal_sectors,
                                                              at->second.instructions, " of "),
                              kernels::glass::per_instruction(at->second.wavefronts, at->second.ideal_wavefronts,
                                                              at->second.instructions, " of "));
                out += fmt::format("{} {:>4} {}\n", margin, n, line);
            }
        }
    }
    return out;
}

}  // namespace cli
