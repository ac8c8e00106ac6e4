// memwall train: a small regression through the fused layer, beside the same through the unfused one.

#include "kernels/train.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ostream>

#include "cli/interrupt.hpp"
#include "cli/text.hpp"
#include "cli/verb.hpp"
#include "sim/text.hpp"

namespace cli {
namespace {

int run(const Arguments& arguments, Session& session) {
    const std::string* said = arguments.value("--backend");
    const std::string backend = said ? *said : "cpu";
    kernels::TrainOptions options;
    options.steps = arguments.count("--steps").value_or(60);
    kernels::Execute execute;
    if (backend == "cpu")
        execute = kernels::on_cpu();
    else if (backend == "glass")
        execute = kernels::under_glass(session.devices());
    else if (backend == "cuda")
        execute = kernels::on_gpu(session.devices());
    else
        throw sim::BadInput(
            fmt::format("--backend {} is no backend; expected cpu, cuda or glass", sim::quote(backend)));

    Interrupt interrupt(session.terminal().interactive);
    const auto steps = kernels::train(
        execute, options, [&](double share) { session.progress("train", share); }, interrupt.token());
    session.progress("train", 1);
    if (interrupt.stopped()) return stopped(session, "the training was stopped; nothing is printed of it");

    const int width = session.terminal().width;
    session.out() << wrap(
        fmt::format("{} samples of {} inputs through relu(X·W1)·W2 with {} hidden units, fitted with Adam "
                    "on backend {}. Fused: the ReLU and its mask ride on the matmuls, and one bit an "
                    "element is kept; unfused: kernels of their own.",
                    options.samples, options.inputs, options.hidden, backend),
        width);
    Table table("rrrr");
    table.row({"step", "loss, fused", "loss, unfused", "apart"});
    double most = 0;
    const std::size_t every = std::max<std::size_t>(1, steps.size() / 12);
    for (std::size_t s = 0; s < steps.size(); ++s) {
        const double apart = std::abs(steps[s].fused - steps[s].unfused) / std::max(1e-30, std::abs(steps[s].unfused));
        most = std::max(most, apart);
        if (s % every == 0 || s + 1 == steps.size())
            table.row({std::to_string(s), fmt::format("{:.6f}", steps[s].fused),
                       fmt::format("{:.6f}", steps[s].unfused), fmt::format("{:.1e}", apart)});
    }
    session.out() << '\n' << table.text(2) << '\n';
    const bool falls = steps.back().fused < steps.front().fused || steps.size() < 2;
    constexpr double tolerance = 1e-3;  // rounding, over the steps that it is carried through
    const std::string loss = steps.size() < 2 ? "One step shows no fall of the loss; more --steps do."
                             : falls          ? fmt::format("The loss falls to {} of where it began.",
                                                            percent(steps.back().fused / steps.front().fused, false))
                                              : "The loss does not fall.";
    session.out() << wrap(fmt::format("{} The two paths are {:.1e} apart at most.", loss, most), width);
    return falls && most < tolerance ? done : our_fault;
}

}  // namespace

const Verb train_verb = {
    .name = "train",
    .operands = "",
    .what = "fit a small regression through the fused layer, step for step beside the unfused one",
    .options = {{"--backend", "cpu|cuda|glass", "who runs the kernels (cpu where not said)"},
                {"--steps", "N", "of Adam (60 where not said)"}},
    .run = run,
};

}  // namespace cli
