#pragma once
// The caches behind a run under glass: L1s where a rung needs them, and one L2 kept between kernels.

#include <memory>
#include <vector>

#include "kernels/glass/warp.hpp"
#include "sim/cache.hpp"

namespace kernels::glass {

/// Sectors on their way from SMs to DRAM.
class Caches final : public SectorObserver {
public:
    /// An L2 of `l2_bytes` (0 = none: DRAM is not counted).
    explicit Caches(sim::i64 l2_bytes);

    /// From now on loads go through sectored, write-through L1s of this many bytes, one for each `ctas_per_sm` slots
    /// (0 bytes = past them); `cold` = they start empty in each wave.
    void set_l1(sim::i64 bytes, sim::i64 ctas_per_sm, bool cold);
    void access(int slot, std::uint64_t address, int bytes, bool write) override;
    void settle(std::uint64_t times) override;

    /// Sectors that reached the L2 since the last call.
    struct L2Sectors {
        sim::i64 read = 0, written = 0;
    };
    L2Sectors take_l2_sectors();

    sim::i64 dram_read_bytes() const;
    /// Written back, and what is still to be.
    sim::i64 dram_write_bytes() const;
    sim::i64 dirty_bytes() const;

private:
    std::unique_ptr<sim::Cache> l2_;
    sim::i64 l1_bytes_ = 0, ctas_per_sm_ = 1, dram_read_sectors_ = 0;
    bool cold_ = false;
    std::vector<std::unique_ptr<sim::Cache>> l1s_;
    L2Sectors now_, sum_;
};

}  // namespace kernels::glass
