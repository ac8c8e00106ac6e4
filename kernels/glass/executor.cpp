#include "kernels/glass/executor.hpp"

#include <algorithm>
#include <memory>
#include <numeric>

namespace kernels::glass {

namespace {

struct FreeAligned {
    void operator()(std::byte* p) const { ::operator delete (p, std::align_val_t{1024}); }
};
using SharedBytes = std::unique_ptr<std::byte, FreeAligned>;

/// A CTA and the memory it keeps from one to the next in its slot.
class Resident {
public:
    Resident(Machine& machine, const Entry& entry, const Grid& grid, int slot)
        : entry_(entry), smem_(static_cast<std::byte*>(::operator new (bytes(grid), std::align_val_t{1024}))) {
        cta_.machine = &machine;
        cta_.grid = grid.ctas;
        cta_.slot = slot;
        cta_.smem = smem_.get();
        cta_.smem_bytes = static_cast<std::size_t>(grid.smem_bytes);
        cta_.warps.resize(static_cast<std::size_t>(grid.warps));
        order_.resize(cta_.warps.size());
    }
    ~Resident() { end(); }
    Resident(const Resident&) = delete;
    Resident& operator=(const Resident&) = delete;

    void begin(std::int64_t index, const device::Params& params, const device::TensorMaps& maps) {
        end();
        cta_.index = index;
        cta_.cached = {};
        cta_.phase_barriers.clear();
        cta_.boxes.clear();
        cta_.shadow.reset(static_cast<int>(cta_.warps.size()), cta_.smem_bytes);
        const bool params_have_maps = maps.left.words[0] != 0;
        // What nobody wrote reads as NaN.
        std::memset(static_cast<void*>(smem_.get()), 0xff, cta_.smem_bytes);
        for (std::size_t i = 0; i < cta_.warps.size(); ++i) {
            cta_.warps[i] = {};
            cta_.warps[i].cta = &cta_;
            cta_.warps[i].index = static_cast<int>(i);
            cta_.warps[i].knows.assign(cta_.warps.size() + 1, 0);
            cta_.warps[i].knows[i] = 1;
        }
        if (params_have_maps) cta_.async_shadow.reset(static_cast<int>(cta_.warps.size()), cta_.smem_bytes);
        for (std::size_t i = 0; i < cta_.warps.size(); ++i) {
            entry_.start(cta_.warps[i], params, maps);
        }
        live_ = true;
    }

    /// Runs every warp to its next barrier. False: the CTA has ended, or the kernel cannot go on (`stopped`).
    bool step(std::uint64_t& random, bool& stopped) {
        if (!live_) return false;
        std::iota(order_.begin(), order_.end(), 0);
        if (random != 0)
            for (std::size_t i = order_.size(); i > 1; --i) {
                random ^= random << 13;
                random ^= random >> 7;
                random ^= random << 17;
                std::swap(order_[i - 1], order_[random % i]);
            }
        for (const int w : order_) {
            Warp& warp = cta_.warps[static_cast<std::size_t>(w)];
            if (warp.state != Warp::ready) continue;
            entry_.resume(warp);
            if (!warp.task.handle.done()) continue;
            warp.state = Warp::finished;
            if (std::exception_ptr fault = warp.task.handle.promise().fault) {
                end();
                stopped = true;
                try {
                    std::rethrow_exception(fault);
                } catch (const Stopped&) {
                    return false;
                }
            }
        }
        stopped = !meet();
        if (stopped || !live_) end();
        return live_;
    }

private:
    static std::size_t bytes(const Grid& grid) { return static_cast<std::size_t>(grid.smem_bytes) + 1024; }

    void end() {
        for (Warp& w : cta_.warps)
            if (w.task.handle) {
                w.task.handle.destroy();
                w.task.handle = nullptr;
            }
        live_ = false;
    }

    /// Lets warps go on whose phase has ended or whose warpgroup has met. False where there are none.
    bool wake() {
        bool any = false;
        for (Warp& w : cta_.warps) {
            if (w.state != Warp::at_phase) continue;
            const PhaseBarrier& b = cta_.phase_barriers[w.phase_barrier];
            if ((b.phases & 1) == static_cast<unsigned>(w.parity & 1)) continue;
            for (std::size_t i = 0; i < b.knows.size(); ++i) w.knows[i] = std::max(w.knows[i], b.knows[i]);
            w.state = Warp::ready;
            any = true;
        }
        for (const Warp& one : cta_.warps) {
            const Meeting meeting = one.meeting;
            if (one.state != Warp::at_meeting || one.index != meeting.first) continue;
            const auto first = cta_.warps.begin() + meeting.first, last = first + meeting.count;
            if (!std::all_of(first, last, [&](const Warp& w) {
                    return w.state == Warp::at_meeting && w.meeting == meeting && w.waits == one.waits;
                }))
                continue;
            if (meeting.joins)
                cta_.join(static_cast<std::size_t>(meeting.first), static_cast<std::size_t>(meeting.count));
            for (auto w = first; w != last; ++w) w->state = Warp::ready;
            any = true;
        }
        return any;
    }

    /// Lets the warps pass what they have all reached. False where some can never go on.
    bool meet() {
        if (wake()) return true;
        if (cta_.land_boxes()) {
            wake();
            return true;
        }
        const Warp *waiting = nullptr, *other = nullptr, *gone = nullptr;
        for (const Warp& w : cta_.warps) {
            if (w.state == Warp::finished)
                gone = &w;
            else if (!waiting)
                waiting = &w;
            else if (!(w.waits == waiting->waits))
                other = &w;
        }
        if (!waiting) {
            live_ = false;
            return true;
        }
        const bool phase = waiting->state != Warp::at_barrier || (other && other->state != Warp::at_barrier);
        if (other || gone || phase) {
            std::string text = "warp " + std::to_string(waiting->index) + " of CTA " + std::to_string(cta_.index) +
                               " waits at the barrier of " + place_text(waiting->waits);
            if (other)
                text += " while warp " + std::to_string(other->index) + " waits at " + place_text(other->waits);
            else if (gone)
                text += " while warp " + std::to_string(gone->index) + " has left the kernel";
            else
                text += ", and nobody is left to end its phase";
            cta_.machine->note(Finding::deadlock, waiting->waits, other ? other->waits : Place{}, text);
            return false;
        }
        cta_.shadow.barrier();
        cta_.join(0, cta_.warps.size());
        for (Warp& w : cta_.warps) w.state = Warp::ready;
        return true;
    }

    const Entry& entry_;
    SharedBytes smem_;
    Cta cta_;
    std::vector<int> order_;
    bool live_ = false;
};

}  // namespace

void execute(Machine& machine, const Entry& entry, const device::Params& params, const device::TensorMaps& maps,
             const Grid& grid, const Order& order) {
    const std::int64_t slots = std::min(std::max<std::int64_t>(order.slots, 1), grid.ctas);
    std::vector<std::unique_ptr<Resident>> residents;
    for (std::int64_t s = 0; s < slots; ++s)
        residents.push_back(std::make_unique<Resident>(machine, entry, grid, static_cast<int>(s)));
    std::uint64_t random = order.seed;
    bool stopped = false;
    for (std::int64_t wave = 0; wave < grid.ctas && !stopped; wave += slots) {
        if (order.stop && order.stop()) break;
        const std::int64_t count = std::min(slots, grid.ctas - wave);
        for (std::int64_t s = 0; s < count; ++s) residents[static_cast<std::size_t>(s)]->begin(wave + s, params, maps);
        for (bool live = true; live && !stopped;) {
            live = false;
            for (std::int64_t s = 0; s < count && !stopped; ++s)
                live |= residents[static_cast<std::size_t>(s)]->step(random, stopped);
        }
        machine.settle(slots == 1 && order.weight ? order.weight(wave) : 1);
        if (order.finished) order.finished(count);
    }
    self = nullptr;
}

}  // namespace kernels::glass
