#include "gui/walk.hpp"

#include <algorithm>

#include "sim/count.hpp"
#include "sim/gpu_work.hpp"

namespace gui {
namespace {

constexpr i64 most_parts = 1'000'000;  // more waves than that are walked as one

}  // namespace

Walk::Walk(const sim::Experiment& e, const sim::Device& d, const std::vector<sim::Kernel>& kernels)
    : lockstep_(d.kind == sim::DeviceKind::gpu) {
    const sim::Slots slots = sim::slots_of(e, d, kernels);
    i64 now = 0;
    const auto mark = [&](i64 step) {
        if (step > 0 && (marks_.empty() || marks_.back() < step)) marks_.push_back(step);
    };
    for (std::size_t i = 0; i < kernels.size(); ++i) {
        const sim::Kernel& k = kernels[i];
        const i64 all = k.row_tiles() * k.col_tiles() * k.k_steps() * k.batch, end = now + all;
        if (lockstep_ && k.matmul) {
            const sim::GpuWork work(k, e.raster, e.cluster, slots[i]);
            i64 next = 0;
            const auto part = [&](i64 ctas, i64 steps) {
                if (steps <= 0) return;
                parts_.push_back({now, steps, std::min(ctas, steps)});
                now += steps;
                if (next == 0 || parts_.size() == 1) mark(now);
            };
            if (work.shared > 0) part(work.slots, std::min(all, work.shared * work.steps));
            for (next = work.shared; next < work.items && now < end; next += work.slots) {
                i64 ctas = 0, steps = 0;
                for (i64 j = next; j < std::min(work.items, next + work.slots); ++j)
                    if (const sim::Cta c = work.at(j); !c.idle) ++ctas, steps += c.k_end - c.k_begin;
                if (static_cast<i64>(parts_.size()) >= most_parts) steps = end - now;
                part(ctas, std::min(steps, end - now));
            }
        } else {
            // The tile stays while only loops inside its innermost own loop move on.
            const auto loops = sim::loop_order(k, e.order);
            i64 same_tile = 1, inner = 1;
            bool outside = false;
            for (std::size_t j = 3; j > 0; --j) {
                const i64 trips = sim::axis_trips(k, loops[j - 1]);
                outside |= loops[j - 1] != sim::Axis::red && trips > 1;
                if (!outside) same_tile *= trips;
            }
            std::size_t outermost = 0;
            while (outermost < 2 && sim::axis_trips(k, loops[outermost]) == 1) ++outermost;
            for (std::size_t j = outermost + 1; j < 3; ++j) inner *= sim::axis_trips(k, loops[j]);
            if (lockstep_) inner = all;  // an elementwise pass is one wave
            if (now == 0 && same_tile > 1) mark(same_tile);
            if (now == 0) mark(inner);
            for (inner = std::max(inner, all / most_parts); now < end; now += parts_.back().steps)
                parts_.push_back({now, std::min(inner, end - now), same_tile});
        }
        mark(end);
        now = end;
    }
}

const Walk::Part& Walk::at(i64 step) const {
    const auto after = std::lower_bound(parts_.begin(), parts_.end(), step,
                                        [](const Part& p, i64 s) { return p.begin + p.steps < s; });
    return after == parts_.end() ? parts_.back() : *after;
}

i64 Walk::tile(i64 step, int direction) const {
    if (parts_.empty()) return 0;
    const Part& p = at(std::max<i64>(1, step));
    const i64 t = step - p.begin - 1;  // the place of the step that led here
    const bool first = &p == &parts_.front(), last = &p == &parts_.back();
    if (!lockstep_) {
        if (step == 0) return direction > 0 ? 1 : 0;
        const i64 run = t / p.stride + direction;
        if (run < 0) return first ? 0 : tile((&p - 1)->begin + (&p - 1)->steps, 0);
        const i64 to = p.begin + run * p.stride + 1;
        return to > p.begin + p.steps ? (last ? steps() : (&p + 1)->begin + 1) : to;
    }
    if (step == 0) return direction > 0 ? p.begin + p.stride : 0;
    const i64 to = t + direction * p.stride, place = t % p.stride;
    if (to >= p.steps) return last ? steps() : (&p + 1)->begin + 1 + std::min(place, (&p + 1)->stride - 1);
    if (to >= 0) return p.begin + to + 1;
    if (first) return 0;
    const Part& before = *(&p - 1);
    return before.begin + before.steps - before.stride + 1 + std::min(place, before.stride - 1);
}

i64 Walk::wave(i64 step, int direction) const {
    if (parts_.empty()) return 0;
    const Part& p = at(std::max<i64>(1, step));
    if (direction > 0) {
        if (step == 0) return 1;
        return &p == &parts_.back() ? steps() : (&p + 1)->begin + 1;
    }
    if (step > p.begin + 1) return p.begin + 1;
    return &p == &parts_.front() ? 0 : (&p - 1)->begin + 1;
}

}  // namespace gui
