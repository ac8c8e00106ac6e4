#pragma once
// What the model says of an experiment: bound and prediction, always apart.

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "sim/experiment.hpp"
#include "sim/traffic.hpp"

namespace sim {

enum class Limiter { math, sram, l2, dram, latency, launch, step_overhead, power };
std::string_view to_string(Limiter);

/// What no kernel can beat: closed forms that share no code with the counts (see bound.hpp).
struct Bound {
    i64 dram_bytes = 0;  ///< reads + writes
    i64 l2_bytes = 0;    ///< L2 -> SM, 0 where the machine has no such level
    double time_us = 0;
    double math_us = 0, dram_us = 0, l2_us = 0;
    enum class Ceiling { math, dram, l2 } ceiling = Ceiling::math;
};
std::string_view to_string(Bound::Ceiling);

/// One named share of a kernel's time. The terms of a kernel sum to its time.
struct TimeTerm {
    std::string name;  ///< "math", "dram", "waves and tail", …
    double time_us = 0;
};

struct KernelReport {
    std::string name;  ///< matmul relu mask dgrad wgrad reduce
    double time_us = 0;
    i64 flops = 0;
    Traffic traffic;
    Limiter limiter = Limiter::math;
    std::vector<TimeTerm> terms;
};

struct Prediction {
    double time_us = 0;
    double interval_us[2] = {0, 0};  ///< where a measurement is expected to fall
    bool validated = false;          ///< some measured row covers this pass x fusion x engine x device
    Limiter limiter = Limiter::math;
    std::map<std::string, double> if_twice;  ///< µs if this resource were twice as fast
    std::optional<int> occupancy;            ///< resident CTAs per SM, main matmul; none on sequential machines
    std::optional<i64> slots;                ///< SMs x occupancy
    std::optional<double> waves;             ///< tiles / slots
    bool pipelined = true;                   ///< copies overlap computation
    std::vector<KernelReport> kernels;
};

struct DramRange {
    i64 lockstep_bytes = 0, staggered_bytes = 0, expected_bytes = 0;
};

struct Report {
    Experiment experiment;  ///< with every "best" tile resolved
    Fit fit;
    bool replayed = false;   ///< counted by replay; else by closed form
    bool exact = false;      ///< the count is what the replay would give
    bool idealised = false;  ///< an order this machine cannot run as written
    i64 flops = 0;           ///< 2mnk a matmul
    Traffic traffic;         ///< sum over kernels
    DramRange dram_range;
    Bound bound;
    std::optional<Prediction> predicted;  ///< none when it does not fit
    std::vector<std::string> notes;       ///< what a reader must know (a refused form, what is not modelled)
};

enum class Count { automatic, replay, closed_form };
struct PredictOptions {
    Count count = Count::automatic;
    std::set<std::string> without;  ///< time terms left out: "waves", "fill", …
};
/// The report of an experiment. Tiles "best" are resolved by a sweep. Throws BadInput on an unknown term in `without`.
Report predict(const Experiment& e, const Catalogue& devices, const PredictOptions& options = {});

}  // namespace sim
