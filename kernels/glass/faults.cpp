#include "kernels/glass/faults.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "kernels/glass/on_demand.hpp"
#include "kernels/not_available.hpp"
#include "sim/embedded.hpp"
#include "sim/experiment.hpp"
#include "sim/text.hpp"
#include "sim/units.hpp"

namespace kernels::glass {

std::vector<Fault> built_faults();

namespace {

std::string_view take_line(std::string_view& text) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    return line;
}

std::string_view sound_text(std::string_view file) {
    for (const sim::EmbeddedFile& f : sim::embedded_kernels())
        if (file.ends_with(f.name)) return f.text;
    return {};
}

std::string_view source_line(std::string_view file, int line) {
    std::string_view text = sound_text(file), out;
    for (int n = 0; n < line; ++n) out = take_line(text);
    out.remove_prefix(std::min(out.size(), out.find_first_not_of(' ')));
    return out;
}

std::string changed(const std::string& sound, const std::string& faulty) {
    return sound == faulty ? sound : (sound.empty() ? "-" : sound) + " → " + (faulty.empty() ? "-" : faulty);
}

/// "2: 33 ← 29, 56 ← 34 (async)": how many pairs of lines race, and the first few.
std::string pairs_text(const Counted& c) {
    constexpr int most = 4;
    std::string out;
    int n = 0;
    for (const Finding& f : c.findings)
        if (f.kind == Finding::race && n++ < most)
            out += fmt::format("{}{} ← {}{}", out.empty() ? "" : ", ", f.here.line, f.there.line,
                               f.unfilled ? " (async)" : "");
    return n == 0 ? "0" : fmt::format("{}: {}{}", n, out, n > most ? " …" : "");
}

double races(const Counted& c, bool unfilled) {
    return static_cast<double>(std::count_if(c.findings.begin(), c.findings.end(), [&](const Finding& f) {
        return f.kind == Finding::race && f.unfilled == unfilled;
    }));
}

}  // namespace

const std::vector<Fault>& faults() {
    static const std::vector<Fault> all = built_faults();
    return all;
}

const Fault* find_fault(std::string_view id) {
    const auto at = std::find_if(faults().begin(), faults().end(), [&](const Fault& f) { return f.id == id; });
    return at == faults().end() ? nullptr : &*at;
}

std::vector<ChangedLine> changed_lines(const Fault& fault) {
    std::vector<ChangedLine> out;
    std::string_view sound = sound_text(fault.file), faulty = fault.text;
    for (int n = 1; !sound.empty() || !faulty.empty(); ++n) {
        const std::string_view was = take_line(sound), becomes = take_line(faulty);
        if (was != becomes) out.push_back({n, was, becomes});
    }
    return out;
}

Entry entry_with(const Fault& fault, const Instance& instance) {
    Instance any = instance;
    any.epilogue = device::decided_at_run_time;
    return any == fault.built.instance ? fault.built.entry : compile_changed(instance, fault.file, fault.text);
}

Comparison Counts::compare(const sim::Experiment& e, const Fault& fault) {
    const Counted &sound = of(e), &faulty = of(e, fault.id);
    if (!sound.fit.ok()) throw sim::BadInput(sound.fit.why);
    const auto race = [](const Counted& c) {
        return std::any_of(c.findings.begin(), c.findings.end(),
                           [](const Finding& f) { return f.kind == Finding::race; });
    };
    Comparison out{{}, {}, fault.file, changed_lines(fault), {}, race(sound) || race(faulty)};
    const auto total = [&](std::string_view name, auto&& text) {
        out.totals.push_back({name, text(sound), text(faulty)});
    };
    const auto bytes = [](i64 n) { return sim::format_bytes(static_cast<double>(n)); };
    total("error", [](const Counted& c) { return fmt::format("{:.1e}", c.max_error); });
    total("races", pairs_text);
    total("l2.read", [&](const Counted& c) { return bytes(c.l2.read_bytes); });
    total("sram.read", [&](const Counted& c) { return bytes(c.sram.read_bytes); });
    total("sectors", [](const Counted& c) { return std::to_string(c.sectors); });
    total("wavefronts", [](const Counted& c) {
        return std::to_string(c.wavefronts) +
               (c.wavefronts == c.ideal_wavefronts ? std::string() : " / " + std::to_string(c.ideal_wavefronts));
    });

    std::map<std::pair<std::string_view, int>, std::pair<LineCount, LineCount>> lines;
    for (const LineCount& l : sound.lines) lines[{l.file, l.line}].first = l;
    for (const LineCount& l : faulty.lines) lines[{l.file, l.line}].second = l;
    for (const auto& [place, both] : lines) {
        const auto cell = [&](auto&& text) { return changed(text(both.first), text(both.second)); };
        out.lines.push_back({place.first, place.second, source_line(place.first, place.second),
                             cell([](const LineCount& l) { return std::to_string(l.instructions); }),
                             cell([&](const LineCount& l) { return bytes(l.bytes); }), cell([](const LineCount& l) {
                                 return per_instruction(l.sectors, l.ideal_sectors, l.instructions, " / ");
                             }),
                             cell([](const LineCount& l) {
                                 return per_instruction(l.wavefronts, l.ideal_wavefronts, l.instructions, " / ");
                             }),
                             both.first.instructions != both.second.instructions ||
                                 both.first.sectors != both.second.sectors ||
                                 both.first.wavefronts != both.second.wavefronts});
    }
    for (const Finding& f : faulty.findings) out.findings.push_back(f.what);
    return out;
}

const Counted& Counts::of(const sim::Experiment& e, std::string_view fault) {
    if (!fault.empty() && !find_fault(fault)) {
        std::vector<std::string_view> ids;
        for (const Fault& f : faults()) ids.push_back(f.id);
        throw sim::BadInput(fmt::format("{} is no fault; expected one of {}", sim::quote(fault), sim::listed(ids)));
    }
    const std::lock_guard lock(running_);
    const std::string key = fmt::format("{} | {}", sim::to_string(e, devices_), fault);
    if (const auto at = known_.find(key); at != known_.end()) return at->second;
    RunOptions options;
    options.fault = fault;
    return known_.emplace(key, run(e, devices_.at(e.device), options)).first->second;
}

std::optional<double> Counts::number(const sim::Experiment& e, std::string_view name, std::string_view fault) {
    struct Row {
        std::string_view name;
        double (*of)(const Counted&);
    };
    static constexpr Row rows[] = {
        {"races", [](const Counted& c) { return races(c, false); }},
        {"early", [](const Counted& c) { return races(c, true); }},
        {"wrong", [](const Counted& c) { return c.first_wrong.empty() ? 0.0 : 1.0; }},
        {"error", [](const Counted& c) { return c.max_error; }},
        {"instructions",
         [](const Counted& c) {
             i64 sum = 0;
             for (const LineCount& l : c.lines) sum += l.instructions;
             return static_cast<double>(sum);
         }},
        {"sectors", [](const Counted& c) { return static_cast<double>(c.sectors); }},
        {"wavefronts", [](const Counted& c) { return static_cast<double>(c.wavefronts); }},
        {"ideal_wavefronts", [](const Counted& c) { return static_cast<double>(c.ideal_wavefronts); }},
        {"bank_conflicts", [](const Counted& c) { return static_cast<double>(c.bank_conflicts()); }},
        {"l2.read", [](const Counted& c) { return static_cast<double>(c.l2.read_bytes); }},
        {"l2.write", [](const Counted& c) { return static_cast<double>(c.l2.write_bytes); }},
        {"sram.read", [](const Counted& c) { return static_cast<double>(c.sram.read_bytes); }},
        {"sram.write", [](const Counted& c) { return static_cast<double>(c.sram.write_bytes); }},
    };
    for (const Row& row : rows) {
        if (row.name != name) continue;
        if (devices_.at(e.device).kind != sim::DeviceKind::gpu) return {};
        try {
            const Counted& c = of(e, fault);
            return c.fit.ok() ? std::optional(row.of(c)) : std::nullopt;
        } catch (const NotAvailable&) {
            return {};
        }
    }
    return {};
}

std::function<std::optional<double>(const sim::Experiment&, std::string_view, std::string_view)> counting(
    std::shared_ptr<Counts> counts) {
    return [counts = std::move(counts)](const sim::Experiment& e, std::string_view name, std::string_view fault) {
        return counts->number(e, name, fault);
    };
}

}  // namespace kernels::glass
