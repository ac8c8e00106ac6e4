#include "sim/time_steps.hpp"

#include <algorithm>
#include <cmath>

namespace sim {
namespace {

/// Adds `time_us` to the step of that name, made where it is new.
void add(std::vector<TimeStep>& steps, const std::string& name, double time_us) {
    const auto at = std::find_if(steps.begin(), steps.end(), [&](const TimeStep& s) { return s.name == name; });
    if (at != steps.end()) {
        at->time_us += time_us;
    } else {
        steps.push_back({name, time_us});
    }
}

void add(std::vector<TimeStep>& steps, const Prediction& p, double sign) {
    for (const KernelReport& kernel : p.kernels)
        for (const TimeTerm& term : kernel.terms) add(steps, kernel.name + ": " + term.name, sign * term.time_us);
}

double sum(const std::vector<TimeStep>& steps) {
    double total = 0;
    for (const TimeStep& s : steps) total += s.time_us;
    return total;
}

}  // namespace

std::vector<TimeStep> time_steps(const Prediction& a, const Prediction& b) {
    std::vector<TimeStep> steps;
    add(steps, a, -1);
    add(steps, b, +1);
    const double delta = b.time_us - a.time_us;
    const double noise = 1e-9 * std::max(a.time_us, b.time_us);
    std::erase_if(steps, [&](const TimeStep& s) { return std::abs(s.time_us) <= noise; });
    // What rounding left over, or what no kernel owns, so that the sum is exact.
    const double rest = delta - sum(steps);
    if (std::abs(rest) > noise || (steps.empty() && delta != 0)) steps.push_back({"between kernels", rest});
    for (int round = 0; !steps.empty() && sum(steps) != delta && round < 8; ++round)
        steps.back().time_us += delta - sum(steps);
    return steps;
}

std::vector<double> rounded_to_sum(const std::vector<TimeStep>& steps, double delta_us, double unit_us) {
    std::vector<double> rounded;
    double left = std::round(delta_us / unit_us);
    for (const TimeStep& s : steps) {
        rounded.push_back(std::round(s.time_us / unit_us));
        left -= rounded.back();
    }
    if (!steps.empty()) {  // the largest step can best afford it
        const auto largest = std::max_element(steps.begin(), steps.end(), [](const TimeStep& x, const TimeStep& y) {
            return std::abs(x.time_us) < std::abs(y.time_us);
        });
        rounded[static_cast<std::size_t>(largest - steps.begin())] += left;
    }
    for (double& r : rounded) r *= unit_us;
    return rounded;
}

}  // namespace sim
