// Check-then-time on a GPU that is not there: launches are computed on the processor from the parameters they carry.

#include <doctest/doctest.h>

#include <cmath>

#include "kernels/cuda/device_operands.hpp"
#include "kernels/cuda/executable.hpp"
#include "kernels/cuda/run.hpp"
#include "kernels/ladder.hpp"
#include "kernels/matrix.hpp"
#include "tests/fake_gpu.hpp"
#include "tests/fake_kernels.hpp"
#include "tests/skips.hpp"

using namespace kernels;
using fake_gpu::state;
using sim::Dtype;

namespace {

sim::Experiment parse(const std::string& text) {
    return sim::parse_experiment("h200-sxm " + text, sim::Catalogue::builtin());
}

/// A GPU that computes the launches of that experiment, in turn, each `us` long.
struct Computing {
    cuda::Runtime runtime = fake_gpu::install();
    std::vector<DeviceKernel> kernels;
    std::size_t next = 0;

    explicit Computing(const sim::Experiment& e, double us = 10) : kernels(kernels_of(resolved(e))) {
        state.l2_bytes = 1 << 20;
        state.compute = [this, us](const fake_gpu::Launch&, void** arguments) {
            fake_gpu::compute(kernels[next++ % kernels.size()], *static_cast<const device::Params*>(arguments[0]));
            return us;
        };
    }
};

constexpr RunOptions quick = {.seconds = 0, .most_bytes = 4 << 20};

}  // namespace

TEST_SUITE("slow") {
    TEST_CASE("cuda run: every pass and fusion is checked and timed, by rungs of both kinds") {
        SKIP_WITHOUT(skips::Need::nvrtc);
        const std::string simt = "f32 rung 04_register_tile tile 32x32x8",
                          tensor = "bf16 rung 07_tensor_core tile 32x32x16";
        const std::pair<std::string, std::string> cases[] = {
            {simt, "forward none"},
            {simt, "forward unfused"},
            {simt, "forward fused bias yes"},
            {simt, "dgrad fused"},
            {simt, "dgrad upstream drelu yes"},
            {simt, "wgrad fused accumulate yes"},
            {simt, "wgrad fused schedule split_k:3"},
            {tensor, "forward unfused"},
            {tensor, "forward fused residual mask"},
            {tensor, "dgrad unfused"},
            {tensor, "dgrad fused residual mask"},
            {tensor, "dgrad upstream drelu yes residual mask"},
            {tensor, "wgrad unfused residual mask"},
            {tensor, "train fused tile.dgrad 32x32x16 tile.wgrad 32x32x16"},
            {tensor, "train unfused residual mask in_place yes tile.dgrad 32x32x16 tile.wgrad 32x32x16"},
        };
        for (const auto& [rung, pass] : cases) {
            const std::string text = "40x48x56 " + rung + " " + pass;
            CAPTURE(text);
            const sim::Experiment e = parse(text);
            Computing gpu(e);
            const RunResult r = cuda::run(e, quick, {}, {}, gpu.runtime);
            REQUIRE_MESSAGE(r.fit.ok(), r.fit.why);
            CHECK(r.samples_us.size() == 7);
            CHECK(r.median_us == doctest::Approx(10.0 * static_cast<double>(gpu.kernels.size())).epsilon(1e-3));
            REQUIRE(r.kernels.size() == gpu.kernels.size());
            for (std::size_t i = 0; i < r.kernels.size(); i++) {
                CHECK(r.kernels[i].name == gpu.kernels[i].name);
                CHECK(r.kernels[i].median_us == doctest::Approx(10).epsilon(1e-3));
            }
            CHECK(r.max_error < (rung.starts_with("f32") ? 1e-6 : 0.01));
            CHECK(r.machine == "NVIDIA H200");
            CHECK(r.instructions == "sm_90a");
            CHECK(r.checked.find("instance with NaN, infinities, -0 and subnormals and every element at full size") !=
                  std::string::npos);
            CHECK(state.allocated.empty());
            CHECK(state.live_libraries == 0);
        }
    }
}

TEST_CASE("cuda run: a wrong value, a write out of bounds and a changed input are each found and named") {
    SKIP_WITHOUT(skips::Need::nvrtc);
    const sim::Experiment e = parse("40x48x56 f32 forward fused tile 32x32x8 rung 04_register_tile");
    const auto failure = [&](const std::function<void(const device::Params&)>& damage) {
        Computing gpu(e);
        const auto right = state.compute;
        state.compute = [&](const fake_gpu::Launch& l, void** arguments) {
            const double us = right(l, arguments);
            damage(*static_cast<const device::Params*>(arguments[0]));
            return us;
        };
        try {
            cuda::run(e, quick, {}, {}, gpu.runtime);
        } catch (const std::runtime_error& error) {
            return std::string(error.what());
        }
        return std::string();
    };
    const auto at = [](const device::Plane& p, long long i) { return static_cast<float*>(p.data) + i; };
    CHECK(failure([](const device::Params&) {}).empty());
    const std::string wrong = failure([&](const device::Params& p) { *at(p.out, 5) += 1; });
    CHECK(wrong.find("04_register_tile at ") == 0);
    CHECK(wrong.find("y(0, 5)") != std::string::npos);
    CHECK(failure([&](const device::Params& p) {
              *at(p.out, p.rows * p.out.pitch) = 1;
          }).find("the kernel wrote to beyond y") != std::string::npos);
    CHECK(failure([&](const device::Params& p) { *at(p.left, 3) += 1; }).find("the kernel wrote to x") !=
          std::string::npos);
    // An output that was never written holds poison, not what lay there before.
    CHECK(!failure([&](const device::Params& p) { *at(p.out, 7) = std::nanf(""); }).empty());
}

TEST_CASE("cuda run: an element that nobody wrote is found") {
    const cuda::Runtime r = fake_gpu::install();
    for (const char* text : {"37x45x29 bf16 forward unfused tile 32x32x16 rung 07_tensor_core",
                             "batch 2 37x45x29 f32 wgrad fused tile 32x32x8 rung 04_register_tile"}) {
        OperandSet set(op_of(parse(text)));
        set.fill_normal(1);
        const cuda::DeviceOperands on_device(r, set);
        CHECK(on_device.unwritten(set).empty());
        on_device.poison();
        on_device.download(set);
        CHECK(on_device.unwritten(set) == (set.op().pass == sim::Pass::forward ? "z(0, 0)" : "dw(0, 0)"));
    }
}

TEST_CASE("cuda run: sets of operands exceed the L2 twice, or the run is warm") {
    SKIP_WITHOUT(skips::Need::nvrtc);
    const std::string text = "64x64x64 f32 forward fused tile 32x32x8 rung 04_register_tile";
    Computing gpu(parse(text));
    RunOptions options = quick;
    options.cache_bytes = 4 * 3 * (64 * 64 * 4 + 256);
    const RunResult cold = cuda::run(parse(text), options, {}, {}, gpu.runtime);
    CHECK(cold.cold);
    CHECK(cold.sets == 9);
    const RunResult warm = cuda::run(parse(text + " l2 warm"), options, {}, {}, gpu.runtime);
    CHECK(!warm.cold);
    CHECK(warm.sets == 1);
    options.most_bytes = 1;
    CHECK(cuda::run(parse(text), options, {}, {}, gpu.runtime).sets == 1);
}

TEST_CASE("cuda run: what does not fit is a reason, and a run can be stopped") {
    SKIP_WITHOUT(skips::Need::nvrtc);
    const std::string text = "64x64x64 f32 forward fused tile 32x32x8 rung 04_register_tile";
    {
        Computing gpu(parse(text));
        state.memory = 50000;
        CHECK(cuda::run(parse(text), quick, {}, {}, gpu.runtime).fit.why.find("for its operands; the GPU has ") !=
              std::string::npos);
    }
    {
        Computing gpu(parse(text));
        state.capability = 75;
        const sim::Experiment e = parse("64x64x64 f32 forward fused tile 32x32x8 rung 06_async_copy");
        CHECK(cuda::run(e, quick, {}, {}, gpu.runtime).fit.why ==
              "matmul: rung 06_async_copy needs compute capability 8.0; this is 7.5");
        state.devices = 0;
        CHECK_THROWS_AS(cuda::run(e, quick, {}, {}, gpu.runtime), NotAvailable);
    }
    Computing gpu(parse(text));
    std::stop_source stop;
    double said = 0;
    const RunResult r = cuda::run(
        parse(text), quick,
        [&](double share) {
            CHECK(share >= said);
            said = share;
            if (share >= 0.3) stop.request_stop();
        },
        stop.get_token(), gpu.runtime);
    CHECK(r.cancelled);
    CHECK(said < 1);
}

TEST_CASE("cuda run: TMA descriptors say where an operand lies and which box is copied") {
    const cuda::Runtime r = fake_gpu::install();
    alignas(128) static float memory[64];
    TensorBox box{memory, Dtype::bf16, 1000, 700, 3, 2048, 2048 * 700, 64, 128, 128};
    const device::TensorMap map = cuda::encode(r, box);
    const unsigned long long expected[] = {9,   3, reinterpret_cast<unsigned long long>(memory), 1000, 700, 2048, 64,
                                           128, 3};
    for (std::size_t i = 0; i < std::size(expected); i++) CHECK(map.words[i] == expected[i]);
    box.pitch_bytes = 2040;
    CHECK_THROWS_AS(cuda::encode(r, box), cuda::CudaError);
    const device::TensorMap none = cuda::encode(r, {});
    for (const unsigned long long word : none.words) CHECK(word == 0);
}

TEST_CASE("cuda run: the GPU here is, or is not, the device that was asked for") {
    const auto same = [](const char* id, const char* name, int sms, double gb) {
        cuda::Gpu g;
        g.name = name;
        g.sm_count = sms;
        g.memory_bytes = static_cast<sim::i64>(gb * 1e9);
        g.capability = 90;
        return cuda::same_gpu(sim::Catalogue::builtin().at(id), g);
    };
    CHECK(same("h200-sxm", "NVIDIA H200", 132, 150).ok());
    CHECK(
        same("h200-sxm", "NVIDIA H200 NVL", 132, 150).why ==
        "h200-sxm was asked for; the GPU here is NVIDIA H200 NVL (132 SMs, 150 GB of memory, compute capability 9.0)");
    CHECK(same("h200-nvl", "NVIDIA H200 NVL", 132, 150).ok());
    CHECK(!same("h200-sxm", "NVIDIA H200", 60, 70).ok());  // a slice of one
    CHECK(same("h100-sxm5", "NVIDIA H100 80GB HBM3", 132, 85).ok());
    CHECK(!same("h100-pcie", "NVIDIA H100 80GB HBM3", 132, 85).ok());
    CHECK(same("h100-pcie", "NVIDIA H100 PCIe", 114, 85).ok());
    CHECK(!same("h200-sxm", "NVIDIA H100 80GB HBM3", 132, 85).ok());
    CHECK(same("a100-sxm4-40gb", "NVIDIA A100-SXM4-40GB", 108, 42.4).ok());
    CHECK(!same("a100-sxm4-80gb", "NVIDIA A100-SXM4-40GB", 108, 42.4).ok());
    CHECK(same("rtx-4090", "NVIDIA GeForce RTX 4090", 128, 25.3).ok());
    CHECK(same("rtx-a6000", "NVIDIA RTX A6000", 84, 51).ok());
    CHECK(!same("rtx-4070-ti-super", "NVIDIA GeForce RTX 4070", 66, 17).ok());
    CHECK(same("t4", "Tesla T4", 40, 15.8).ok());
    CHECK(same("b200-sxm", "NVIDIA B200", 148, 191).ok());
}
