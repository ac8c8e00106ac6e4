#pragma once
// Check, then time: what every backend is asked and what it answers.

#include <optional>
#include <string>
#include <vector>

#include "sim/error.hpp"
#include "sim/tiling.hpp"

namespace kernels {

struct RunOptions {
    double seconds = 1.0;      ///< to sample for, once 7 samples are there
    double most_seconds = 30;  ///< after which fewer than 7 must do
    int least_samples = 7, most_samples = 1000;
    bool warm = false;         ///< reuse one set of operands instead of rotating sets larger than the caches
    sim::i64 cache_bytes = 0;  ///< last-level cache to exceed twice; 0 = as the system reports it
    sim::i64 most_bytes = 0;   ///< of operands to rotate through, one set is always there; 0 = the backend's usual
    std::uint64_t seed = 1;
    bool counters = false;  ///< read the processor's own counters too, where it has such
};

/// One kernel's share of a run.
struct KernelMedian {
    std::string name;  ///< matmul relu mask dgrad wgrad reduce
    double median_us = 0;
};

/// The clocks and the power of a processor while it was timed; 0 = not known.
struct ClockState {
    double clock_mhz = 0, memory_mhz = 0;
    double power_w = 0;
    std::string throttled;  ///< why it ran below its highest clock ("power cap"); empty: it did not, or not known
};

/// What a processor's own counters say of one run from a cold cache. DRAM and L2 are moved bytes, sectors whole.
struct Counters {
    double dram_read_bytes = 0, dram_write_bytes = 0;
    double l2_read_bytes = 0, l2_write_bytes = 0;
    double l2_hit_share = 0;  ///< of sectors looked up
    double smem_wavefronts = 0, smem_conflicts = 0;
    double tensor_instructions = 0, instructions = 0;
    /// What the counters made of a copy of known bytes just before: counted / known.
    double calibration_read = 0, calibration_write = 0;
};

struct RunResult {
    sim::Fit fit;                    ///< why nothing ran, or fits
    bool cancelled = false;          ///< stopped before a first sample; later, the samples so far count
    std::vector<double> samples_us;  ///< in the order they were taken
    double median_us = 0, min_us = 0, max_us = 0;
    std::vector<KernelMedian> kernels;  ///< in order
    double max_error = 0;               ///< largest |got - reference| as a share of the largest |reference|
    std::string checked;                ///< "a 131x89x70 instance with NaN, … and 24 of 4096 rows at full size"
    bool cold = false;                  ///< operand sets rotated through more than twice the cache
    int sets = 1;
    std::string data = "normal";
    std::string machine;       ///< processor or GPU
    std::string driver;        ///< of a GPU
    std::string instructions;  ///< generic avx2 avx512; sm_80 sm_90a …
    int threads = 1;           ///< of the processor; of a CTA
    ClockState clocks;
    std::optional<Counters> counters;  ///< where they were asked for and could be read
    std::string counters_why;          ///< else why not
    sim::Tile tile;                    ///< as it ran, rounded to register tiles; of forward under train

    /// Sets the median, the least and the most of the samples; nothing without any.
    void summarise();
};

/// The middle of at least one value; of two middles their mean.
double median(std::vector<double> values);

}  // namespace kernels
