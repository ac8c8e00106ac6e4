// Step `train`: the training step, ours and the library's.

#include "kernels/cuda/baselines.hpp"
#include "tests/gpu/campaign.hpp"

namespace campaign {
namespace {

Record library_record(const kernels::cuda::Baseline& b) {
    Record record = {{"name", b.name}, {"what", b.what}};
    if (!b.result.fit.ok()) return record["why"] = b.result.fit.why, record;
    record["us"] = b.result.median_us;
    record["min_us"] = b.result.min_us;
    record["max_us"] = b.result.max_us;
    record["samples"] = b.result.samples_us.size();
    record["max_error"] = b.result.max_error;
    record["clock_mhz"] = b.result.clocks.clock_mhz;
    record["cache"] = b.result.cold ? "cold" : "warm";
    return record;
}

}  // namespace

Record run_train(Context& context, const Case& c) {
    const sim::Experiment e = sim::parse_experiment(c.experiment, sim::Catalogue::builtin());
    kernels::RunOptions options;
    options.seconds = 0.1;
    options.most_samples = 200;
    Record record = record_of(e, context.ready(e).time(options));
    // The library's whole step, once a shape: its forward pass, then the ways in which it goes back.
    if (e.fusion == sim::Fusion::unfused && e.residual == sim::Residual::y)
        for (const sim::Experiment& part : {sim::single_pass(e, sim::Pass::forward), e})
            for (const auto& b :
                 kernels::cuda::baselines(part, options, {}, context.machine.runtime, context.machine.lt)) {
                record["more"]["library"].push_back(library_record(b));
                record["more"]["library"].back()["pass"] = to_string(part.pass);
            }
    return record;
}

}  // namespace campaign
