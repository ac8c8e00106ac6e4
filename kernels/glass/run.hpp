#pragma once
// An experiment under glass: its real kernels on the CPU, checked against the reference, every access counted.

#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/glass/executor.hpp"
#include "kernels/ladder.hpp"
#include "sim/device.hpp"

namespace kernels::glass {

struct LevelBytes {
    i64 read_bytes = 0, write_bytes = 0;
    bool operator==(const LevelBytes&) const = default;
};

/// Counts of one source line, all kernels of the run together.
struct LineCount {
    std::string file;  ///< "kernels/device/03_shared_tile.cuh"
    int line = 0;
    i64 instructions = 0, active_lanes = 0, bytes = 0;
    i64 sectors = 0, ideal_sectors = 0, wavefronts = 0, ideal_wavefronts = 0;
};

/// What an instruction took and, where that is more, the fewest it could: "4.00", or "2.00 of 1.00" with " of " between.
/// Empty where it took none.
std::string per_instruction(i64 got, i64 fewest, i64 instructions, std::string_view between);

/// Counts of one launch. L2 and SRAM bytes are the active lanes' payload: what the model calls requested. (A rung
/// without shared memory goes through L1s, and its L2 bytes are the sectors those had to fetch.)
struct KernelCount {
    std::string name;  ///< matmul relu mask dgrad wgrad reduce
    LevelBytes l2, sram;
    i64 sectors = 0, wavefronts = 0, ideal_wavefronts = 0;
};

struct Counted {
    sim::Fit fit;                    ///< why nothing ran, or fits
    bool cancelled = false;          ///< stopped on the way; the counts are of a part
    double max_error = 0;            ///< largest |got - reference| as a share of the largest |reference|
    std::string first_wrong;         ///< the first element that rounding does not explain; empty: none
    std::string checked;             ///< "every element", "24 of 4096 rows of a 384x384x8192 part"
    std::optional<LevelBytes> dram;  ///< sectors, through a set-associative L2 in lockstep order; none where sampled
    i64 dram_dirty_bytes = 0;        ///< of those written, still in the L2 at the end
    LevelBytes l2, sram;
    i64 sectors = 0, wavefronts = 0, ideal_wavefronts = 0;
    i64 bank_conflicts() const { return wavefronts - ideal_wavefronts; }
    std::vector<KernelCount> kernels;  ///< in order
    std::vector<LineCount> lines;      ///< by file and line
    std::vector<Finding> findings;     ///< races and worse
    bool sampled = false;              ///< one CTA of each class ran, and stands for the others
    bool ok() const { return fit.ok() && first_wrong.empty() && findings.empty(); }
};

struct RunOptions {
    std::uint64_t seed = 1;        ///< of the operands
    std::uint64_t warp_order = 0;  ///< seed of the order warps run in between barriers; 0 = as numbered
    double most_work = 3e8;        ///< multiply-adds run whole; more is sampled
    double most_check = 2e8;       ///< multiply-adds the reference repeats; rows of the outputs beyond are left out
    bool special_values = false;   ///< NaN, infinities, -0 and subnormals among the operands
    std::string_view fault;        ///< a planted bug of faults.hpp in the matmuls' source; empty = none
    std::optional<i64> slots;      ///< CTAs resident at a time; none = the model's occupancy of the device
    std::optional<i64> l2_bytes;   ///< of the modelled cache; none = what matmul tiles have on the device
};

/// Runs the experiment, whose tiles must not be "best". `progress` gets the share done; `stop` ends the run between
/// CTAs. Throws NotAvailable where a tile is neither built nor can be compiled here.
Counted run(const sim::Experiment& e, const sim::Device& device, const RunOptions& options = {},
            const std::function<void(double)>& progress = {}, std::stop_token stop = {});

/// Runs the kernels of an experiment on operands that hold what it needs, counting nothing; what is wrong with them.
/// Throws NotAvailable as run does, or where a kernel does not fit.
std::vector<Finding> execute(const sim::Experiment& e, const Operands& operands);

/// The compiled kernel of an instance: built in, or compiled by the host's compiler and kept in the user's cache.
/// Throws NotAvailable naming the nearest built tiles.
Entry entry_for(const Instance& instance);

/// The TensorMaps of a launch as glass reads them; empty where it takes none.
device::TensorMaps box_maps(const DeviceKernel& k, const Operands& o);

}  // namespace kernels::glass
