#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sim/bound.hpp"
#include "sim/count.hpp"
#include "sim/report.hpp"
#include "sim/sweep.hpp"
#include "sim/text.hpp"
#include "sim/time.hpp"
#include "sim/traits.hpp"

namespace sim {

std::string_view to_string(Limiter l) {
    constexpr std::string_view names[] = {"math", "sram", "l2", "dram", "latency", "launch", "step_overhead", "power"};
    return names[static_cast<int>(l)];
}
std::string_view to_string(Bound::Ceiling c) {
    constexpr std::string_view names[] = {"math", "dram", "l2"};
    return names[static_cast<int>(c)];
}

Fit resolve_best(Experiment& e, const Device& d) {
    const auto resolve = [&](Pass pass, Tile& tile) {
        const auto best = best_tile(e, pass, d);
        if (best) tile = *best;
        return best.has_value();
    };
    const auto refused = [&](Pass pass) {
        return Fit{fmt::format("no tile of the sweep's space fits {} on {}", to_string(pass), d.id)};
    };
    const Pass own = e.pass == Pass::train ? Pass::forward : e.pass;
    if (e.tile.is_best() && !resolve(own, e.tile)) return refused(own);
    if (e.pass == Pass::train)
        for (auto [pass, slot] : {std::pair(Pass::dgrad, &e.tile_dgrad), std::pair(Pass::wgrad, &e.tile_wgrad)})
            if (!*slot) {
                Tile t;
                if (!resolve(pass, t)) return refused(pass);
                *slot = t;
            }
    return {};
}

namespace {

std::vector<std::string> notes_on(const Experiment& e, const Device& d, const std::vector<Kernel>& kernels) {
    std::vector<std::string> notes;
    if (d.kind == DeviceKind::tpu) {
        for (const Kernel& k : kernels) {
            if (!k.matmul) continue;
            const VmemNeed need = vmem_need(e, d, k);
            if (need.buffers == 1 && e.buffers == 0 && 2 * need.tiles_bytes + need.accumulator_bytes > need.limit_bytes)
                notes.push_back(fmt::format(
                    "{}: two copies of the tiles are {}, more than the {} of scoped VMEM: one copy, so copy and "
                    "compute run in series "
                    "(newer JAX refuses to compile this; a larger vmem or a smaller tile is the way out)",
                    k.name, format_bytes(static_cast<double>(2 * need.tiles_bytes + need.accumulator_bytes)),
                    format_bytes(static_cast<double>(need.limit_bytes))));
        }
        if (e.order != Order::mnk && e.order != Order::nmk)
            notes.push_back(
                fmt::format("order {} is idealised here: Pallas needs an aliased partial input to cut a reduction",
                            to_string(e.order)));
        if (d.sm_count.or_else(1) > 1) notes.push_back("one TensorCore is modelled, not the chip");
    }
    if (e.residual == Residual::mask && e.pass == Pass::train && e.fusion == Fusion::unfused)
        notes.push_back("the mask is taken as given: the elementwise ReLU of an unfused run writes Y only");
    if (d.kind == DeviceKind::cpu && (e.rung == "01_naive" || e.rung == "02_loop_order"))
        notes.push_back("this rung walks whole rows: its time is its inner loop's, its bytes are counted as if tiled");
    for (const std::string& trait : unread_traits(e)) notes.push_back("the model does not read the trait " + trait);
    return notes;
}

}  // namespace

Report predict(const Experiment& asked, const Catalogue& devices, const PredictOptions& options) {
    for (const std::string& term : options.without) {
        std::vector<std::string_view> names;
        for (const TimeTermInfo& t : time_terms()) names.push_back(t.name);
        if (std::find(names.begin(), names.end(), term) == names.end()) {
            std::string list;
            for (std::string_view n : names) list += (list.empty() ? "" : ", ") + std::string(n);
            throw BadInput(fmt::format("without {}: expected one of {}", quote(term), list));
        }
    }
    const Device& d = devices.at(asked.device);
    Report r;
    r.experiment = asked;
    r.bound = bound(asked, d);
    r.fit = resolve_best(r.experiment, d);
    if (!r.fit.ok()) return r;
    const Experiment& e = r.experiment;
    const std::vector<Kernel> kernels = plan(e);
    for (const Kernel& k : kernels) r.flops += k.flops();
    r.notes = notes_on(e, d, kernels);
    r.idealised = d.kind == DeviceKind::tpu && e.order != Order::mnk && e.order != Order::nmk;
    r.fit = fit(e, d, kernels);
    if (!r.fit.ok()) return r;

    const Counts c = count(e, d, kernels, options.count);
    r.replayed = c.replayed;
    r.exact = c.exact;
    r.dram_range = c.dram_range;
    for (const Traffic& t : c.kernels) r.traffic += t;
    r.traffic.at(Level::dram).dirty_at_end_bytes = c.kernels.back().at(Level::dram).dirty_at_end_bytes;
    r.predicted = predict_time(e, d, kernels, c, r.bound, options.without);
    return r;
}

}  // namespace sim
