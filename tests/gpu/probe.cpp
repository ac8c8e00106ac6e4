#include "tests/gpu/probe.hpp"

#include <algorithm>

namespace campaign {

using namespace kernels::cuda;

namespace {

Program compiled(Context& context, const Source& source, const std::vector<std::string>& kernels) {
    return compile_cached(source, kernels, arch_name(context.gpu.capability));
}

}  // namespace

Probe::Probe(Context& context, const Source& source, const std::vector<std::string>& kernels)
    : r_(context.machine.runtime), module_(r_, compiled(context, source, kernels).cubin) {
    for (const CompiledKernel& k : compiled(context, source, kernels).kernels)
        functions_[k.expression] = module_.kernel(k.lowered);
}

double Probe::median_us(int samples, const std::function<void()>& queue) const {
    std::vector<Event> events;
    for (int i = 0; i <= samples; i++) events.emplace_back(r_);
    for (int i = 0; i < 2; i++) queue();
    events[0].record();
    for (int i = 0; i < samples; i++) {
        queue();
        events[static_cast<std::size_t>(i) + 1].record();
    }
    events.back().wait();
    std::vector<double> us;
    for (std::size_t i = 1; i < events.size(); i++) us.push_back(events[i].us_since(events[i - 1]));
    return kernels::median(us);
}

}  // namespace campaign
