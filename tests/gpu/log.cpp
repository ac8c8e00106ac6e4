// Step `log`: the real kernels, with a line in front of each store: which CTA stored which tile, on which SM and when.

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "kernels/cuda/executable.hpp"
#include "kernels/ladder.hpp"
#include "sim/schedule.hpp"
#include "tests/gpu/campaign.hpp"
#include "tests/gpu/draw.hpp"

namespace campaign {
namespace {

using namespace kernels;
using namespace kernels::cuda;

/// What a CTA writes when it stores the first element of a tile.
struct Entry {
    long long block, sm, ns;
};

/// The rung's own source, in which each store goes past a log that lies where drelu's operand would.
Source logged(const std::string& file) {
    Source source = device_source(file);
    source.headers.emplace_back(file, source.text);
    source.name = "logged.cu";
    source.text = fmt::format(R"(
#include "kernels/device/epilogue.cuh"
namespace kernels::device {{
struct Entry {{
    long long block, sm, ns;
}};
template <class Form, int N>
DEVICE void logged_outputs(const Params& p, const Work& w, int row, int col, float (&v)[N]) {{
    if (row == 0 && col == 0) {{
        Entry e;
        unsigned sm;
        asm volatile("mov.u32 %0, %%smid;" : "=r"(sm));
        asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(e.ns));
        e.block = blockIdx.x;
        e.sm = sm;
        static_cast<Entry*>(p.test.data)[w.row / p.tile_rows * p.col_tiles + w.col / p.tile_cols] = e;
    }}
    store_outputs<Form>(p, w, row, col, v);
}}
}}  // namespace kernels::device
#define store_outputs logged_outputs
#include "{}"
)",
                              file);
    return source;
}

/// How far the CTAs have drifted apart: the spread of the times at which they store their j-th tile, in tile times.
Record drift(const std::vector<Entry>& log) {
    std::map<long long, std::vector<long long>> by_cta;
    for (const Entry& e : log) by_cta[e.block].push_back(e.ns);
    long long first = log[0].ns, last = log[0].ns;
    for (const Entry& e : log) first = std::min(first, e.ns), last = std::max(last, e.ns);
    std::size_t most = 0;
    for (auto& [block, times] : by_cta) {
        std::sort(times.begin(), times.end());
        most = std::max(most, times.size());
    }
    Record spreads = Record::array();
    const double tile_ns = static_cast<double>(last - first) / std::max<double>(1, static_cast<double>(most) - 1);
    for (std::size_t j = 0; j < most; j++) {
        std::vector<double> at;
        for (const auto& [block, times] : by_cta)
            if (j < times.size()) at.push_back(static_cast<double>(times[j] - first));
        std::sort(at.begin(), at.end());
        spreads.push_back((at[at.size() * 9 / 10] - at[at.size() / 10]) / std::max(1.0, tile_ns));
    }
    return {{"tiles_a_cta", most}, {"tile_ns", tile_ns}, {"spread_p10_p90_in_tiles", spreads}};
}

}  // namespace

Record log_tiles(Context& context, const Case& c) {
    const Runtime& r = context.machine.runtime;
    const bool stays = c.id != "07_tensor_core";
    const sim::Experiment e = resolved(
        runnable(fmt::format("4096x4096x1024 bf16 forward none tile 128x128x64 stages 3 raster grouped:8 rung {}{}",
                             c.id, c.id == "09_tma_wgmma" ? " schedule persistent" : ""))
            .value());
    DeviceKernel kernel = kernels_of(e).at(0);
    Launch launch = launch_of(kernel);
    const std::string names[] = {launch.name_expression};
    const Program program = compile_cached(logged(launch.file), names, arch_name(context.gpu.capability));
    const Module module(r, program.cubin);
    const void* function = module.kernel(program.kernels[0].lowered);
    const auto shape_of = [](const Launch& l) {
        return LaunchShape{{static_cast<unsigned>(l.grid)}, {static_cast<unsigned>(l.block)}, {}, l.smem_bytes};
    };
    prepare(r, function, shape_of(launch));
    if (stays) {
        int ctas = 0;
        check(r, r.occupancy(&ctas, function, launch.block, static_cast<std::size_t>(launch.smem_bytes)),
              "cudaOccupancyMaxActiveBlocksPerMultiprocessor");
        kernel = kernels_of(e, sim::i64{context.gpu.sm_count} * std::max(ctas, 1)).at(0);
        launch = launch_of(kernel);
    }

    OperandSet values(op_of(e));
    values.fill_normal(1);
    const DeviceOperands operands(r, values);
    const auto tiles = static_cast<std::size_t>(kernel.row_tiles() * kernel.col_tiles());
    const DeviceMemory memory(r, static_cast<sim::i64>(tiles * sizeof(Entry)));
    device::Params params = params_of(kernel, operands.operands());
    params.test.data = memory.data();
    device::TensorMaps maps{};
    if (launch.tensor_maps) {
        const TensorBoxes boxes = tensor_boxes(kernel, operands.operands());
        maps = {encode(r, boxes.left), encode(r, boxes.right), encode(r, boxes.gate)};
    }
    void* arguments[] = {&params, launch.tensor_maps ? &maps : nullptr};
    for (int i = 0; i < 3; i++) {  // the first two warm up
        memory.fill(0xff);
        kernels::cuda::launch(r, function, shape_of(launch), arguments);
    }
    check(r, r.synchronize(), "cudaDeviceSynchronize");
    std::vector<Entry> log(tiles);
    memory.copy_to_host(log.data(), memory.bytes());

    // Item i is CTA i's, or that of CTA i modulo those that stay; its tile is tile_at's.
    const auto was_logged = [](const Entry& entry) { return entry.block >= 0; };
    if (std::none_of(log.begin(), log.end(), was_logged))
        throw std::runtime_error("no store was logged: the rung does not call store_outputs, or did not run");
    sim::i64 elsewhere = 0;
    std::set<long long> sms;
    for (sim::i64 i = 0; i < static_cast<sim::i64>(tiles); i++) {
        const sim::TileIndex t = sim::tile_at(kernel.raster, kernel.row_tiles(), kernel.col_tiles(), i);
        const Entry& entry = log[static_cast<std::size_t>(t.row * kernel.col_tiles() + t.col)];
        elsewhere += entry.block != i % launch.grid;
        sms.insert(entry.sm);
    }
    if (elsewhere > 0)
        throw std::runtime_error(
            fmt::format("{} of {} tiles were stored by another CTA than tile_at says", elsewhere, tiles));
    Record more = {{"tiles", tiles}, {"ctas", launch.grid}, {"sms", sms.size()}};
    if (stays) more["drift"] = drift(log);
    return {{"status", "ok"}, {"more", more}};
}

}  // namespace campaign
