#include "cli/story.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "cli/page.hpp"
#include "cli/text.hpp"
#include "lessons/phrases.hpp"
#include "sim/energy.hpp"
#include "sim/fit.hpp"
#include "sim/fusion_choice.hpp"

namespace cli {
namespace {

using sim::i64;

std::string bytes_text(double bytes) { return sim::format_bytes(bytes); }
std::string bytes_text(i64 bytes) { return sim::format_bytes(static_cast<double>(bytes)); }

/// "16.9 MB (16.1 MiB)": an amount on chip, beside the unit that its traffic is told in.
std::string both_units(i64 bytes) {
    return fmt::format("{} ({})", bytes_text(bytes), sim::format_kib(static_cast<double>(bytes)));
}

/// The letter of a pass's rows, columns or reduction in the layer.
std::string_view letter(sim::Pass pass, sim::Axis axis) {
    constexpr std::string_view letters[][3] = {{"M", "N", "K"}, {"M", "K", "N"}, {"K", "N", "M"}};
    const int row = pass == sim::Pass::dgrad ? 1 : pass == sim::Pass::wgrad ? 2 : 0;
    return letters[row][static_cast<int>(axis)];
}

const sim::Kernel* find(const std::vector<sim::Kernel>& plan, std::string_view name) {
    for (const sim::Kernel& k : plan)
        if (k.name == name) return &k;
    return nullptr;
}

/// A kernel's operand that is read from DRAM again, and how often.
struct Reread {
    const sim::Kernel* kernel = nullptr;
    const sim::Access* access = nullptr;
    bool left = false;
    double times = 0;
    i64 excess = 0;
};

Reread worst_reread(const sim::Report& r, const std::vector<sim::Kernel>& plan) {
    Reread worst;
    for (const sim::KernelReport& report : r.predicted->kernels) {
        const sim::Kernel* k = find(plan, report.name);
        if (!k || !k->matmul) continue;
        for (const auto* side : {&k->left, &k->right})
            for (const sim::Access& a : *side) {
                const i64 whole = a.tensor.bytes() * k->batch;
                const i64 read = report.traffic.at(sim::Level::dram).of(a.tensor.name).read_bytes;
                if (read - whole > worst.excess)
                    worst = {k, &a, side == &k->left, static_cast<double>(read) / static_cast<double>(whole),
                             read - whole};
            }
    }
    return worst;
}

std::string reread_sentence(const Reread& w, const sim::Device& d, bool name_kernel) {
    const sim::Kernel& k = *w.kernel;
    const auto name = to_string(w.access->tensor.name);
    const i64 trips = w.left ? k.col_tiles() : k.row_tiles();
    const i64 size = w.left ? k.extent.cols : k.extent.rows;
    const i64 step = w.left ? k.tile.bn : k.tile.bm;
    std::string line = name_kernel ? fmt::format("In {}, ", k.name) : std::string();
    line += fmt::format("{} is read {}: each of the {} {} of tiles ({} / {}) needs all of it", name,
                        w.times == std::round(w.times) ? fmt::format("{:.0f} times", w.times)
                                                       : fmt::format("{:.3g} times over", w.times),
                        grouped(trips), w.left ? "columns" : "rows", size, step);
    if (d.kind == sim::DeviceKind::gpu && w.times < 0.98 * static_cast<double>(trips))
        line += fmt::format(", and the {} keeps only part of it between them", d.l2.display);
    return line +
           fmt::format(". A {} tile ({}) reads it less often.", w.left ? "wider" : "taller", w.left ? "bn" : "bm");
}

}  // namespace

std::vector<std::string> diagnosis(const sim::Report& r, const sim::Device& d) {
    std::vector<std::string> out;
    if (!r.predicted) return out;
    const std::vector<sim::Kernel> plan = sim::plan(r.experiment);
    const Reread worst = worst_reread(r, plan);
    const sim::Compulsory must = sim::compulsory(r.experiment);
    const bool matters = worst.kernel && worst.excess * 5 > must.read_bytes + must.write_bytes;
    if (matters) out.push_back(reread_sentence(worst, d, plan.size() > 2));
    const bool scratch = d.kind == sim::DeviceKind::tpu || d.kind == sim::DeviceKind::scratchpad;
    for (const sim::Kernel& k : plan) {
        if (!k.matmul) continue;
        if (scratch && matters && worst.kernel == &k && k.k_steps() == 1 && k.extent.red > k.tile.bm) {
            const sim::Access& left = k.left.front();
            const i64 rows = std::min(k.tile.bm, k.extent.rows);
            const i64 strip = (rows * k.extent.red * left.tensor.bits + 7) / 8;
            const auto red = letter(k.pass, sim::Axis::red);
            out.push_back(
                fmt::format("Untiled {} is the bug: bk {} is all of {}, so a strip of {} takes {} x {} x {} B = {} on "
                            "chip and leaves no "
                            "room for tiles that are taller or wider.",
                            red, k.tile.bk, red, to_string(left.tensor.name), rows, k.extent.red, left.tensor.bits / 8,
                            bytes_text(strip)));
        }
        const sim::Operand output = k.outputs.front().tensor.name;
        for (const sim::KernelReport& report : r.predicted->kernels) {
            const sim::Flow& f = report.traffic.at(sim::Level::dram).of(output);
            if (report.name != k.name || output == sim::Operand::partial || f.causes.order == 0) continue;
            out.push_back(fmt::format(
                "Partial sums of {} go to {} and come back, {} in all: order {} walks the reduction "
                "outside. With the reduction innermost (mnk, nmk) they stay on chip.",
                to_string(output), d.dram.display, bytes_text(f.causes.order), to_string(r.experiment.order)));
        }
    }
    if (out.empty())
        out.push_back(fmt::format("The operands move about once each: the tile is not what costs {} traffic here.",
                                  d.dram.display));
    return out;
}

std::vector<std::string> on_chip(const sim::Report& r, const sim::Device& d, lessons::Language l) {
    using lessons::phrase, lessons::Phrase, lessons::say;
    std::vector<std::string> out;
    if (!r.fit.ok()) return out;
    for (const sim::Kernel& k : sim::plan(r.experiment)) {
        if (!k.matmul) continue;
        const std::string of = r.experiment.pass == sim::Pass::train ? k.name + phrase(Phrase::colon, l) : "";
        if (d.kind == sim::DeviceKind::tpu) {
            const sim::VmemNeed need = sim::vmem_need(r.experiment, d, k);
            // Where only one copy fits, a note of the report says what follows from it.
            out.push_back(of + say(need.buffers == 1
                                       ? need.accumulator_bytes > 0 ? Phrase::on_chip_one_and_sum : Phrase::on_chip_one
                                   : need.accumulator_bytes > 0 ? Phrase::on_chip_two_and_sum
                                                                : Phrase::on_chip_two,
                                   l, both_units(need.bytes()), both_units(need.limit_bytes), need.buffers));
        } else if (d.kind == sim::DeviceKind::gpu) {
            const sim::CtaShape cta = sim::cta_shape(r.experiment, d, k);
            const sim::Occupancy o = sim::occupancy(r.experiment, d, cta);
            const double waves =
                static_cast<double>(k.row_tiles() * k.col_tiles() * k.batch * k.splits) / static_cast<double>(o.slots);
            static constexpr std::pair<std::string_view, Phrase> limits[] = {
                {"said", Phrase::on_chip_said},
                {"shared memory", Phrase::on_chip_smem_first},
                {"registers", Phrase::on_chip_regs_first},
                {"threads", Phrase::on_chip_threads_first},
                {"warps", Phrase::on_chip_threads_first},
                {"CTAs per SM", Phrase::on_chip_ctas_first}};
            std::string limited;
            for (const auto& [name, words] : limits)
                if (name == o.limited_by) limited = phrase(words, l);
            std::string line =
                of + say(Phrase::on_chip_cta, l, sim::format_kib(static_cast<double>(cta.smem_bytes)), d.sram.display,
                         cta.threads, cta.registers, o.ctas_per_sm, limited, grouped(o.slots),
                         grouped(k.row_tiles() * k.col_tiles() * k.batch * k.splits), short_number(waves));
            const double last = waves - std::floor(waves);
            line += last > 0.005 ? say(Phrase::on_chip_last_wave, l, percent(last, false))
                                 : std::string(phrase(Phrase::full_stop, l));
            out.push_back(line);
        } else {
            const i64 left =
                std::min(k.tile.bm, k.extent.rows) * std::min(k.tile.bk, k.extent.red) * k.left.front().tensor.bits / 8;
            const i64 right = std::min(k.tile.bk, k.extent.red) * std::min(k.tile.bn, k.extent.cols) *
                              k.right.front().tensor.bits / 8;
            const auto kib = [](double bytes) { return sim::format_kib(bytes); };
            const auto lx = to_string(k.left.front().tensor.name), rx = to_string(k.right.front().tensor.name);
            const std::string small = kib(static_cast<double>(left)), large = kib(static_cast<double>(right)),
                              whole = kib(d.sram.bytes_per_sm.value);
            out.push_back(of + (d.kind == sim::DeviceKind::cpu
                                    ? say(Phrase::on_chip_packed, l, lx, small, whole, d.sram.display, rx, large,
                                          kib(d.l2.bytes.value), d.l2.display)
                                    : say(Phrase::on_chip_tiles, l, lx, small, rx, large, whole, d.sram.display)));
        }
    }
    for (std::string& line : out) line[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(line[0])));
    return out;
}

std::string fusion_text(const sim::Experiment& e, const sim::Catalogue& devices, int width) {
    const std::vector<sim::FusionChoice> choices = sim::fusion_choices(e, devices);
    if (choices.empty()) return "";
    const bool own_tiles = e.pass != sim::Pass::train || (e.tile_dgrad && e.tile_wgrad);
    std::string out = heading(own_tiles ? "Fusion, with this tile (predicted)"
                                        : "Fusion (predicted; a pass without a tile of its own takes its best)");
    const sim::FusionChoice *winner = nullptr, *second = nullptr, *unfused = nullptr, *fused = nullptr;
    Table table("lrrrrl");
    table.row({"", devices.at(e.device).dram.display, level_name(devices.at(e.device), sim::Level::l2) + " reads",
               "time", "energy, assumed", ""});
    const auto time_of = [](const sim::FusionChoice& c) { return c.report.predicted->time_us; };
    for (const sim::FusionChoice& c : choices) {
        if (!c.report.predicted) {
            table.row({c.words, "-", "-", "-", "-", c.report.fit.why});
            continue;
        }
        if (c.wins) winner = &c;
        const bool is_unfused = c.report.experiment.fusion == sim::Fusion::unfused;
        if (is_unfused && !unfused) unfused = &c;
        if (c.report.experiment.fusion == sim::Fusion::fused && !fused) fused = &c;
        const sim::LevelTraffic& l2 = c.report.traffic.at(sim::Level::l2);
        table.row({c.words, bytes_text(c.report.dram_range.expected_bytes),
                   l2.present ? bytes_text(l2.total().read_bytes) : "-", sim::format_us(time_of(c)),
                   sim::format_joules(sim::energy(c.report, devices.at(e.device)).all.joules),
                   c.wins         ? "fastest"
                   : !c.same_work ? "dZ comes masked: less work"
                                  : ""});
    }
    out += table.text(2, width);
    for (const sim::FusionChoice& c : choices)  // the best of another kind
        if (winner && c.same_work && c.report.predicted &&
            c.report.experiment.fusion != winner->report.experiment.fusion &&
            (!second || time_of(c) < time_of(*second)))
            second = &c;
    if (e.pass == sim::Pass::forward) {
        const auto whole = [&](sim::Operand o) {
            return static_cast<double>(whole_bytes(choices.front().report.experiment, o));
        };
        const double z = whole(sim::Operand::z);
        const double most = 2 * z / (whole(sim::Operand::x) + whole(sim::Operand::w) + whole(sim::Operand::y) + 2 * z);
        const bool same = e.dense.dtype == e.dense.out && !e.dense.bias;
        out += wrap(
            fmt::format("Fusing the ReLU saves the write and the read of z, {}: at most {} = {} of the bytes of an "
                        "unfused run that moves each operand once (and under 2/3 whatever the sizes).",
                        bytes_text(2 * z), same ? "2mn/(mk+kn+3mn)" : "2|Z|/(|X|+|W|+3|Y|)", percent(most, false)),
            width, 2, 2);
    }
    if (winner && second) {
        const double gain = time_of(*second) / time_of(*winner) - 1;
        out += wrap(gain < 0.01 ? fmt::format("{} and {} are within 1 %: no winner.", winner->words, second->words)
                                : fmt::format("{} wins: {} takes {} longer.", winner->words, second->words,
                                              percent(gain, false)),
                    width, 2, 2);
    }
    const bool apart_wins = winner && winner->report.experiment.fusion == sim::Fusion::unfused;
    if (apart_wins && unfused && fused && time_of(*fused) > 1.01 * time_of(*unfused)) {
        const i64 more = fused->report.traffic.at(sim::Level::l2).total().read_bytes -
                         unfused->report.traffic.at(sim::Level::l2).total().read_bytes;
        if (more > 0)
            out +=
                wrap(fmt::format("Fusion loses here: the residual is read again with every load of a dY tile, {} more "
                                 "through the L2 than one mask kernel costs.",
                                 bytes_text(more)),
                     width, 2, 2);
    }
    return out;
}

std::vector<std::string> judge_claim(const sim::Report& r, const sim::Device& d, double claim_us) {
    const double seconds = claim_us * 1e-6;
    const sim::Dense& l = r.experiment.dense;
    const double flops = 2.0 * static_cast<double>(l.m) * static_cast<double>(l.n) * static_cast<double>(l.k) *
                         static_cast<double>(l.batch) * (r.experiment.pass == sim::Pass::train ? 3 : 1);
    const double rate = flops / seconds;
    const double peak = flops / (r.bound.math_us * 1e-6);
    const double stream = static_cast<double>(r.bound.dram_bytes) / (r.bound.dram_us * 1e-6);
    const i64 tile_bytes = r.predicted ? r.dram_range.lockstep_bytes : 0;
    const double tile_us = static_cast<double>(tile_bytes) / stream * 1e6;
    std::vector<std::string> out;
    const auto work =
        fmt::format("{} in {} is {}", operations_text(flops), sim::format_us(claim_us), sim::format_flops(rate));
    if (claim_us < r.bound.math_us)
        out.push_back(
            fmt::format("Impossible: flops / peak. {}, {} the peak of {} ({} at the highest clock). No kernel on a {} "
                        "can take less than {}.",
                        work, times(rate / peak), sim::format_flops(peak), to_string(r.experiment.dense.dtype), d.id,
                        sim::format_us(r.bound.math_us)));
    if (claim_us < r.bound.dram_us)
        out.push_back(fmt::format(
            "Impossible: bytes / bandwidth. The {} that any kernel must move in {} are {}, {} the {} of {}.",
            bytes_text(r.bound.dram_bytes), sim::format_us(claim_us),
            sim::format_bandwidth(static_cast<double>(r.bound.dram_bytes) / seconds), times(r.bound.dram_us / claim_us),
            sim::format_bandwidth(stream), d.dram.display));
    if (tile_us > claim_us)
        out.push_back(fmt::format(
            "{}: bytes / bandwidth. This tile moves {}; in {} that is {}, {} the {} of {}. These bytes alone "
            "take {}.",
            out.empty() ? "Impossible with this tile" : "And with this tile", bytes_text(tile_bytes),
            sim::format_us(claim_us), sim::format_bandwidth(static_cast<double>(tile_bytes) / seconds),
            times(tile_us / claim_us), sim::format_bandwidth(stream), d.dram.display, sim::format_us(tile_us)));
    if (!out.empty() || !r.predicted) {
        if (out.empty()) out.push_back("Neither inequality is broken, but this tile does not fit.");
        return out;
    }
    const sim::Prediction& p = *r.predicted;
    const std::string expected =
        fmt::format("{} to {}", sim::format_us(p.interval_us[0]), sim::format_us(p.interval_us[1]));
    if (claim_us < p.interval_us[0]) {
        out.push_back(
            fmt::format("Possible, and faster than expected ({}): {}, {} of the peak. Ask how it was measured.",
                        expected, work, percent(rate / peak, false)));
    } else if (claim_us <= p.interval_us[1]) {
        out.push_back(
            fmt::format("As expected ({}): {}, {} of the peak.", expected, work, percent(rate / peak, false)));
    } else {
        out.push_back(fmt::format(
            "Possible, and slower than expected ({}) by {}: {}, {} of the peak. Something outside the model "
            "costs time.",
            expected, times(claim_us / p.time_us), work, percent(rate / peak, false)));
    }
    return out;
}

std::vector<std::string> not_modelled(const sim::Device& d) {
    switch (d.kind) {
        case sim::DeviceKind::gpu:
            return {"DRAM pages, refresh and ECC",
                    "TLB misses",
                    "set conflicts of the L2",
                    "instruction issue beyond FMA and shared "
                    "memory",
                    "clocks that change within a run",
                    "other work on the GPU"};
        case sim::DeviceKind::tpu:
            return {"the other TensorCore", "the compiler's own tiling inside a grid step", "HBM pages and refresh",
                    "transfers between chips"};
        case sim::DeviceKind::cpu:
            return {"DRAM pages and refresh",          "TLB misses",
                    "set conflicts of the caches",     "hardware prefetch",
                    "clocks that change within a run", "other programs"};
        case sim::DeviceKind::scratchpad:
            return {"latency", "anything but bytes and a flop rate: the machine is an ideal"};
    }
    return {};
}

}  // namespace cli
