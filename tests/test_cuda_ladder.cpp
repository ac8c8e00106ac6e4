// Every rung compiles: many tiles, every pass, fusion and residual, for each architecture; the compiler's log and the
// cubin agree, and what promises to keep its sums in registers does. Nothing comes from the cubin cache.

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <ctime>
#include <map>
#include <mutex>
#include <set>
#include <thread>

#include "kernels/cuda/build.hpp"
#include "kernels/ladder.hpp"
#include "sim/embedded.hpp"
#include "tests/ladder_experiments.hpp"
#include "tests/skips.hpp"

using namespace kernels;
using sim::Dtype;
using sim::Fusion;
using sim::Pass;
using sim::Residual;

namespace {

constexpr int archs[] = {80, 90, 100};
/// Stored and loaded: the assembler spills some registers where that lets a CTA in.
constexpr sim::i64 traded_bytes = 64;
constexpr std::size_t a_program = 8;

struct Unit {
    int arch;
    std::string file;
    std::vector<std::string> expressions;
    std::vector<bool> promised;  ///< not to spill
};

/// What promises not to spill: a thread's sums, the fragments it multiplies, what it copies of the next tile (at most
/// 48 elements) and 48 registers more are no more than it may have.
bool keeps_in_registers(const DeviceKernel& k) {
    if (!k.matmul() || k.rung->tma) return true;
    const sim::i64 threads = block_threads(k), registers = std::min<sim::i64>(255, 65536 / threads);
    const sim::i64 gated = k.gate == device::gate_none ? 0 : k.tile.bn;  // the residual comes beside dY
    const sim::i64 copied = (k.tile.bm + k.tile.bn + gated) * k.tile.bk / threads;
    const sim::i64 at_once = k.rung->simt && k.rung->async_copies ? 4 : 1;  // values of each row it reads
    const sim::i64 fragments =
        k.rung->simt ? at_once * (k.thread.rows + k.thread.cols) : (k.warp.rows + k.warp.cols) / 4;
    return copied <= 48 && k.tile.bm * k.tile.bn / threads + fragments + copied + 48 <= registers;
}

/// The programs of the whole ladder on an architecture, and how many tiles each rung has forward.
std::vector<Unit> units_of(int arch, std::map<std::string, std::set<std::string>>& forward_tiles) {
    std::vector<Unit> units;
    std::map<std::string, std::map<std::string, bool>> by_file;  // expression -> promised
    for (const sim::Experiment& e : tests::ladder_experiments(arch)) {
        if (e.pass == Pass::forward && e.fusion == Fusion::fused)
            forward_tiles[e.rung].insert(fmt::format("{}x{}x{} {}", e.tile.bm, e.tile.bn, e.tile.bk, e.stages));
        for (const DeviceKernel& k : kernels_of(e)) {
            const Launch l = launch_of(k);
            by_file[l.file][l.name_expression] = keeps_in_registers(k);
        }
    }
    for (const auto& [file, expressions] : by_file)
        for (auto at = expressions.begin(); at != expressions.end();) {
            Unit unit{arch, file, {}, {}};
            for (; at != expressions.end() && unit.expressions.size() < a_program; ++at) {
                unit.expressions.push_back(at->first);
                unit.promised.push_back(at->second);
            }
            units.push_back(unit);
        }
    return units;
}

/// Compiles one program and returns what is wrong with it, a line a problem.
std::string judge(const Unit& unit, std::size_t& spilled) {
    const std::string arch = cuda::arch_name(unit.arch);
    std::string wrong;
    try {
        const cuda::Program p = cuda::compile(cuda::device_source(unit.file), unit.expressions, arch);
        const auto cubin = cuda::read_cubin(p.cubin);
        for (std::size_t i = 0; i < p.kernels.size(); i++) {
            const cuda::CompiledKernel& k = p.kernels[i];
            const auto in_cubin = cubin.find(k.lowered);
            const auto say = [&](const std::string& what) {
                wrong += fmt::format("{} {}: {}\n", arch, k.expression, what);
            };
            if (in_cubin == cubin.end()) {
                say("not in the cubin");
                continue;
            }
            const cuda::CubinKernel& c = in_cubin->second;
            if (c.registers != k.resources.registers)
                say(fmt::format("{} registers in the cubin, {} in the log", c.registers, k.resources.registers));
            if (c.stack_bytes != k.resources.stack_bytes)
                say(fmt::format("{} B of stack in the cubin, {} in the log", c.stack_bytes, k.resources.stack_bytes));
            const sim::i64 reserved = unit.arch >= 90 && c.shared_bytes > 0 ? 1024 : 0;
            if (c.shared_bytes - reserved != k.resources.static_smem_bytes)
                say(fmt::format("{} B shared in the cubin, {} in the log", c.shared_bytes,
                                k.resources.static_smem_bytes));
            spilled += k.resources.spill_bytes() > 0;
            if (unit.promised[i] && k.resources.spill_bytes() > traded_bytes)
                say(fmt::format("spills {} B at {} registers", k.resources.spill_bytes(), k.resources.registers));
        }
    } catch (const std::exception& e) {
        wrong += fmt::format("{} {}: {}\n", arch, unit.file, e.what());
    }
    return wrong;
}

}  // namespace

TEST_SUITE("slow") {
    TEST_CASE("cuda ladder: every rung, tile, pass and fusion compiles, its log is its cubin, nothing spills") {
        SKIP_WITHOUT(skips::Need::nvrtc);
        std::vector<Unit> units;
        for (const int arch : archs) {
            std::map<std::string, std::set<std::string>> forward_tiles;
            const auto more = units_of(arch, forward_tiles);
            units.insert(units.end(), more.begin(), more.end());
            for (const auto& [rung, tiles] : forward_tiles) {
                CAPTURE(arch);
                CAPTURE(rung);
                CHECK(tiles.size() >= tests::least_tiles);
            }
        }
        // A rung costs more than those before it: the longest first, so that all cores end together.
        std::stable_sort(units.begin(), units.end(), [](const Unit& a, const Unit& b) { return a.file > b.file; });
        std::atomic<std::size_t> next = 0, kernels = 0;
        std::size_t spilled = 0;
        std::mutex mutex;
        std::string wrong;
        const auto start = std::chrono::steady_clock::now();
        const std::clock_t cpu_start = std::clock();
        {
            std::vector<std::jthread> threads;
            for (unsigned t = 0; t < std::max(1u, std::thread::hardware_concurrency()); t++)
                threads.emplace_back([&] {
                    for (std::size_t i = next++; i < units.size(); i = next++) {
                        std::size_t spills = 0;
                        const std::string lines = judge(units[i], spills);
                        kernels += units[i].expressions.size();
                        const std::lock_guard lock(mutex);
                        wrong += lines;
                        spilled += spills;
                    }
                });
        }
        const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
        const double cpu_seconds = static_cast<double>(std::clock() - cpu_start) / CLOCKS_PER_SEC;
        MESSAGE(kernels.load() << " kernels in " << units.size() << " programs, " << seconds << " s (" << cpu_seconds
                               << " of processor time); " << spilled << " spill registers");
        CHECK_MESSAGE(wrong.empty(), wrong);
    }
}

TEST_CASE("cuda ladder: each source travels in the program, with what it includes and nothing else") {
    for (const sim::EmbeddedFile& f : sim::embedded_kernels()) {
        const cuda::Source source = cuda::device_source("kernels/device/" + std::string(f.name));
        CHECK(source.text == f.text);
        for (const auto& [name, text] : source.headers) {
            CHECK(!text.empty());
            CHECK((name == "sim/schedule.hpp" || name.starts_with("kernels/device/")));
        }
    }
    for (const DeviceRung& rung : device_rungs()) {
        CAPTURE(rung.file);
        const cuda::Source source = cuda::device_source(rung.file);
        const auto has = [&](std::string_view name) {
            return std::any_of(source.headers.begin(), source.headers.end(),
                               [&](const auto& h) { return h.first == name; });
        };
        CHECK(has("kernels/device/params.cuh"));
        CHECK(has("sim/schedule.hpp"));
        for (const DeviceRung& other : device_rungs()) CHECK(!has(other.file));
    }
    CHECK_THROWS(cuda::device_source("kernels/device/nothing.cuh"));
    CHECK_THROWS(cuda::device_source("kernels/cuda/build.cpp"));
}

TEST_CASE("cuda ladder: architectures by number and by name") {
    CHECK(cuda::arch_name(80) == "sm_80");
    CHECK(cuda::arch_name(89) == "sm_89");
    CHECK(cuda::arch_name(90) == "sm_90a");
    CHECK(cuda::arch_name(100) == "sm_100a");
    for (const char* arch : {"sm_90a", "sm_90"}) CHECK(cuda::capability_of(arch) == 90);
    for (const char* arch : {"", "sm_", "90", "compute_90"}) CHECK(cuda::capability_of(arch) == 0);
}
