// What a row of measured data ran, in the words of an experiment.

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "sim/direct.hpp"
#include "sim/fit.hpp"
#include "sim/measurement.hpp"
#include "sim/text.hpp"
#include "sim/traits.hpp"

namespace sim {

namespace {

std::optional<int> integer(std::string_view text, int low, int high) {
    int value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size() || value < low || value > high) return std::nullopt;
    return value;
}

/// "AxB", or "A" for Ax1.
std::optional<Shape2> shape(std::string_view text, int high) {
    const std::size_t x = text.find('x');
    const auto rows = integer(text.substr(0, x), 1, high);
    const auto cols = x == text.npos ? std::optional(1) : integer(text.substr(x + 1), 1, high);
    if (!rows || !cols) return std::nullopt;
    return Shape2{*rows, *cols};
}

std::optional<Raster> raster(std::string_view text) {
    if (text == "along_n") return Raster{Raster::along_n, 0};
    if (text == "along_m") return Raster{Raster::along_m, 0};
    if (text == "hilbert") return Raster{Raster::hilbert, 0};
    if (text.starts_with("grouped:"))
        if (const auto g = integer(text.substr(8), 1, 1 << 20)) return Raster{Raster::grouped, *g};
    return std::nullopt;
}

/// What an engine is usually written with, where a row does not say.
Pipeline usual_pipeline(Engine engine) {
    switch (engine) {
        case Engine::mxu: return Pipeline::pallas;
        case Engine::cpu: return Pipeline::none;
        case Engine::simt: return Pipeline::double_buffered;
        case Engine::mma: return Pipeline::multistage;
        default: return Pipeline::warp_specialized;
    }
}
int usual_stages(Pipeline p) {
    return p == Pipeline::double_buffered ? 2 : p == Pipeline::multistage ? 3 : p == Pipeline::warp_specialized ? 4 : 1;
}

/// Outputs of one thread where only the CTA's tile and threads are known: eight rows, or one where they are few.
Shape2 thread_tile(const Measurement& row) {
    if (!row.bm || !row.bn || !row.threads) return {};
    const i64 outputs = std::min<i64>(2048, *row.bm * *row.bn / std::max<i64>(1, *row.threads));
    if (outputs < 16) return {1, static_cast<int>(std::max<i64>(1, outputs))};
    return {8, static_cast<int>(outputs / 8)};
}

/// A ring of stages is usually made as deep as shared memory lets it be; one of two or three is at least no deeper.
void take_stages_that_fit(Experiment& e, const Device& d) {
    const int most = e.pipeline == Pipeline::warp_specialized ? 12 : e.stages;
    const int usual = e.stages;
    for (e.stages = most; e.stages >= 2; --e.stages)
        if (fit(e, d, plan(e)).ok()) return;
    e.stages = usual;
}

/// A library's kernel is not known; it is taken as the best tile of this menu: tiles in groups of eight rows and, where
/// the tensor cores read shared memory, pairs of CTAs that stay and share a tile.
void apply_library_menu(Experiment& e) {
    if (e.engine == Engine::mma || e.engine == Engine::wgmma || e.engine == Engine::tcgen05)
        e.raster = {Raster::grouped, 8};
    if (e.engine == Engine::wgmma || e.engine == Engine::tcgen05) {
        e.schedule = {Schedule::persistent, 1};
        e.cluster = {2, 1};
    }
}

/// A trait that an experiment's own word says.
struct TraitWord {
    std::string_view key;
    bool (*apply)(Experiment&, const Device&, std::string_view value);
};
constexpr TraitWord trait_words[] = {
    {"thread_tile",
     [](Experiment& e, const Device&, std::string_view v) {
         const auto s = shape(v, 256);
         if (s && e.engine == Engine::simt) e.thread = *s;
         return s.has_value();
     }},
    {"cluster",
     [](Experiment& e, const Device& d, std::string_view v) {
         const auto s = shape(v, 16);
         if (s && d.kind == DeviceKind::gpu) e.cluster = *s;
         return s.has_value();
     }},
    {"ctas",  // of the whole grid: a persistent kernel that leaves SMs idle
     [](Experiment& e, const Device& d, std::string_view v) {
         const auto n = integer(v, 1, 4096);
         if (n && d.kind == DeviceKind::gpu) e.sms = *n;
         return n.has_value();
     }},
    {"order",
     [](Experiment& e, const Device&, std::string_view v) {
         if (v == "hilbert") e.raster = {Raster::hilbert, 0};
         if (v == "ij_fullk") e.order = Order::mnk;
         return v == "hilbert" || v == "ij_fullk";
     }},
    {"passes",
     [](Experiment& e, const Device&, std::string_view v) {
         if (v == "6") e.precision = Precision::highest;
         if (v == "3") e.precision = Precision::high;
         return v == "6" || v == "3" || v == "1";
     }},
    {"c_bytes",
     [](Experiment& e, const Device&, std::string_view v) {
         if (v == "4") e.dense.out = Dtype::f32;
         if (v == "2" && storage_bytes(e.dense.out) != 2) e.dense.out = Dtype::bf16;
         return v == "4" || v == "2";
     }},
    {"extra_pass", [](Experiment& e, const Device&, std::string_view) { return e.fusion == Fusion::unfused; }},
    {"schedule",
     [](Experiment& e, const Device&, std::string_view v) {
         const auto splits = v.starts_with("split_k:") ? integer(v.substr(8), 2, 1024) : std::nullopt;
         if (splits) e.schedule = {Schedule::split_k, *splits};
         if (v == "stream_k") e.schedule = {Schedule::stream_k, 1};
         return splits || v == "stream_k";
     }},
    {"pingpong",
     [](Experiment& e, const Device&, std::string_view) {
         if (e.engine == Engine::wgmma) e.consumers = Consumers::pingpong;
         return e.engine == Engine::wgmma;
     }},
    {"tile-less", [](Experiment&, const Device&, std::string_view) { return true; }},
    {"device_inferred", [](Experiment&, const Device&, std::string_view) { return true; }},
};

/// As an experiment's text form can say it.
bool sayable(std::string_view text) { return !text.empty() && text.find_first_of(" \t\r\n,|()=") == text.npos; }

void apply_traits(Experiment& e, const Device& d, const Measurement& row) {
    for (const auto& [key, value] : row.traits) {
        const auto word = std::find_if(std::begin(trait_words), std::end(trait_words),
                                       [&](const TraitWord& w) { return w.key == key; });
        if (word != std::end(trait_words) && word->apply(e, d, value)) continue;
        const bool plain = std::all_of(key.begin(), key.end(),
                                       [](unsigned char c) { return std::isalnum(c) || c == '_' || c == '-'; });
        if (plain && sayable(value)) e.traits[key] = value;
    }
    if (d.kind == DeviceKind::tpu) {  // a wall clock sees the call, a profiler the kernel
        if (const auto it = e.traits.find("dispatch"); it == e.traits.end())
            e.traits["dispatch"] = "0";
        else
            e.traits.erase(it);
    }
}

std::optional<Experiment> read_back(std::string_view text, const Catalogue& devices, std::string_view what,
                                    std::string& why) {
    try {
        return parse_experiment(text, devices);
    } catch (const BadInput& bad) {
        why = std::string(what) + bad.what();
        return std::nullopt;
    }
}

}  // namespace

std::optional<Experiment> experiment_of(const Measurement& row, const Catalogue& devices, std::string& why) {
    why.clear();
    if (!row.experiment.empty()) return read_back(row.experiment, devices, "its experiment cannot be read: ", why);
    const Device* d = devices.find(row.device);
    if (!d) {
        why = fmt::format("no device {}", quote(row.device));
        return std::nullopt;
    }
    Dense dense;
    dense.m = row.m;
    dense.n = row.n;
    dense.k = row.k;
    dense.batch = row.batch;
    dense.dtype = row.dtype;
    dense.out = row.dtype == Dtype::e4m3 ? Dtype::bf16 : row.dtype;
    const bool extra_pass = row.traits.contains("extra_pass");
    const bool fused = !row.epilogue.empty() && row.epilogue != "none";
    dense.bias = fused && row.epilogue.starts_with("bias") && row.pass == Pass::forward;
    const Fusion fusion = extra_pass                ? Fusion::unfused
                          : fused                   ? Fusion::fused
                          : row.pass == Pass::train ? Fusion::unfused
                                                    : Fusion::none;

    Experiment e = usual_experiment(*d, dense, row.pass, fusion);
    if (row.engine) {
        const bool sequential = *row.engine == Engine::mxu || *row.engine == Engine::cpu;
        if (sequential != (d->kind != DeviceKind::gpu)) {
            why = fmt::format("engine {} is not one of a {}", to_string(*row.engine), to_string(d->kind));
            return std::nullopt;
        }
        if (*row.engine != e.engine) e.pipeline = usual_pipeline(*row.engine);
        e.engine = *row.engine;
    }
    if (row.pipeline) e.pipeline = *row.pipeline;
    if (d->kind == DeviceKind::gpu) {
        e.stages = row.stages ? static_cast<int>(*row.stages) : usual_stages(e.pipeline);
        if (row.threads) e.warps = static_cast<int>(ceil_div(*row.threads, 32));
        if (row.persistent.value_or(false)) e.schedule = {Schedule::persistent, 1};
        if (const auto r = raster(row.raster)) e.raster = *r;
        if (e.engine == Engine::simt) e.thread = thread_tile(row);
    }
    if (row.bm && row.bn) {
        // A kernel without a tile of the reduction loads a line at a time.
        e.tile = {*row.bm, *row.bn, row.bk.value_or(128 / storage_bytes(row.dtype))};
    } else {
        e.tile = {};
        if (!row.persistent && !row.pipeline) apply_library_menu(e);
    }
    apply_traits(e, *d, row);
    if (d->kind == DeviceKind::gpu && !row.stages && row.has_tile() && e.pipeline != Pipeline::none)
        take_stages_that_fit(e, *d);
    return read_back(to_string(e, devices), devices, "", why);  // what no line of text could say is no experiment
}

bool same_experiment(Experiment row, const Experiment& e) {
    if (direct_access(row) != direct_access(e)) return false;
    const auto buffered = [](const Experiment& x) {
        return x.pipeline == Pipeline::double_buffered ? 2 : x.pipeline == Pipeline::multistage ? x.stages : 0;
    };
    if (buffered(row) > 0 && buffered(row) == buffered(e)) {
        row.pipeline = e.pipeline;
        row.stages = e.stages;
    }
    if (row.warps == 0 || e.warps == 0) row.warps = e.warps;
    const Shape2 unsaid{};
    if (row.warp == unsaid || e.warp == unsaid) row.warp = e.warp;
    if (row.thread == unsaid || e.thread == unsaid) row.thread = e.thread;
    row.traits = e.traits;
    if (row.engine != Engine::cpu || row.rung.empty() || e.rung.empty()) row.rung = e.rung;
    return row == e;
}

std::vector<std::string> unread_words(const Measurement& row, const Experiment& e) {
    std::vector<std::string> unread;
    for (const std::string& trait : unread_traits(e)) unread.push_back("trait " + trait);
    if (!row.experiment.empty()) return unread;
    const auto unless = [&](std::string_view column, const std::string& value, bool read) {
        if (!value.empty() && !read) unread.push_back(fmt::format("{} {}", column, one_line(value, 40)));
    };
    const auto is_one_of = [](std::string_view value, std::initializer_list<std::string_view> words) {
        return std::find(words.begin(), words.end(), value) != words.end();
    };
    unless("raster", row.raster, row.raster == "unknown" || raster(row.raster));
    unless("epilogue", row.epilogue, is_one_of(row.epilogue, {"none", "relu", "bias", "bias_relu"}));
    if (const auto acc = row.cells.find("acc"); acc != row.cells.end())
        unless("acc", acc->second, acc->second == "f32");
    return unread;
}

}  // namespace sim
