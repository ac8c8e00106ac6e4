// What takes minutes under glass: run by `memwall_tests --all` only.

#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "kernels/glass/on_demand.hpp"
#include "kernels/glass/run.hpp"
#include "tests/ladder_experiments.hpp"

using namespace kernels;

TEST_SUITE("nightly") {
    TEST_CASE("glass: every tile that NVRTC compiles runs at a ragged size, right and without a race") {
        std::vector<sim::Experiment> experiments;
        std::vector<Instance> instances;
        for (sim::Experiment e : tests::ladder_experiments(90)) {
            e.cluster = {1, 1};  // glass has none
            e.dense.m = 70;
            e.dense.n = 45;
            e.dense.k = 83;
            bool runs_already = true;
            for (const DeviceKernel& k : kernels_of(e)) {
                Instance i = instance_of(k);
                i.epilogue = device::decided_at_run_time;
                if (std::find(instances.begin(), instances.end(), i) != instances.end()) continue;
                instances.push_back(i);
                runs_already = false;
            }
            if (!runs_already) experiments.push_back(e);
        }
        const auto start = std::chrono::steady_clock::now();
        const auto seconds = [&] {
            return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
        };
        glass::compile_ahead(instances, std::thread::hardware_concurrency());
        const double compiled = seconds();
        const sim::Device& device = sim::Catalogue::builtin().at("h200-sxm");
        for (const sim::Experiment& e : experiments) {
            CAPTURE(sim::to_string(e, sim::Catalogue::builtin()));
            const glass::Counted c = glass::run(e, device);
            CHECK_MESSAGE(c.fit.ok(), c.fit.why);
            CHECK_MESSAGE(c.first_wrong.empty(), c.first_wrong);
            for (const glass::Finding& f : c.findings) FAIL_CHECK(f.what);
        }
        MESSAGE(instances.size() << " instances compiled in " << compiled << " s, " << experiments.size()
                                 << " experiments run in " << seconds() - compiled << " s");
        CHECK(experiments.size() > 250);
    }
}
