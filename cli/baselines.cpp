#include "cli/baselines.hpp"

#include <fmt/format.h>

#include "cli/page.hpp"
#include "cli/text.hpp"
#include "sim/plan.hpp"
#include "sim/units.hpp"

namespace cli {

namespace {

/// The time of the kernels that a baseline stands beside. A training step's are its forward ones, then those from the
/// first that reads a gradient on.
double own_us(const kernels::RunResult& own, sim::Pass of, bool train) {
    if (!train) return own.median_us;
    double forward = 0, backward = 0;
    for (const kernels::KernelMedian& k : own.kernels) {
        const bool reads_gradient = k.name == "mask" || k.name == "dgrad" || k.name == "wgrad";
        (backward > 0 || reads_gradient ? backward : forward) += k.median_us;
    }
    return of == sim::Pass::train ? backward : forward;
}

}  // namespace

std::vector<kernels::cuda::Baseline> baselines_of(const sim::Experiment& e, const kernels::RunOptions& options,
                                                  std::stop_token stop, const kernels::cuda::Runtime& r,
                                                  const kernels::cuda::CublasLt& lt) {
    std::vector<kernels::cuda::Baseline> all;
    if (e.pass == sim::Pass::train)
        all = kernels::cuda::baselines(sim::single_pass(e, sim::Pass::forward), options, stop, r, lt);
    for (kernels::cuda::Baseline& b : kernels::cuda::baselines(e, options, stop, r, lt)) all.push_back(std::move(b));
    return all;
}

std::string baselines_text(const kernels::RunResult& own, const std::vector<kernels::cuda::Baseline>& baselines,
                           int width) {
    bool train = false;
    for (const kernels::cuda::Baseline& b : baselines) train |= b.of == sim::Pass::train;
    Table table("llrrl");
    table.row({"", "pass", "measured", "of ours", ""});
    for (const kernels::cuda::Baseline& b : baselines) {
        const kernels::RunResult& r = b.result;
        const std::string pass = b.of == sim::Pass::train ? "backward" : std::string(to_string(b.of));
        const double ours = own_us(own, b.of, train);
        if (!r.fit.ok() || r.samples_us.empty())
            table.row({b.name, pass, "-", "-", r.fit.ok() ? "stopped" : r.fit.why});
        else
            table.row({b.name, pass, sim::format_us(r.median_us), ours > 0 ? times(r.median_us / ours) : "-", b.what});
    }
    return heading("NVIDIA's library, checked and timed the same way") + table.text(2, width);
}

}  // namespace cli
