// What must hold of any text that a reader is given: it refuses it with BadInput, or what it read survives a round trip
// and every prediction made of it is finite and keeps its laws.

#include <fmt/format.h>

#include <cmath>

#include "sim/device.hpp"
#include "sim/embedded.hpp"
#include "sim/experiment.hpp"
#include "sim/measurement.hpp"
#include "sim/report.hpp"
#include "tests/fuzz.hpp"

namespace fuzz {
namespace {

using sim::BadInput;

/// Empty where a report has only finite numbers that agree with one another.
std::string wrong_with(const sim::Report& r) {
    if (r.fit.ok() != r.predicted.has_value()) return "fits and has no prediction, or the other way round";
    const auto bad = [](double v) { return !std::isfinite(v) || v < 0; };
    if (bad(r.bound.time_us) || r.bound.dram_bytes < 0)
        return fmt::format("bound {} µs, {} B", r.bound.time_us, r.bound.dram_bytes);
    if (!r.predicted) return "";
    const sim::Prediction& p = *r.predicted;
    if (bad(p.time_us) || bad(p.interval_us[0]) || bad(p.interval_us[1]))
        return fmt::format("predicted {} µs in [{}, {}]", p.time_us, p.interval_us[0], p.interval_us[1]);
    if (p.interval_us[0] > p.time_us || p.interval_us[1] < p.time_us)
        return "the predicted time is outside its own interval";
    if (p.time_us < r.bound.time_us * (1 - 1e-9))
        return fmt::format("predicted {} µs beats the bound {} µs", p.time_us, r.bound.time_us);
    for (const auto& [what, time] : p.if_twice)
        if (bad(time)) return fmt::format("twice {} gives {} µs", what, time);
    double sum = 0;
    for (const sim::KernelReport& k : p.kernels) {
        double terms = 0;
        for (const sim::TimeTerm& t : k.terms) {
            if (!std::isfinite(t.time_us)) return fmt::format("{}: term {} is {} µs", k.name, t.name, t.time_us);
            terms += t.time_us;
        }
        if (std::abs(terms - k.time_us) > 1e-6 * k.time_us)
            return fmt::format("{}: terms sum to {}, not {} µs", k.name, terms, k.time_us);
        sum += k.time_us;
        for (const sim::LevelTraffic& level : k.traffic.levels)
            for (const sim::Flow& f : level.operands) {
                if (f.read_bytes < 0 || f.write_bytes < 0) return fmt::format("{}: negative bytes", k.name);
                if (f.moved_read_bytes < f.read_bytes || f.moved_write_bytes < f.write_bytes)
                    return fmt::format("{}: moved fewer bytes than requested", k.name);
            }
    }
    if (sum > p.time_us * (1 + 1e-6)) return fmt::format("kernels take {} of {} µs", sum, p.time_us);
    return "";
}

std::string survives_prediction(const sim::Experiment& e, const sim::Catalogue& devices) {
    return wrong_with(sim::predict(e, devices, {.count = sim::Count::closed_form, .without = {}}));
}

std::string check_experiment(const std::string& text, bool& accepted) {
    const sim::Catalogue& devices = sim::Catalogue::builtin();
    sim::Experiment e;
    try {
        e = sim::parse_experiment(text, devices);
    } catch (const BadInput& bad) {
        return std::string(bad.what()).find('\n') == std::string::npos ? "" : "an error of more than one line";
    }
    accepted = true;
    const std::string line = sim::to_string(e, devices);
    if (!(sim::parse_experiment(line, devices) == e)) return fmt::format("reads back differently from {}", line);
    return survives_prediction(e, devices);
}

std::string check_scene(const std::string& text, bool& accepted) {
    const sim::Catalogue& devices = sim::Catalogue::builtin();
    sim::Scene s;
    try {
        s = sim::parse_scene(text, devices);
    } catch (const BadInput& bad) {
        return std::string(bad.what()).find('\n') == std::string::npos ? "" : "an error of more than one line";
    }
    accepted = true;
    const std::string line = sim::to_string(s, devices);
    return sim::parse_scene(line, devices) == s ? "" : fmt::format("reads back differently from {}", line);
}

std::string check_device(const std::string& text, bool& accepted) {
    sim::Device d;
    try {
        d = sim::parse_device(text, "fuzz.toml");
    } catch (const BadInput& bad) {
        return std::string(bad.what()).find('\n') == std::string::npos ? "" : "an error of more than one line";
    }
    accepted = true;
    for (const sim::Constant& c : sim::constants(d))
        if (!(c.quantity.value >= c.low && c.quantity.value <= c.high))
            return fmt::format("{} is {}", c.key, c.quantity.value);
    const std::string again = sim::to_toml(d);
    if (sim::to_toml(sim::parse_device(again, "again.toml")) != again) return "its file reads back differently";
    sim::Catalogue devices;
    devices.add(d);
    for (const sim::Fusion fusion : {sim::Fusion::unfused, sim::Fusion::fused}) {
        sim::Dense layer;
        layer.m = 1000, layer.n = 777, layer.k = 512;
        layer.dtype = layer.out = sim::Dtype::bf16;
        const std::string wrong =
            survives_prediction(sim::usual_experiment(d, layer, sim::Pass::forward, fusion), devices);
        if (!wrong.empty()) return wrong;
    }
    return "";
}

std::string check_measurements(const std::string& text, bool& accepted) {
    const sim::Catalogue& devices = sim::Catalogue::builtin();
    sim::MeasurementFile file;
    try {
        file = sim::parse_measurements(text, "fuzz.csv");
    } catch (const BadInput& bad) {
        return std::string(bad.what()).find('\n') == std::string::npos ? "" : "an error of more than one line";
    }
    accepted = true;
    for (const sim::Measurement& row : file.rows) {
        if (row.time_us && !(*row.time_us > 0 && std::isfinite(*row.time_us)))
            return fmt::format("line {}: time {}", row.line, *row.time_us);
        std::string why;
        const auto e = sim::experiment_of(row, devices, why);
        if (!e && why.empty()) return fmt::format("line {}: no experiment and no reason", row.line);
        if (e && !e->tile.is_best()) {
            const std::string wrong = survives_prediction(*e, devices);
            if (!wrong.empty()) return fmt::format("line {}: {}", row.line, wrong);
        }
    }
    return "";
}

const std::vector<std::string> experiments = {
    "h200-sxm 8192x8192x8192 bf16 forward fused tile 128x256x64 stages 4 raster grouped:8",
    "h100-sxm5 4096x4096x4096 bf16 train unfused residual mask tile 128x128x64 tile.wgrad 128x256x64 rung "
    "07_tensor_core",
    "tpu-v5e 8192x8192x8192 f32 forward fused tile 128x128x8192 order mnk buffers 1",
    "scratchpad 512x512x512 f32 forward unfused tile 64x64x64 order kmn",
    "scratchpad batch 3 100x200x300 f16 out f32 train upstream drelu yes tile 33x17x65 tile.dgrad 8x8x8 order knm",
    "a100-sxm4-80gb 1000x999x333 bf16 dgrad fused residual mask tile 128x128x32 engine mma pipeline multistage stages "
    "3",
    "rtx-4090 640x512x4096 f32 wgrad fused accumulate yes tile 64x64x16 schedule split_k:4 thread 8x8 warps 8",
    "b200-sxm 8192x8192x1024 e4m3 out bf16 forward fused bias yes tile 256x256x128 cluster 2x1 schedule persistent sms "
    "148",
    "h100-pcie 2048x2048x2048 tf32 forward none tile 128x128x32 consumers pingpong ctas 1 l2 warm pitch tight",
    "tpu-v6e 4096x4096x4096 bf16 forward unfused in_place yes tile best vmem 32MiB precision highest buffers auto",
    "t4 300x200x100 f16 dgrad upstream drelu yes tile 64x64x32 raster hilbert traits access=strided,vector=4",
    "v100-sxm2-32gb 1x1x1 f16 forward fused tile 1x1x1 raster along_m",
};

std::vector<std::string> scenes() {
    std::vector<std::string> out;
    for (const std::string& e : experiments) out.push_back(e);
    out.push_back(experiments[0] + " | step 12 select y 3 4 view explore vs (" + experiments[4] + ")");
    out.push_back(experiments[3] + " | view measure");
    out.push_back(experiments[2] + " | select x 0 0 step 1");
    return out;
}

std::vector<std::string> texts(std::span<const sim::EmbeddedFile> files) {
    std::vector<std::string> out;
    for (const sim::EmbeddedFile& f : files) out.emplace_back(f.text);
    return out;
}

/// The head and a few rows of each file: short files make more cases a second.
std::vector<std::string> measurements() {
    std::vector<std::string> out;
    for (const sim::EmbeddedFile& f : sim::embedded_measurements()) {
        const std::string text(f.text);
        if (!text.starts_with("id,")) continue;
        const std::size_t head = text.find('\n') + 1;
        for (std::size_t from = head; from < text.size();) {
            std::size_t to = from;
            for (int rows = 0; rows < 3 && to < text.size(); ++rows)
                to = std::min(text.find('\n', to), text.size() - 1) + 1;
            out.push_back(text.substr(0, head) + text.substr(from, to - from));
            from = to;
        }
    }
    return out;
}

}  // namespace

const std::vector<Target>& targets() {
    static const std::vector<Target> all = {
        {"experiment", experiments, check_experiment},
        {"scene", scenes(), check_scene},
        {"device", texts(sim::embedded_devices()), check_device},
        {"measurements", measurements(), check_measurements},
    };
    return all;
}

}  // namespace fuzz
