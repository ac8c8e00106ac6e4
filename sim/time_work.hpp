#pragma once
// One kernel as plain numbers, and its time as a function of them: what predict_time and sweeps share. Seconds, bytes.

#include "sim/time.hpp"

namespace sim {

/// Σ x^p to the power 1/p: the largest for large p, the sum for p = 1. How well two resources overlap.
double soft_max(double p, std::initializer_list<double> values);

/// A matmul of a GPU: tiles of `steps` k-steps, `ctas` of them resident on each of `sms`.
struct CtaWork {
    double tiles = 1, steps = 1, ctas = 1, sms = 1;
    // of one CTA and k-step, alone on its SM
    double math = 0, smem = 0;  ///< s
    double l2_bytes = 0;
    // of the kernel
    double dram_bytes = 0;
    double power = 0;  ///< s: its flops at the rate the machine sustains; 0 where unknown
    // rates of the machine
    double l2_rate = 1, port_rate = 1;  ///< B/s: all SMs together; into one SM
    double dram_rate = 1;               ///< B/s
    double latency = 0;                 ///< s from asking for a tile to having it, of hits and misses
    double epilogue = 0;                ///< s, of one CTA
    double launch = 0;
    // of the tiles that stream-K shares out evenly, whatever waves they fill
    double shared = 0;                            ///< tiles
    double slices_per_tile = 0, slice_bytes = 0;  ///< partial sums that a tile's owner reads back, one by one
    double slice = 0;                             ///< s to store one
    // how it is written
    double warps_per_scheduler = 1;  ///< of one CTA
    double softness = 4;             ///< between an SM's work, L2, DRAM and latency
    double overlap = 0;              ///< math and SMEM overlap as p = 1 + overlap x warps per scheduler
    int stages = 1;                  ///< 1 = each k-step waits for its own loads
    bool persistent = false;         ///< loads of the next tile run ahead of the epilogue
    bool hidden_epilogue = false;    ///< and the epilogue runs beside the next tile's math
};
CtaWork cta_work(const Experiment& e, const Device& d, const Kernel& k, const Traffic& t, double dram_bytes,
                 const EngineConstants& c);
double seconds(const CtaWork& w, const TimeModel& model);

/// An elementwise kernel of a GPU: a stream between DRAM, L2 and registers.
struct StreamWork {
    double dram_bytes = 0, l2_bytes = 0;
    double l2_rate = 1, dram_rate = 1, latency = 0, launch = 0;
};
StreamWork stream_work(const Device& d, const Traffic& t, double dram_bytes);
double seconds(const StreamWork& w, const TimeModel& model);

/// A kernel of a sequential machine: its steps by which loop moves on, since that decides what a step copies.
struct GridWork {
    struct Steps {
        double count = 0, dram_bytes = 0, l2_bytes = 0;
    };
    std::array<Steps, 4> kinds{};  ///< by the outermost loop that moves on: batch, then the three of the order
    double first_bytes = 0, last_bytes = 0;  ///< of DRAM: the first loads and the last store, beside which nothing runs
    double math = 0, load = 0;               ///< s of one step: the multiply unit, and getting operands into its form
    double dram_rate = 1, l2_rate = 1;       ///< B/s
    double step = 0;                         ///< s of overhead a step
    double launch = 0, dispatch = 0;         ///< s of the kernel
    double softness = 5;                     ///< between a copy and the step it runs beside
    bool pipelined = true;                   ///< copies run beside computation
    bool ends_exposed = false;               ///< the first load and the last store have nothing to run beside
};
GridWork grid_work(const Experiment& e, const Device& d, const Kernel& k, const Traffic& t, const EngineConstants& c);
double seconds(const GridWork& w, const TimeModel& model);

}  // namespace sim
