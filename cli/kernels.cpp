// memwall kernels: the kernels that can really run, rung by rung.

#include <fmt/format.h>

#include <ostream>

#include "cli/json.hpp"
#include "cli/page.hpp"
#include "cli/text.hpp"
#include "cli/verb.hpp"
#include "kernels/cpu/rung.hpp"
#include "sim/tiling.hpp"

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

std::vector<KernelRow> rows() {
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

int list(const Arguments& arguments, Session& session) {
    const std::vector<KernelRow> kernels = rows();
    if (arguments.has("--json")) {
        session.out() << kernels_document(kernels);
        return done;
    }
    Table table("llll");
    table.row({"rung", "engine", "dtypes", "idea"});
    for (const KernelRow& k : kernels) table.row({k.rung, k.engine, joined(k.dtypes), k.idea});
    const KernelRow& last = kernels.back();
    session.out() << table.text() << '\n'
                  << wrap(fmt::format("Each runs {}, with fusion {}, at any size, on device cpu:", joined(last.passes),
                                      joined(last.fusions)),
                          session.terminal().width)
                  << fmt::format("  memwall run \"cpu 1024x1024x1024 f32 forward fused rung {}\"\n", last.rung);
    return done;
}

}  // namespace

const Verb kernels_verb = {
    .name = "kernels",
    .operands = "",
    .what = "the kernels that run here, rung by rung",
    .options = {{"--json", "", "a list of objects"}},
    .run = list,
};

}  // namespace cli
