// The measuring campaign on a GPU that is not there: every step is walked, goes on where it was cut off, keeps to its
// time, writes failures down and rows that can be read; and the frozen cases are those that are drawn.

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <set>

#include "kernels/cuda/build.hpp"
#include "kernels/ladder.hpp"
#include "sim/measurement.hpp"
#include "sim/validate.hpp"
#include "tests/fake_gpu.hpp"
#include "tests/fake_kernels.hpp"
#include "tests/gpu/campaign.hpp"
#include "tests/gpu/draw.hpp"
#include "tests/gpu/rehearse.hpp"
#include "tests/skips.hpp"

namespace fs = std::filesystem;
using namespace campaign;

namespace {

const fs::path cases_folder = fs::path(MEMWALL_SOURCE_DIR) / "tests/gpu/cases";

/// A folder that goes with the test.
struct Scratch {
    fs::path path = fs::temp_directory_path() / fmt::format("memwall-campaign-{}-{}", getpid(), count++);
    static inline int count = 0;
    Scratch() { fs::create_directories(path); }
    ~Scratch() { fs::remove_all(path); }
    fs::path write(const char* name, const std::string& text) const {
        std::ofstream(path / name, std::ios::binary) << text;
        return path / name;
    }
};

std::string status_of(const Journal& journal, const std::string& step, const std::string& id) {
    for (const Record& r : journal.records())
        if (r["step"] == step && r["id"] == id) return r["status"];
    return "";
}

/// Small cases in place of the frozen ones.
void small_cases(const fs::path& folder) {
    const auto one = [&](const char* step, std::initializer_list<const char*> words) {
        std::vector<Case> cases;
        for (const char* w : words)
            cases.push_back({step,
                             fmt::format("c{}", cases.size()),
                             sim::to_string(runnable(w).value(), sim::Catalogue::builtin()),
                             {}});
        freeze(cases, folder / fmt::format("{}.csv", step));
    };
    one("bytes", {"70x70x70 bf16 forward none tile 32x32x16 stages 2 rung 07_tensor_core"});
    one("time", {"70x70x70 bf16 forward unfused tile 32x32x16 stages 2 rung 07_tensor_core",
                 "70x70x70 bf16 wgrad fused tile 32x32x16 stages 2 rung 07_tensor_core"});
    one("sweep", {"70x70x70 bf16 forward fused tile 32x32x16 stages 2 rung 07_tensor_core",
                  "70x70x70 bf16 forward fused tile 32x64x16 stages 2 rung 07_tensor_core"});
    one("train", {"70x70x70 bf16 train fused tile 32x32x16 tile.dgrad 32x32x16 tile.wgrad 32x32x16 stages 2 rung "
                  "07_tensor_core"});
    one("rivals", {"70x70x70 bf16 forward fused tile 32x32x16 stages 2 rung 07_tensor_core"});
}

/// A GPU that computes what kernels of the ladder it is launched with, by their names; others take time only.
struct Computing {
    kernels::cuda::Runtime runtime = fake_gpu::install();
    kernels::cuda::CublasLt lt;
    std::map<std::string, kernels::DeviceKernel> known;
    int wrong = 0;  // launches from now on that write nothing

    Computing() {
        lt.why = "libcublasLt.so was not found";
        fake_gpu::state.l2_bytes = 1 << 20;
        fake_gpu::state.compute = [this](const fake_gpu::Launch& l, void** arguments) {
            const auto kernel = known.find(l.kernel);
            if (kernel == known.end() || wrong-- > 0) return 25.0;
            const auto& p = *static_cast<const kernels::device::Params*>(arguments[0]);
            if (kernel->second.pass == sim::Pass::forward && p.epilogue == 0 && p.test.data != p.left.data)
                log(p, l.shape.grid.x);
            else
                fake_gpu::compute(kernel->second, p);
            return 25.0;
        };
    }
    void learn(const std::vector<Case>& cases) {
        for (const Case& c : cases) {
            if (c.experiment.empty()) continue;
            const auto kernels =
                kernels::kernels_of(kernels::resolved(sim::parse_experiment(c.experiment, sim::Catalogue::builtin())));
            const kernels::cuda::Build built = kernels::cuda::build(kernels, "sm_90a");
            for (std::size_t i = 0; i < kernels.size(); i++) known[built.kernels[i].lowered] = kernels[i];
        }
    }
    /// What log.cpp's kernels write where drelu's operand would lie.
    static void log(const kernels::device::Params& p, long long ctas) {
        struct Entry {
            long long block, sm, ns;
        };
        for (long long i = 0; i < p.work_items; i++) {
            const sim::TileIndex t = sim::tile_at(p.raster, p.row_tiles, p.col_tiles, i);
            static_cast<Entry*>(p.test.data)[t.row * p.col_tiles + t.col] = {i % ctas, i % ctas % 132,
                                                                             1000 + i / ctas * 100 + i % 7};
        }
    }
};

}  // namespace

TEST_CASE("campaign: frozen cases are those that are drawn, and as many as promised") {
    const auto frozen = [](const char* step) { return cases_of(step_of(step), cases_folder); };
    for (const char* step : {"bytes", "sweep"}) {  // no model chooses these
        const auto kept = frozen(step), now = drawn(step_of(step));
        REQUIRE(kept.size() == now.size());
        for (std::size_t i = 0; i < kept.size(); i++) {
            CHECK(kept[i].id == now[i].id);
            CHECK(kept[i].experiment == now[i].experiment);
        }
    }
    int read_again = 0;
    for (const Case& c : frozen("bytes"))
        read_again +=
            static_cast<double>(c.frozen.read_bytes) > 1.5 * static_cast<double>(c.frozen.compulsory_read_bytes);
    CHECK(frozen("bytes").size() == 100);
    CHECK(read_again >= 60);

    std::map<std::string, std::set<std::string>> shapes_of;  // by pass and fusion
    for (const Case& c : frozen("time")) {
        const sim::Experiment e = sim::parse_experiment(c.experiment, sim::Catalogue::builtin());
        shapes_of[fmt::format("{} {}", to_string(e.pass), to_string(e.fusion))].insert(
            fmt::format("{}x{}x{}", e.dense.m, e.dense.n, e.dense.k));
    }
    CHECK(shapes_of.size() == 6);
    for (const auto& [kind, sizes] : shapes_of) CHECK_MESSAGE(sizes.size() == 24, kind);
    CHECK(shapes().size() == 24);

    std::map<sim::i64, std::set<std::string>> tiles;
    for (const Case& c : frozen("sweep"))
        tiles[sim::parse_experiment(c.experiment, sim::Catalogue::builtin()).dense.m].insert(
            c.experiment.substr(c.experiment.find("tile")));
    CHECK(tiles.at(4096).size() >= 60);
    CHECK(tiles.at(8192).size() >= 60);

    std::set<std::string> rungs;
    for (const Case& c : drawn(step_of("check"))) rungs.insert(rung_of(c.experiment));
    CHECK(rungs.size() == 9);  // all but the one of another architecture
    double shares = 0;
    for (const Step& s : steps()) {
        shares += s.share;
        std::set<std::string> ids;
        if (!s.frozen) continue;
        for (const Case& c : frozen(std::string(s.name).c_str())) {
            CHECK(ids.insert(c.id).second);
            CHECK(c.frozen.time_us >= c.frozen.bound_us);
            CHECK(c.frozen.bound_us > 0);
            CHECK(!c.frozen.git.empty());
            const sim::Experiment e = sim::parse_experiment(c.experiment, sim::Catalogue::builtin());
            CHECK_MESSAGE(kernels::fits(kernels::resolved(e), device_capability).ok(), c.experiment);
        }
    }
    CHECK(shares == doctest::Approx(1));
}

TEST_CASE("campaign: every step is walked, what fails is written down, and a second run goes on" *
          doctest::test_suite("slow")) {
    SKIP_WITHOUT(skips::Need::nvrtc);
    const Scratch scratch;
    small_cases(scratch.path);
    Computing gpu;
    std::vector<Case> first_check = drawn(step_of("check"));
    first_check.resize(1);
    gpu.learn(first_check);
    for (const char* step : {"bytes", "time", "sweep", "train"}) gpu.learn(cases_of(step_of(step), scratch.path));
    gpu.learn({{"log",
                "",
                sim::to_string(runnable("4096x4096x1024 bf16 forward none tile 128x128x64 stages 3 raster "
                                        "grouped:8 rung 07_tensor_core")
                                   .value(),
                               sim::Catalogue::builtin()),
                {}}});
    const Machine machine{gpu.runtime, gpu.lt, "false", scratch.path};
    Plan plan;
    plan.most_cases = 1;
    plan.shares = false;
    {
        Journal journal(scratch.path);
        CHECK(run(machine, plan, journal) == Ending::finished);
        CHECK(status_of(journal, "check", first_check[0].id) == "ok");
        CHECK(status_of(journal, "bytes", "c0") == "ok");  // timed; its counters have a reason
        CHECK(status_of(journal, "time", "c0") == "ok");
        CHECK(status_of(journal, "time", "c1").empty());
        CHECK(status_of(journal, "sweep", "c0") == "ok");
        CHECK_MESSAGE(status_of(journal, "train", "c0") == "ok", journal.records()[7].dump());
        CHECK(status_of(journal, "constants", "dram") == "ok");
        CHECK(status_of(journal, "counters", "copy-6-l2") == "failed");  // no driver to ask
        CHECK(status_of(journal, "mask", "512x384x256") == "refused");   // no cuBLASLt
        CHECK(status_of(journal, "log", "07_tensor_core") == "ok");
        const std::string sanitized = status_of(journal, "sanitize", "memcheck-01_naive");
        CHECK((sanitized == "refused" || sanitized == "failed"));
        CHECK(journal.records().size() == 10);
    }
    // The rest, with a kernel that is wrong: a failure, and the next case is run all the same.
    plan.most_cases = 0;
    plan.only = {"time", "sweep"};
    gpu.wrong = 1;
    Journal journal(scratch.path);
    CHECK(run(machine, plan, journal) == Ending::finished);
    CHECK(status_of(journal, "time", "c1") == "failed");
    CHECK(status_of(journal, "sweep", "c1") == "ok");
    CHECK(journal.records().size() == 12);
    const std::size_t launches = fake_gpu::state.launches.size();
    CHECK(run(machine, plan, journal) == Ending::finished);
    CHECK(fake_gpu::state.launches.size() == launches);  // nothing is run twice

    report(journal, scratch.path);
    const sim::MeasurementFile file = sim::read_measurements((scratch.path / "h200.csv").string());
    std::set<std::string> ids;
    for (const sim::Measurement& row : file.rows) {
        ids.insert(row.id);
        CHECK(row.time_us.value() > 0);
        CHECK(row.samples.value() > 0);
        CHECK(row.max_error.has_value());
        CHECK(!row.machine.empty());
        for (const char* column : {"cache", "data", "experiment", "date"}) CHECK(!row.cells.at(column).empty());
    }
    CHECK(ids ==
          std::set<std::string>{"h200-bytes-c0", "h200-sweep-c0", "h200-sweep-c1", "h200-time-c0", "h200-train-c0"});
    for (const sim::ValidatedRow& row : sim::validate(file, sim::Catalogue::builtin()).rows)
        CHECK_MESSAGE(row.why_skipped.empty(), row.why_skipped);
    const auto text_of = [&](const char* name) {
        std::ifstream in(scratch.path / name);
        return std::string{std::istreambuf_iterator<char>(in), {}};
    };
    CHECK(text_of("failures.csv").find("time,c1,failed,") != std::string::npos);
    CHECK(text_of("failures.csv").find("bytes,c0,no counters,") != std::string::npos);
    const std::string numbers = text_of("numbers.md");
    CHECK(numbers.find("| bytes | not measured yet |") != std::string::npos);
    CHECK(numbers.find("| time | median error ") != std::string::npos);
    CHECK(numbers.find("| kernels | not measured yet |") != std::string::npos);
    CHECK(numbers.find("NVIDIA H200") != std::string::npos);
    const sim::Device proposed = sim::parse_device(text_of("h200-sxm.proposed.toml"), "proposed.toml");
    CHECK(proposed.dram.bandwidth.kind == sim::Evidence::measured);
    CHECK(proposed.dram.bandwidth.source.find("tests/gpu") == 0);
    CHECK(proposed.l2.drift.value == sim::Catalogue::builtin().at("h200-sxm").l2.drift.value);
}

TEST_CASE("campaign: it stops in time, and a context that is lost ends the process with a word") {
    SKIP_WITHOUT(skips::Need::nvrtc);
    const Scratch scratch;
    small_cases(scratch.path);
    Computing gpu;
    gpu.learn(cases_of(step_of("sweep"), scratch.path));
    const Machine machine{gpu.runtime, gpu.lt, "false", scratch.path};
    Plan plan;
    plan.only = {"sweep"};
    plan.seconds = 0.01;
    Journal journal(scratch.path);
    CHECK(run(machine, plan, journal) == Ending::out_of_time);
    CHECK(journal.records().empty());

    plan.seconds = 60;
    plan.shares = false;
    fake_gpu::fail("cudaDeviceSynchronize", 700);
    CHECK(run(machine, plan, journal) == Ending::again);
    REQUIRE(journal.records().size() == 1);
    CHECK(journal.records()[0]["status"] == "failed");
    CHECK(run(machine, plan, journal) == Ending::again);
    CHECK(journal.deaths("07_tensor_core") == 2);
    // Now the rung is left alone.
    Journal other(scratch.path);
    std::vector<Case> more = cases_of(step_of("sweep"), scratch.path);
    more[0].id = "c2";
    freeze(more, scratch.path / "sweep.csv");
    CHECK(run(machine, plan, other) == Ending::finished);
    CHECK(other.records().back()["why"] == "07_tensor_core has ended the process before: not tried");
    CHECK_THROWS_WITH_AS(cases_of(step_of("time"), scratch.path / "nowhere"), doctest::Contains("cannot be read"),
                         sim::BadInput);
    CHECK_THROWS_AS(step_of("tiem"), sim::BadInput);
}

TEST_CASE("campaign: a case that ended the process is written down once, and a line that was cut off is passed over") {
    const Scratch scratch;
    const Case a{"time", "a", "", {}}, b{"time", "b", "", {}};
    {
        Journal journal(scratch.path);
        journal.begin(a);
        journal.end(a, {{"status", "ok"}});
        journal.begin(b);
    }
    {
        const Journal journal(scratch.path);
        CHECK(journal.done(a));
        CHECK(status_of(journal, "time", "b") == "failed");
    }
    std::ofstream(scratch.path / "results.jsonl", std::ios::app) << R"({"step":"time","id":"c","stat)";
    {
        Journal journal(scratch.path);
        CHECK(journal.records().size() == 2);
        const Case c{"time", "c", "", {}};
        CHECK(!journal.done(c));
        journal.end(c, {{"status", "ok"}});
    }
    CHECK(Journal(scratch.path).records().size() == 3);
    CHECK_THROWS_AS(Journal("/proc/nowhere"), sim::BadInput);
}

TEST_CASE("campaign: the Python rivals are right where they can be asked") {
    SKIP_WITHOUT(skips::Need::jax);
    CHECK(std::system(("python3 '" MEMWALL_SOURCE_DIR "/tests/gpu/rivals.py' --rehearse >/dev/null")) == 0);
}
