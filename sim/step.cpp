#include "sim/step.hpp"

#include <algorithm>

#include "sim/count_gpu.hpp"
#include "sim/gpu_work.hpp"
#include "sim/replay.hpp"

namespace sim {

namespace {

/// Records the requests of step `target` and the bytes of all steps up to it.
struct StepObserver {
    static constexpr bool watches = true;
    StepState* state;
    i64 target, last, now = 0, read_bits = 0, write_bits = 0;
    int kernel = 0;

    void request(const Access& a, i64, i64 row, i64 col, i64 bits, i64 missing) {
        read_bits += missing;
        note(a, row, col, bits, missing > 0 ? Touch::fetched : Touch::kept);
    }
    void write(const Access& a, i64, i64 row, i64 col, i64 bits) {
        write_bits += bits;
        note(a, row, col, bits, Touch::written);
    }
    void note(const Access& a, i64 row, i64 col, i64 bits, Touch::Outcome outcome) {
        // A wave's outputs are written between its last step and the next wave's first; those of the very last wave
        // belong to the last step.
        if (now + 1 == target || (now == target && target == last))
            state->touches.push_back({a.tensor.name, row, col, (bits + 7) / 8, outcome});
    }
    bool step(const Kernel&, TileIndex tile, i64 k, i64 wave) {
        if (++now != target) return true;
        state->kernel = kernel;
        state->tile = tile;
        state->k = k;
        state->wave = wave;
        return target == last;
    }
};

StepState step_gpu(const Experiment& e, const Device& d, const std::vector<Kernel>& kernels, i64 n, StepState state) {
    const Slots slots = slots_of(e, d, kernels);
    Replay<StepObserver> replay(effective_bits(d), whole_bits(d), moved_unit(d, e),
                                StepObserver{&state, n, state.steps});
    for (std::size_t i = 0; i < kernels.size() && !replay.stopped(); ++i) {
        replay.observer().kernel = static_cast<int>(i);
        replay.run(kernels[i], e.raster, e.cluster, slots[i], false);
    }
    state.dram_read_bytes = (replay.observer().read_bits + 7) / 8;
    state.dram_write_bytes = (replay.observer().write_bits + 7) / 8;
    return state;
}

/// A sequential grid: one tile of each operand is held. Follows the walk of count_sequential, request by request.
StepState step_sequential(const Experiment& e, const std::vector<Kernel>& kernels, i64 n, StepState state) {
    i64 now = 0;
    for (std::size_t which = 0; which < kernels.size(); ++which) {
        const Kernel& k = kernels[which];
        std::vector<const Access*> inputs;
        each_input(k, [&](const Access& a) { inputs.push_back(&a); });
        std::vector<std::pair<i64, i64>> held(inputs.size(), {-1, -1});
        const Access& out = k.outputs[0];
        const i64 trips[3] = {axis_trips(k, Axis::rows), axis_trips(k, Axis::cols), axis_trips(k, Axis::red)};
        const std::array<Axis, 3> order = loop_order(k, e.order);
        const i64 per_batch = trips[0] * trips[1] * trips[2];
        std::vector<i64> done(static_cast<std::size_t>(trips[0] * trips[1]), 0);

        const auto index_of = [&](i64 step, i64* index) {
            for (int level = 2; level >= 0; --level) {
                const int axis = static_cast<int>(order[static_cast<std::size_t>(level)]);
                index[axis] = step % trips[axis];
                step /= trips[axis];
            }
        };
        const auto bytes = [&](const Access& a, i64 row, i64 col, i64 bits) {
            return (clipped(a.tensor.rows, axis_tile(k, a.row_axis), row) *
                        clipped(a.tensor.cols, axis_tile(k, a.col_axis), col) * bits +
                    7) /
                   8;
        };
        for (i64 local = 0; local < per_batch * k.batch; ++local) {
            if (now == n) return state;
            if (local % per_batch == 0) {
                std::fill(done.begin(), done.end(), 0);
                std::fill(held.begin(), held.end(), std::pair<i64, i64>(-1, -1));
            }
            ++now;
            const bool watched = now == n;
            const auto touch = [&](const Access& a, i64 row, i64 col, i64 size, Touch::Outcome outcome) {
                if (outcome == Touch::fetched || outcome == Touch::read_back) state.dram_read_bytes += size;
                if (outcome == Touch::written) state.dram_write_bytes += size;
                if (watched) state.touches.push_back({a.tensor.name, row, col, size, outcome});
            };
            i64 index[3];
            index_of(local % per_batch, index);
            const auto at = [&](Axis a) { return a == Axis::one ? 0 : index[static_cast<int>(a)]; };
            const i64 row = at(out.row_axis), col = at(out.col_axis);
            i64& sum = done[static_cast<std::size_t>(row * trips[1] + col)];
            for (std::size_t i = 0; i < inputs.size(); ++i) {
                const Access& a = *inputs[i];
                const std::pair<i64, i64> tile{at(a.row_axis), at(a.col_axis)};
                const bool fetch = tile != held[i] && !(along_output(k, a) && sum > 0);
                touch(a, tile.first, tile.second, bytes(a, tile.first, tile.second, a.tensor.bits),
                      fetch ? Touch::fetched : Touch::kept);
                held[i] = tile;
            }
            // A partial sum comes back when the grid returns to a tile it had left.
            i64 before[3] = {-1, -1, -1}, after[3] = {-1, -1, -1};
            if (local % per_batch > 0) index_of(local % per_batch - 1, before);
            if (local % per_batch + 1 < per_batch) index_of(local % per_batch + 1, after);
            if (sum > 0 && (before[0] != row || before[1] != col))
                touch(out, row, col, bytes(out, row, col, 32), Touch::read_back);
            ++sum;
            if (after[0] != row || after[1] != col) {
                const bool final = sum == trips[2];
                touch(out, row, col, bytes(out, row, col, final ? out.tensor.bits : 32), Touch::written);
                if (final)
                    for (std::size_t o = 1; o < k.outputs.size(); ++o)
                        touch(k.outputs[o], row, col, bytes(k.outputs[o], row, col, k.outputs[o].tensor.bits),
                              Touch::written);
            }
            state.kernel = static_cast<int>(which);
            state.tile = {row, col};
            state.k = index[2];
        }
    }
    return state;
}

}  // namespace

i64 step_count(const std::vector<Kernel>& kernels) {
    i64 steps = 0;
    for (const Kernel& k : kernels) steps += k.row_tiles() * k.col_tiles() * k.k_steps() * k.batch;
    return steps;
}

i64 first_step(const Experiment& e, const Device& d, const std::vector<Kernel>& kernels, int kernel, TileIndex tile) {
    const auto which = static_cast<std::size_t>(kernel);
    const Kernel& k = kernels[which];
    i64 now = 1 + step_count({kernels.begin(), kernels.begin() + kernel});
    if (d.kind != DeviceKind::gpu) {
        i64 local = 0;
        for (const Axis a : loop_order(k, e.order))
            local = local * axis_trips(k, a) + (a == Axis::rows ? tile.row : a == Axis::cols ? tile.col : 0);
        return now + local;
    }
    const GpuWork work(k, e.raster, e.cluster, slots_of(e, d, kernels)[which]);
    const auto has = [&](const Cta& c) { return c.row == tile.row && c.col == tile.col; };
    for (i64 i = 0; i < work.shared; ++i)
        if (has(work.at(i))) return now;
    now += work.shared * work.steps;
    for (i64 wave = work.shared; wave < work.items; wave += work.slots) {
        i64 steps = 0, ahead = 0;  // in lockstep: of the whole wave; CTAs that do theirs before
        for (i64 i = wave; i < std::min(work.items, wave + work.slots); ++i) {
            const Cta c = work.at(i);
            if (c.idle) continue;
            if (has(c)) return now + ahead;
            ++ahead;
            steps += c.k_end - c.k_begin;
        }
        now += steps;
    }
    return now - 1;  // the last step: no such tile
}

StepState step_at(const Experiment& e, const Device& d, const std::vector<Kernel>& kernels, i64 n) {
    StepState state;
    state.steps = step_count(kernels);
    state.step = std::clamp<i64>(n, 0, state.steps);
    if (state.step == 0) return state;
    if (d.kind == DeviceKind::gpu) return step_gpu(e, d, kernels, state.step, state);
    return step_sequential(e, kernels, state.step, state);
}

}  // namespace sim
