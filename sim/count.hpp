#pragma once
// The byte counts of an experiment: by walking every tile request (replay) or by formula (closed form).

#include <array>
#include <vector>

#include "sim/fit.hpp"
#include "sim/report.hpp"

namespace sim {

struct Counts {
    std::vector<Traffic> kernels;  ///< one per kernel of the plan
    DramRange dram_range;          ///< equal three times on sequential machines
    bool replayed = false;
    bool exact = false;
    i64 requests = 0;  ///< tile requests a full (lockstep) replay makes
};

/// What the kernels of an experiment have read and written so far, operand by operand: which reads are still owed
/// (compulsory), and the bits behind the bytes given out, so that an operand's total is rounded up once.
class Ledger {
public:
    explicit Ledger(const std::vector<Kernel>& kernels);
    /// The bytes of `bits` more read (or written) of an operand.
    i64 read_bytes(Operand o, i64 bits) { return next(read_bits_[static_cast<int>(o)], bits); }
    i64 write_bytes(Operand o, i64 bits) { return next(write_bits_[static_cast<int>(o)], bits); }
    /// How many of `bytes` just read were owed; they no longer are.
    i64 settle(Operand o, i64 bytes);

private:
    static i64 next(i64& sum, i64 bits) {
        const i64 before = (sum + 7) / 8;
        sum += bits;
        return (sum + 7) / 8 - before;
    }
    std::array<i64, operand_count> owed_{}, read_bits_{}, write_bits_{};
};

/// Slots the main matmul's CTAs run in (1 on sequential machines), per kernel.
using Slots = std::vector<i64>;

/// Waves after which SMs that marched in step at first have lost most of it. Assumed: a kernel of 31 waves still reads
/// as in lockstep and one of 3,971 as fully staggered (XAheli Kernel-Profiling on an H200, configs A to H); nothing in
/// between is published.
inline constexpr double drift_waves = 200;
/// How far from the lockstep count (0) to the staggered one (1) the DRAM bytes are expected: a device's share over few
/// waves, and the rest as waves go by. 0 on sequential machines.
double drift_share(const Device& d, const std::vector<Kernel>& kernels, const Slots& slots);

/// Tile requests that a replay of these kernels makes, an elementwise kernel's tiles counted once: what decides whether
/// one is quick enough.
double replay_requests(const std::vector<Kernel>& kernels);

/// Counts a sequential machine (scratchpad, tpu, cpu) by walking its grid, tile by tile.
Counts walk_sequential(const Experiment& e, const Device& d, const std::vector<Kernel>& kernels);
/// The same by formula: equal to the walk, always.
Counts closed_sequential(const Experiment& e, const Device& d, const std::vector<Kernel>& kernels);

/// Counts a GPU by replaying every tile request through its L2, in lockstep and staggered.
Counts replay_gpu(const Experiment& e, const Device& d, const std::vector<Kernel>& kernels, const Slots& slots);
/// The same by formula: `exact` where reads and writes must equal the lockstep replay's, an estimate elsewhere. What is
/// dirty at the end and the staggered count are estimates unless everything fits.
Counts closed_gpu(const Experiment& e, const Device& d, const std::vector<Kernel>& kernels, const Slots& slots);

/// Slots of each kernel of the plan (1 where nothing runs side by side).
Slots slots_of(const Experiment& e, const Device& d, const std::vector<Kernel>& kernels);

/// Counts with the engine asked for; `automatic` replays up to `replay_limit` requests. Fills the whole DRAM range.
Counts count(const Experiment& e, const Device& d, const std::vector<Kernel>& kernels, Count how = Count::automatic);

/// Requests beyond which `automatic` takes the closed form.
inline constexpr i64 replay_limit = 50'000'000;

}  // namespace sim
