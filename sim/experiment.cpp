#include "sim/experiment.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <functional>
#include <span>
#include <vector>

#include "sim/text.hpp"

namespace sim {

std::string_view to_string(Precision p) {
    return p == Precision::standard ? "default" : p == Precision::high ? "high" : "highest";
}
std::string_view to_string(L2Start l) { return l == L2Start::cold ? "cold" : "warm"; }
std::string_view to_string(Pitch p) { return p == Pitch::padded ? "padded" : "tight"; }

namespace {

constexpr i64 max_size = 2147483647;  // 2^31 - 1
constexpr i64 max_work = INT64_MAX;

// --- small readers; each throws with the word it belongs to ---------------------------------------------------------

[[noreturn]] void bad(std::string_view word, std::string_view text, std::string_view expected) {
    throw BadInput(fmt::format("{}{}{}: expected {}", word, word.empty() ? "" : " ", quote(text), expected));
}

i64 read_integer(std::string_view word, std::string_view text, i64 low, i64 high) {
    i64 value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size() || text.empty() || value < low || value > high)
        bad(word, text, fmt::format("a whole number from {} to {}", low, high));
    return value;
}

/// "AxBxC" with `count` parts.
std::vector<i64> read_sizes(std::string_view word, std::string_view text, int count, i64 high) {
    const std::string shape = count == 3 ? "AxBxC" : "AxB";
    std::vector<i64> sizes;
    std::size_t begin = 0;
    for (;;) {
        const std::size_t end = std::min(text.find('x', begin), text.size());
        i64 value = 0;
        const char* first = text.data() + begin;
        const auto [stop, error] = std::from_chars(first, text.data() + end, value);
        if (error != std::errc{} || stop != text.data() + end || value < 1 || value > high)
            bad(word, text, fmt::format("{} of whole numbers from 1 to {}", shape, high));
        sizes.push_back(value);
        if (end == text.size()) break;
        begin = end + 1;
    }
    if (static_cast<int>(sizes.size()) != count)
        bad(word, text, fmt::format("{} of whole numbers from 1 to {}", shape, high));
    return sizes;
}

Tile read_tile(std::string_view word, std::string_view text) {
    if (text == "best") return {};
    const auto s = read_sizes(word, text, 3, max_size);
    return {s[0], s[1], s[2]};
}
std::string write_tile(const Tile& t) { return t.is_best() ? "best" : fmt::format("{}x{}x{}", t.bm, t.bn, t.bk); }

Shape2 read_shape(std::string_view word, std::string_view text, i64 high) {
    const auto s = read_sizes(word, text, 2, high);
    return {static_cast<int>(s[0]), static_cast<int>(s[1])};
}
std::string write_shape(Shape2 s) { return fmt::format("{}x{}", s.rows, s.cols); }

bool read_yes_no(std::string_view word, std::string_view text) {
    if (text != "yes" && text != "no") bad(word, text, "yes or no");
    return text == "yes";
}
std::string write_yes_no(bool b) { return b ? "yes" : "no"; }

template <class E>
E read_enum(std::string_view word, std::string_view text, std::initializer_list<E> values) {
    std::string names;
    for (E v : values) {
        if (to_string(v) == text) return v;
        names += (names.empty() ? "" : ", ") + std::string(to_string(v));
    }
    bad(word, text, "one of " + names);
}

i64 read_capacity(std::string_view word, std::string_view text) {
    constexpr std::pair<std::string_view, i64> units[] = {
        {"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}, {"B", 1}};
    for (const auto& [unit, factor] : units)
        if (text.size() > unit.size() && text.ends_with(unit)) {
            i64 value = 0;
            const char* end = text.data() + text.size() - unit.size();
            const auto [stop, error] = std::from_chars(text.data(), end, value);
            if (error == std::errc{} && stop == end && value >= 1 && value <= (i64{1} << 40) / factor)
                return value * factor;
        }
    bad(word, text, "a capacity such as 16MiB, at most 1024GiB");
}
std::string write_capacity(i64 bytes) {
    if (bytes % (1 << 20) == 0) return fmt::format("{}MiB", bytes >> 20);
    if (bytes % (1 << 10) == 0) return fmt::format("{}KiB", bytes >> 10);
    return fmt::format("{}B", bytes);
}

Raster read_raster(std::string_view word, std::string_view text) {
    if (text == "along_n") return {Raster::along_n, 0};
    if (text == "along_m") return {Raster::along_m, 0};
    if (text == "hilbert") return {Raster::hilbert, 0};
    if (text.starts_with("grouped:"))
        return {Raster::grouped, static_cast<int>(read_integer("raster grouped:", text.substr(8), 1, 1 << 20))};
    bad(word, text, "along_n, along_m, grouped:G or hilbert");
}

Schedule read_schedule(std::string_view word, std::string_view text) {
    if (text == "data_parallel") return {Schedule::data_parallel, 1};
    if (text == "persistent") return {Schedule::persistent, 1};
    if (text == "stream_k") return {Schedule::stream_k, 1};
    if (text.starts_with("split_k:"))
        return {Schedule::split_k, static_cast<int>(read_integer("schedule split_k:", text.substr(8), 2, 1024))};
    bad(word, text, "data_parallel, persistent, split_k:S or stream_k");
}
std::string write_schedule(const Schedule& s) {
    switch (s.kind) {
        case Schedule::data_parallel: return "data_parallel";
        case Schedule::persistent: return "persistent";
        case Schedule::stream_k: return "stream_k";
        case Schedule::split_k: break;
    }
    return fmt::format("split_k:{}", s.splits);
}

std::map<std::string, std::string> read_traits(std::string_view word, std::string_view text) {
    std::map<std::string, std::string> traits;
    std::size_t begin = 0;
    while (begin <= text.size()) {
        const std::size_t end = std::min(text.find(',', begin), text.size());
        const std::string_view item = text.substr(begin, end - begin);
        const std::size_t equals = item.find('=');
        const auto plain = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '-'; };
        if (equals == std::string_view::npos || equals == 0 || equals + 1 == item.size() ||
            !std::all_of(item.begin(), item.begin() + static_cast<std::ptrdiff_t>(equals), plain) ||
            item.find_first_of("|()=", equals + 1) != std::string_view::npos)
            bad(word, text, "key=value,key=value");
        if (!traits.emplace(item.substr(0, equals), item.substr(equals + 1)).second)
            bad(word, text, fmt::format("each key once, not {} twice", quote(item.substr(0, equals))));
        begin = end + 1;
    }
    return traits;
}
std::string write_traits(const std::map<std::string, std::string>& traits) {
    std::string out;
    for (const auto& [key, value] : traits) out += (out.empty() ? "" : ",") + key + "=" + value;
    return out;
}

// --- the words ------------------------------------------------------------------------------------------------------

constexpr unsigned on_gpu = 1, on_tpu = 2, on_cpu = 4, on_scratchpad = 8, everywhere = 15;
unsigned bit(DeviceKind k) { return 1u << static_cast<int>(k); }

/// A keyword and its argument: where it applies, how it is read and how it is written. Canonical order is table order.
struct Word {
    std::string_view name;
    unsigned kinds;
    std::function<void(Experiment&, std::string_view)> read;
    std::function<std::string(const Experiment&)> write;
    /// Empty, or why the word means nothing for this experiment's pass and fusion.
    std::function<std::string_view(const Experiment&)> refuses = [](const Experiment&) { return std::string_view{}; };
};

std::string_view needs_train(const Experiment& e) { return e.pass == Pass::train ? "" : "is only for pass train"; }
std::string_view needs_wgmma(const Experiment& e) {
    return e.engine == Engine::wgmma ? "" : "is only for engine wgmma";
}
std::string_view needs_simt(const Experiment& e) { return e.engine == Engine::simt ? "" : "is only for engine simt"; }

const std::vector<Word>& words() {
    static const std::vector<Word> table = {
        {"batch", everywhere,
         [](Experiment& e, std::string_view a) { e.dense.batch = read_integer("batch", a, 1, max_size); },
         [](const Experiment& e) { return std::to_string(e.dense.batch); }},
        {"out", everywhere,
         [](Experiment& e, std::string_view a) {
             e.dense.out = read_enum("out", a, {Dtype::f32, Dtype::tf32, Dtype::f16, Dtype::bf16, Dtype::e4m3});
         },
         [](const Experiment& e) { return std::string(to_string(e.dense.out)); }},
        {"residual", everywhere,
         [](Experiment& e, std::string_view a) {
             e.residual = read_enum("residual", a, {Residual::y, Residual::mask});
         },
         [](const Experiment& e) { return std::string(to_string(e.residual)); },
         [](const Experiment& e) -> std::string_view {
             if (e.fusion == Fusion::none) return "does not apply to fusion none, which has no ReLU";
             if (e.pass == Pass::forward && e.fusion != Fusion::fused)
                 return "on forward is only for fusion fused, whose epilogue writes it";
             if (e.pass == Pass::wgrad && e.fusion == Fusion::upstream)
                 return "does not apply to wgrad upstream, which reads a ready dZ";
             return "";
         }},
        {"bias", everywhere, [](Experiment& e, std::string_view a) { e.dense.bias = read_yes_no("bias", a); },
         [](const Experiment& e) { return write_yes_no(e.dense.bias); },
         [](const Experiment& e) { return e.pass == Pass::forward ? std::string_view{} : "is only for pass forward"; }},
        {"accumulate", everywhere,
         [](Experiment& e, std::string_view a) { e.accumulate = read_yes_no("accumulate", a); },
         [](const Experiment& e) { return write_yes_no(e.accumulate); },
         [](const Experiment& e) {
             return e.pass == Pass::wgrad || e.pass == Pass::train ? std::string_view{}
                                                                   : "is only for passes wgrad and train";
         }},
        {"drelu", everywhere, [](Experiment& e, std::string_view a) { e.drelu = read_yes_no("drelu", a); },
         [](const Experiment& e) { return write_yes_no(e.drelu); },
         [](const Experiment& e) {
             return e.fusion == Fusion::upstream && e.pass != Pass::wgrad
                        ? std::string_view{}
                        : "is only for dgrad or train with fusion upstream";
         }},
        {"in_place", everywhere, [](Experiment& e, std::string_view a) { e.in_place = read_yes_no("in_place", a); },
         [](const Experiment& e) { return write_yes_no(e.in_place); },
         [](const Experiment& e) {
             return e.fusion == Fusion::unfused ? std::string_view{}
                                                : "is only for fusion unfused, which has an elementwise pass";
         }},
        {"tile", everywhere, [](Experiment& e, std::string_view a) { e.tile = read_tile("tile", a); },
         [](const Experiment& e) { return write_tile(e.tile); }},
        {"tile.dgrad", everywhere,
         [](Experiment& e, std::string_view a) {
             const Tile t = read_tile("tile.dgrad", a);
             e.tile_dgrad = t.is_best() ? std::nullopt : std::optional(t);
         },
         [](const Experiment& e) { return e.tile_dgrad ? write_tile(*e.tile_dgrad) : "best"; }, needs_train},
        {"tile.wgrad", everywhere,
         [](Experiment& e, std::string_view a) {
             const Tile t = read_tile("tile.wgrad", a);
             e.tile_wgrad = t.is_best() ? std::nullopt : std::optional(t);
         },
         [](const Experiment& e) { return e.tile_wgrad ? write_tile(*e.tile_wgrad) : "best"; }, needs_train},
        {"rung", on_gpu | on_cpu, [](Experiment&, std::string_view) {}, [](const Experiment& e) { return e.rung; }},
        {"engine", everywhere, [](Experiment&, std::string_view) {},
         [](const Experiment& e) { return std::string(to_string(e.engine)); }},
        {"pipeline", everywhere, [](Experiment&, std::string_view) {},
         [](const Experiment& e) { return std::string(to_string(e.pipeline)); }},
        {"consumers", on_gpu,
         [](Experiment& e, std::string_view a) {
             e.consumers = read_enum("consumers", a, {Consumers::cooperative, Consumers::pingpong});
         },
         [](const Experiment& e) { return std::string(to_string(e.consumers)); }, needs_wgmma},
        {"warps", on_gpu,
         [](Experiment& e, std::string_view a) { e.warps = static_cast<int>(read_integer("warps", a, 1, 32)); },
         [](const Experiment& e) { return std::to_string(e.warps); }},
        {"warp", on_gpu, [](Experiment& e, std::string_view a) { e.warp = read_shape("warp", a, 4096); },
         [](const Experiment& e) { return write_shape(e.warp); }},
        {"thread", on_gpu, [](Experiment& e, std::string_view a) { e.thread = read_shape("thread", a, 256); },
         [](const Experiment& e) { return write_shape(e.thread); }, needs_simt},
        {"stages", on_gpu,
         [](Experiment& e, std::string_view a) { e.stages = static_cast<int>(read_integer("stages", a, 1, 64)); },
         [](const Experiment& e) { return std::to_string(e.stages); }},
        {"cluster", on_gpu, [](Experiment& e, std::string_view a) { e.cluster = read_shape("cluster", a, 16); },
         [](const Experiment& e) { return write_shape(e.cluster); }},
        {"ctas", on_gpu,
         [](Experiment& e, std::string_view a) { e.ctas = static_cast<int>(read_integer("ctas", a, 1, 64)); },
         [](const Experiment& e) { return std::to_string(e.ctas); }},
        {"raster", on_gpu, [](Experiment& e, std::string_view a) { e.raster = read_raster("raster", a); },
         [](const Experiment& e) { return to_string(e.raster); }},
        {"order", on_tpu | on_cpu | on_scratchpad,
         [](Experiment& e, std::string_view a) {
             e.order = read_enum("order", a, {Order::mnk, Order::nmk, Order::kmn, Order::mkn, Order::knm, Order::nkm});
         },
         [](const Experiment& e) { return std::string(to_string(e.order)); }},
        {"schedule", on_gpu, [](Experiment& e, std::string_view a) { e.schedule = read_schedule("schedule", a); },
         [](const Experiment& e) { return write_schedule(e.schedule); }},
        {"sms", on_gpu,
         [](Experiment& e, std::string_view a) { e.sms = static_cast<int>(read_integer("sms", a, 1, 4096)); },
         [](const Experiment& e) { return std::to_string(e.sms); }},
        {"buffers", on_tpu,
         [](Experiment& e, std::string_view a) {
             e.buffers = a == "auto" ? 0 : static_cast<int>(read_integer("buffers", a, 1, 3));
         },
         [](const Experiment& e) { return e.buffers == 0 ? "auto" : std::to_string(e.buffers); }},
        {"vmem", on_tpu, [](Experiment& e, std::string_view a) { e.vmem = read_capacity("vmem", a); },
         [](const Experiment& e) { return write_capacity(e.vmem); }},
        {"precision", on_tpu,
         [](Experiment& e, std::string_view a) {
             e.precision = read_enum("precision", a, {Precision::standard, Precision::high, Precision::highest});
         },
         [](const Experiment& e) { return std::string(to_string(e.precision)); }},
        {"threads", on_cpu,
         [](Experiment& e, std::string_view a) { e.threads = static_cast<int>(read_integer("threads", a, 1, 1024)); },
         [](const Experiment& e) { return std::to_string(e.threads); }},
        {"l2", on_gpu,
         [](Experiment& e, std::string_view a) {
             e.l2 = read_enum("l2", a, {L2Start::cold, L2Start::warm});
         },
         [](const Experiment& e) { return std::string(to_string(e.l2)); }},
        {"pitch", on_gpu | on_cpu,
         [](Experiment& e, std::string_view a) {
             e.dense.pitch = read_enum("pitch", a, {Pitch::padded, Pitch::tight});
         },
         [](const Experiment& e) { return std::string(to_string(e.dense.pitch)); }},
        {"traits", everywhere, [](Experiment& e, std::string_view a) { e.traits = read_traits("traits", a); },
         [](const Experiment& e) { return write_traits(e.traits); }},
    };
    return table;
}

const Word* find_word(std::string_view name) {
    for (const Word& w : words())
        if (w.name == name) return &w;
    return nullptr;
}

// --- usual values ---------------------------------------------------------------------------------------------------

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

Tile usual_tile(const Device& d, Engine engine, Dtype dtype) {
    if (d.kind == DeviceKind::scratchpad) return {64, 64, 64};
    switch (engine) {
        case Engine::simt: return {128, 128, 8};
        case Engine::mma: return {128, 128, 64 / storage_bytes(dtype)};
        case Engine::wgmma:
        case Engine::tcgen05: return {128, 256, 128 / storage_bytes(dtype)};
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
    e.tile = usual_tile(d, e.engine, dense.dtype);
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
            if (p > max_work) return false;
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

std::vector<std::string_view> split_words(std::string_view text) {
    std::vector<std::string_view> out;
    std::size_t i = 0;
    while (i < text.size()) {
        const auto space = [&](std::size_t at) {
            return text[at] == ' ' || text[at] == '\t' || text[at] == '\n' || text[at] == '\r';
        };
        if (space(i)) {
            ++i;
            continue;
        }
        std::size_t end = i;
        while (end < text.size() && !space(end)) ++end;
        out.push_back(text.substr(i, end - i));
        i = end;
    }
    return out;
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
    const auto tokens = split_words(text);
    if (tokens.empty()) throw BadInput("the experiment is empty: expected DEVICE MxNxK DTYPE PASS FUSION …");
    for (std::size_t i = 0; i < tokens.size(); ++i) {
        const std::string_view token = tokens[i];
        if (const Word* w = find_word(token)) {
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
    const auto sizes = read_sizes("", *shape, 3, max_size);
    dense.m = sizes[0];
    dense.n = sizes[1];
    dense.k = sizes[2];
    dense.dtype = *dtype;
    dense.out = *dtype == Dtype::e4m3 ? Dtype::bf16 : *dtype;

    Family family;
    if (auto it = said.find("rung"); it != said.end() && (on_gpu | on_cpu) & bit(device->kind)) {
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
    for (const Word& w : words()) {
        const auto it = said.find(w.name);
        if (it == said.end()) continue;
        const bool applies = (w.kinds & bit(device->kind)) != 0 &&
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
    for (const Word& w : words()) {
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

// --- scenes ---------------------------------------------------------------------------------------------------------

Scene parse_scene(std::string_view text, const Catalogue& devices) {
    Scene s;
    const std::size_t bar = text.find('|');
    s.experiment = parse_experiment(text, devices);
    if (bar == std::string_view::npos) return s;
    std::string_view rest = text.substr(bar + 1);
    if (const std::size_t open = rest.find('('); open != std::string_view::npos) {
        const std::size_t close = rest.rfind(')');
        const std::string_view before = rest.substr(0, open);
        const auto words_before = split_words(before);
        if (close == std::string_view::npos || close < open || words_before.empty() || words_before.back() != "vs" ||
            !split_words(rest.substr(close + 1)).empty())
            bad("", rest.substr(open), "vs (EXPERIMENT) at the end of the scene");
        s.baseline = parse_experiment(rest.substr(open + 1, close - open - 1), devices);
        rest = before.substr(0, before.rfind("vs"));
    }
    const auto tokens = split_words(rest);
    std::map<std::string_view, bool> seen;
    for (std::size_t i = 0; i < tokens.size(); ++i) {
        const std::string_view word = tokens[i];
        const auto argument = [&](std::string_view expected) {
            if (i + 1 >= tokens.size()) bad("", word, expected);
            return tokens[++i];
        };
        if (seen[word]) bad("", word, "to be said once");
        seen[word] = true;
        if (word == "step") {
            s.step = read_integer("step", argument("a step number after it"), 0, max_work);
        } else if (word == "select") {
            const std::string_view name = argument("OPERAND ROW COL after it");
            const std::string_view known[] = {"x", "w", "bias", "z", "y", "mask", "dy", "dz", "dx", "dw", "partial"};
            if (std::find(std::begin(known), std::end(known), name) == std::end(known))
                bad("select", name, "an operand: x w bias z y mask dy dz dx dw partial");
            s.select.operand = name;
            s.select.row = read_integer("select", argument("OPERAND ROW COL after it"), 0, max_size);
            s.select.col = read_integer("select", argument("OPERAND ROW COL after it"), 0, max_size);
        } else if (word == "view") {
            s.view = argument("learn, explore or measure after it");
            if (s.view != "learn" && s.view != "explore" && s.view != "measure")
                bad("view", s.view, "learn, explore or measure");
        } else {
            bad("", word, "step N, select OPERAND ROW COL, view NAME or vs (EXPERIMENT)");
        }
    }
    return s;
}

std::string to_string(const Scene& s, const Catalogue& devices) {
    std::string out = to_string(s.experiment, devices) + " |";
    if (s.step != 0) out += fmt::format(" step {}", s.step);
    if (!s.select.operand.empty()) out += fmt::format(" select {} {} {}", s.select.operand, s.select.row, s.select.col);
    out += " view " + s.view;
    if (s.baseline) out += " vs (" + to_string(*s.baseline, devices) + ")";
    return out;
}

}  // namespace sim
