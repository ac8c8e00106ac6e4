#include "sim/experiment.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "sim/direct.hpp"
#include "sim/experiment_words.hpp"
#include "sim/text.hpp"

namespace sim {

std::string_view to_string(Precision p) {
    return p == Precision::standard ? "default" : p == Precision::high ? "high" : "highest";
}
std::string_view to_string(L2Start l) { return l == L2Start::cold ? "cold" : "warm"; }
std::string_view to_string(Pitch p) { return p == Pitch::padded ? "padded" : "tight"; }

namespace {

using words::bad;

/// The engines a kind of device has, the usual one first.
std::vector<Engine> engines_of(const Device& d, Dtype dtype) {
    if (d.kind == DeviceKind::tpu) return {Engine::mxu};
    if (d.kind == DeviceKind::cpu) return {Engine::cpu};
    if (d.kind == DeviceKind::scratchpad) return {Engine::simt};
    if (dtype == Dtype::f32) return {Engine::simt, Engine::mma, Engine::wgmma, Engine::tcgen05};
    const bool datacenter_blackwell = d.compute_capability.starts_with("10.");
    if (datacenter_blackwell) return {Engine::tcgen05, Engine::simt, Engine::mma, Engine::wgmma};
    if (d.compute_capability == "9.0") return {Engine::wgmma, Engine::simt, Engine::mma, Engine::tcgen05};
    return {Engine::mma, Engine::simt, Engine::wgmma, Engine::tcgen05};
}

bool has_async_copy(const Device& d) { return d.compute_capability.empty() || d.compute_capability[0] != '7'; }

/// The pipelines an engine can be written with, the usual one first.
std::vector<Pipeline> pipelines_of(const Device& d, Engine engine) {
    switch (engine) {
        case Engine::simt:
            if (d.kind == DeviceKind::scratchpad) return {Pipeline::none};
            return {Pipeline::double_buffered, Pipeline::none, Pipeline::multistage};
        case Engine::mma:
            if (!has_async_copy(d)) return {Pipeline::double_buffered, Pipeline::none};
            return {Pipeline::multistage, Pipeline::none, Pipeline::double_buffered, Pipeline::warp_specialized};
        case Engine::wgmma:
        case Engine::tcgen05:
            return {Pipeline::warp_specialized, Pipeline::none, Pipeline::double_buffered, Pipeline::multistage};
        case Engine::mxu: return {Pipeline::pallas};
        case Engine::cpu: return {Pipeline::none};
    }
    return {Pipeline::none};
}

Tile usual_tile(const Device& d, Engine engine, Dtype dtype, Pass pass, Fusion fusion) {
    if (d.kind == DeviceKind::scratchpad) return {64, 64, 64};
    // A backward pass may load wider operands (e4m3 has bf16 gradients), and where it masks as it loads a residual too.
    const bool backward = pass == Pass::dgrad || pass == Pass::wgrad;
    const bool wide = backward && (fusion == Fusion::fused || dtype == Dtype::e4m3);
    switch (engine) {
        case Engine::simt: return {128, 128, 8};
        case Engine::mma: return {128, 128, (wide ? 32 : 64) / storage_bytes(dtype)};
        case Engine::wgmma:
        case Engine::tcgen05:
            // Lines of 128 bytes, as the swizzle has them, whatever is masked.
            if (backward) return {128, 128, (dtype == Dtype::e4m3 ? 64 : 128) / storage_bytes(dtype)};
            return {128, 256, 128 / storage_bytes(dtype)};
        case Engine::mxu: return {512, 512, 512};
        case Engine::cpu: return {384, 1536, 256};
    }
    return {64, 64, 64};
}

int usual_stages(Pipeline p) {
    switch (p) {
        case Pipeline::double_buffered: return 2;
        case Pipeline::multistage: return 3;
        case Pipeline::warp_specialized: return 4;
        default: return 1;
    }
}

struct Family {
    std::string_view rung;  ///< empty: none named
    std::optional<Engine> engine;
    std::optional<Pipeline> pipeline;
};

Experiment usual(const Device& d, const Dense& dense, Pass pass, Fusion fusion, const Family& family) {
    Experiment e;
    e.device = d.id;
    e.dense = dense;
    e.pass = pass;
    e.fusion = fusion;
    e.drelu = pass == Pass::train && fusion == Fusion::upstream;
    e.engine = family.engine.value_or(engines_of(d, dense.dtype).front());
    e.pipeline = family.pipeline.value_or(pipelines_of(d, e.engine).front());
    if (const Rung* r = family.rung.empty() ? nullptr : find_rung(family.rung, d.kind)) {
        e.rung = r->id;
        e.engine = r->engine;
        e.pipeline = r->pipeline;
    }
    e.tile = usual_tile(d, e.engine, dense.dtype, pass, fusion);
    if (direct_access(e) != Direct::no) e.tile = {32, 32, 32};  // a thread an output
    e.stages = usual_stages(e.pipeline);
    e.order = d.kind == DeviceKind::cpu ? Order::nkm : Order::mnk;
    return e;
}

template <class E>
E one_of(std::string_view word, std::string_view text, const std::vector<E>& values) {
    std::string names;
    for (E v : values) {
        if (to_string(v) == text) return v;
        names += (names.empty() ? "" : ", ") + std::string(to_string(v));
    }
    bad(word, text, "one of " + names);
}

void check_work(const Dense& d) {
    const auto product = [](std::initializer_list<i64> factors) {
        __int128 p = 1;
        for (i64 f : factors) {
            p *= f;
            if (p > words::max_work) return false;
        }
        return true;
    };
    const std::string shape = fmt::format("{}x{}x{}", d.m, d.n, d.k);
    if (!product({2, d.m, d.n, d.k, d.batch})) bad("", shape, "fewer than 2^63 operations in all");
    if (!product({4, d.m, d.k, d.batch}) || !product({4, d.k, d.n, d.batch}) || !product({4, d.m, d.n, d.batch}))
        bad("", shape, "matrices of fewer than 2^63 bytes");
}

bool looks_like_shape(std::string_view token) {
    return token.find('x') != std::string_view::npos && !token.empty() &&
           (std::isdigit(static_cast<unsigned char>(token[0])) || token[0] == '-') &&
           token.find_first_not_of("0123456789x-+.eE") == std::string_view::npos;
}

}  // namespace

Experiment usual_experiment(const Device& d, const Dense& dense, Pass pass, Fusion fusion) {
    return usual(d, dense, pass, fusion, {});
}

Experiment parse_experiment(std::string_view text, const Catalogue& devices) {
    text = text.substr(0, text.find('|'));
    const Device* device = nullptr;
    std::optional<std::string_view> shape;
    std::optional<Dtype> dtype;
    std::optional<Pass> pass;
    std::optional<Fusion> fusion;
    std::map<std::string_view, std::string_view> said;

    const auto once = [](auto& slot, auto value, std::string_view what, std::string_view token) {
        if (slot) bad("", token, fmt::format("one {}, but there was one before it", what));
        slot = value;
    };
    const auto tokens = words::split(text);
    if (tokens.empty()) throw BadInput("the experiment is empty: expected DEVICE MxNxK DTYPE PASS FUSION …");
    for (std::size_t i = 0; i < tokens.size(); ++i) {
        const std::string_view token = tokens[i];
        if (const words::Word* w = words::find(token)) {
            if (i + 1 == tokens.size()) bad("", token, "a value after it");
            if (!said.emplace(w->name, tokens[++i]).second) bad("", token, "to be said once");
        } else if (auto t = parse_dtype(token)) {
            once(dtype, *t, "dtype", token);
        } else if (auto p = parse_pass(token)) {
            once(pass, *p, "pass", token);
        } else if (auto f = parse_fusion(token)) {
            once(fusion, *f, "fusion", token);
        } else if (looks_like_shape(token)) {
            once(shape, token, "shape", token);
        } else if (const Device* d = devices.find(token)) {
            if (device) bad("", token, "one device, but there was one before it");
            device = d;
        } else if (i == 0) {
            device = &devices.at(token);  // throws, naming the nearest devices
        } else {
            bad("", token,
                shape && dtype && pass && fusion
                    ? "a word of the experiment such as tile, rung, raster or order"
                    : "MxNxK, a dtype (f32 tf32 f16 bf16 e4m3), a pass (forward dgrad wgrad train), a fusion "
                      "(none unfused fused upstream) or a word such as tile");
        }
    }
    if (!device)
        throw BadInput(
            fmt::format("{}: expected a device first, such as h200-sxm, tpu-v5e, cpu or scratchpad", quote(text)));
    if (!shape) throw BadInput(fmt::format("{}: expected a shape MxNxK such as 8192x8192x8192", quote(text)));
    if (!dtype) throw BadInput(fmt::format("{}: expected a dtype: f32, tf32, f16, bf16 or e4m3", quote(text)));
    if (!pass) throw BadInput(fmt::format("{}: expected a pass: forward, dgrad, wgrad or train", quote(text)));
    if (!fusion) throw BadInput(fmt::format("{}: expected a fusion: none, unfused, fused or upstream", quote(text)));
    if (*pass == Pass::forward && *fusion == Fusion::upstream)
        bad("", "upstream", "none, unfused or fused on pass forward (upstream is for a dZ that arrives masked)");
    if (*pass == Pass::train && *fusion == Fusion::none)
        bad("", "none", "unfused, fused or upstream on pass train, which has a ReLU");

    Dense dense;
    const auto sizes = words::read_sizes("", *shape, 3, words::max_size);
    dense.m = sizes[0];
    dense.n = sizes[1];
    dense.k = sizes[2];
    dense.dtype = *dtype;
    dense.out = *dtype == Dtype::e4m3 ? Dtype::bf16 : *dtype;

    Family family;
    if (auto it = said.find("rung"); it != said.end() && (words::on_gpu | words::on_cpu) & words::bit(device->kind)) {
        const Rung* r = find_rung(it->second, device->kind);
        if (!r) {
            std::string names;
            for (const Rung& x : rungs())
                if (x.device == device->kind) names += (names.empty() ? "" : ", ") + std::string(x.id);
            bad("rung", it->second, fmt::format("one of {} on a {}", names, to_string(device->kind)));
        }
        family.rung = r->id;
        for (const auto& [word, implied] :
             {std::pair("engine", to_string(r->engine)), {"pipeline", to_string(r->pipeline)}})
            if (auto clash = said.find(word); clash != said.end() && clash->second != implied)
                bad(word, clash->second, fmt::format("{}, which rung {} implies", implied, r->id));
    } else if (device->kind != DeviceKind::scratchpad) {
        if (auto word = said.find("engine"); word != said.end())
            family.engine = one_of("engine", word->second, engines_of(*device, *dtype));
        const Engine engine = family.engine.value_or(engines_of(*device, *dtype).front());
        if (auto word = said.find("pipeline"); word != said.end())
            family.pipeline = one_of("pipeline", word->second, pipelines_of(*device, engine));
    }

    Experiment e = usual(*device, dense, *pass, *fusion, family);
    for (const words::Word& w : words::table()) {
        const auto it = said.find(w.name);
        if (it == said.end()) continue;
        const bool applies = (w.kinds & words::bit(device->kind)) != 0 &&
                             !(device->kind == DeviceKind::scratchpad && (w.name == "engine" || w.name == "pipeline"));
        if (!applies)
            bad(w.name, it->second, fmt::format("no {} on a {} ({})", w.name, to_string(device->kind), device->id));
        if (const std::string_view why = w.refuses(e); !why.empty())
            throw BadInput(fmt::format("{} {}: {} {}", w.name, quote(it->second), w.name, why));
        w.read(e, it->second);
    }
    check_work(e.dense);
    return e;
}

std::string to_string(const Experiment& e, const Catalogue& devices) {
    const Device& d = devices.at(e.device);
    Dense plain = e.dense;
    plain.batch = 1;
    plain.bias = false;
    plain.pitch = Pitch::padded;
    plain.out = e.dense.dtype == Dtype::e4m3 ? Dtype::bf16 : e.dense.dtype;
    Family family;
    family.rung = e.rung;
    const Experiment first = usual(d, plain, e.pass, e.fusion, family);
    if (e.rung.empty()) {
        if (e.engine != first.engine) family.engine = e.engine;
        const Experiment second = usual(d, plain, e.pass, e.fusion, family);
        if (e.pipeline != second.pipeline) family.pipeline = e.pipeline;
    }
    const Experiment base = usual(d, plain, e.pass, e.fusion, family);
    std::string out = e.device;
    if (e.dense.batch != 1) out += fmt::format(" batch {}", e.dense.batch);
    out += fmt::format(" {}x{}x{} {}", e.dense.m, e.dense.n, e.dense.k, to_string(e.dense.dtype));
    if (e.dense.out != plain.out) out += fmt::format(" out {}", to_string(e.dense.out));
    out += fmt::format(" {} {}", to_string(e.pass), to_string(e.fusion));
    for (const words::Word& w : words::table()) {
        if (w.name == "batch" || w.name == "out") continue;
        if (w.name == "rung") {
            if (!e.rung.empty()) out += " rung " + e.rung;
        } else if (w.name == "engine") {
            if (family.engine) out += fmt::format(" engine {}", to_string(e.engine));
        } else if (w.name == "pipeline") {
            if (family.pipeline) out += fmt::format(" pipeline {}", to_string(e.pipeline));
        } else if (w.name == "tile" || w.write(e) != w.write(base)) {
            out += fmt::format(" {} {}", w.name, w.write(e));
        }
    }
    return out;
}

Experiment single_pass(const Experiment& e, Pass pass) {
    Experiment one = e;
    one.pass = pass;
    if (e.pass != Pass::train) return one;
    if (pass == Pass::dgrad) one.tile = e.tile_dgrad.value_or(Tile{});
    if (pass == Pass::wgrad) one.tile = e.tile_wgrad.value_or(Tile{});
    one.tile_dgrad.reset();
    one.tile_wgrad.reset();
    if (pass == Pass::forward && e.fusion == Fusion::upstream) one.fusion = Fusion::fused;
    if (pass != Pass::wgrad) one.accumulate = false;
    one.drelu = pass == Pass::dgrad && e.drelu;
    if (pass == Pass::forward && one.fusion != Fusion::fused) one.residual = Residual::y;
    return one;
}

}  // namespace sim
