#pragma once
// The difference between two predicted times, as named steps that add up to it exactly.

#include <string>
#include <vector>

#include "sim/report.hpp"

namespace sim {

/// "matmul: dram" and what it adds on the way from one experiment to the other.
struct TimeStep {
    std::string name;
    double time_us = 0;
};

/// One step for each term of each kernel whose time differs, in the order of the kernels. Added up in that order they
/// give b's time minus a's to the last bit. Both must have a prediction.
std::vector<TimeStep> time_steps(const Prediction& a, const Prediction& b);

/// The steps as multiples of `unit_us`, rounded so that the printed numbers still add up to the printed difference.
std::vector<double> rounded_to_sum(const std::vector<TimeStep>& steps, double delta_us, double unit_us);

}  // namespace sim
