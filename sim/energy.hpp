#pragma once
// Energy of a predicted experiment by level, as a range: what moving a bit and doing an operation cost is known to
// within several times only, and hardly ever of the chip in question.

#include <string>
#include <string_view>
#include <vector>

#include "sim/device.hpp"
#include "sim/report.hpp"

namespace sim {

/// Low and high, in the unit that the holder says.
struct Span {
    double low = 0, high = 0;
    bool operator==(const Span&) const = default;
};

/// What one level, or the arithmetic, spends.
struct EnergyTerm {
    std::string_view name;  ///< "math", or the level: "dram", "l2", "l1", "sram"
    double amount = 0;      ///< FLOP of math, bytes moved of a level
    Span each;              ///< J per FLOP, J per bit
    std::string source;     ///< where `each` comes from, one sentence
    /// J.
    Span joules() const;
};

struct EnergyPart {
    std::string name;               ///< the kernel's; empty for all together
    std::vector<EnergyTerm> terms;  ///< math, then the levels that take part, nearest first
    /// J. The low end adds up the terms' low ends. The high end adds up their high ends, each of which holds a share of
    /// the whole board's draw, but is never above the power limit over the longest expected time.
    Span joules;
    bool capped = false;  ///< the high end is that power limit's
};

struct Energy {
    EnergyPart all;
    std::vector<EnergyPart> kernels;  ///< in the order of their launch
    double limit_watts = 0;           ///< NaN where the device file has none
};

/// Of a report that has a prediction. All of it is assumed: nothing here was measured on this machine.
Energy energy(const Report& r, const Device& d);

/// "1.23 mJ".
std::string format_joules(double joules);
/// "0.11 to 0.56 J", with other words between where they are said.
std::string format_joules(const Span& joules, std::string_view between = " to ");
/// "4 to 20 pJ/bit", "0.1 to 0.57 pJ/FLOP".
std::string format_each(const EnergyTerm& term, std::string_view between = " to ");

}  // namespace sim
