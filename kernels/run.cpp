#include "kernels/run.hpp"

#include <algorithm>

namespace kernels {

double median(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    const std::size_t half = values.size() / 2;
    return values.size() % 2 ? values[half] : (values[half - 1] + values[half]) / 2;
}

void RunResult::summarise() {
    if (samples_us.empty()) return;
    median_us = median(samples_us);
    const auto [least, most] = std::minmax_element(samples_us.begin(), samples_us.end());
    min_us = *least;
    max_us = *most;
}

}  // namespace kernels
