// The ladder as data: what is legal says so, what is not says what it needs, and a launch is what the kernel takes.

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <vector>

#include "kernels/glass/executor.hpp"
#include "kernels/glass/run.hpp"
#include "kernels/ladder.hpp"
#include "sim/experiment.hpp"
#include "sim/fit.hpp"

using namespace kernels;
using sim::Pass;

namespace {

const sim::Catalogue& devices() { return sim::Catalogue::builtin(); }

DeviceKernel kernel(const std::string& text) {
    return kernels_of(sim::parse_experiment("h200-sxm " + text, devices())).front();
}
std::string why(const std::string& text, int arch = 0) { return fits(kernel(text), arch).why; }
bool says(const std::string& text, const std::string& part, int arch = 0) {
    CAPTURE(text);
    const std::string reason = why(text, arch);
    CAPTURE(reason);
    return reason.find(part) != std::string::npos;
}

/// A tile each rung takes.
std::string tile_of(const DeviceRung& r) {
    if (r.id < "04") return "32x32x16";
    return r.simt ? "64x64x16" : r.tma ? "128x128x64" : "64x64x32";
}

}  // namespace

TEST_CASE("ladder: rungs are the model's, each with a source of its name") {
    for (const DeviceRung& r : device_rungs()) {
        CAPTURE(r.id);
        const sim::Rung* known = sim::find_rung(r.id, sim::DeviceKind::gpu);
        REQUIRE(known);
        CHECK(r.simt == (known->engine == sim::Engine::simt));
        CHECK(r.file == "kernels/device/" + std::string(r.id) + ".cuh");
        CHECK(r.async_copies ==
              (known->pipeline != sim::Pipeline::none && known->pipeline != sim::Pipeline::double_buffered));
    }
    int gpu_rungs = 0;
    for (const sim::Rung& r : sim::rungs()) gpu_rungs += r.device == sim::DeviceKind::gpu;
    CHECK(gpu_rungs == static_cast<int>(device_rungs().size()));
}

TEST_CASE("ladder: each rung, dtype and pass has one row; a legal one fits, an illegal one says what it needs") {
    std::set<std::tuple<std::string_view, int, int>> seen;
    for (const Legal& l : legal_table()) {
        CHECK(seen.insert({l.rung, static_cast<int>(l.dtype), static_cast<int>(l.pass)}).second);
        const DeviceRung& r = *find_device_rung(l.rung);
        const std::string text = "512x512x512 " + std::string(to_string(l.dtype)) + " " +
                                 std::string(to_string(l.pass)) + " none rung " + std::string(r.id) + " tile " +
                                 tile_of(r);
        CAPTURE(text);
        const std::string reason = why(text);
        CAPTURE(reason);
        CHECK(reason.empty() == l.needs.empty());
        CHECK(kernel(text).layout == l.layout);
        if (l.needs.find("{transpose}") != std::string_view::npos)
            CHECK(reason.find(l.dtype == sim::Dtype::f32 ? "a transpose of 1.05 MB" : "a transpose of 524 kB") !=
                  std::string::npos);
    }
    CHECK(seen.size() == device_rungs().size() * 9);
}

TEST_CASE("ladder: a tile that cannot be launched says which rule refuses it") {
    CHECK(why("512x512x512 f32 forward fused rung 01_naive tile 32x32x8") == "");
    CHECK(says("512x512x512 f32 forward fused rung 01_naive tile 64x32x8", "needs 2048 threads"));
    CHECK(says("512x512x512 f32 forward fused residual mask rung 01_naive tile 32x32x8", "writes no bit mask"));
    CHECK(why("512x512x512 f32 forward fused residual mask rung 02_coalesced tile 32x32x8") == "");
    CHECK(says("512x512x512 f32 forward fused rung 03_shared_tile tile 32x48x8", "divide 32 or be a multiple"));
    CHECK(why("512x512x512 f32 forward fused rung 04_register_tile tile 128x128x8") == "");
    CHECK(says("512x512x512 f32 forward fused rung 04_register_tile tile 128x128x8 warp 48x64", "tile rows 128"));
    CHECK(says("512x512x512 f32 forward fused rung 04_register_tile tile 128x128x8 warp 32x32 thread 8x8",
               "is not 32 lanes"));
    CHECK(says("512x512x512 f32 forward fused rung 04_register_tile tile 512x512x8", "needs 4096 threads"));
    CHECK(says("512x512x512 f32 forward fused rung 05_vector_loads tile 128x128x6", "tile depth 6"));
    CHECK(says("512x512x512 f32 forward fused rung 05_vector_loads tile 128x128x8 thread 2x8 warp 8x64",
               "thread tile rows 2"));
    CHECK(says("512x510x512 f32 forward fused rung 05_vector_loads pitch tight tile 128x128x8",
               "rows of w are 2040 bytes"));
    CHECK(why("512x512x512 f32 forward fused rung 05_vector_loads pitch tight tile 128x128x8") == "");
    CHECK(why("512x510x512 f32 forward fused rung 04_register_tile pitch tight tile 128x128x8") == "");
    CHECK(says("512x512x512 bf16 forward fused rung 07_tensor_core tile 128x128x24", "tile depth 24"));
    CHECK(says("512x512x512 bf16 forward fused rung 07_tensor_core tile 256x256x64 stages 4",
               "needs 256 KiB of shared memory; a CTA may use 227 KiB"));
    CHECK(why("512x512x512 bf16 forward fused rung 07_tensor_core tile 128x128x64 stages 5") == "");
    CHECK(says("512x512x512 bf16 forward fused rung 07_tensor_core tile 128x128x64 stages 5", "a CTA may use 99 KiB",
               89));
    CHECK(says("512x512x512 bf16 out f32 dgrad none rung 07_tensor_core tile 128x128x32", "a gradient of f32"));
    CHECK(says("512x512x512 f32 forward fused rung 06_async_copy tile 128x128x8", "compute capability 8.0; this is 7.5",
               75));
    CHECK(says("512x512x512 bf16 forward fused rung 09_tma_wgmma tile 128x128x64",
               "compute capability 9.0; this is 10.0", 100));
    CHECK(why("512x512x512 bf16 wgrad fused rung 09_tma_wgmma tile 128x128x64 cluster 2x1") == "");
    CHECK(why("512x512x512 bf16 wgrad fused residual mask rung 09_tma_wgmma tile 128x128x64 cluster 1x2") == "");
    CHECK(says("512x512x512 bf16 wgrad fused residual mask rung 09_tma_wgmma tile 128x128x64 cluster 2x1",
               "cannot share its bits"));
    CHECK(why("512x512x512 bf16 wgrad fused rung 09_tma_wgmma tile 128x128x64 schedule split_k:4") == "");
    CHECK(says("512x512x512 bf16 forward fused rung 10_tcgen05 tile 128x128x64 schedule split_k:4",
               "does not split the reduction"));
    CHECK(says("512x512x512 f32 forward fused rung 04_register_tile tile 128x128x8 schedule persistent",
               "08_grouped_persistent"));
}

TEST_CASE("ladder: an experiment runs on the GPUs its kernels are made for, and on no other maker's") {
    const auto why = [](const std::string& text) {
        const sim::Experiment e = resolved(sim::parse_experiment(text, devices()));
        return fits(e, devices().at(e.device)).why;
    };
    CHECK(why("h200-sxm 512x512x512 bf16 forward fused tile 128x128x64") == "");
    CHECK(why("mi300x 512x512x512 bf16 forward fused tile 128x128x32") == "mi300x runs no CUDA");
    CHECK(why("t4 512x512x512 f32 forward fused tile 64x64x16 rung 06_async_copy").find("8.0") != std::string::npos);
}

TEST_CASE("ladder: the shared memory of a launch is what the kernel takes, to the byte") {
    const auto run = [](const DeviceKernel& k, sim::i64 smem) {
        OperandSet set({k.dense, k.pass, k.gate == device::gate_none ? sim::Fusion::none : sim::Fusion::fused,
                        k.gate == device::gate_bits ? sim::Residual::mask : sim::Residual::y});
        const Operands& o = set.operands();
        glass::Machine machine;
        for (const Matrix* m : {&o.x, &o.w, &o.z, &o.y, &o.dy, &o.dz, &o.dx, &o.dw})
            if (*m)
                machine.buffers.push_back({"operand", static_cast<std::byte*>(m->data),
                                           m->batch_pitch * sim::storage_bytes(m->dtype),
                                           (machine.buffers.size() + 1) << 24});
        if (o.mask) machine.buffers.push_back({"mask", o.mask.data, o.mask.batch_pitch, 1 << 20});
        const Launch l = launch_of(k);
        glass::execute(machine, glass::entry_for(instance_of(k)), params_of(k, o), glass::box_maps(k, o),
                       {l.grid, l.block / 32, smem}, {});
        return machine.findings;
    };
    for (const std::string text :
         {"f32 forward none rung 03_shared_tile tile 32x32x8", "f32 dgrad fused rung 03_shared_tile tile 32x32x8",
          "f32 wgrad fused residual mask rung 04_register_tile tile 64x64x16",
          "f32 forward none rung 05_vector_loads tile 64x64x16",
          "f32 dgrad fused residual mask rung 06_async_copy tile 64x64x16",
          "bf16 forward none rung 07_tensor_core tile 64x64x32",
          "bf16 wgrad fused rung 08_grouped_persistent tile 128x128x16",
          "bf16 dgrad fused residual mask rung 07_tensor_core tile 128x128x16",
          "bf16 forward none rung 09_tma_wgmma tile 128x128x64 stages 4",
          "bf16 dgrad fused rung 09_tma_wgmma tile 64x128x64 stages 4",
          "bf16 wgrad fused residual mask rung 09_tma_wgmma tile 128x128x64 stages 4"}) {
        CAPTURE(text);
        const DeviceKernel k = kernel("64x64x64 " + text);
        CHECK(run(k, smem_bytes(k)).empty());
        const auto findings = run(k, smem_bytes(k) - 128);
        REQUIRE(!findings.empty());
        CHECK(findings[0].what.find("bytes of shared memory; the launch gave") != std::string::npos);
    }
}

TEST_CASE("ladder: the model's threads and shared memory are the kernels' where nothing is turned") {
    for (const std::string text : {"f32 forward fused rung 06_async_copy tile 128x128x16 stages 4",
                                   "bf16 forward fused rung 07_tensor_core tile 128x128x32",
                                   "bf16 dgrad fused rung 07_tensor_core tile 128x128x32",
                                   "bf16 forward fused rung 08_grouped_persistent tile 128x256x64"}) {
        CAPTURE(text);
        const sim::Experiment e = resolved(sim::parse_experiment("h200-sxm 512x512x512 " + text, devices()));
        const sim::CtaShape cta = sim::cta_shape(e, devices().at(e.device), sim::plan(e).front());
        const Launch l = launch_of(kernels_of(e).front());
        CHECK(cta.threads == l.block);
        CHECK(cta.smem_bytes == l.smem_bytes);
        CHECK(cta.warp == kernels_of(e).front().warp);
    }
}

TEST_CASE("ladder: launches are named by what they are compiled for") {
    const DeviceKernel k = kernel("300x200x100 f32 forward fused residual mask rung 04_register_tile tile 128x64x8");
    const Launch l = launch_of(k);
    CHECK(l.file == "kernels/device/04_register_tile.cuh");
    CHECK(l.name_expression ==
          "kernels::device::register_tile<kernels::device::Tile<128, 64, 8, 32, 64, 8, 8, 1>, "
          "kernels::device::Form<float, float, kernels::device::nn, kernels::device::gate_none, 6> >");
    CHECK(l.grid == 3 * 4);
    CHECK(l.block == 128);
    CHECK_FALSE(l.tensor_maps);
    CHECK(launch_of(kernel("300x200x100 f32 forward unfused rung 04_register_tile tile 128x64x8"))
              .name_expression.find("0> >") != std::string::npos);
}

TEST_CASE("ladder: the launches of an experiment are those of the plan, split and persistent") {
    const auto names = [](const std::string& text) {
        std::string all;
        for (const DeviceKernel& k : kernels_of(sim::parse_experiment("h200-sxm 512x512x512 " + text, devices()), 7))
            all += std::string(k.name) + ":" + std::to_string(launch_of(k).grid) + " ";
        return all;
    };
    CHECK(names("f32 forward unfused rung 04_register_tile tile 128x128x8") == "matmul:16 relu:16 ");
    CHECK(names("f32 wgrad fused rung 04_register_tile tile 128x128x8 schedule split_k:3") == "wgrad:48 reduce:16 ");
    CHECK(names("bf16 forward fused rung 08_grouped_persistent tile 128x128x32 schedule persistent") == "matmul:7 ");
    CHECK(names("bf16 train unfused rung 07_tensor_core tile 128x128x32 tile.dgrad 128x64x32 tile.wgrad 64x64x32") ==
          "matmul:16 relu:16 mask:16 dgrad:32 wgrad:64 ");
}
