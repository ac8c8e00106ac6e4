// memwall run: the real kernel, checked against the reference, then timed.

#include "kernels/cpu/run.hpp"

#include <fmt/format.h>

#include <cmath>
#include <ctime>
#include <filesystem>
#include <ostream>

#include "cli/interrupt.hpp"
#include "cli/json.hpp"
#include "cli/page.hpp"
#include "cli/text.hpp"
#include "cli/verb.hpp"
#include "sim/build_info.hpp"
#include "sim/measurement.hpp"
#include "sim/text.hpp"

namespace cli {
namespace {

namespace fs = std::filesystem;
using Row = std::map<std::string, std::string>;

/// Which backend is meant, and that it can run on this device: else bad input or NotAvailable.
void check_backend(const std::string* said, const sim::Device& d) {
    const std::string_view usual = d.kind == sim::DeviceKind::gpu ? "cuda" : "cpu";
    const std::string_view backend = said ? std::string_view(*said) : usual;
    if (backend == "cuda" || backend == "glass")
        throw NotAvailable(
            fmt::format("backend {} is not available here: this version has CPU kernels only, so {} can be predicted "
                        "and not run",
                        backend, d.id));
    if (backend != "cpu")
        throw sim::BadInput(
            fmt::format("--backend {} is no backend; expected cpu, cuda or glass", sim::quote(backend)));
    if (d.kind != sim::DeviceKind::cpu)
        throw NotAvailable(fmt::format("{} is a {}; backend cpu runs on this machine's processor ({}), device cpu",
                                       d.id, to_string(d.kind), kernels::cpu::processor_name()));
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

std::string utc(const char* format) {
    const std::time_t now = std::time(nullptr);
    std::tm parts{};
    char text[32];
    std::strftime(text, sizeof text, format, gmtime_r(&now, &parts));
    return text;
}

/// A name that no other recorded row has: what was run, when, and which of this second.
std::string row_id(const sim::Experiment& e) {
    timespec now{};
    clock_gettime(CLOCK_REALTIME, &now);
    return fmt::format("{}-{}x{}x{}-{}-{}.{:06}", e.device, e.dense.m, e.dense.n, e.dense.k, to_string(e.pass),
                       utc("%Y%m%d%H%M%S"), now.tv_nsec / 1000);
}

Row record_of(const sim::Experiment& e, const kernels::cpu::RunResult& r, const sim::Catalogue& devices) {
    const sim::Dense& l = e.dense;
    Row row = {{"id", row_id(e)},
               {"split", "recorded"},
               {"source", "memwall run"},
               {"device", e.device},
               {"pass", std::string(to_string(e.pass))},
               {"dtype", std::string(to_string(l.dtype))},
               {"acc", "f32"},
               {"batch", std::to_string(l.batch)},
               {"m", std::to_string(l.m)},
               {"n", std::to_string(l.n)},
               {"k", std::to_string(l.k)},
               {"engine", std::string(to_string(e.engine))},
               {"pipeline", std::string(to_string(e.pipeline))},
               {"bm", std::to_string(e.tile.bm)},
               {"bn", std::to_string(e.tile.bn)},
               {"bk", std::to_string(e.tile.bk)},
               {"threads", std::to_string(r.threads)},
               {"epilogue", e.pass == sim::Pass::forward && e.fusion == sim::Fusion::fused ? "relu" : "none"},
               {"time_us", plain(r.median_us)},
               {"confidence", "high"},
               {"note", fmt::format("{}; {}", r.instructions, r.checked)},
               {"experiment", sim::to_string(e, devices)},
               {"min_us", plain(r.min_us)},
               {"max_us", plain(r.max_us)},
               {"samples", std::to_string(r.samples_us.size())},
               {"max_error", plain(r.max_error)},
               {"cache", r.cold ? "cold" : "warm"},
               {"data", r.data},
               {"machine", r.machine},
               {"date", utc("%Y-%m-%d")},
               {"git", std::string(sim::build_info().git)}};
    if (e.fusion == sim::Fusion::unfused)
        row["traits"] = e.pass == sim::Pass::forward ? "extra_pass=relu" : "extra_pass=mask";
    return row;
}

std::string page(const sim::Report& report, const kernels::cpu::RunResult& r, const sim::Catalogue& devices,
                 int width) {
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
        for (const kernels::cpu::KernelMedian& k : r.kernels) {
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
    out +=
        wrap(fmt::format(
                 "First checked against a double-precision reference: {}; largest error {:.1e} of the largest value.",
                 r.checked, r.max_error),
             width, 2, 2);
    return out;
}

int run(const Arguments& arguments, Session& session) {
    const std::string& text = arguments.words[0];
    Interrupt interrupt(session.terminal().interactive);
    const sim::Catalogue& devices = session.devices_for({&text, 1});
    const sim::Experiment asked = sim::parse_scene(text, devices).experiment;
    check_backend(arguments.value("--backend"), devices.at(asked.device));
    const std::string* record = arguments.value("--record");
    if (record) check_record(*record);

    const sim::Report report = sim::predict(asked, devices);
    const sim::Experiment& e = report.experiment;
    const auto refuse = [&](const std::string& why) {
        session.err() << fmt::format("memwall: does not fit: {}\n", why);
        return does_not_fit;
    };
    if (!report.fit.ok()) return refuse(report.fit.why);
    const kernels::cpu::RunResult r = kernels::cpu::run(
        kernels::op_of(e), kernels::cpu::config_of(e), {}, [&](double share) { session.progress("run", share); }, interrupt.token());
    session.progress("run", 1);
    if (!r.fit.ok()) return refuse(r.fit.why);
    if (interrupt.stopped() || r.cancelled) return stopped(session, "the run was stopped; nothing was recorded");

    if (record) sim::append_measurements(*record, {record_of(e, r, devices)});
    if (arguments.has("--json")) {
        session.out() << run_document(
            report, {r.median_us, r.min_us, r.max_us, static_cast<int>(r.samples_us.size()), r.max_error, r.machine},
            devices);
    } else {
        session.out() << page(report, r, devices, session.terminal().width);
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
                {"--json", "", "predict's object and what was measured"},
                {"--record", "FILE.csv", "add the measurement to a file, made where there is none"}},
    .run = run,
};

}  // namespace cli
