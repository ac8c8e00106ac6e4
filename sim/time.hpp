#pragma once
// Time from counts: per k-step the slowest of math, shared memory, L2, DRAM and latency; then waves and their tail,
// fill, epilogue, power, launch and dispatch. A machine's constants are in its device file, those of how an engine
// works in one table here; nothing is fitted to a row, a kernel's name or a shape.

#include <array>
#include <set>
#include <span>
#include <string>
#include <string_view>

#include "sim/count.hpp"

namespace sim {

/// The parts of a kernel's time, in the order in which they are added.
enum class Term { math, smem, l2, dram, latency, waves, fill, epilogue, power, launch, dispatch, step_overhead };
inline constexpr int term_count = 12;
inline constexpr int limiter_count = 8;

/// A part of the time, with one line on what it is; `--without` takes the names.
struct TimeTermInfo {
    std::string_view name, what;
};
/// In the order of `Term`.
std::span<const TimeTermInfo> time_terms();

/// How the engines work, on every device of their kind: what no datasheet says.
struct EngineConstants {
    double mma_overlap;
    double gpu_softness, dma_softness;
    double bulk_copy_clocks;
    double epilogue_bytes_per_clock;
    double port_bytes_per_clock;
};
/// One of them: what it means, how it is known, and the values that a refit may try.
struct EngineConstant {
    std::string_view name, unit;
    Evidence kind;
    std::string_view source;
    double EngineConstants::*member;
    std::array<double, 5> candidates;
};
std::span<const EngineConstant> engine_constant_table();
/// The values in use: the table's middle candidates.
const EngineConstants& engine_constants();

/// Everything but the counts that one prediction reads: which terms are on, which resources are faster, which
/// constants.
struct TimeModel {
    unsigned terms = (1u << term_count) - 1;  ///< bit t = Term t is on
    std::array<double, limiter_count> speed;  ///< by Limiter: 2 = twice as fast
    const EngineConstants* constants = &engine_constants();

    TimeModel() { speed.fill(1); }
    /// With these terms left out, by name; unknown names are ignored.
    static TimeModel without(const std::set<std::string>& names);
    bool complete() const { return terms == (1u << term_count) - 1; }
    bool on(Term t) const { return (terms >> static_cast<int>(t)) & 1u; }
    double faster(Limiter l) const { return speed[static_cast<std::size_t>(l)]; }
};

/// Predicted µs of a counted experiment that fits, not yet held above its bound. No text and no memory: for sweeps.
double time_us(const Experiment& e, const Device& d, const std::vector<Kernel>& kernels, const Counts& counts,
               const TimeModel& model = {});

/// Where a measurement is expected to fall around a prediction, as factors of it: learnt from published rows of other
/// sources (held_out.cpp recomputes it).
struct ErrorBand {
    double low = 1, high = 1;
};
ErrorBand error_band(Engine engine);

/// Predicts the time of a counted experiment that fits. Never below `bound.time_us`.
Prediction predict_time(const Experiment& e, const Device& d, const std::vector<Kernel>& kernels, const Counts& counts,
                        const Bound& bound, const std::set<std::string>& without);

}  // namespace sim
