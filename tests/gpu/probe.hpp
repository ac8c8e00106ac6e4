#pragma once
// Small kernels of the campaign's own, compiled for the GPU that is here, launched and timed.

#include <map>
#include <string>
#include <vector>

#include "kernels/cuda/build.hpp"
#include "tests/gpu/campaign.hpp"

namespace campaign {

class Probe {
public:
    /// The kernels of a source that are named.
    Probe(Context& context, const kernels::cuda::Source& source, const std::vector<std::string>& kernels);

    template <class... A>
    void launch(const std::string& kernel, const kernels::cuda::LaunchShape& shape, A... arguments) const {
        void* pointers[] = {&arguments...};
        kernels::cuda::launch(r_, functions_.at(kernel), shape, pointers);
    }
    /// Median of `samples` launches in a row, in µs, after two that are not counted.
    template <class... A>
    double us(const std::string& kernel, const kernels::cuda::LaunchShape& shape, int samples, A... arguments) const {
        return median_us(samples, [&] { launch(kernel, shape, arguments...); });
    }
    double median_us(int samples, const std::function<void()>& queue) const;

private:
    const kernels::cuda::Runtime& r_;
    kernels::cuda::Module module_;
    std::map<std::string, const void*> functions_;
};

}  // namespace campaign
