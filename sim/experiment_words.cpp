#include "sim/experiment_words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "sim/text.hpp"

namespace sim::words {

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

std::vector<std::string_view> split(std::string_view text) {
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

namespace {

Tile read_tile(std::string_view word, std::string_view text) {
    if (text == "best") return {};
    const auto s = read_sizes(word, text, 3, max_size);
    return {s[0], s[1], s[2]};
}

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

std::string_view needs_train(const Experiment& e) { return e.pass == Pass::train ? "" : "is only for pass train"; }
std::string_view needs_wgmma(const Experiment& e) {
    return e.engine == Engine::wgmma ? "" : "is only for engine wgmma";
}
std::string_view needs_simt(const Experiment& e) { return e.engine == Engine::simt ? "" : "is only for engine simt"; }

}  // namespace

const std::vector<Word>& table() {
    static const std::vector<Word> rows = {
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
         [](const Experiment& e) { return to_string(e.tile); }},
        {"tile.dgrad", everywhere,
         [](Experiment& e, std::string_view a) {
             const Tile t = read_tile("tile.dgrad", a);
             e.tile_dgrad = t.is_best() ? std::nullopt : std::optional(t);
         },
         [](const Experiment& e) { return e.tile_dgrad ? to_string(*e.tile_dgrad) : "best"; }, needs_train},
        {"tile.wgrad", everywhere,
         [](Experiment& e, std::string_view a) {
             const Tile t = read_tile("tile.wgrad", a);
             e.tile_wgrad = t.is_best() ? std::nullopt : std::optional(t);
         },
         [](const Experiment& e) { return e.tile_wgrad ? to_string(*e.tile_wgrad) : "best"; }, needs_train},
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
    return rows;
}

const Word* find(std::string_view name) {
    for (const Word& w : table())
        if (w.name == name) return &w;
    return nullptr;
}

}  // namespace sim::words
