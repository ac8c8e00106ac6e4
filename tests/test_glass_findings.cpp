// What glass finds in a wrong kernel, named by source line: races, missing barriers, reads out of bounds, shared memory
// that nobody wrote.

#include <doctest/doctest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "kernels/device/async_operand.cuh"
#include "kernels/device/epilogue.cuh"
#include "kernels/glass/executor.hpp"
#include "kernels/glass/on_demand.hpp"
#include "kernels/glass/run.hpp"
#include "kernels/ladder.hpp"
#include "sim/experiment.hpp"

using namespace kernels;
using glass::Finding;

namespace kernels::device {
namespace {

// Two warps hand values to each other through shared memory: each lane stores its own and reads the one 32 further on.
// The template says what is wrong with it.
enum Bug {
    none,
    no_barrier,
    no_second_barrier,
    no_wait,
    out_of_bounds,
    shared_out_of_bounds,
    crooked,
    unwritten,
    divergent,
    early
};

template <Bug BUG>
KERNEL(64)
exchange(GRID_CONSTANT Params p) {
    const lane<int> t = thread_index();
    const float* in = static_cast<const float*>(p.left.data);
    SharedMemory smem;
    const Shared<float> s = smem.take<float>(64);
    lane<float> v = 0.0f;
    for (int round = 0; round < 2; ++round) {
        if constexpr (BUG == no_wait) {
            copy_async<4>(s, t % 16 * 4, in, t % 16 * 4, lane<int>(4), t < 16);  // [copy]
            copy_commit();
        } else {
            const lane<float> x = ld_global(in, BUG == out_of_bounds ? t + 1 : t);  // [load]
            fill_shared(s, t, x, all_lanes, BUG == unwritten ? t < 40 : t < 64);    // [store]
        }
        if (BUG == divergent && warp_index() == 1) SYNC();  // [other barrier]
        if (BUG == early && warp_index() == 1) KERNEL_END;
        if constexpr (BUG != no_barrier) SYNC();  // [barrier]
        lane<float> four[4];
        if constexpr (BUG == crooked) ld_shared(four, s, t % 8);                     // [crooked]
        v = v + ld_shared(s, BUG == shared_out_of_bounds ? t + 32 : (t + 32) % 64);  // [read]
        if constexpr (BUG != no_second_barrier) SYNC();
    }
    st_global(static_cast<float*>(p.out.data), t, v);
    KERNEL_END;
}

}  // namespace
}  // namespace kernels::device

namespace {

struct Outcome {
    std::vector<Finding> findings;
    std::vector<float> out = std::vector<float>(64, -1.0f);
};

Outcome run(const glass::Entry& entry, std::uint64_t seed = 0) {
    alignas(256) static float in[64];
    for (int i = 0; i < 64; ++i) in[i] = static_cast<float>(i);
    Outcome o;
    glass::Machine machine;
    machine.buffers = {{"x", reinterpret_cast<std::byte*>(in), sizeof in, 1 << 20},
                       {"y", reinterpret_cast<std::byte*>(o.out.data()), 256, 2 << 20}};
    device::Params p{};
    p.left.data = in;
    p.out.data = o.out.data();
    glass::Order order;
    order.seed = seed;
    glass::execute(machine, entry, p, {}, {1, 2, 256}, order);
    o.findings = machine.findings;
    return o;
}

template <device::Bug BUG>
Outcome run(std::uint64_t seed = 0) {
    return run(glass::entry_of<&device::exchange<BUG>>(), seed);
}

std::string read(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}
int line_at(const std::string& text, std::size_t at) {
    return 1 + static_cast<int>(std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n'));
}
/// The line of this file that ends in "// [mark]"; 0 for no mark.
int line(const std::string& mark) {
    static const std::string text = read(MEMWALL_SOURCE_DIR "/tests/test_glass_findings.cpp");
    const std::size_t at = text.find("// [" + mark + "]");
    REQUIRE(at != std::string::npos);
    return line_at(text, at);
}

bool found(const Outcome& o, Finding::Kind kind, const std::string& here, const std::string& there = "") {
    for (const Finding& f : o.findings)
        if (f.kind == kind && f.here.line == line(here) && f.there.line == (there.empty() ? 0 : line(there)))
            return true;
    for (const Finding& f : o.findings) MESSAGE(f.what);
    return false;
}

}  // namespace

TEST_CASE("glass: a right kernel has no findings, in whatever order its warps run") {
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        const Outcome o = run<device::none>(seed);
        CHECK(o.findings.empty());
        for (int i = 0; i < 64; ++i)
            CHECK(o.out[static_cast<std::size_t>(i)] == static_cast<float>(2 * ((i + 32) % 64)));
    }
}

TEST_CASE("glass: a missing barrier is a race between the two lines, in whatever order the warps run") {
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        const Outcome first = run<device::no_barrier>(seed), second = run<device::no_second_barrier>(seed);
        CHECK((found(first, Finding::race, "read", "store") || found(first, Finding::race, "store", "read")));
        CHECK((found(second, Finding::race, "store", "read") || found(second, Finding::race, "read", "store")));
    }
}

TEST_CASE("glass: an asynchronous copy that nobody waited for is a race, barrier or not") {
    CHECK(found(run<device::no_wait>(), Finding::race, "read", "copy"));
}

TEST_CASE("glass: an access out of bounds ends the kernel and names its line, operand and lane") {
    const Outcome o = run<device::out_of_bounds>();
    CHECK(found(o, Finding::out_of_bounds, "load"));
    CHECK(o.findings[0].what.find("256 bytes into x, which has 256") != std::string::npos);
    CHECK(o.findings[0].what.find("warp 1, lane 31") != std::string::npos);
    CHECK(o.out[0] == -1.0f);
    CHECK(found(run<device::shared_out_of_bounds>(), Finding::out_of_bounds, "read"));
    CHECK(found(run<device::crooked>(), Finding::out_of_bounds, "crooked"));
}

TEST_CASE("glass: shared memory is read that nobody wrote") {
    CHECK(found(run<device::unwritten>(), Finding::uninitialised, "read"));
}

TEST_CASE("glass: a barrier that not all warps reach is a deadlock, not a hang") {
    CHECK(found(run<device::divergent>(), Finding::deadlock, "barrier", "other barrier"));
    CHECK(found(run<device::early>(), Finding::deadlock, "barrier"));
}

namespace {

/// What glass finds in a rung when a piece of its text is blanked out, the `which`-th of its kind.
std::vector<Finding> findings_without(const DeviceKernel& k, const std::string& piece, int which = 0) {
    const std::string file(k.rung->file);
    std::string text = read(MEMWALL_SOURCE_DIR "/" + file);
    std::size_t at = text.find(piece);
    for (; which > 0; --which) at = text.find(piece, at + 1);
    REQUIRE(at != std::string::npos);
    text.replace(at, piece.size(), std::string(piece.size(), ' '));
    OperandSet set({k.dense, k.pass, k.gate == device::gate_none ? sim::Fusion::none : sim::Fusion::fused});
    set.fill_normal(1);
    const Operands& o = set.operands();
    glass::Machine machine;
    for (const auto& [name, m] :
         {std::pair("x", &o.x), {"w", &o.w}, {"z", &o.z}, {"y", &o.y}, {"dy", &o.dy}, {"dx", &o.dx}, {"dw", &o.dw}})
        if (*m)
            machine.buffers.push_back({name, static_cast<std::byte*>(m->data),
                                       sim::storage_bytes(m->dtype) * m->batch_pitch,
                                       (machine.buffers.size() + 1) << 24});
    const Launch l = launch_of(k);
    glass::execute(machine, glass::compile_changed(instance_of(k), file, text), params_of(k, o), glass::box_maps(k, o),
                   {l.grid, l.block / 32, l.smem_bytes}, {});
    return machine.findings;
}

/// Whether a finding of that kind names the lines of the rung that hold these two pieces of text.
bool names(const DeviceKernel& k, const std::vector<Finding>& findings, Finding::Kind kind, const std::string& one,
           const std::string& other) {
    const std::string file(k.rung->file), text = read(MEMWALL_SOURCE_DIR "/" + file);
    const int a = line_at(text, text.find(one)), b = line_at(text, text.find(other));
    for (const Finding& f : findings)
        if (f.kind == kind && f.here.name() == file && f.there.name() == file &&
            std::minmax(f.here.line, f.there.line) == std::minmax(a, b))
            return true;
    for (const Finding& f : findings) MESSAGE(f.what);
    return false;
}

DeviceKernel first_kernel(const std::string& text) {
    return kernels_of(sim::parse_experiment("h200-sxm " + text, sim::Catalogue::builtin())).front();
}

}  // namespace

TEST_SUITE("slow") {
    TEST_CASE("glass: deleting either barrier of rung 03 makes racecheck name the two lines") {
        const DeviceKernel k = first_kernel("64x32x24 f32 forward none rung 03_shared_tile tile 32x32x8");
        for (const int which : {0, 1})
            CHECK(names(k, findings_without(k, "SYNC();", which), Finding::race, "a.template copy", "= a.read("));
    }

    TEST_CASE("glass: rung 06 without its wait reads what may not have come") {
        const DeviceKernel k = first_kernel("64x64x64 f32 forward none rung 06_async_copy tile 64x64x16");
        CHECK(names(k, findings_without(k, "copy_wait<STAGES - 2>();"), Finding::race, "a.stage(s).template begin_copy",
                    "now_a.template fragment"));
    }

    TEST_CASE("glass: rung 09 without one of its waits, or without an arrival") {
        const DeviceKernel k = first_kernel("128x128x640 bf16 forward none rung 09_tma_wgmma tile 128x128x64 stages 4");
        const std::string copy = "copy_tile<BM, BK", multiply = "warpgroup_multiply<BN, BM";
        CHECK(names(k, findings_without(k, "WAIT(full, stage, phase);"), Finding::race, copy, multiply));
        CHECK(names(k, findings_without(k, "WAIT(empty, stage, phase ^ 1);"), Finding::race, copy, copy));
        CHECK(names(k, findings_without(k, "warpgroup_wait<BEHIND>();"), Finding::race, copy, multiply));
        CHECK(names(k, findings_without(k, "if (BEHIND == 0 || step > w.k_begin) release(BEHIND ? before : stage);"), Finding::deadlock, "WAIT(empty",
                    "WAIT(full"));
    }

    TEST_CASE("glass: rung 09 masks without showing it to the products, or to each other") {
        const std::string shape = "640x128x128 bf16 ", rung = " fused rung 09_tma_wgmma tile 128x128x64 stages 4";
        const DeviceKernel wgrad = first_kernel(shape + "wgrad" + rung);
        for (const char* piece : {"fence_for_products();", "SYNC_WARPS(first_sharer, SHARERS);"})
            CHECK(names(wgrad, findings_without(wgrad, piece), Finding::race, "template mask_in_place",
                        "warpgroup_multiply<BN, BM"));
        const DeviceKernel dgrad = first_kernel("128x640x128 bf16 dgrad" + rung);
        CHECK(names(dgrad, findings_without(dgrad, "WAIT(full, stage, phase);"), Finding::race,
                    "copy_tile<BM, BK", "slab.left_fragment"));
        CHECK(names(dgrad, findings_without(dgrad, "warpgroup_wait<0>();"), Finding::race, "copy_tile<BN, BK",
                    "warpgroup_multiply<BN, BK"));
    }
}
