#pragma once
// What the lab computes off the frame thread, as plain values that the views draw.

#include <optional>
#include <string>
#include <vector>

#include "gui/document.hpp"
#include "gui/latest.hpp"
#include "gui/walk.hpp"
#include "sim/plan.hpp"
#include "sim/report.hpp"
#include "sim/step.hpp"
#include "sim/sweep.hpp"

namespace gui {

/// The reports that the views compare: of the experiment, of its other fusions with the same tile, of the baseline.
struct Analysis {
    struct Question {
        sim::Experiment experiment;
        std::optional<sim::Experiment> baseline;
        Devices devices;
        bool operator==(const Question&) const = default;
    };
    struct Variant {
        sim::Fusion fusion;
        sim::Report report;
    };

    sim::Report report;
    std::vector<Variant>
        variants;  // the experiment's own fusion first, then unfused or fused where they differ from it
    std::optional<sim::Report> baseline;
    std::vector<sim::Kernel> kernels;  // empty when no tile fits ("tile best")
    sim::i64 steps = 0;
    Walk walk;
};
Analysis analyse(const Analysis::Question&, const Job&);

/// What happens at one step.
struct Stepping {
    struct Question {
        sim::Experiment experiment;  // no tile is "best"
        sim::i64 step = 0;
        Devices devices;
        bool operator==(const Question&) const = default;
    };
};
sim::StepState step_state(const Stepping::Question&, const Job&);

/// Every legal tile of a space as a table over bm, bn and bk.
struct Sweep {
    struct Question {
        sim::Experiment experiment;  // its tile plays no part
        Devices devices;
        bool operator==(const Question&) const = default;
    };
    sim::TileSpace space;
    std::vector<sim::SweepRow> rows;  // ranked
    std::vector<int> cells;           // (bm, bn, bk) -> index of rows, -1 where there is none

    /// The row at places of the axes, null where there is none.
    const sim::SweepRow* at(std::size_t bm, std::size_t bn, std::size_t bk) const;
    /// The fastest row over all bk; one that does not fit where none does; null where there is none.
    const sim::SweepRow* best_over_bk(std::size_t bm, std::size_t bn) const;
};
Sweep sweep_tiles(const Sweep::Question&, const Job&);

/// The machine and the math of the roofline: FLOP/s against FLOP per byte of DRAM.
struct RoofPoint {
    double intensity = 0;  // FLOP/B
    double rate = 0;       // FLOP/s
};
RoofPoint roof_point(double flops, double bytes, double time_us);

}  // namespace gui
