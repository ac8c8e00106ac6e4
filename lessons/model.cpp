#include "lessons/model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <functional>
#include <vector>

#include "lessons/edit.hpp"
#include "lessons/published.hpp"
#include "sim/fit.hpp"
#include "sim/plan.hpp"
#include "sim/text.hpp"
#include "sim/time.hpp"

namespace lessons {
namespace {

using sim::i64;

constexpr Unit per_second_bytes{1, -1, 0}, per_second_flops{0, -1, 1}, flops_per_byte{-1, 0, 1};

/// A report and what belongs to it.
struct Case {
    const sim::Report& report;
    const sim::Device& device;
    std::vector<sim::Kernel> plan;  ///< empty where no tile fits

    const sim::Kernel& matmul() const {
        for (const sim::Kernel& k : plan)
            if (k.matmul) return k;
        throw sim::BadInput("there is no plan: " + report.fit.why);
    }
    const sim::Prediction& predicted() const {
        if (!report.predicted) throw sim::BadInput("it does not fit: " + report.fit.why);
        return *report.predicted;
    }
    double peak() const { return device.peak_flops(report.experiment.dense.dtype); }
    double dram() const {
        predicted();
        return static_cast<double>(report.dram_range.expected_bytes);
    }
};

double real(i64 v) { return static_cast<double>(v); }

/// Bytes a tile needs on chip: of a CTA (GPU), of all copies (TPU), of one tile of each operand (others).
double need(const Case& c) {
    const sim::Kernel& k = c.matmul();
    switch (c.device.kind) {
        case sim::DeviceKind::gpu: return real(cta_shape(c.report.experiment, c.device, k).smem_bytes);
        case sim::DeviceKind::tpu: return real(vmem_need(c.report.experiment, c.device, k).bytes());
        default: {
            const double b = real(storage_bytes(c.report.experiment.dense.dtype));
            const double bm = real(k.tile.bm), bn = real(k.tile.bn), bk = real(k.tile.bk);
            return (bm * bk + bk * bn) * b +
                   bm * bn * (k.k_steps() > 1 ? 4 : real(storage_bytes(c.report.experiment.dense.out)));
        }
    }
}

double whole(const Case& c, bool writes) {
    const sim::Compulsory must = sim::compulsory(c.report.experiment);
    return real(writes ? must.write_bytes : must.read_bytes);
}

double known(const sim::Quantity& q, std::string_view what) {
    if (!q.known()) throw sim::BadInput(fmt::format("{} is not known of this device", what));
    return q.value;
}

template <class T>
double only_on_gpus(const std::optional<T>& v) {
    if (!v) throw sim::BadInput("only a GPU has that");
    return static_cast<double>(*v);
}

struct Row {
    QuantityInfo info;
    std::function<Value(const Case&)> of;
};

Value truth(bool b) { return {b, plain}; }
Value word(std::string_view w) { return {std::string(w), plain}; }

const std::vector<Row>& rows() {
    static const std::vector<Row> all = {
        {{"time", "predicted time"},
         [](const Case& c) -> Value {
             return {c.predicted().time_us * 1e-6, in_seconds};
         }},
        {{"limiter", "what the prediction is limited by: math sram l2 dram latency launch step_overhead power"},
         [](const Case& c) { return word(to_string(c.predicted().limiter)); }},
        {{"compulsory", "the operation's own operands once each"},
         [](const Case& c) -> Value {
             return {whole(c, false) + whole(c, true), in_bytes};
         }},
        {{"dram.lockstep", "DRAM bytes if the SMs march in step"},
         [](const Case& c) -> Value {
             return {real(c.report.dram_range.lockstep_bytes), in_bytes};
         }},
        {{"dram.staggered", "DRAM bytes if they are fully staggered"},
         [](const Case& c) -> Value {
             return {real(c.report.dram_range.staggered_bytes), in_bytes};
         }},
        {{"bound.dram", "DRAM bytes that no kernel can undercut"},
         [](const Case& c) -> Value {
             return {real(c.report.bound.dram_bytes), in_bytes};
         }},
        {{"bound.time", "time that no kernel can undercut"},
         [](const Case& c) -> Value {
             return {c.report.bound.time_us * 1e-6, in_seconds};
         }},
        {{"bound.math_time", "of it, what the operations take at the highest clock"},
         [](const Case& c) -> Value {
             return {c.report.bound.math_us * 1e-6, in_seconds};
         }},
        {{"bound.dram_time", "and what the bytes take at the datasheet's bandwidth"},
         [](const Case& c) -> Value {
             return {c.report.bound.dram_us * 1e-6, in_seconds};
         }},
        {{"ceiling", "the roof that sets the bound: math dram l2"},
         [](const Case& c) { return word(to_string(c.report.bound.ceiling)); }},
        {{"flops", "operations of the matmuls, 2mnk each"},
         [](const Case& c) -> Value {
             return {real(c.report.flops), in_flops};
         }},
        {{"intensity", "operations a DRAM byte"},
         [](const Case& c) -> Value {
             return {real(c.report.flops) / c.dram(), flops_per_byte};
         }},
        {{"best_intensity", "operations a byte if each operand moved once"},
         [](const Case& c) -> Value {
             return {real(c.report.flops) / (whole(c, false) + whole(c, true)), flops_per_byte};
         }},
        {{"ridge", "operations a byte from which the device can be bound by math: peak / bandwidth"},
         [](const Case& c) -> Value {
             return {c.peak() / c.device.dram.bandwidth.value, flops_per_byte};
         }},
        {{"rate", "operations a second as predicted"},
         [](const Case& c) -> Value {
             return {real(c.report.flops) / c.predicted().time_us * 1e6, per_second_flops};
         }},
        {{"share", "rate over peak"},
         [](const Case& c) -> Value {
             return {real(c.report.flops) / c.predicted().time_us * 1e6 / c.peak(), plain};
         }},
        {{"fits", "whether it can run"}, [](const Case& c) { return truth(c.report.fit.ok()); }},
        {{"pipelined", "whether copies overlap computation"},
         [](const Case& c) { return truth(c.predicted().pipelined); }},
        {{"need", "bytes a tile needs on chip"},
         [](const Case& c) -> Value {
             return {need(c), in_bytes};
         }},
        {{"buffers", "copies of each tile in VMEM"},
         [](const Case& c) -> Value {
             if (c.device.kind != sim::DeviceKind::tpu) throw sim::BadInput("only a TPU has buffers");
             return {double(vmem_need(c.report.experiment, c.device, c.matmul()).buffers), plain};
         }},
        {{"occupancy", "resident CTAs an SM"},
         [](const Case& c) -> Value {
             return {only_on_gpus(c.predicted().occupancy), plain};
         }},
        {{"slots", "CTAs that run side by side"},
         [](const Case& c) -> Value {
             return {only_on_gpus(c.predicted().slots), plain};
         }},
        {{"waves", "tiles over slots"},
         [](const Case& c) -> Value {
             return {only_on_gpus(c.predicted().waves), plain};
         }},
        {{"wave_use", "waves over whole waves: the share of slots with work"},
         [](const Case& c) -> Value {
             const double waves = only_on_gpus(c.predicted().waves);
             return {waves / std::ceil(waves), plain};
         }},
        {{"kernels", "kernels launched"},
         [](const Case& c) -> Value {
             return {double(c.plan.size()), plain};
         }},
        {{"matmuls", "of them matmuls"},
         [](const Case& c) -> Value {
             return {double(std::count_if(c.plan.begin(), c.plan.end(), [](const auto& k) { return k.matmul; })),
                     plain};
         }},
        {{"tiles", "output tiles of the main matmul"},
         [](const Case& c) -> Value {
             return {real(c.matmul().row_tiles() * c.matmul().col_tiles()), plain};
         }},
        {{"tm", "rows of tiles"},
         [](const Case& c) -> Value {
             return {real(c.matmul().row_tiles()), plain};
         }},
        {{"tn", "columns of tiles"},
         [](const Case& c) -> Value {
             return {real(c.matmul().col_tiles()), plain};
         }},
        {{"tk", "k-steps of a tile"},
         [](const Case& c) -> Value {
             return {real(c.matmul().k_steps()), plain};
         }},
        {{"m", "rows of X"},
         [](const Case& c) -> Value {
             return {real(c.report.experiment.dense.m), plain};
         }},
        {{"n", "columns of W"},
         [](const Case& c) -> Value {
             return {real(c.report.experiment.dense.n), plain};
         }},
        {{"k", "the reduction of the forward pass"},
         [](const Case& c) -> Value {
             return {real(c.report.experiment.dense.k), plain};
         }},
        {{"bm", "rows of a tile"},
         [](const Case& c) -> Value {
             return {real(c.matmul().tile.bm), plain};
         }},
        {{"bn", "columns of a tile"},
         [](const Case& c) -> Value {
             return {real(c.matmul().tile.bn), plain};
         }},
        {{"bk", "reduction of a k-step"},
         [](const Case& c) -> Value {
             return {real(c.matmul().tile.bk), plain};
         }},
        {{"stages", "tiles in flight"},
         [](const Case& c) -> Value {
             return {double(c.report.experiment.stages), plain};
         }},
        {{"element", "bytes of an element of X and W"},
         [](const Case& c) -> Value {
             return {real(storage_bytes(c.report.experiment.dense.dtype)), in_bytes};
         }},
        {{"out_element", "bytes of an element of Y"},
         [](const Case& c) -> Value {
             return {real(storage_bytes(c.report.experiment.dense.out)), in_bytes};
         }},
        {{"device.peak", "peak of the dtype"},
         [](const Case& c) -> Value {
             return {c.peak(), per_second_flops};
         }},
        {{"device.bandwidth", "what a streaming kernel gets from DRAM"},
         [](const Case& c) -> Value {
             return {known(c.device.dram.bandwidth, "the bandwidth"), per_second_bytes};
         }},
        {{"device.l2_bandwidth", "L2 to all SMs"},
         [](const Case& c) -> Value {
             return {known(c.device.l2.bandwidth, "the L2 bandwidth"), per_second_bytes};
         }},
        {{"device.latency", "DRAM latency"},
         [](const Case& c) -> Value {
             return {known(c.device.dram.latency, "the DRAM latency"), in_seconds};
         }},
        {{"device.l2", "bytes of L2"},
         [](const Case& c) -> Value {
             return {known(c.device.l2.bytes, "the L2"), in_bytes};
         }},
        {{"device.l2_effective", "bytes of L2 for data that all SMs read"},
         [](const Case& c) -> Value {
             return {known(c.device.l2.effective_bytes, "the L2"), in_bytes};
         }},
        {{"device.sram", "on-chip bytes of an SM or core"},
         [](const Case& c) -> Value {
             return {known(c.device.sram.bytes_per_sm, "the on-chip memory"), in_bytes};
         }},
        {{"device.sram_cta", "on-chip bytes that one CTA may use"},
         [](const Case& c) -> Value {
             return {known(c.device.sram.bytes_per_cta, "the on-chip memory"), in_bytes};
         }},
        {{"device.vmem", "scoped VMEM of a TPU kernel"},
         [](const Case& c) -> Value {
             if (c.device.kind != sim::DeviceKind::tpu) throw sim::BadInput("only a TPU has VMEM");
             return {real(vmem_need(c.report.experiment, c.device, c.matmul()).limit_bytes), in_bytes};
         }},
        {{"device.sms", "SMs or cores"},
         [](const Case& c) -> Value {
             return {known(c.device.sm_count, "the SM count"), plain};
         }},
        {{"device.step", "overhead of a grid step"},
         [](const Case& c) -> Value {
             return {known(c.device.overhead.step, "the step overhead"), in_seconds};
         }},
        {{"device.launch", "launch of a kernel"},
         [](const Case& c) -> Value {
             return {known(c.device.overhead.launch, "the launch overhead"), in_seconds};
         }},
    };
    return all;
}

std::vector<std::string_view> split(std::string_view name) {
    std::vector<std::string_view> parts;
    while (true) {
        const std::size_t dot = name.find('.');
        parts.push_back(name.substr(0, dot));
        if (dot == name.npos) return parts;
        name.remove_prefix(dot + 1);
    }
}

/// LEVEL[.OPERAND][.read|.write|.moved|.CAUSE] of some traffic, or nothing where the name is no such one.
std::optional<double> traffic(std::vector<std::string_view> parts, const sim::Traffic& t) {
    constexpr sim::Level levels[] = {sim::Level::sram, sim::Level::l1, sim::Level::l2, sim::Level::dram};
    const auto level =
        std::find_if(std::begin(levels), std::end(levels), [&](sim::Level l) { return to_string(l) == parts[0]; });
    if (level == std::end(levels)) return {};
    const sim::LevelTraffic& at = t.at(*level);
    if (!at.present) throw sim::BadInput(fmt::format("this machine has no {}", parts[0]));
    sim::Flow flow = at.total();
    std::size_t next = 1;
    if (next < parts.size())
        for (int i = 0; i < sim::operand_count; ++i)
            if (to_string(static_cast<sim::Operand>(i)) == parts[next]) {
                flow = at.of(static_cast<sim::Operand>(i));
                ++next;
                break;
            }
    if (next == parts.size()) return real(flow.bytes());
    if (next + 1 != parts.size()) return {};
    const struct {
        std::string_view name;
        i64 bytes;
    } kinds[] = {{"read", flow.read_bytes},
                 {"write", flow.write_bytes},
                 {"moved", flow.moved_read_bytes + flow.moved_write_bytes},
                 {"compulsory", flow.causes.compulsory},
                 {"capacity", flow.causes.capacity},
                 {"order", flow.causes.order},
                 {"padding", flow.causes.padding}};
    for (const auto& kind : kinds)
        if (kind.name == parts[next]) return real(kind.bytes);
    return {};
}

/// time.KERNEL, time.TERM, time.low and time.high, twice.RESOURCE.
std::optional<double> part_of_time(const std::vector<std::string_view>& parts, const sim::Prediction& p) {
    if (parts.size() != 2) return {};
    if (parts[0] == "twice") {
        const auto at = p.if_twice.find(std::string(parts[1]));
        return at == p.if_twice.end() ? std::nullopt : std::optional(at->second);
    }
    if (parts[0] != "time") return {};
    if (parts[1] == "low") return p.interval_us[0];
    if (parts[1] == "high") return p.interval_us[1];
    double sum = 0;
    bool found = false;
    for (const sim::TimeTermInfo& t : sim::time_terms()) found |= t.name == parts[1];  // a term may be 0 here
    for (const sim::KernelReport& k : p.kernels) {
        if (k.name == parts[1]) {
            sum += k.time_us;
            found = true;
        }
        for (const sim::TimeTerm& t : k.terms)
            if (t.name == parts[1]) sum += t.time_us;
    }
    return found ? std::optional(sum) : std::nullopt;
}

}  // namespace

std::span<const QuantityInfo> quantities() {
    static const std::vector<QuantityInfo> all = [] {
        std::vector<QuantityInfo> infos;
        for (const Row& r : rows()) infos.push_back(r.info);
        infos.insert(
            infos.end(),
            {{"dram", "DRAM bytes as expected between lockstep and staggered"},
             {"time.TERM, time.KERNEL, time.low, time.high", "a part of the time, a kernel's, the interval's ends"},
             {"twice.RESOURCE", "time if math, sram, l2, dram, latency, launch … were twice as fast"},
             {"KERNEL.LEVEL[…]", "traffic of one kernel: relu.dram.read"},
             {"measured.time[ROW], measured.dram[ROW], measured.rate[ROW]", "a published row"},
             {"impossible.time[ROW]", "a published figure that cannot be true"},
             {"counted.NAME", "what glass or a profiler counted, where there is one"},
             {"faulty.NAME[FAULT]", "the same of the kernel with a planted fault"}});
        return infos;
    }();
    return all;
}

bool is_count(std::string_view name) { return name.starts_with("counted.") || name.starts_with("faulty."); }

Model::Model(sim::Catalogue devices, Counted counted) : devices_(std::move(devices)), counted_(std::move(counted)) {}

const sim::Report& Model::report(const std::string& line) {
    const auto at = reports_.find(line);
    if (at != reports_.end()) return at->second;
    return reports_.emplace(line, sim::predict(sim::parse_experiment(line, devices_), devices_)).first->second;
}

std::string Model::scene(std::string_view edit, const std::string& line, const Scenes& scenes) const {
    std::string_view rest = edit;
    rest.remove_prefix(std::min(rest.find_first_not_of(' '), rest.size()));
    if (!rest.starts_with('@')) return rest.empty() ? line : edited(line, rest, devices_);
    const std::size_t end = std::min(rest.find(' '), rest.size());
    const auto at = scenes.find(std::string(rest.substr(1, end - 1)));
    if (at == scenes.end())
        throw sim::BadInput(
            fmt::format("{}: expected a scene named in the lesson's head", sim::quote(rest.substr(0, end))));
    return edited(at->second, rest.substr(end), devices_);
}

Value Model::of_report(std::string_view name, const std::string& line) {
    const sim::Report& r = report(line);
    const Case c{r, devices_.at(r.experiment.device), sim::plan(r.experiment)};
    if (name == "dram") return {c.dram(), in_bytes};
    for (const Row& row : rows())
        if (row.info.name == name) return row.of(c);

    std::vector<std::string_view> parts = split(name);
    if (const auto bytes = traffic(parts, r.traffic)) return {(c.predicted(), *bytes), in_bytes};
    if (parts[0] == "time" || parts[0] == "twice") {
        if (const auto us = part_of_time(parts, c.predicted())) return {*us * 1e-6, in_seconds};
    }
    for (const sim::KernelReport& k : c.predicted().kernels)
        if (k.name == parts[0] && parts.size() > 1)
            if (const auto bytes = traffic({parts.begin() + 1, parts.end()}, k.traffic)) return {*bytes, in_bytes};
    std::vector<std::string_view> known_names;
    for (const Row& row : rows()) known_names.push_back(row.info.name);
    throw sim::BadInput(fmt::format("{} is no quantity (lessons/README.md lists them){}", sim::quote(name),
                                    sim::did_you_mean(name, known_names)));
}

Value Model::quantity(std::string_view name, std::string_view edit, const std::string& line, const Scenes& scenes) {
    if (name.starts_with("measured.") || name.starts_with("impossible.")) return published(name, edit);
    if (is_count(name)) {
        const auto count = this->count(name, edit, line, scenes);
        if (!count) throw sim::BadInput(fmt::format("{} is not counted here", name));
        const bool bytes = name.ends_with(".read") || name.ends_with(".write");
        return {*count, name == "counted.time" ? in_seconds : bytes ? in_bytes : plain};
    }
    const std::string at = scene(edit, line, scenes);
    try {
        return of_report(name, at);
    } catch (const sim::BadInput& e) {
        throw sim::BadInput(fmt::format("{} of {}: {}", name, at, e.what()));
    }
}

std::optional<double> Model::count(std::string_view name, std::string_view edit, const std::string& line,
                                   const Scenes& scenes) const {
    if (!counted_) return {};
    const bool faulty = name.starts_with("faulty.");  // then the brackets name the fault
    const std::string at = faulty ? line : scene(edit, line, scenes);
    return counted_(sim::parse_experiment(at, devices_), name.substr(name.find('.') + 1), faulty ? edit : "");
}

Value Model::value(const Expression& e, const std::string& line, const Scenes& scenes) {
    return e.evaluate([&](std::string_view name, std::string_view edit) { return quantity(name, edit, line, scenes); });
}

bool Model::has_counts(const Expression& e, const std::string& line, const Scenes& scenes) {
    for (const Expression::Name& n : e.names()) {
        if (is_count(n.name)) try {
                if (!count(n.name, n.edit, line, scenes)) return false;
            } catch (const sim::BadInput&) {
                return false;  // a machine that is not known here
            }
    }
    return true;
}

}  // namespace lessons
