// memwall run: the real kernel, checked against the reference, then timed.

#include "kernels/cpu/run.hpp"

#include <fmt/format.h>

#include <cmath>
#include <ctime>
#include <filesystem>
#include <ostream>

#include "cli/baselines.hpp"
#include "cli/counted.hpp"
#include "cli/interrupt.hpp"
#include "cli/json.hpp"
#include "cli/page.hpp"
#include "cli/text.hpp"
#include "cli/verb.hpp"
#include "kernels/cuda/run.hpp"
#include "kernels/glass/run.hpp"
#include "kernels/recorded.hpp"
#include "sim/measurement.hpp"
#include "sim/sweep.hpp"
#include "sim/text.hpp"

namespace cli {
namespace {

namespace fs = std::filesystem;

enum class Backend { cpu, cuda, glass };

/// The backend that is meant, and that it can run on this device: else bad input or NotAvailable.
Backend backend_of(const std::string* said, const sim::Device& d) {
    const bool gpu = d.kind == sim::DeviceKind::gpu;
    const std::string_view name = said ? std::string_view(*said) : gpu ? "cuda" : "cpu";
    const Backend backend = name == "cpu"    ? Backend::cpu
                            : name == "cuda" ? Backend::cuda
                            : name == "glass"
                                ? Backend::glass
                                : throw sim::BadInput(fmt::format(
                                      "--backend {} is no backend; expected cpu, cuda or glass", sim::quote(name)));
    if (backend == Backend::cpu && d.kind != sim::DeviceKind::cpu)
        throw NotAvailable(fmt::format("{} is a {}; backend cpu runs on this machine's processor ({}), device cpu",
                                       d.id, to_string(d.kind), kernels::cpu::processor_name()));
    if (backend != Backend::cpu && !gpu)
        throw NotAvailable(
            fmt::format("{} is a {}; backend {} runs the kernels of a GPU", d.id, to_string(d.kind), name));
    if (backend == Backend::cuda) {
        if (const sim::Fit here = kernels::cuda::available(); !here.ok())
            throw NotAvailable(
                fmt::format("{}: backend cuda is not available here: {} (backend glass runs the same kernels on "
                            "the processor and counts)",
                            d.id, here.why));
        if (const sim::Fit same = kernels::cuda::same_gpu(d, kernels::cuda::gpu()); !same.ok())
            throw NotAvailable(same.why);
    }
    return backend;
}

/// That rows can be appended to the file, before time is spent on them.
void check_record(const std::string& path) {
    std::error_code error;
    if (fs::exists(path, error)) {
        sim::read_measurements(path);
        return;
    }
    const fs::path folder = fs::absolute(path, error).parent_path();
    if (!fs::is_directory(folder, error))
        throw sim::BadInput(fmt::format("--record {}: expected a file in a folder that is there", sim::quote(path)));
}

/// A name that no other recorded row has: what was run, when, and which of this second.
std::string row_id(const sim::Experiment& e) {
    timespec now{};
    clock_gettime(CLOCK_REALTIME, &now);
    return fmt::format("{}-{}x{}x{}-{}-{}.{:06}", e.device, e.dense.m, e.dense.n, e.dense.k, to_string(e.pass),
                       kernels::utc("%Y%m%d%H%M%S"), now.tv_nsec / 1000);
}

std::string page(const sim::Report& report, const kernels::RunResult& r, const sim::Catalogue& devices, int width) {
    std::string out = sim::to_string(report.experiment, devices) + '\n';
    out += subject_text(report, devices.at(report.experiment.device), width) + '\n';
    const std::string samples =
        fmt::format("median of {}, {} to {}", counted(static_cast<long long>(r.samples_us.size()), "sample"),
                    sim::format_us(r.min_us), sim::format_us(r.max_us));
    out += verdict_text(report, {{sim::format_us(r.median_us), samples}}, width);
    if (report.predicted) {
        const double error = (report.predicted->time_us - r.median_us) / r.median_us;
        out += wrap(
            fmt::format(
                "The prediction is {} {}; {}.", percent(std::abs(error), false), error < 0 ? "too low" : "too high",
                report.flops > 0 ? fmt::format("measured {}",
                                               sim::format_flops(static_cast<double>(report.flops) / r.median_us * 1e6))
                                 : std::string()),
            width, 2, 2);
    }
    if (r.kernels.size() > 1) {
        Table table("lrr");
        table.row({"kernel", "predicted", "measured"});
        for (const kernels::KernelMedian& k : r.kernels) {
            std::string predicted = "-";
            if (report.predicted)
                for (const sim::KernelReport& p : report.predicted->kernels)
                    if (p.name == k.name) predicted = sim::format_us(p.time_us);
            table.row({k.name, predicted, sim::format_us(k.median_us)});
        }
        out += '\n' + table.text(2);
    }
    out += heading("How it was measured");
    const sim::Tile& t = r.tile;
    out += wrap(fmt::format("On {} ({}, {}), tile {}x{}x{} as it ran, {} data, {}.", r.machine, r.instructions,
                            counted(r.threads, "thread"), t.bm, t.bn, t.bk, r.data,
                            r.cold ? fmt::format("{} sets of operands in turn, so that each starts from DRAM", r.sets)
                                   : std::string("caches as the run before left them")),
                width, 2, 2);
    if (r.clocks.clock_mhz > 0)
        out += wrap(
            fmt::format("Clocks: {:.0f} MHz, memory {:.0f} MHz, {:.0f} W{}.", r.clocks.clock_mhz, r.clocks.memory_mhz,
                        r.clocks.power_w, r.clocks.throttled.empty() ? "" : ", held back by " + r.clocks.throttled),
            width, 2, 2);
    if (r.counters)
        out += wrap(
            fmt::format("Counted by the GPU: {} read from DRAM and {} written, {} read from L2 ({} hit); a copy of "
                        "known bytes just before counted {} and {} of what it moved.",
                        sim::format_bytes(r.counters->dram_read_bytes), sim::format_bytes(r.counters->dram_write_bytes),
                        sim::format_bytes(r.counters->l2_read_bytes), percent(r.counters->l2_hit_share, false),
                        percent(r.counters->calibration_read, false), percent(r.counters->calibration_write, false)),
            width, 2, 2);
    else if (!r.counters_why.empty())
        out += wrap(fmt::format("No counters: {}.", r.counters_why), width, 2, 2);
    out +=
        wrap(fmt::format(
                 "First checked against a double-precision reference: {}; largest error {:.1e} of the largest value.",
                 r.checked, r.max_error),
             width, 2, 2);
    return out;
}

/// Runs an experiment's own kernels on the processor, counted access by access.
int run_under_glass(const sim::Experiment& asked, const sim::Catalogue& devices, const Arguments& arguments,
                    Session& session, Interrupt& interrupt) {
    if (arguments.has("--record"))
        throw sim::BadInput("--record with --backend glass: expected a backend that measures; glass counts");
    sim::Experiment e = asked;
    const sim::Device& d = devices.at(e.device);
    sim::Fit fit = sim::resolve_best(e, d);
    if (fit.ok()) e = kernels::resolved(e);
    const sim::Report report = sim::predict(e, devices);
    if (fit.ok()) fit = report.fit;
    kernels::glass::Counted c;
    if (fit.ok())
        c = kernels::glass::run(
            e, d, {}, [&](double share) { session.progress("run", share); }, interrupt.token());
    session.progress("run", 1);
    if (fit.ok()) fit = c.fit;
    if (!fit.ok()) {
        session.err() << fmt::format("memwall: does not fit: {}\n", fit.why);
        return does_not_fit;
    }
    if (interrupt.stopped() || c.cancelled) return stopped(session, "the run was stopped; nothing is printed of it");
    if (arguments.has("--json")) {
        session.out() << counted_document(report, c, devices);
    } else {
        session.out() << sim::to_string(report.experiment, devices) << '\n'
                      << subject_text(report, d, session.terminal().width)
                      << counted_text(report, d, c, session.terminal().width);
    }
    return c.ok() ? done : our_fault;
}

int run(const Arguments& arguments, Session& session) {
    const std::string& text = arguments.words[0];
    Interrupt interrupt(session.terminal().interactive);
    const sim::Catalogue& devices = session.devices_for({&text, 1});
    const sim::Experiment asked = sim::parse_scene(text, devices).experiment;
    const Backend backend = backend_of(arguments.value("--backend"), devices.at(asked.device));
    if (arguments.has("--counters") && backend != Backend::cuda)
        throw sim::BadInput("--counters: expected --backend cuda, whose GPU has such counters");
    if (arguments.has("--baselines") && backend != Backend::cuda)
        throw sim::BadInput("--baselines: expected --backend cuda, whose GPU has a vendor's library");
    if (backend == Backend::glass) return run_under_glass(asked, devices, arguments, session, interrupt);
    const std::string* record = arguments.value("--record");
    if (record) check_record(*record);

    const sim::Report report = sim::predict(asked, devices);
    const sim::Experiment& e = report.experiment;
    const auto refuse = [&](const std::string& why) {
        session.err() << fmt::format("memwall: does not fit: {}\n", why);
        return does_not_fit;
    };
    if (!report.fit.ok()) return refuse(report.fit.why);
    const auto progress = [&](double share) { session.progress("run", share); };
    kernels::RunOptions options;
    options.counters = arguments.has("--counters");
    const kernels::RunResult r =
        backend == Backend::cuda
            ? kernels::cuda::run(e, options, progress, interrupt.token())
            : kernels::cpu::run(kernels::op_of(e), kernels::cpu::config_of(e), options, progress, interrupt.token());
    session.progress("run", 1);
    if (!r.fit.ok()) return refuse(r.fit.why);
    if (interrupt.stopped() || r.cancelled) return stopped(session, "the run was stopped; nothing was recorded");
    std::vector<kernels::cuda::Baseline> baselines;
    if (arguments.has("--baselines")) baselines = baselines_of(e, {}, interrupt.token());

    if (record) {
        auto row = kernels::recorded_row(e, r, devices, "memwall run");
        row["id"] = row_id(e);
        sim::append_measurements(*record, {row});
    }
    if (arguments.has("--json")) {
        session.out() << run_document(report, r, devices, arguments.has("--baselines") ? &baselines : nullptr);
    } else {
        session.out() << page(report, r, devices, session.terminal().width);
        if (!baselines.empty()) session.out() << baselines_text(r, baselines, session.terminal().width);
        if (record) session.out() << fmt::format("\nOne row was added to {}\n", *record);
    }
    return done;
}

}  // namespace

const Verb run_verb = {
    .name = "run",
    .operands = "\"EXPERIMENT\"",
    .what = "check the real kernel against a reference, then time it: bound · predicted · measured",
    .least = 1,
    .most = 1,
    .joins = true,
    .options = {{"--backend", "cpu|cuda|glass", "who runs it (default: by the device's kind)"},
                {"--json", "", "predict's object and what was measured or counted"},
                {"--counters", "", "read the GPU's own counters too (DRAM, L2, shared memory), where it lets us"},
                {"--baselines", "",
                 "cuda: NVIDIA's library beside it: the matmul alone, with ReLU, with ReLU and its bits; backward, a "
                 "mask kernel and plain matmuls, DRELU and a plain wgrad, and plain matmuls on a dZ given free"},
                {"--record", "FILE.csv", "add the measurement to a file, made where there is none"}},
    .run = run,
};

}  // namespace cli
