#include "cli/page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <sstream>
#include <utility>

#include "cli/text.hpp"
#include "kernels/ladder.hpp"
#include "lessons/phrases.hpp"
#include "lessons/terms.hpp"
#include "sim/energy.hpp"
#include "sim/fit.hpp"
#include "sim/sweep.hpp"
#include "sim/time.hpp"

namespace cli {
namespace {

using lessons::Phrase;
using sim::i64;

std::string bytes_text(i64 bytes) { return sim::format_bytes(static_cast<double>(bytes)); }

/// Why an operand moved, each cause with its bytes where there are several.
std::string causes_text(const sim::Flow& f, lessons::Language l) {
    const std::pair<i64, Phrase> causes[] = {
        {f.causes.compulsory, Phrase::page_compulsory},
        {f.causes.order, f.write_bytes > 0 ? Phrase::page_partial_sums : Phrase::page_order_again},
        {f.causes.capacity, f.causes.compulsory > 0 ? Phrase::page_capacity_again : Phrase::page_capacity_back},
        {f.causes.padding, Phrase::page_padding},
        {f.causes.write, Phrase::page_result}};
    const auto shown = std::count_if(std::begin(causes), std::end(causes), [](const auto& c) { return c.first > 0; });
    std::string out;
    for (const auto& [bytes, name] : causes) {
        if (bytes <= 0) continue;
        if (!out.empty()) out += phrase(Phrase::comma, l);
        out += shown > 1 ? fmt::format("{} {}", bytes_text(bytes), phrase(name, l)) : std::string(phrase(name, l));
    }
    return out;
}

std::string as_multiple(i64 bytes, i64 whole) {
    if (whole <= 0 || bytes <= 0) return "";
    return fmt::format("= {} x {}", short_number(static_cast<double>(bytes) / static_cast<double>(whole)),
                       bytes_text(whole));
}

struct Resource {
    std::string_view name;
    Phrase twice;
};
constexpr Resource resources[] = {
    {"math", Phrase::page_twice_math},
    {"sram", Phrase::page_twice_sram},
    {"l2", Phrase::page_twice_l2},
    {"dram", Phrase::page_twice_dram},
    {"latency", Phrase::page_half_latency},
    {"launch", Phrase::page_half_launch},
    {"step_overhead", Phrase::page_half_step},
    {"power", Phrase::page_twice_power},
};

}  // namespace

std::string heading(std::string_view title) { return fmt::format("\n{}\n", title); }

std::string operations_text(double flops) {
    std::string rate = sim::format_flops(flops);  // the same number and prefix, without "/s"
    return rate.substr(0, rate.rfind("/s"));
}

std::string level_name(const sim::Device& d, sim::Level level) {
    switch (level) {
        case sim::Level::dram: return d.dram.display;
        case sim::Level::l2: return d.l2.display;
        case sim::Level::l1: return d.l1.display;
        case sim::Level::sram: return d.sram.display;
        case sim::Level::registers: break;
    }
    return "registers";
}

i64 whole_bytes(const sim::Experiment& e, sim::Operand operand) {
    std::set<int> seen;
    i64 bytes = 0;
    for (const sim::Kernel& k : sim::plan(e))
        for (const auto* side : {&k.left, &k.right, &k.epilogue, &k.outputs})
            for (const sim::Access& a : *side)
                if (a.tensor.name == operand && seen.insert(a.tensor.variant).second)
                    bytes += a.tensor.bytes() * k.batch * a.slices;
    return bytes;
}

std::string subject_text(const sim::Report& r, const sim::Device& d, int width, lessons::Language l) {
    using lessons::say;
    const sim::Experiment& e = r.experiment;
    const sim::Dense& x = e.dense;
    struct {
        sim::Pass pass;
        std::string_view what;
    } const passes[] = {{sim::Pass::forward, e.fusion == sim::Fusion::none ? "Z = X·W" : "Y = relu(X·W)"},
                        {sim::Pass::dgrad, "dX = dZ·W'"},
                        {sim::Pass::wgrad, "dW = X'·dZ"},
                        {sim::Pass::train, "Y = relu(X·W), dX = dZ·W', dW = X'·dZ"}};
    std::string what;
    for (const auto& p : passes)
        if (p.pass == e.pass) what = p.what;
    std::string line = say(Phrase::page_layer, l, d.name, what, x.m, x.k, x.k, x.n, x.m, x.n, to_string(x.dtype));
    if (x.out != x.dtype) line += say(Phrase::page_in_out, l, to_string(x.out));
    if (x.batch > 1) line += say(Phrase::page_batch, l, grouped(x.batch));
    const int matmuls = e.pass == sim::Pass::train ? 3 : 1;
    line +=
        phrase(Phrase::comma, l) + operations_text(2.0 * matmuls * static_cast<double>(x.m) * static_cast<double>(x.n) *
                                                   static_cast<double>(x.k) * static_cast<double>(x.batch));
    std::string out = wrap(line, width, 2, 2);
    std::string cut;
    for (const sim::Kernel& k : sim::plan(e)) {
        if (!k.matmul) continue;
        cut += (cut.empty() ? "" : phrase(Phrase::semicolon, l)) +
               say(Phrase::page_tiles, l, k.name, grouped(k.row_tiles()), grouped(k.col_tiles()), k.tile.bm, k.tile.bn);
        cut += k.k_steps() > 1 ? say(Phrase::page_k_steps, l, grouped(k.k_steps()), k.tile.bk)
                               : std::string(phrase(Phrase::page_k_step, l));
    }
    if (cut.empty()) return out;  // no tile fits
    cut += d.kind == sim::DeviceKind::gpu ? say(Phrase::page_raster, l, to_string(e.raster))
                                          : say(Phrase::page_order, l, to_string(e.order));
    return out + wrap(cut, width, 2, 2);
}

std::string counted_by(const sim::Report& r) {
    return fmt::format("counted by {}{}", r.replayed ? "replay" : "closed form", r.exact ? "" : ": an estimate");
}

std::string traffic_text(const sim::Report& r, const sim::Device& d, int width, lessons::Language l) {
    using lessons::say;
    const auto word = [&](Phrase p) { return std::string(phrase(p, l)); };
    Table table("lllrll");
    const sim::Compulsory must = sim::compulsory(r.experiment);
    const i64 compulsory = must.read_bytes + must.write_bytes;
    for (const sim::Level level : {sim::Level::dram, sim::Level::l2, sim::Level::l1, sim::Level::sram}) {
        const sim::LevelTraffic& traffic = r.traffic.at(level);
        if (!traffic.present) continue;
        std::string name = level_name(d, level);
        for (int i = 0; i < sim::operand_count; ++i) {
            const auto operand = static_cast<sim::Operand>(i);
            const sim::Flow& f = traffic.of(operand);
            const i64 whole = whole_bytes(r.experiment, operand);
            std::string label(to_string(operand)), why = level == sim::Level::dram ? causes_text(f, l) : "";
            const auto add = [&](Phrase direction, i64 bytes) {
                if (bytes == 0) return;
                table.row({std::exchange(name, ""), std::exchange(label, ""), word(direction), bytes_text(bytes),
                           as_multiple(bytes, whole), std::exchange(why, "")});
            };
            add(Phrase::page_read, f.read_bytes);
            add(level == sim::Level::sram ? Phrase::page_filled : Phrase::page_written, f.write_bytes);
        }
        const sim::Flow all = traffic.total();
        const i64 requested = all.bytes(), moved = all.moved_read_bytes + all.moved_write_bytes;
        table.row({"", word(Phrase::page_all), "", bytes_text(requested),
                   level == sim::Level::dram ? as_multiple(requested, compulsory) : std::string(),
                   level == sim::Level::dram ? word(Phrase::page_must) : std::string()});
        if (moved > requested)
            table.row({"", word(Phrase::page_moved), "", bytes_text(moved), "", word(Phrase::page_whole_sectors)});
        if (traffic.dirty_at_end_bytes > 0)
            table.row(
                {"", "", "", bytes_text(traffic.dirty_at_end_bytes), "", say(Phrase::page_dirty, l, d.l2.display)});
    }
    std::string out = table.text(2, width);
    const sim::DramRange& range = r.dram_range;
    if (range.lockstep_bytes != range.staggered_bytes)
        out += wrap(say(Phrase::page_drift, l, bytes_text(range.lockstep_bytes), d.dram.display,
                        bytes_text(range.staggered_bytes), bytes_text(range.expected_bytes)),
                    width, 2, 2);
    return out;
}

std::string verdict_text(const sim::Report& r, const std::vector<MeasuredLine>& measured, int width,
                         lessons::Language l) {
    using lessons::say;
    const auto word = [&](Phrase p) { return std::string(phrase(p, l)); };
    Table table("lrrl");
    table.row({"", word(Phrase::page_dram_bytes), word(Phrase::page_time), ""});
    table.row({word(Phrase::page_bound), bytes_text(r.bound.dram_bytes), sim::format_us(r.bound.time_us),
               say(Phrase::page_no_kernel, l, lessons::roof_name(r.bound.ceiling, l))});
    if (r.predicted) {
        const sim::Prediction& p = *r.predicted;
        table.row({word(Phrase::page_predicted), bytes_text(r.dram_range.expected_bytes), sim::format_us(p.time_us),
                   say(Phrase::page_expect, l, sim::format_us(p.interval_us[0]), sim::format_us(p.interval_us[1]),
                       times(p.time_us / r.bound.time_us), percent(r.bound.math_us / p.time_us, false),
                       lessons::limiter_name(p.limiter, l), p.validated ? "" : phrase(Phrase::page_unvalidated, l))});
    } else {
        table.row({word(Phrase::page_predicted), "-", "-", word(Phrase::page_not_fit)});
    }
    for (const MeasuredLine& m : measured) table.row({word(Phrase::page_measured), "-", m.time, m.remark});
    if (measured.empty()) table.row({word(Phrase::page_measured), "-", "-", word(Phrase::page_no_record)});
    return table.text(2, width);
}

std::string energy_text(const sim::Report& r, const sim::Device& d, int width) {
    if (!r.predicted) return "";
    const sim::Energy e = sim::energy(r, d);
    Table table("lrrrl");
    const auto name = [&](std::string_view term) {
        for (const sim::Level l : {sim::Level::dram, sim::Level::l2, sim::Level::l1, sim::Level::sram})
            if (to_string(l) == term) return level_name(d, l);
        return std::string(term);
    };
    for (const sim::EnergyTerm& t : e.all.terms)
        table.row({name(t.name), t.name == "math" ? operations_text(t.amount) : sim::format_bytes(t.amount),
                   sim::format_each(t), sim::format_joules(t.joules()), ""});
    const auto held = [&](const sim::EnergyPart& p) {
        return p.capped ? fmt::format("held to {:.0f} W", e.limit_watts) : std::string();
    };
    table.row({"all", "", "", sim::format_joules(e.all.joules), held(e.all)});
    if (e.kernels.size() > 1)
        for (const sim::EnergyPart& k : e.kernels)
            table.row({"  " + k.name, "", "", sim::format_joules(k.joules), held(k)});
    return table.text(2, width) +
           wrap(
               "Assumed: nothing of it was measured on this machine. What a bit or an operation costs is known to "
               "within "
               "several times only, and the high ends hold shares of the board's idle draw; explain --formulas names "
               "each source.",
               width, 2, 2);
}

std::string no_kernel(const sim::Experiment& e, const sim::Device& d) {
    return d.kind == sim::DeviceKind::gpu ? kernels::fits(kernels::resolved(e), d).why : "";
}

std::string variations_text(std::string_view title, const sim::Experiment& e, const sim::Catalogue& devices) {
    const std::vector<sim::SweepRow> rows = sim::variations(e, devices);
    if (rows.empty()) return "";
    constexpr std::size_t most = 5;
    const std::string line = ' ' + sim::to_string(e, devices) + ' ';
    Table table("lrr");
    for (std::size_t i = 0; i < std::min(rows.size(), most); ++i) {
        const std::string other = sim::to_string(rows[i].experiment, devices);
        std::istringstream words(other.substr(other.find(" tile ")));  // from there on, a word and its value
        std::string changed;
        for (std::string word, value; words >> word >> value;)
            if (line.find(fmt::format(" {} {} ", word, value)) == std::string::npos) changed = word + ' ' + value;
        table.row({changed.empty() ? "the usual words" : changed, sim::format_us(rows[i].time_us),
                   times(rows[i].gain) + " faster"});
    }
    return heading(title) + table.text(2);
}

std::string time_split_text(const sim::Report& r, int width, lessons::Language l) {
    using lessons::say;
    if (!r.predicted) return "";
    const sim::Prediction& p = *r.predicted;
    std::set<std::string_view> explained;  // each term is explained where it first appears
    const auto meaning = [&](std::string_view name) -> std::string {
        return explained.insert(name).second ? lessons::term_meaning(name, l) : "";
    };
    constexpr int bar_width = 10;
    Table table("lrrll");
    for (const sim::KernelReport& k : p.kernels) {
        table.row({k.name, sim::format_us(k.time_us), percent(k.time_us / p.time_us, false), "",
                   say(Phrase::page_limited, l, lessons::limiter_name(k.limiter, l))});
        for (const sim::TimeTerm& t : k.terms)
            if (std::abs(t.time_us) >= 1e-4 * p.time_us)  // what rounds to 0 % of it tells nothing
                table.row({"  " + t.name, sim::format_us(t.time_us), percent(t.time_us / p.time_us, false),
                           bar(t.time_us / p.time_us, bar_width), meaning(t.name)});
    }
    std::string out = table.text(2, width);

    std::vector<std::pair<double, std::string>> gains;
    for (const Resource& resource : resources)
        if (const auto at = p.if_twice.find(std::string(resource.name)); at != p.if_twice.end())
            gains.emplace_back(at->second, phrase(resource.twice, l));
    std::stable_sort(gains.begin(), gains.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    Table twice("lrl");
    std::string nothing;
    for (const auto& [time, what] : gains) {
        if (time < 0.99 * p.time_us) {
            twice.row({what, sim::format_us(time), say(Phrase::page_faster, l, times(p.time_us / time))});
        } else {
            nothing += (nothing.empty() ? "" : phrase(Phrase::comma, l)) + what;
        }
    }
    if (!twice.empty()) out += heading(phrase(Phrase::page_would_help, l)) + twice.text(2, width);
    if (!nothing.empty()) out += wrap(say(Phrase::page_little, l, nothing), width, 2, 2);
    return out;
}

}  // namespace cli
