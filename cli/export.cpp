// memwall export: the experiment's tile as source to take home.

#include "kernels/export.hpp"

#include <fmt/format.h>

#include <ostream>

#include "cli/verb.hpp"
#include "sim/report.hpp"
#include "sim/text.hpp"

namespace cli {
namespace {

int run(const Arguments& arguments, Session& session) {
    const std::string& text = arguments.words[0];
    const sim::Catalogue& devices = session.devices_for({&text, 1});
    const sim::Experiment asked = sim::parse_scene(text, devices).experiment;
    const std::string* word = arguments.value("--as");
    if (!word) throw sim::BadInput("export needs --as pallas, triton or cuda");
    const std::optional<kernels::ExportAs> as = kernels::parse_export(*word);
    if (!as)
        throw sim::BadInput(fmt::format("--as {} is no language; expected pallas, triton or cuda", sim::quote(*word)));
    const sim::Report report = sim::predict(asked, devices);  // resolves "tile best", and says what cannot launch
    const auto refuse = [&](const std::string& why) {
        session.err() << fmt::format("memwall: does not fit: {}\n", why);
        return does_not_fit;
    };
    if (!report.fit.ok()) return refuse(report.fit.why);
    const kernels::Exported exported =
        kernels::export_source(report.experiment, *as, arguments.has("--bench"), devices);
    if (!exported.fit.ok()) return refuse(exported.fit.why);
    session.out() << exported.text;
    return done;
}

}  // namespace

const Verb export_verb = {
    .name = "export",
    .operands = "\"EXPERIMENT\"",
    .what = "runnable source for exactly this tile, to take home",
    .least = 1,
    .most = 1,
    .joins = true,
    .options = {{"--as", "pallas|triton|cuda", "the language"},
                {"--bench", "", "a script that times it beside rivals and prints rows of measured data"}},
    .run = run,
};

}  // namespace cli
