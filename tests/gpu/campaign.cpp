#include "tests/gpu/campaign.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <thread>

#include "kernels/cuda/build.hpp"
#include "kernels/ladder.hpp"
#include "kernels/not_available.hpp"
#include "kernels/recorded.hpp"
#include "sim/measurement.hpp"

namespace campaign {

using kernels::RunOptions;
using kernels::RunResult;
using Clock = std::chrono::steady_clock;

namespace {

constexpr int deaths_of_a_rung = 2;  // after which its cases are not tried any more

/// A check alone: one sample on one set of operands.
constexpr RunOptions once = {.seconds = 0, .least_samples = 1, .most_samples = 1, .most_bytes = 1};
constexpr RunOptions timed = {.seconds = 0.1, .most_seconds = 0.5, .most_samples = 200};
constexpr RunOptions counted = {.seconds = 0, .most_samples = 7, .counters = true};

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

/// Ends the process when a case outlasts its limit: a kernel that hangs answers nothing else.
class Watchdog {
public:
    explicit Watchdog(Journal& journal) : journal_(journal), thread_([this](std::stop_token stop) { watch(stop); }) {}

    void start(const Case& c, double seconds) {
        const std::lock_guard lock(mutex_);
        case_ = c;
        until_ = Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
        changed_.notify_one();
    }
    void stop() {
        const std::lock_guard lock(mutex_);
        case_.reset();
    }

private:
    void watch(std::stop_token stop) {
        std::unique_lock lock(mutex_);
        while (!stop.stop_requested()) {
            changed_.wait_for(lock, stop, std::chrono::milliseconds(500), [] { return false; });
            if (!case_ || Clock::now() < until_) continue;
            journal_.end(*case_, {{"status", "failed"}, {"why", "it did not end in time"}, {"died", true}});
            std::_Exit(75);
        }
    }

    Journal& journal_;
    std::mutex mutex_;
    std::condition_variable_any changed_;
    std::optional<Case> case_;
    Clock::time_point until_;
    std::jthread thread_;
};

}  // namespace

kernels::cuda::Bench::Ready Context::ready(const sim::Experiment& e, const RunOptions& options) {
    if (!bench_ || !bench_->takes(e)) {
        bench_.reset();  // its memory first
        bench_.emplace(e, options, machine.runtime);
    }
    return bench_->ready(e);
}

Record record_of(const sim::Experiment& e, const RunResult& r) {
    if (!r.fit.ok()) return {{"status", "refused"}, {"why", r.fit.why}};
    Record record = {{"status", "ok"}, {"row", kernels::recorded_row(e, r, sim::Catalogue::builtin(), "tests/gpu")}};
    Record& more = record["more"];
    for (const kernels::KernelMedian& k : r.kernels) more["kernels"].push_back({{"name", k.name}, {"us", k.median_us}});
    more["memory_mhz"] = r.clocks.memory_mhz;
    if (r.counters)
        more["counters"] = {{"dram_read_bytes", r.counters->dram_read_bytes},
                            {"dram_write_bytes", r.counters->dram_write_bytes},
                            {"l2_read_bytes", r.counters->l2_read_bytes},
                            {"l2_write_bytes", r.counters->l2_write_bytes},
                            {"smem_wavefronts", r.counters->smem_wavefronts},
                            {"smem_conflicts", r.counters->smem_conflicts},
                            {"instructions", r.counters->instructions},
                            {"tensor_instructions", r.counters->tensor_instructions},
                            {"calibration_read", r.counters->calibration_read},
                            {"calibration_write", r.counters->calibration_write}};
    else if (!r.counters_why.empty())
        more["counters_why"] = r.counters_why;
    return record;
}

Record run_case(Context& context, const Case& c) {
    const sim::Experiment e =
        c.experiment.empty() ? sim::Experiment{} : sim::parse_experiment(c.experiment, sim::Catalogue::builtin());
    if (c.step == "check") return record_of(e, kernels::cuda::run(e, once, {}, {}, context.machine.runtime));
    if (c.step == "bytes") return record_of(e, context.ready(e).time(counted));
    if (c.step == "time" || c.step == "sweep") return record_of(e, context.ready(e).time(timed));
    if (c.step == "sanitize") return sanitize(context, c);
    if (c.step == "counters") return count_copy(context, c);
    if (c.step == "constants") return measure_constant(context, c);
    if (c.step == "train") return run_train(context, c);
    if (c.step == "mask") return swap_masks(context, c);
    if (c.step == "log") return log_tiles(context, c);
    throw std::logic_error("step " + c.step + " is not run here");
}

namespace {

/// Compiles what cases will need, on every core: the kernels then come from the cubin cache.
void compile_ahead(const std::vector<Case>& cases, const Journal& journal, int capability) {
    const unsigned cores = std::max(1u, std::thread::hardware_concurrency());
    std::atomic<std::size_t> next = 0;
    std::vector<std::jthread> threads;
    for (unsigned t = 0; t < cores; t++)
        threads.emplace_back([&] {
            for (std::size_t i = next++; i < cases.size(); i = next++) {
                if (cases[i].experiment.empty() || journal.done(cases[i])) continue;
                try {
                    const sim::Experiment e = sim::parse_experiment(cases[i].experiment, sim::Catalogue::builtin());
                    kernels::cuda::build(kernels::kernels_of(kernels::resolved(e)),
                                         kernels::cuda::arch_name(capability));
                } catch (const std::exception&) {  // said again, and written down, when the case is run
                }
            }
        });
}

/// One case, whatever comes of it, as a record. ContextLost is let through.
Record attempt(Context& context, const Case& c) {
    std::string why;
    try {
        return run_case(context, c);
    } catch (const kernels::NotAvailable& e) {
        return {{"status", "refused"}, {"why", e.what()}};
    } catch (const std::exception& e) {
        why = e.what();
    }
    const kernels::cuda::Runtime& r = context.machine.runtime;
    r.last_error();
    if (r.synchronize() != 0) throw ContextLost(why);
    return {{"status", "failed"}, {"why", why}};
}

}  // namespace

Ending run(const Machine& machine, const Plan& plan, Journal& journal) {
    const auto start = Clock::now();
    Context context(machine);
    Watchdog watchdog(journal);
    Ending ending = Ending::finished;
    for (const Step& step : steps()) {
        const bool asked = std::find(plan.only.begin(), plan.only.end(), step.name) != plan.only.end();
        if (step.by_rivals || (!plan.only.empty() && !asked)) continue;
        std::vector<Case> cases = cases_of(step, machine.cases);
        if (!plan.ids.empty())
            std::erase_if(cases, [&](const Case& c) {
                return std::find(plan.ids.begin(), plan.ids.end(), c.id) == plan.ids.end();
            });
        if (plan.most_cases > 0 && static_cast<int>(cases.size()) > plan.most_cases)
            cases.resize(static_cast<std::size_t>(plan.most_cases));
        const auto step_start = Clock::now();
        const double most = plan.shares
                                ? step.share * (plan.campaign_seconds > 0 ? plan.campaign_seconds : plan.seconds)
                                : plan.seconds;
        if (seconds_since(start) < plan.seconds) compile_ahead(cases, journal, context.gpu.capability);
        int done = 0, failed = 0;
        for (const Case& c : cases) {
            if (journal.done(c)) continue;
            if (seconds_since(start) + step.seconds_each > plan.seconds || seconds_since(step_start) > most) {
                ending = Ending::out_of_time;
                break;
            }
            const std::string rung = rung_of(c.experiment);
            if (!rung.empty() && journal.deaths(rung) >= deaths_of_a_rung) {
                journal.end(c, {{"status", "failed"}, {"why", rung + " has ended the process before: not tried"}});
                failed++;
                continue;
            }
            journal.begin(c);
            watchdog.start(c, step.most_seconds);
            const auto case_start = Clock::now();
            try {
                Record record = attempt(context, c);
                watchdog.stop();
                record["seconds"] = seconds_since(case_start);
                failed += record["status"] == "failed";
                done++;
                journal.end(c, std::move(record));
            } catch (const ContextLost& lost) {
                watchdog.stop();
                journal.end(c, {{"status", "failed"}, {"why", lost.what()}, {"died", true}});
                return Ending::again;
            }
        }
        fmt::print(stderr, "{:>6.1f} s  {:<10} {} run, {} failed, {} in all\n", seconds_since(start), step.name, done,
                   failed, cases.size());
    }
    return ending;
}

}  // namespace campaign
