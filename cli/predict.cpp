// memwall predict: bound and prediction as numbers.

#include <fmt/format.h>

#include <algorithm>
#include <ostream>

#include "cli/json.hpp"
#include "cli/page.hpp"
#include "cli/published.hpp"
#include "cli/text.hpp"
#include "cli/verb.hpp"
#include "kernels/cuda/build.hpp"
#include "kernels/ladder.hpp"
#include "sim/fit.hpp"
#include "sim/report.hpp"
#include "sim/sweep.hpp"
#include "sim/text.hpp"
#include "sim/time.hpp"

namespace cli {
namespace {

sim::PredictOptions options_of(const Arguments& arguments) {
    sim::PredictOptions options;
    if (const std::string* engine = arguments.value("--engine")) {
        if (*engine == "replay") {
            options.count = sim::Count::replay;
        } else if (*engine == "closed_form") {
            options.count = sim::Count::closed_form;
        } else {
            throw sim::BadInput(
                fmt::format("--engine {} is no engine; expected replay or closed_form", sim::quote(*engine)));
        }
    }
    if (const std::string* terms = arguments.value("--without"))
        for (std::size_t at = 0; at <= terms->size();) {
            const std::size_t end = std::min(terms->find(',', at), terms->size());
            const std::string term = terms->substr(at, end - at);
            std::vector<std::string_view> names;
            for (const sim::TimeTermInfo& t : sim::time_terms()) names.push_back(t.name);
            if (std::find(names.begin(), names.end(), term) == names.end())
                throw sim::BadInput(fmt::format("--without {} is no term of the time; expected one of {}",
                                                sim::quote(term), sim::listed(names)));
            options.without.insert(term);
            at = end + 1;
        }
    return options;
}

/// The experiment with as many resident CTAs as its kernels' real registers allow, as the compiler has them; `note`
/// says so. Throws NotAvailable without a compiler or for what no kernel does.
sim::Experiment with_compiled_occupancy(const sim::Experiment& asked, const sim::Device& d, std::string& note) {
    if (d.kind != sim::DeviceKind::gpu)
        throw sim::BadInput(fmt::format("--compiled: expected a GPU; {} is a {}", d.id, to_string(d.kind)));
    if (const sim::Fit here = kernels::cuda::compiler_available(); !here.ok()) throw NotAvailable(here.why);
    sim::Experiment e = asked;
    if (!sim::resolve_best(e, d).ok() || !sim::fit(e, d, sim::plan(e)).ok()) return asked;  // the page says why
    e = kernels::resolved(e);
    e.ctas = 0;
    if (const sim::Fit fit = kernels::fits(e, d); !fit.ok()) throw NotAvailable("--compiled: " + fit.why);
    const std::string arch = kernels::cuda::arch_name(sim::capability(d));
    const std::vector<kernels::DeviceKernel> launches = kernels::kernels_of(e);
    const kernels::cuda::Build build = kernels::cuda::build(launches, arch);
    int ctas = 0, registers = 0;
    for (std::size_t i = 0; i < launches.size(); ++i) {
        if (!launches[i].matmul()) continue;
        const sim::CtaShape cta = build.kernels[i].cta();
        const int resident = sim::occupancy(e, d, cta).ctas_per_sm;
        if (resident == 0)
            throw NotAvailable(
                fmt::format("--compiled: {} takes {} registers a thread: no CTA of {} threads can be resident",
                            launches[i].name, cta.registers, cta.threads));
        if (ctas == 0 || resident < ctas) ctas = resident;
        registers = std::max(registers, cta.registers);
    }
    e.ctas = ctas;
    note = fmt::format("Compiled for {}: {} registers a thread, so {} an SM, in place of the model's estimate.", arch,
                       registers, counted(ctas, "CTA"));
    return e;
}

int predict(const Arguments& arguments, Session& session) {
    const sim::PredictOptions options = options_of(arguments);
    const sim::Catalogue& devices = session.devices_for({arguments.words.data(), 1});
    sim::Experiment asked = sim::parse_scene(arguments.words[0], devices).experiment;
    std::string compiled;
    if (arguments.has("--compiled")) asked = with_compiled_occupancy(asked, devices.at(asked.device), compiled);
    const sim::Report r = sim::predict(asked, devices, options);
    if (arguments.has("--json")) {
        session.out() << predict_document(r, devices);
        return r.fit.ok() ? done : does_not_fit;
    }
    const int width = session.terminal().width;
    std::string page = sim::to_string(r.experiment, devices) + '\n';
    if (!r.fit.ok()) page += wrap("does not fit: " + r.fit.why, width);
    if (!compiled.empty()) page += wrap(compiled, width, 2, 2);
    page += verdict_text(r, measured_lines(published(r.experiment, devices)), width);
    if (r.fit.ok()) {
        page += heading("Bytes, " + counted_by(r)) + traffic_text(r, devices.at(r.experiment.device), width);
        page += heading("Where the predicted time goes") + time_split_text(r, width);
        page += heading("Energy, a range") + energy_text(r, devices.at(r.experiment.device), width);
    }
    session.out() << page;
    return r.fit.ok() ? done : does_not_fit;
}

}  // namespace

const Verb predict_verb = {
    .name = "predict",
    .operands = "\"EXPERIMENT\"",
    .what = "bound and prediction: bytes by level and operand, time by kernel and term",
    .least = 1,
    .most = 1,
    .joins = true,
    .options = {{"--json", "", "one JSON object"},
                {"--engine", "replay|closed_form", "how bytes are counted (default: replay where it is quick)"},
                {"--compiled", "",
                 "occupancy from the compiler's registers: NVRTC compiles the kernel for the GPU named"},
                {"--without", "TERM[,TERM]", "leave terms of the time out: waves, fill, …"}},
    .run = predict,
};

}  // namespace cli
