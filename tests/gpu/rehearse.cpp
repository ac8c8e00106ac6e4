#include "tests/gpu/rehearse.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <mutex>
#include <set>
#include <thread>

#include "kernels/cuda/build.hpp"
#include "kernels/glass/built.hpp"
#include "kernels/glass/run.hpp"
#include "kernels/ladder.hpp"

namespace campaign {
namespace {

constexpr double glass_seconds = 20;

sim::Experiment parsed(const Case& c) {
    return kernels::resolved(sim::parse_experiment(c.experiment, sim::Catalogue::builtin()));
}

/// The same kernel at a size that glass runs at once: two tiles each way and a rest.
sim::Experiment small(sim::Experiment e) {
    e.dense.m = std::min<sim::i64>(e.dense.m, e.tile.bm + 19);
    e.dense.n = std::min<sim::i64>(e.dense.n, e.tile.bn + 11);
    e.dense.k = std::min<sim::i64>(e.dense.k, 2 * e.tile.bk + 5);
    e.dense.batch = 1;
    return e;
}

}  // namespace

void print_plan(const std::filesystem::path& folder) {
    double sum = 0;
    fmt::print("{:<10} {:>6} {:>9} {:>8}  {}\n", "step", "cases", "guessed", "at most", "what");
    for (const Step& s : steps()) {
        const double seconds = s.seconds_each * static_cast<double>(cases_of(s, folder).size());
        sum += seconds;
        fmt::print("{:<10} {:>6} {:>7.0f} s {:>6.0f} %  {}\n", s.name, cases_of(s, folder).size(), seconds,
                   100 * s.share, s.what);
    }
    fmt::print("{:<10} {:>6} {:>7.0f} s\n", "all", "", sum);
}

bool rehearse(const std::filesystem::path& folder, bool compile_all, double seconds) {
    using Clock = std::chrono::steady_clock;
    const auto start = Clock::now();
    const auto spent = [&] { return std::chrono::duration<double>(Clock::now() - start).count(); };
    std::vector<Case> all;
    int wrong = 0;
    for (const Step& s : steps())
        for (Case& c : cases_of(s, folder)) {
            if (c.experiment.empty()) continue;
            if (const sim::Fit fit = kernels::fits(parsed(c), device_capability); !fit.ok()) {
                fmt::print("{} {}: {}\n", c.step, c.id, fit.why);
                wrong++;
            }
            all.push_back(std::move(c));
        }
    fmt::print("{} experiments are read and fit, {} do not\n", all.size() - static_cast<std::size_t>(wrong), wrong);

    // A sample that is spread over the steps, or all of them.
    if (kernels::cuda::compiler_available().ok()) {
        std::vector<std::size_t> order(all.size());
        for (std::size_t i = 0; i < order.size(); i++) order[i] = i * 97 % all.size();
        if (all.size() % 97 == 0)
            for (std::size_t i = 0; i < order.size(); i++) order[i] = i;
        std::atomic<std::size_t> next = 0;
        std::atomic<int> compiled = 0, refused = 0;
        std::mutex print;
        {
            std::vector<std::jthread> threads;
            for (unsigned t = 0; t < std::max(1u, std::thread::hardware_concurrency()); t++)
                threads.emplace_back([&] {
                    for (std::size_t i = next++; i < order.size() && (compile_all || spent() < seconds); i = next++) {
                        try {
                            kernels::cuda::build(kernels::kernels_of(parsed(all[order[i]])),
                                                 kernels::cuda::arch_name(device_capability));
                            compiled++;
                        } catch (const std::exception& e) {
                            refused++;
                            const std::lock_guard lock(print);
                            fmt::print("{} {}: {}\n", all[order[i]].step, all[order[i]].id, e.what());
                        }
                    }
                });
        }
        wrong += refused;
        fmt::print("{} of {} compiled for {} in {:.0f} s\n", compiled.load(), all.size(),
                   kernels::cuda::arch_name(device_capability), spent());
    } else {
        fmt::print("nothing was compiled: {}\n", kernels::cuda::compiler_available().why);
    }

    // Each kind of case once: a rung with a pass and a fusion, where glass has its tile.
    std::set<std::string> kinds;
    int ran = 0, not_built = 0;
    const double until = spent() + glass_seconds;
    for (const Case& c : all) {
        if (spent() > until) break;
        const sim::Experiment e = small(parsed(c));
        if (c.experiment.find(" cluster ") != std::string::npos || e.pass == sim::Pass::train) continue;
        const std::string kind = fmt::format("{} {} {}", e.rung, to_string(e.pass), to_string(e.fusion));
        if (kinds.count(kind)) continue;
        bool built = true;
        for (const kernels::DeviceKernel& k : kernels::kernels_of(e))
            built &= kernels::glass::find_built(kernels::instance_of(k)) != nullptr;
        if (!built) {
            not_built++;
            continue;
        }
        const kernels::glass::Counted counted = kernels::glass::run(e, sim::Catalogue::builtin().at(e.device));
        kinds.insert(kind);
        ran++;
        if (counted.ok()) continue;
        wrong++;
        fmt::print("{} {} under glass: {}\n", c.step, c.id, counted.fit.ok() ? counted.first_wrong : counted.fit.why);
    }
    fmt::print("{} kinds of kernel ran under glass ({} tiles have no instance there)\n", ran, not_built);
    return wrong == 0;
}

}  // namespace campaign
