#pragma once
// How each headline number was computed: its formula with this experiment's values put in, and the profiler metric that
// would check it.

#include <string>
#include <vector>

#include "sim/device.hpp"
#include "sim/report.hpp"

namespace sim {

struct Formula {
    enum Number {
        bound_time,
        bound_bytes,
        predicted_time,
        dram_bytes,
        l2_bytes,
        sram_bytes,
        flops,
        waves,
        intensity,
        energy
    };
    Number number = bound_time;
    std::string value;               ///< as it is shown
    std::string text;                ///< the formula in letters
    std::vector<std::string> lines;  ///< the same with values; their last one gives `value`
    std::string metric;              ///< Nsight Compute's; empty where no counter sees it
};
/// The numbers that the report has, in the order of Number.
std::vector<Formula> formulas(const Report& r, const Device& d);

}  // namespace sim
