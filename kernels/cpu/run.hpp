#pragma once
// Check, then time: the one way a CPU kernel gets a number.

#include <functional>
#include <stop_token>
#include <string>
#include <vector>

#include "kernels/cpu/machine.hpp"
#include "kernels/cpu/rung.hpp"

namespace kernels::cpu {

struct RunOptions {
    double seconds = 1.0;      ///< to sample for, once 7 samples are there
    double most_seconds = 30;  ///< after which fewer than 7 must do
    int least_samples = 7, most_samples = 1000;
    bool warm = false;                ///< reuse one set of operands instead of rotating sets larger than the caches
    i64 cache_bytes = 0;              ///< last-level cache to exceed twice; 0 = as the system reports it
    i64 most_bytes = i64{512} << 20;  ///< of operands to rotate through; one set is always there
    std::uint64_t seed = 1;
};

/// One kernel's share of a run.
struct KernelMedian {
    std::string name;  ///< matmul relu mask dgrad wgrad
    double median_us = 0;
};

struct RunResult {
    sim::Fit fit;                    ///< why nothing ran, or fits
    bool cancelled = false;          ///< stopped before a first sample; later, the samples so far count
    std::vector<double> samples_us;  ///< in the order they were taken
    double median_us = 0, min_us = 0, max_us = 0;
    std::vector<KernelMedian> kernels;  ///< in order; the clock is read between them
    double max_error = 0;               ///< largest |got - reference| as a share of the largest |reference|
    std::string checked;                ///< "a 131x89x70 instance with NaN, … and 24 of 4096 rows at full size"
    bool cold = false;                  ///< operand sets rotated through more than twice the cache
    int sets = 1;
    std::string data = "normal";
    std::string machine;       ///< processor model
    std::string instructions;  ///< generic, avx2, avx512
    int threads = 1;
    sim::Tile tile;  ///< as it ran, rounded to register tiles; of forward under train
};

/// Checks the operation on a small ragged instance with NaN, infinities, negative zeros and subnormals and, after the
/// warm-up, at full size; then samples it. `progress` gets the share done, on this thread; `stop` ends the run between
/// tiles. Throws std::runtime_error when a kernel's result is wrong.
RunResult run(const Op& op, const Config& config, const RunOptions& options = {},
              const std::function<void(double)>& progress = {}, std::stop_token stop = {});

/// The small instance alone: the same pass, fusion, types, rung and threads at ragged sizes, with special values in
/// every input. Returns "131x89x70"; throws std::runtime_error when a result is wrong.
std::string check_ragged(const Op& op, const Config& config, std::uint64_t seed);

}  // namespace kernels::cpu
