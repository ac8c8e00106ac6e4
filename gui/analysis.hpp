#pragma once
// What the lab computes off the frame thread, as plain values that the views draw.

#include <array>
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

/// Every choice of a space as a map over two of its words.
struct Sweep {
    using Axes = std::array<sim::SweepWord, 2>;  // down, across
    struct Question {
        sim::Experiment experiment;  // what is varied plays no part: the tile, and stages or raster on an axis
        Axes axes = {sim::SweepWord::bm, sim::SweepWord::bn};
        Devices devices;
        bool operator==(const Question&) const = default;
    };
    Axes axes = {sim::SweepWord::bm, sim::SweepWord::bn};
    sim::TileSpace space;
    std::vector<sim::SweepRow> rows;  // ranked
    std::vector<int> cells;           // of each row: its place in the map, row by row; -1 outside

    const std::vector<sim::i64>& values(int axis) const { return space.of(axes[static_cast<std::size_t>(axis)]); }
};
Sweep sweep_tiles(const Sweep::Question&, const Job&);

/// The machine and the math of the roofline: FLOP/s against FLOP per byte of DRAM.
struct RoofPoint {
    double intensity = 0;  // FLOP/B
    double rate = 0;       // FLOP/s
};
RoofPoint roof_point(double flops, double bytes, double time_us);

}  // namespace gui
