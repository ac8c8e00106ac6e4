// memwall kernels: the kernels that can really run, rung by rung.

#include <fmt/format.h>

#include <algorithm>
#include <ostream>

#include "cli/json.hpp"
#include "cli/page.hpp"
#include "cli/text.hpp"
#include "cli/verb.hpp"
#include "kernels/cpu/rung.hpp"
#include "kernels/cuda/build.hpp"
#include "kernels/cuda/runtime.hpp"
#include "kernels/ladder.hpp"
#include "sim/experiment.hpp"

namespace cli {
namespace {

template <class T>
std::vector<std::string> names(std::span<const T> values) {
    std::vector<std::string> out;
    for (const T v : values) out.emplace_back(to_string(v));
    return out;
}

std::string joined(const std::vector<std::string>& words) {
    std::string out;
    for (const std::string& w : words) out += (out.empty() ? "" : " ") + w;
    return out;
}

std::vector<KernelRow> cpu_rows() {
    std::vector<KernelRow> out;
    for (const kernels::cpu::Rung& r : kernels::cpu::rungs())
        out.push_back({std::string(r.id),
                       std::string(r.idea),
                       std::string(to_string(sim::Engine::cpu)),
                       std::string(to_string(sim::Pipeline::none)),
                       names(r.passes),
                       names(r.fusions),
                       names(r.dtypes),
                       "",
                       {}});
    return out;
}

/// A GPU rung without what depends on a machine: which passes and dtypes it has is read off the table of legal ones.
KernelRow cuda_row(const kernels::DeviceRung& rung) {
    const sim::Rung& known = *sim::find_rung(rung.id, sim::DeviceKind::gpu);
    KernelRow row{std::string(rung.id),
                  std::string(known.idea),
                  std::string(to_string(known.engine)),
                  std::string(to_string(known.pipeline)),
                  {},
                  {"none", "unfused", "fused"},
                  {},
                  kernels::cuda::arch_name(rung.arch_min),
                  {}};
    const auto add = [](std::vector<std::string>& to, std::string_view word) {
        if (std::find(to.begin(), to.end(), word) == to.end()) to.emplace_back(word);
    };
    for (const kernels::Legal& legal : kernels::legal_table()) {
        if (legal.rung != rung.id || !legal.needs.empty()) continue;
        add(row.passes, to_string(legal.pass));
        add(row.dtypes, to_string(legal.dtype));
        if (legal.pass != sim::Pass::forward) add(row.fusions, "upstream");
    }
    return row;
}

/// The rung's usual fused forward, for a layer that divides by every tile.
sim::Experiment usual_of(const kernels::DeviceRung& rung, int capability, const sim::Catalogue& devices) {
    const std::string wanted = fmt::format("{}.{}", capability / 10, capability % 10);
    const sim::Device* device = &devices.at("h200-sxm");
    for (const sim::Device* d : devices.all())
        if (d->compute_capability == wanted) device = d;
    // A thread for each output: a CTA has no more than 1024.
    const std::string_view tile = rung.register_tile ? "" : " tile 32x32x32";
    return kernels::resolved(sim::parse_experiment(fmt::format("{} 8192x8192x8192 {} forward fused rung {}{}",
                                                               device->id, rung.simt ? "f32" : "bf16", rung.id, tile),
                                                   devices));
}

std::vector<KernelRow> cuda_rows(const sim::Catalogue& devices) {
    sim::Fit here = kernels::cuda::available();
    if (here.ok()) here = kernels::cuda::compiler_available();
    const int capability = here.ok() ? kernels::cuda::gpu().capability : 0;
    std::vector<KernelRow> out;
    for (const kernels::DeviceRung& rung : kernels::device_rungs()) {
        out.push_back(cuda_row(rung));
        out.back().available =
            here.ok() ? kernels::fits(kernels::kernels_of(usual_of(rung, capability, devices)).front(), capability)
                      : here;
    }
    return out;
}

/// Every GPU rung compiled for an architecture, or why it cannot be.
std::vector<KernelRow> compiled_rows(const std::string& arch, Session& session) {
    if (const sim::Fit here = kernels::cuda::compiler_available(); !here.ok()) throw NotAvailable(here.why);
    if (const sim::Fit known = kernels::cuda::arch_available(arch); !known.ok())
        throw sim::BadInput("--arch: " + known.why);
    const int capability = kernels::cuda::capability_of(arch);
    std::vector<KernelRow> out;
    for (const kernels::DeviceRung& rung : kernels::device_rungs()) {
        session.progress("compile",
                         static_cast<double>(out.size()) / static_cast<double>(kernels::device_rungs().size()));
        KernelRow& row = out.emplace_back(cuda_row(rung));
        const sim::Experiment e = usual_of(rung, capability, session.devices());
        const std::vector<kernels::DeviceKernel> launches = kernels::kernels_of(e);
        row.available = kernels::fits(launches.front(), capability);
        if (!row.available.ok()) continue;
        try {
            const kernels::cuda::Build built = kernels::cuda::build(launches, arch);
            const kernels::cuda::BuiltKernel& k = built.kernels.front();
            row.compiled = {e.tile, k.resources.registers, k.cta().smem_bytes, k.resources.spill_bytes(),
                            built.compile_ms()};
        } catch (const kernels::cuda::CompileError& error) {  // "sm_90" has not the instructions of "sm_90a"
            row.available.why = error.what();
        }
    }
    session.progress("compile", 1);
    return out;
}

std::string compiled_table(const std::vector<KernelRow>& rows, int width) {
    Table table("llrrrrl");
    table.row({"rung", "tile", "registers", "shared", "spilled", "compiled in", ""});
    for (const KernelRow& k : rows) {
        if (const auto& c = k.compiled)
            table.row({k.rung, fmt::format("{}x{}x{}", c->tile.bm, c->tile.bn, c->tile.bk),
                       std::to_string(c->registers), sim::format_kib(static_cast<double>(c->smem_bytes)),
                       fmt::format("{} B", c->spill_bytes), sim::format_us(c->compile_ms * 1e3)});
        else
            table.row({k.rung, "-", "-", "-", "-", "-", k.available.why});
    }
    return table.text(0, width);
}

/// Rungs of one kind of machine; what they share is said once, below.
std::string ladder_table(const std::vector<KernelRow>& rows, int width) {
    Table table("llll");
    table.row({"rung", "engine", "dtypes", "idea"});
    for (const KernelRow& k : rows) table.row({k.rung, k.engine, joined(k.dtypes), k.idea});
    return table.text(0, width);
}

int list(const Arguments& arguments, Session& session) {
    const int width = session.terminal().width;
    if (const std::string* arch = arguments.value("--arch")) {
        const std::vector<KernelRow> rows = compiled_rows(*arch, session);
        if (arguments.has("--json"))
            session.out() << kernels_document(rows, true);
        else
            session.out() << compiled_table(rows, width) << '\n'
                          << wrap(fmt::format(
                                      "Registers are a thread's; a fused forward each, compiled for {} by NVRTC {}.",
                                      *arch, kernels::cuda::compiler_version()),
                                  width);
        return done;
    }
    const std::vector<KernelRow> cpu = cpu_rows(), cuda = cuda_rows(session.devices());
    if (arguments.has("--json")) {
        std::vector<KernelRow> all = cpu;
        all.insert(all.end(), cuda.begin(), cuda.end());
        session.out() << kernels_document(all);
        return done;
    }
    const KernelRow& last = cpu.back();
    session.out() << ladder_table(cpu, width) << '\n'
                  << wrap(fmt::format("Each runs {}, with fusion {}, at any size, on device cpu:", joined(last.passes),
                                      joined(last.fusions)),
                          width)
                  << fmt::format("  memwall run \"cpu 1024x1024x1024 f32 forward fused rung {}\"\n\n", last.rung)
                  << ladder_table(cuda, width) << '\n';
    const auto runs = std::find_if(cuda.begin(), cuda.end(), [](const KernelRow& k) { return k.available.ok(); });
    session.out() << wrap(runs != cuda.end() ? fmt::format("On {}, whose kernels are compiled when they are asked for.",
                                                           kernels::cuda::gpu().name)
                                             : fmt::format("Not on this machine: {}.", cuda.front().available.why),
                          width)
                  << "  memwall kernels --arch sm_90a\n";
    return done;
}

}  // namespace

const Verb kernels_verb = {
    .name = "kernels",
    .operands = "",
    .what = "the kernels that can really run, rung by rung, and whether they can here",
    .options = {{"--arch", "sm_90a", "compile every GPU rung for an architecture: registers, shared memory, spills"},
                {"--json", "", "a list of objects"}},
    .run = list,
};

}  // namespace cli
