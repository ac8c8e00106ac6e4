#include "sim/miss_curve.hpp"

#include <algorithm>
#include <unordered_map>

#include "sim/replay.hpp"

namespace sim {

namespace {

/// Distinct bits touched since each tile's last touch: a Fenwick tree over the times of last touches, compacted when
/// full.
class StackDistances {
public:
    /// Touches a tile; returns the bits of all tiles touched since, itself included, or -1 for a first touch.
    i64 touch(i64 tile, i64 bits) {
        if (now_ == tree_.size()) compact();
        const auto [it, fresh] = last_.try_emplace(tile, Entry{now_, bits});
        i64 distance = -1;
        if (!fresh) {
            distance = total_ - prefix(it->second.time);  // everything after it ...
            distance += bits;                             // ... and itself
            add(it->second.time, -it->second.bits);
            total_ -= it->second.bits;
            it->second = {now_, bits};
        }
        add(now_, bits);
        total_ += bits;
        ++now_;
        return distance;
    }

private:
    struct Entry {
        std::size_t time;
        i64 bits;
    };
    void add(std::size_t at, i64 bits) {
        for (std::size_t i = at + 1; i <= tree_.size(); i += i & (~i + 1)) tree_[i - 1] += bits;
    }
    /// Bits at times 0..at.
    i64 prefix(std::size_t at) const {
        i64 sum = 0;
        for (std::size_t i = at + 1; i > 0; i -= i & (~i + 1)) sum += tree_[i - 1];
        return sum;
    }
    void compact() {
        std::vector<std::pair<std::size_t, i64>> order;
        for (const auto& [tile, entry] : last_) order.emplace_back(entry.time, tile);
        std::sort(order.begin(), order.end());
        tree_.assign(std::max<std::size_t>(1024, 4 * order.size()), 0);
        now_ = 0;
        for (const auto& [time, tile] : order) {
            Entry& entry = last_[tile];
            entry.time = now_++;
            add(entry.time, entry.bits);
        }
    }

    std::vector<i64> tree_;
    std::unordered_map<i64, Entry> last_;
    std::size_t now_ = 0;
    i64 total_ = 0;
};

struct CurveObserver {
    static constexpr bool watches = true;
    StackDistances* stack;
    std::array<i64, operand_count>* cold;
    std::array<i64, operand_count>* written;
    std::array<std::vector<std::pair<i64, i64>>, operand_count>* reuses;

    void request(const Access& a, i64 id, i64, i64, i64 bits, i64) {
        const i64 distance = stack->touch(id, bits);
        const auto o = static_cast<std::size_t>(a.tensor.name);
        if (distance < 0)
            (*cold)[o] += bits;
        else
            (*reuses)[o].emplace_back(distance, bits);
    }
    void write(const Access& a, i64 id, i64, i64, i64 bits) {
        stack->touch(id, bits);
        (*written)[static_cast<std::size_t>(a.tensor.name)] += bits;
    }
    bool step(const Kernel&, TileIndex, i64, i64) { return true; }
};

}  // namespace

MissCurve miss_curve(const Experiment& e, const Device& d, const Kernel& kernel, i64 slots) {
    MissCurve curve;
    StackDistances stack;
    std::array<std::vector<std::pair<i64, i64>>, operand_count> reuses;
    Replay<CurveObserver> replay(0, 0, moved_unit(d, e),
                                 CurveObserver{&stack, &curve.cold_bits_, &curve.write_bits_, &reuses});
    replay.run(kernel, e.raster, e.cluster, slots, false);
    for (int o = 0; o < operand_count; ++o) {
        auto& all = reuses[o];
        std::sort(all.begin(), all.end());
        auto& out = curve.reuses_[o];
        for (const auto& [distance, bits] : all) {
            if (out.empty() || out.back().distance_bits != distance) out.push_back({distance, 0});
            out.back().bits += bits;
        }
        for (std::size_t i = out.size(); i-- > 1;) out[i - 1].bits += out[i].bits;  // bits missing below that capacity
    }
    return curve;
}

i64 MissCurve::read_bytes(Operand o, i64 capacity) const {
    const auto& reuses = reuses_[static_cast<int>(o)];
    const auto beyond = std::upper_bound(reuses.begin(), reuses.end(), 8 * capacity,
                                         [](i64 bits, const Reuse& r) { return bits < r.distance_bits; });
    return (cold_bits_[static_cast<int>(o)] + (beyond == reuses.end() ? 0 : beyond->bits) + 7) / 8;
}

i64 MissCurve::dram_bytes(i64 capacity) const {
    i64 sum = 0;
    for (int o = 0; o < operand_count; ++o)
        sum += read_bytes(static_cast<Operand>(o), capacity) + (write_bits_[o] + 7) / 8;
    return sum;
}

std::vector<i64> MissCurve::steps() const {
    std::vector<i64> at;
    for (const auto& reuses : reuses_)
        for (const Reuse& r : reuses) at.push_back((r.distance_bits + 7) / 8);
    std::sort(at.begin(), at.end());
    at.erase(std::unique(at.begin(), at.end()), at.end());
    return at;
}

}  // namespace sim
