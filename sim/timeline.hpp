#pragma once
// A prediction laid out in time: what the SMs of a GPU, or the copy and the compute side of a sequential machine, do
// and when. Made from a report, so that it says nothing that the report does not.

#include <string>
#include <vector>

#include "sim/plan.hpp"
#include "sim/report.hpp"

namespace sim {

/// What a lane does. `held` = a buffer is full and waits for its turn.
enum class Doing { launch, copy, work, store, held, idle };
std::string_view to_string(Doing);

struct TimeSpan {
    Doing doing = Doing::idle;
    double begin_us = 0, end_us = 0;
    i64 count = 1;    ///< equal waves (GPU) or grid steps in it, one after the other
    double busy = 1;  ///< share of it in which the lane does that; it waits in the rest
    double us() const { return end_us - begin_us; }
};
/// `units` things that do the same at the same time; spans cover their kernel, or the close-up, without a gap.
struct Lane {
    std::string name;  ///< "SM", "copy", "compute", "buffer 1", "memory"
    i64 units = 1;
    std::vector<TimeSpan> spans;
    double busy_us() const;  ///< of one unit: copying, working or storing
};
struct KernelTimeline {
    std::string name;
    double begin_us = 0, end_us = 0;
    i64 units_per_wave = 0;  ///< CTAs at once (GPU matmul); 0 elsewhere
    std::vector<Lane> lanes;
    /// The first k-steps of one CTA, or grid steps from `first_step` on, from 0 µs.
    std::vector<Lane> close_up;
    i64 close_up_first = 0, close_up_steps = 0;
    std::vector<double> close_up_begins;  ///< µs, of each step shown
    double step_us = 0;                   ///< one k-step or the mean grid step; 0 for an elementwise kernel of a GPU
    double us() const { return end_us - begin_us; }
};
struct Timeline {
    std::vector<KernelTimeline> kernels;  ///< one after the other
    double time_us = 0;                   ///< the report's predicted time
};

/// The timeline of a report with a prediction. `first_step` is the grid step (of the whole experiment) from which a
/// close-up of a sequential machine starts.
Timeline timeline(const Report& report, const Device& device, i64 first_step = 0);

}  // namespace sim
