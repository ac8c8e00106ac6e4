#pragma once
// What is measured on a GPU, in order of worth: steps of cases, most of them drawn or chosen beforehand and frozen with
// the prediction of that day.

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/experiment.hpp"

namespace campaign {

inline constexpr std::string_view device_id = "h200-sxm";
inline constexpr int device_capability = 90;
/// What the cases that are drawn by chance are drawn by.
inline constexpr std::uint64_t draw_seed = 20261130;

/// What the model said when a case was frozen; 0 and empty where a step has no prediction.
struct Frozen {
    double time_us = 0, bound_us = 0;
    sim::i64 read_bytes = 0;             ///< of DRAM, expected between lockstep and staggered
    sim::i64 write_bytes = 0;            ///< of DRAM
    sim::i64 compulsory_read_bytes = 0;  ///< each operand once
    std::string git;                     ///< the commit that said so
};

struct Case {
    std::string step, id;
    std::string experiment;  ///< text form; empty where a step has no experiment
    Frozen frozen = {};
};

/// One line of the plan.
struct Step {
    std::string_view name, what;
    double seconds_each;  ///< guessed for an H200
    double share;         ///< of the whole time that a first round may take
    bool frozen;          ///< its cases are tests/gpu/cases/NAME.csv
    bool by_rivals;       ///< run by rivals.py, which asks this program for its kernels
    double most_seconds;  ///< of one case, after which the process is given up
};
/// In order of worth.
std::span<const Step> steps();
/// Throws sim::BadInput.
const Step& step_of(std::string_view name);

/// The experiments of a step as this commit draws or chooses them, before any is frozen. Those with a tile that the
/// model chooses may differ from the frozen ones; the others do not.
std::vector<Case> drawn(const Step& step);

/// The cases of a step: frozen ones from `folder`/NAME.csv, others as drawn. Throws sim::BadInput.
std::vector<Case> cases_of(const Step& step, const std::filesystem::path& folder);

/// Predicts cases and writes them as frozen ones.
void freeze(std::vector<Case> cases, const std::filesystem::path& file);

/// The shapes of step `time`: squares, layers of four models, small K, ragged, skinny.
struct NamedShape {
    std::string_view name;
    sim::i64 m, n, k;
};
std::span<const NamedShape> shapes();

}  // namespace campaign
