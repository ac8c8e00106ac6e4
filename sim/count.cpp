#include "sim/count.hpp"

#include <algorithm>
#include <cmath>

#include "sim/extent.hpp"

namespace sim {

Ledger::Ledger(const std::vector<Kernel>& kernels) {
    for (const Kernel& k : kernels)
        each_input(k, [&](const Access& a) {
            if (a.compulsory) owed_[static_cast<int>(a.tensor.name)] = a.tensor.bytes(k.batch);
        });
}

i64 Ledger::settle(Operand o, i64 bytes) {
    i64& owed = owed_[static_cast<int>(o)];
    const i64 paid = std::min(owed, bytes);
    owed -= paid;
    return paid;
}

Slots slots_of(const Experiment& e, const Device& d, const std::vector<Kernel>& kernels) {
    Slots slots;
    for (const Kernel& k : kernels)
        slots.push_back(
            d.kind == DeviceKind::gpu && k.matmul ? std::max<i64>(1, occupancy(e, d, cta_shape(e, d, k)).slots) : 1);
    return slots;
}

double drift_share(const Device& d, const std::vector<Kernel>& kernels, const Slots& slots) {
    if (d.kind != DeviceKind::gpu) return 0;
    double waves = 0;
    for (std::size_t i = 0; i < kernels.size(); ++i)
        if (kernels[i].matmul)
            waves = std::max(
                waves, static_cast<double>(kernels[i].row_tiles()) * static_cast<double>(kernels[i].col_tiles()) *
                           static_cast<double>(kernels[i].batch * kernels[i].splits) / static_cast<double>(slots[i]));
    return 1 - (1 - d.l2.drift.or_else(0)) * std::exp(-waves / drift_waves);
}

double replay_requests(const std::vector<Kernel>& kernels) {
    double requests = 0;
    for (const Kernel& k : kernels)
        requests += static_cast<double>(k.row_tiles()) * static_cast<double>(k.col_tiles()) *
                    static_cast<double>(k.k_steps()) * static_cast<double>(k.batch) *
                    static_cast<double>(std::max<std::size_t>(1, k.left.size() + k.right.size()));
    return requests;
}

Counts count(const Experiment& e, const Device& d, const std::vector<Kernel>& kernels, Count how) {
    const bool replay = how == Count::replay ||
                        (how == Count::automatic && replay_requests(kernels) <= static_cast<double>(replay_limit));
    Counts c;
    Slots slots;
    if (d.kind == DeviceKind::gpu) {
        slots = slots_of(e, d, kernels);
        c = replay ? replay_gpu(e, d, kernels, slots) : closed_gpu(e, d, kernels, slots);
    } else {
        c = replay ? walk_sequential(e, d, kernels) : closed_sequential(e, d, kernels);
    }
    c.dram_range.expected_bytes =
        c.dram_range.lockstep_bytes +
        static_cast<i64>(drift_share(d, kernels, slots) *
                         static_cast<double>(c.dram_range.staggered_bytes - c.dram_range.lockstep_bytes));
    return c;
}

}  // namespace sim
