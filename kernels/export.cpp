#include "kernels/export.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "kernels/cuda/build.hpp"
#include "kernels/export_template.hpp"
#include "kernels/ladder.hpp"
#include "sim/embedded.hpp"
#include "sim/fit.hpp"

namespace kernels {
namespace {

using sim::Dtype;
using sim::Fit;
using sim::Fusion;
using sim::Pass;

constexpr std::string_view names[] = {"pallas", "triton", "cuda"};

std::string_view template_text(std::string_view name) {
    for (const sim::EmbeddedFile& f : sim::embedded_exports())
        if (f.name == name) return f.text;
    throw std::logic_error("no template " + std::string(name));
}

std::string tile_tuple(const sim::Tile& t) { return fmt::format("{}, {}, {}", t.bm, t.bn, t.bk); }

std::string python_type(Dtype t, bool jax) {
    switch (t) {
        case Dtype::f16: return "float16";
        case Dtype::bf16: return "bfloat16";
        case Dtype::e4m3: return jax ? "float8_e4m3fn" : "float8_e4m3fn";
        default: return "float32";
    }
}

/// What both Python templates ask for.
Values python_values(const sim::Experiment& e, bool jax, bool bench, const sim::Catalogue& devices) {
    const sim::Dense& d = e.dense;
    const sim::Tile dgrad = e.pass == Pass::train ? e.tile_dgrad.value_or(e.tile) : e.tile;
    const sim::Tile wgrad = e.pass == Pass::train ? e.tile_wgrad.value_or(e.tile) : e.tile;
    const bool bias = d.bias;
    return {{"EXPERIMENT", sim::to_string(e, devices)},
            {"DEVICE", e.device},
            {"M", std::to_string(d.m)},
            {"N", std::to_string(d.n)},
            {"K", std::to_string(d.k)},
            {"DTYPE", python_type(d.dtype, jax)},
            {"DTYPE_WORD", std::string(to_string(d.dtype))},
            {"OUT", python_type(d.out, jax)},
            {"FORWARD_TILE", to_string(e.tile)},
            {"DGRAD_TILE", to_string(dgrad)},
            {"WGRAD_TILE", to_string(wgrad)},
            {"FORWARD_TUPLE", tile_tuple(e.tile)},
            {"DGRAD_TUPLE", tile_tuple(dgrad)},
            {"WGRAD_TUPLE", tile_tuple(wgrad)},
            {"FUSED", e.fusion == Fusion::unfused ? "" : "yes"},
            {"BIAS", bias ? "yes" : ""},
            {"COMMA_BIAS", bias ? ", b" : ""},
            {"BIAS_ARGUMENT", bias ? ", bias=b" : ""},
            {"BENCH", bench ? "yes" : ""}};
}

/// What no template can say, of any language: the layer and its ReLU are what is exported.
Fit fits_layer(const sim::Experiment& e) {
    if (e.fusion == Fusion::none || e.fusion == Fusion::upstream)
        return {fmt::format("fusion {} has no ReLU to export; fused and unfused have", to_string(e.fusion))};
    if (e.dense.batch > 1) return {"batch: the exported layer is one problem (jax.vmap or a loop makes many)"};
    if (e.residual == sim::Residual::mask) return {"residual mask: the exported layer keeps Y (residual y)"};
    return {};
}

Fit fits_pallas(const sim::Experiment& e, const sim::Device& device) {
    if (device.kind == sim::DeviceKind::gpu)
        return {fmt::format("{} is a gpu; the Pallas kernel is a TPU's (as triton or cuda is the way out)", e.device)};
    if (e.order != sim::Order::mnk && e.order != sim::Order::nmk)
        return {fmt::format("order {}: a Pallas kernel sums in the innermost loop (mnk or nmk)", to_string(e.order))};
    return fits_layer(e);
}

Exported pallas(const sim::Experiment& e, bool bench, const sim::Catalogue& devices) {
    if (Fit fit = fits_pallas(e, devices.at(e.device)); !fit.ok()) return {fit, {}};
    Values v = python_values(e, true, bench, devices);
    const bool rows_first = e.order == sim::Order::mnk;
    v["ORDER"] = to_string(e.order);
    v["GRID"] = rows_first ? "(*tiles, steps)" : "(*tiles[::-1], steps)";
    v["GRID_TO_TILE"] = rows_first ? "(a, b)" : "(b, a)";
    v["PRECISION"] = e.precision == sim::Precision::standard ? "DEFAULT"
                     : e.precision == sim::Precision::high   ? "HIGH"
                                                             : "HIGHEST";
    v["BUFFERS"] = e.buffers > 0 ? std::to_string(e.buffers) : "";
    v["VMEM_LIMIT"] = e.vmem > 0 ? fmt::format(", vmem_limit_bytes={}", e.vmem) : "";
    v["KERAS_BIAS"] = e.dense.bias ? "" : ", use_bias=False";
    v["KERAS_ARGUMENT"] = e.dense.bias ? ", self.bias.value.astype(OUT)" : "";
    return {{}, fill_template(template_text("export_pallas.py.in"), v)};
}

Fit fits_triton(const sim::Experiment& e, const sim::Device& device) {
    if (device.kind != sim::DeviceKind::gpu)
        return {fmt::format("{} is a {}; Triton is for GPUs", e.device, to_string(device.kind))};
    std::vector<sim::Tile> tiles = {e.tile};
    if (e.tile_dgrad) tiles.push_back(*e.tile_dgrad);
    if (e.tile_wgrad) tiles.push_back(*e.tile_wgrad);
    for (const sim::Tile& t : tiles)
        for (const sim::i64 side : {t.bm, t.bn, t.bk})
            if (side < 16 || (side & (side - 1)) != 0)
                return {fmt::format("tile {}: the sides of a Triton tile are powers of two from 16 on", to_string(t))};
    if (e.raster.kind == sim::Raster::hilbert)
        return {"raster hilbert: the Triton kernel walks along_n, along_m or grouped:G"};
    if (e.schedule.kind != sim::Schedule::data_parallel)
        return {"schedule: the Triton kernel has a program a tile (data_parallel)"};
    if (e.dense.dtype == Dtype::e4m3) return {"e4m3: the exported layer has no scales"};
    return fits_layer(e);
}

Exported triton(const sim::Experiment& asked, bool bench, const sim::Catalogue& devices) {
    if (Fit fit = fits_triton(asked, devices.at(asked.device)); !fit.ok()) return {fit, {}};
    const sim::Experiment e = resolved(asked);
    Values v = python_values(asked, false, bench, devices);
    constexpr int all_rows = 1 << 30;
    v["GROUP"] = std::to_string(e.raster.kind == sim::Raster::grouped   ? e.raster.group
                                : e.raster.kind == sim::Raster::along_m ? all_rows
                                                                        : 1);
    v["RASTER"] = to_string(e.raster);
    v["ENGINE"] = to_string(e.engine);
    v["PIPELINE"] = to_string(e.pipeline);
    // Triton takes powers of two of warps; a producer's are its own affair.
    int warps = 1;
    const int threads =
        block_threads(kernels_of(e).front()) - (e.pipeline == sim::Pipeline::warp_specialized ? 128 : 0);
    while (warps < 16 && 64 * warps <= threads) warps *= 2;
    v["WARPS"] = std::to_string(warps);
    v["STAGES"] = std::to_string(std::max(1, e.stages));
    v["INPUT_PRECISION"] = e.dense.dtype == Dtype::f32 ? "ieee" : "tf32";
    v["REFERENCE_BIAS"] = e.dense.bias ? " + arguments[2].double()" : "";
    return {{}, fill_template(template_text("export_triton.py.in"), v)};
}

// ---- CUDA
// ------------------------------------------------------------------------------------------------------------

/// A file with what it includes put in its place, each once.
void flatten(std::string_view text, const std::vector<std::pair<std::string, std::string>>& headers,
             std::set<std::string>& done, std::string& out) {
    constexpr std::string_view include = "#include \"";
    while (!text.empty()) {
        const std::string_view line = text.substr(0, text.find('\n'));
        text.remove_prefix(std::min(line.size() + 1, text.size()));
        if (line == "#pragma once") continue;
        if (!line.starts_with(include)) {
            out += line;
            out += '\n';
            continue;
        }
        const std::string name(line.substr(include.size(), line.find('"', include.size()) - include.size()));
        const auto header =
            std::find_if(headers.begin(), headers.end(), [&](const auto& h) { return h.first == name; });
        if (header == headers.end() || !done.insert(name).second)
            continue;  // of the executor on the CPU; or there already
        out += fmt::format("// ---- {} ----\n", name);
        flatten(header->second, headers, done, out);
    }
}

/// An operand by name as the exported program allocates it; its address here is a number that stands for the name.
struct Named {
    std::string name;
    sim::i64 lines = 0, pitch = 0;
    int size = 0;
    bool positive = false;  ///< what a ReLU leaves
};

/// The operands that an operation touches, laid out as OperandSet does.
struct Layout {
    std::vector<Named> buffers;
    Operands operands;

    explicit Layout(const Op& op) {
        // Zero-sized twins of the real thing say which operands there are: an OperandSet of one element a matrix.
        Op one = op;
        one.dense.m = one.dense.n = one.dense.k = 1;
        const OperandSet there(one);
        const sim::Dense& d = op.dense;
        const Operands& t = there.operands();
        const auto matrix = [&](const char* name, const Matrix& in, Matrix& to, sim::i64 rows, sim::i64 cols,
                                bool positive = false) {
            if (!in) return;
            const auto size = static_cast<int>(sim::storage_bytes(in.dtype));
            const sim::i64 pitch = d.pitch == sim::Pitch::padded ? sim::round_up(cols * size, 16) / size : cols;
            to = {handle(), in.dtype, rows, cols, pitch, rows * pitch};
            buffers.push_back({name, rows, pitch, size, positive});
        };
        const auto bits = [&](const char* name, const BitMatrix& in, BitMatrix& to, sim::i64 rows, sim::i64 cols) {
            if (!in) return;
            const sim::i64 pitch = sim::round_up(cols, 128) / 8;
            to = {static_cast<std::byte*>(handle()), rows, cols, pitch, rows * pitch};
            buffers.push_back({name, rows, pitch, 1, false});
        };
        matrix("x", t.x, operands.x, d.m, d.k);
        matrix("w", t.w, operands.w, d.k, d.n);
        matrix("bias", t.bias, operands.bias, 1, d.n);
        matrix("z", t.z, operands.z, d.m, d.n);
        if (t.z && t.y.data == t.z.data)
            operands.y = operands.z;
        else
            matrix("y", t.y, operands.y, d.m, d.n, !op.runs(Pass::forward));
        matrix("dy", t.dy, operands.dy, d.m, d.n);
        if (t.dy && t.dz.data == t.dy.data)
            operands.dz = operands.dy;
        else
            matrix("dz", t.dz, operands.dz, d.m, d.n);
        matrix("dx", t.dx, operands.dx, d.m, d.k);
        matrix("dw", t.dw, operands.dw, d.k, d.n);
        bits("mask", t.mask, operands.mask, d.m, d.n);
        bits("x_mask", t.x_mask, operands.x_mask, d.m, d.k);
    }
    void* handle() const { return reinterpret_cast<void*>(buffers.size() + 1); }
    std::string name_of(const void* data) const {
        return buffers.at(reinterpret_cast<std::size_t>(data) - 1).name + ".data";
    }
};

std::string launch_text(const DeviceKernel& k, const Layout& layout, void* partial) {
    const Launch l = launch_of(k);
    const device::Params p = params_of(k, layout.operands, partial);
    std::string out = fmt::format("        {{  // {}\n            device::Params p{{}};\n", k.name);
    const auto address = [&](const void* data) {
        return data == partial ? std::string("partial") : layout.name_of(data);
    };
    const std::pair<const char*, const device::Plane*> planes[] = {
        {"left", &p.left}, {"right", &p.right}, {"gate", &p.gate}, {"bias", &p.bias},
        {"test", &p.test}, {"out", &p.out},     {"bits", &p.bits}, {"partial", &p.partial}};
    for (const auto& [name, plane] : planes)
        if (plane->data)
            out += fmt::format("            p.{} = {{{}, {}, {}}};\n", name, address(plane->data), plane->pitch,
                               plane->batch_pitch);
    for (const auto& [name, value] : {std::pair{"rows", p.rows},
                                      {"cols", p.cols},
                                      {"red", p.red},
                                      {"row_tiles", p.row_tiles},
                                      {"col_tiles", p.col_tiles},
                                      {"tile_rows", p.tile_rows},
                                      {"tile_cols", p.tile_cols},
                                      {"batch", p.batch},
                                      {"k_steps", p.k_steps},
                                      {"splits", p.splits},
                                      {"epilogue", p.epilogue},
                                      {"reverse", p.reverse}})
        out += fmt::format("            p.{} = {};\n", name, value);
    out += fmt::format(
        "            p.work_items = {};\n            p.raster = {{static_cast<sim::Raster::Kind>({}), {}}};  // {}\n",
        p.work_items, static_cast<int>(p.raster.kind), p.raster.group, to_string(k.raster));
    out += fmt::format("            const auto kernel = &{};\n", l.name_expression);
    std::string maps;
    if (l.tensor_maps) {
        const TensorBoxes boxes = tensor_boxes(k, layout.operands);
        out += "            device::TensorMaps maps{};\n";
        for (const auto& [name, box] : {std::pair{"left", &boxes.left}, {"right", &boxes.right}, {"gate", &boxes.gate}})
            if (box->data)
                out += fmt::format(
                    "            maps.{} = tensor_map({}, CU_TENSOR_MAP_DATA_TYPE_{}, {}, {}, {}, {}, {}, {});\n", name,
                    address(box->data), box->dtype == Dtype::f16 ? "FLOAT16" : "BFLOAT16", box->length, box->lines,
                    box->pitch_bytes, box->batch_pitch_bytes, box->box_length, box->box_lines);
        maps = ", maps";
    }
    const std::string grid =
        k.persistent ? fmt::format("std::min<long long>({}, resident(kernel, {}, {}))", l.grid, l.block, l.smem_bytes)
                     : std::to_string(l.grid);
    out += fmt::format("            launch(kernel, {}, {}, {}, {}, p{});\n        }}\n", grid, l.block, l.smem_bytes,
                       l.cluster.rows * l.cluster.cols, maps);
    return out;
}

constexpr std::string_view bf16_to_float = R"(        const std::uint32_t wide = std::uint32_t{bits} << 16;
        float v;
        std::memcpy(&v, &wide, 4);
        return v;)";
constexpr std::string_view bf16_from_float = R"(        std::uint32_t wide;
        std::memcpy(&wide, &v, 4);
        const auto bits = static_cast<std::uint16_t>((wide + 0x7fff + (wide >> 16 & 1)) >> 16);)";
constexpr std::string_view f16_to_float = R"(        _Float16 v;
        std::memcpy(&v, &bits, 2);
        return static_cast<float>(v);)";
constexpr std::string_view f16_from_float = R"(        const auto half = static_cast<_Float16>(v);
        std::uint16_t bits;
        std::memcpy(&bits, &half, 2);)";

Exported cuda_program(const sim::Experiment& asked, bool bench, const sim::Catalogue& devices) {
    const sim::Device& device = devices.at(asked.device);
    const sim::Experiment e = resolved(asked);
    if (Fit fit = fits(e, device); !fit.ok()) return {fit, {}};
    const int capability = sim::capability(device);
    const std::vector<DeviceKernel> launches = kernels_of(e);
    sim::i64 partial_bytes = 0;
    for (const DeviceKernel& k : launches) partial_bytes = std::max(partial_bytes, k.partial_bytes());
    const Op op = op_of(e);
    const Layout layout(op);

    std::set<std::string> done;
    std::string sources, kernel_names, buffers, launch_lines;
    bool tensor_maps = false;
    for (const DeviceKernel& k : launches) {
        const Launch l = launch_of(k);
        tensor_maps |= l.tensor_maps;
        kernel_names += (kernel_names.empty() ? "" : ", ") + std::string(k.name);
        if (done.insert(l.file).second) {
            const cuda::Source source = cuda::device_source(l.file);
            flatten(source.text, source.headers, done, sources);
        }
        launch_lines += launch_text(k, layout, partial_bytes > 0 ? layout.handle() : nullptr);
    }
    for (const Named& b : layout.buffers) {
        buffers += fmt::format("    Buffer {}({}, {}, {});\n", b.name, b.lines, b.pitch, b.size);
        const float scale = 1;
        buffers += fmt::format("    {}.fill({:.1f}f{});\n", b.name, scale, b.positive ? ", true" : "");
    }
    if (partial_bytes > 0)
        buffers += fmt::format("    void* partial = nullptr;\n    CHECK(cudaMalloc(&partial, {}));\n", partial_bytes);
    const auto strip = [](std::string s) { return s.empty() ? s : s.substr(0, s.size() - 1); };

    const bool forward = op.runs(Pass::forward), half = e.dense.dtype == Dtype::f16 || e.dense.out == Dtype::f16;
    const bool relu = forward && layout.operands.y;
    const sim::Tile& t = e.tile;
    const Values v = {
        {"EXPERIMENT", sim::to_string(asked, devices)},
        {"ARCH", cuda::arch_name(capability)},
        {"COMPUTE", "compute" + cuda::arch_name(capability).substr(2)},
        {"KERNEL_NAMES", kernel_names},
        {"SOURCES", sources},
        {"M", std::to_string(e.dense.m)},
        {"N", std::to_string(e.dense.n)},
        {"K", std::to_string(e.dense.k)},
        {"BATCH", std::to_string(e.dense.batch)},
        {"TO_FLOAT", std::string(half ? f16_to_float : bf16_to_float)},
        {"FROM_FLOAT", std::string(half ? f16_from_float : bf16_from_float)},
        {"BUFFERS", strip(buffers)},
        {"LAUNCHES", strip(launch_lines)},
        {"TENSOR_MAPS", tensor_maps ? "yes" : ""},
        {"CHECK_FORWARD", forward ? "yes" : ""},
        {"OUTPUT", relu && !(layout.operands.z && layout.operands.y.data == layout.operands.z.data) ? "y" : "z"},
        {"BIAS_VALUE", e.dense.bias ? "bias.get(j)" : "0"},
        {"EXPECTED", relu ? "z > 0 ? z : 0" : "z"},
        {"SAMPLES", bench ? "101" : "11"},
        {"BENCH", bench ? "yes" : ""},
        {"COLUMNS",
         "id,split,source,device,pass,dtype,acc,batch,m,n,k,engine,pipeline,bm,bn,bk,stages,threads,raster,"
         "epilogue,experiment,time_us,min_us,max_us,samples,cache,data,machine"},
        {"ROW", fmt::format("export-{},recorded,memwall export,{},{},{},f32,{},{},{},{},{},{},{},{},{},{},{},{},{},{}",
                            e.rung, e.device, to_string(e.pass), to_string(e.dense.dtype), e.dense.batch, e.dense.m,
                            e.dense.n, e.dense.k, to_string(e.engine), to_string(e.pipeline), t.bm, t.bn, t.bk,
                            e.stages, block_threads(launches.front()), to_string(e.raster),
                            e.pass == Pass::forward && e.fusion == Fusion::fused ? "relu" : "none",
                            sim::to_string(asked, devices))},
    };
    return {{}, fill_template(template_text("export_cuda.cu.in"), v)};
}

}  // namespace

std::string_view to_string(ExportAs as) { return names[static_cast<int>(as)]; }

std::optional<ExportAs> parse_export(std::string_view text) {
    const auto at = std::find(std::begin(names), std::end(names), text);
    if (at == std::end(names)) return std::nullopt;
    return static_cast<ExportAs>(at - std::begin(names));
}

Exported export_source(const sim::Experiment& e, ExportAs as, bool bench, const sim::Catalogue& devices) {
    switch (as) {
        case ExportAs::pallas: return pallas(e, bench, devices);
        case ExportAs::triton: return triton(e, bench, devices);
        case ExportAs::cuda: break;
    }
    return cuda_program(e, bench, devices);
}

}  // namespace kernels
