#include "sim/residency.hpp"

#include <algorithm>
#include <numeric>

#include "sim/count_gpu.hpp"
#include "sim/replay.hpp"

namespace sim {

namespace {

/// An L2 of its own that sees the requests of a replay, so that who is in it can be asked.
struct Shadow {
    static constexpr bool watches = true;
    struct Tile {
        Operand operand = Operand::x;
        i64 row = 0, col = 0, bits = 0;
    };
    L2Tiles l2;
    std::vector<Tile> tiles;  ///< by id
    std::vector<i64> before;  ///< ids present when the step began
    i64 target, last, now = 0;

    Shadow(i64 bits, i64 target_step, i64 last_step) : l2(bits), target(target_step), last(last_step) {}

    void see(const Access& a, i64 id, i64 row, i64 col, i64 bits) {
        if (static_cast<std::size_t>(id) >= tiles.size()) tiles.resize(static_cast<std::size_t>(2 * id + 1024));
        l2.reserve_ids(static_cast<i64>(tiles.size()));
        tiles[static_cast<std::size_t>(id)] = {a.tensor.name, row, col, bits};
    }
    void request(const Access& a, i64 id, i64 row, i64 col, i64 bits, i64) {
        see(a, id, row, col, bits);
        l2.request(id, bits);
    }
    void write(const Access& a, i64 id, i64 row, i64 col, i64 bits) {
        see(a, id, row, col, bits);
        l2.write(id, bits);
    }
    std::vector<i64> present() {
        std::vector<i64> ids;
        l2.oldest_first([&](i64 id, i64 there, i64) {
            if (there > 0) ids.push_back(id);
        });
        std::sort(ids.begin(), ids.end());
        return ids;
    }
    bool step(const Kernel&, TileIndex, i64, i64) {
        if (++now + 1 == target) before = present();
        return now != target || target == last;
    }
};

Residency of_gpu(const Experiment& e, const Device& d, const std::vector<Kernel>& kernels, i64 n, i64 steps) {
    const Slots slots = slots_of(e, d, kernels);
    Replay<Shadow> replay(effective_bits(d), whole_bits(d), moved_unit(d, e), Shadow(effective_bits(d), n, steps));
    Shadow& shadow = replay.observer();
    for (std::size_t i = 0; i < kernels.size() && !replay.stopped(); ++i) {
        shadow.l2.set_capacity(kernels[i].matmul ? effective_bits(d) : whole_bits(d));
        replay.run(kernels[i], e.raster, e.cluster, slots[i], false);
    }
    Residency r;
    r.capacity_bytes = shadow.l2.capacity_bits() / 8;
    const std::vector<i64> after = shadow.present();
    std::array<i64, operand_count> bits{};
    for (const i64 id : after) {
        const Shadow::Tile& t = shadow.tiles[static_cast<std::size_t>(id)];
        bits[static_cast<std::size_t>(t.operand)] += t.bits;
    }
    for (std::size_t o = 0; o < bits.size(); ++o) r.bytes[o] = (bits[o] + 7) / 8;
    for (const i64 id : shadow.before)
        if (!std::binary_search(after.begin(), after.end(), id)) {
            const Shadow::Tile& t = shadow.tiles[static_cast<std::size_t>(id)];
            r.evicted.push_back({t.operand, t.row, t.col, (t.bits + 7) / 8, Touch::kept});
        }
    return r;
}

/// One tile of each operand is held: a fetched tile takes the place of the one before.
Residency of_grid(const Experiment& e, const Device& d, const std::vector<Kernel>& kernels, i64 n) {
    Residency r;
    const StepState now = step_at(e, d, kernels, n);
    for (const Touch& t : now.touches) r.bytes[static_cast<std::size_t>(t.operand)] = t.bytes;
    r.capacity_bytes = r.used_bytes();
    if (n < 2) return r;
    const StepState before = step_at(e, d, kernels, n - 1);
    if (before.kernel != now.kernel) return r;
    for (const Touch& t : now.touches) {
        if (t.outcome != Touch::fetched) continue;
        for (const Touch& b : before.touches)
            if (b.operand == t.operand && (b.row != t.row || b.col != t.col)) r.evicted.push_back(b);
    }
    return r;
}

}  // namespace

i64 Residency::used_bytes() const { return std::accumulate(bytes.begin(), bytes.end(), i64{0}); }

Residency residency_at(const Experiment& e, const Device& d, const std::vector<Kernel>& kernels, i64 n) {
    const i64 steps = step_count(kernels);
    n = std::clamp<i64>(n, 0, steps);
    if (n == 0) {
        Residency r;
        if (d.kind == DeviceKind::gpu) r.capacity_bytes = effective_bits(d) / 8;
        return r;
    }
    return d.kind == DeviceKind::gpu ? of_gpu(e, d, kernels, n, steps) : of_grid(e, d, kernels, n);
}

}  // namespace sim
