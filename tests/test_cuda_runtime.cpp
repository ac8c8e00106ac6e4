// What is above the CUDA runtime, on a GPU that is not there.

#include <doctest/doctest.h>

#include <numeric>

#include "kernels/cuda/cublas_lt.hpp"
#include "kernels/cuda/cupti.hpp"
#include "kernels/cuda/nvrtc.hpp"
#include "kernels/cuda/runtime.hpp"
#include "tests/fake_gpu.hpp"

using namespace kernels::cuda;
using fake_gpu::state;

TEST_CASE("cuda: each way in which there is no GPU has its own words") {
    Runtime r = fake_gpu::install();
    CHECK(available(r).ok());
    state.devices = -1;
    CHECK(available(r).why == "no NVIDIA driver: libcuda.so.1 was not found");
    state.devices = 0;
    CHECK(available(r).why ==
          "no NVIDIA GPU: as the test wants it (cudaErrorInsufficientDriver); the driver speaks CUDA 13.0");
    r.why = "libcudart.so was not found";
    CHECK(available(r).why == "no CUDA runtime: libcudart.so was not found");
}

TEST_CASE("cuda: this machine says whether it has a GPU, and starts either way") {
    const sim::Fit here = available();
    CHECK((here.ok() || here.why.starts_with("no ")));
    CHECK(here.why.find('\n') == std::string::npos);
}

TEST_CASE("cuda: a library that is here has every function that is called") {
    if (runtime().library) CHECK_MESSAGE(runtime().why.empty(), runtime().why);
    if (cublas_lt().library) CHECK_MESSAGE(cublas_lt().why.empty(), cublas_lt().why);
    if (nvrtc().library) CHECK_MESSAGE(nvrtc().why.empty(), nvrtc().why);
    if (cupti::library().library) CHECK_MESSAGE(cupti::library().why.empty(), cupti::library().why);
    CHECK(runtime().library.why().empty() == static_cast<bool>(runtime().library));
}

TEST_CASE("cuda: a library that is nowhere is asked for politely") {
    const SharedLibrary none = SharedLibrary::open("memwall-no-such-library");
    CHECK(!none);
    CHECK(none.why().find("libmemwall-no-such-library.so was found neither") == 0);
    void (*f)() = nullptr;
    CHECK(!none.get("f", f));
}

TEST_CASE("cuda: the GPU says what it is, and what its kernels are compiled for") {
    const Runtime r = fake_gpu::install();
    const Gpu g = gpu(r);
    CHECK(g.name == "NVIDIA H200");
    CHECK(g.capability == 90);
    CHECK(g.sm_count == 132);
    CHECK(g.l2_bytes == 50 << 20);
    CHECK(g.memory_bytes == 1 << 30);
    CHECK(g.clock_mhz == 1980);
    CHECK(g.driver == "13.0");
}

TEST_CASE("cuda: memory is given back, and what does not fit says how much it was") {
    const Runtime r = fake_gpu::install();
    {
        const DeviceMemory memory(r, 1000), twin(r, 1000);
        std::vector<unsigned char> bytes(1000), back(1000);
        std::iota(bytes.begin(), bytes.end(), 0);
        memory.copy_from_host(bytes.data(), 1000);
        twin.copy_from(memory);
        twin.copy_to_host(back.data(), 1000);
        CHECK(back == bytes);
        twin.copy_to_host(back.data(), 10, 500);
        CHECK(back[0] == 500 % 256);
        memory.fill(0xff);
        memory.copy_to_host(back.data(), 1000);
        CHECK(back[999] == 0xff);
        CHECK(state.allocated.size() == 2);
    }
    CHECK(state.allocated.empty());
    try {
        DeviceMemory(r, sim::i64{2} << 30);
        CHECK(false);
    } catch (const CudaError& e) {
        CHECK(std::string(e.what()).find("cudaMalloc of 2.15 GB failed: as the test wants it (cudaErrorFake), at "
                                         "kernels/cuda/runtime.cpp:") == 0);
    }
}

TEST_CASE("cuda: events measure the work between them") {
    const Runtime r = fake_gpu::install();
    const Event first(r), last(r);
    first.record();
    state.clock_us += 123.5;
    last.record();
    last.wait();
    CHECK(last.us_since(first) == doctest::Approx(123.5));
    fake_gpu::fail("cudaEventSynchronize", 700);
    CHECK_THROWS_AS(last.wait(), CudaError);
}

TEST_CASE("cuda: a launch carries its shape, and asks first for what must be asked for") {
    const Runtime r = fake_gpu::install();
    const Module module(r, "cubin");
    const void* kernel = module.kernel("_Z4gemm");
    int value = 7;
    void* arguments[] = {&value};
    int seen = 0;
    state.compute = [&](const fake_gpu::Launch&, void** a) { return seen = *static_cast<int*>(a[0]), 5.0; };

    const auto run = [&](const LaunchShape& shape) {
        prepare(r, kernel, shape);
        launch(r, kernel, shape, arguments);
        CHECK(state.launches.back().shape == shape);
    };
    run({{4, 3, 2}, {256}, {}, 48 << 10});
    CHECK(seen == 7);
    CHECK(state.launches.back().kernel == "_Z4gemm");
    CHECK(state.dynamic_smem.empty());  // 48 KiB are everybody's
    CHECK(state.non_portable.empty());
    run({{4}, {384}, {2, 1, 1}, (48 << 10) + 1});
    CHECK(state.dynamic_smem.at(kernel) == (48 << 10) + 1);
    run({{16}, {384}, {8, 1, 1}, 0});
    CHECK(state.non_portable.empty());
    run({{16}, {384}, {4, 4, 1}, 0});
    CHECK(state.non_portable.at(kernel) == 1);

    fake_gpu::fail("cudaLaunchKernelExC", 9);
    CHECK_THROWS_AS(launch(r, kernel, {}, arguments), CudaError);
}

TEST_CASE("cuda: modules are unloaded") {
    const Runtime r = fake_gpu::install();
    {
        const Module module(r, "cubin");
        CHECK(state.live_libraries == 1);
    }
    CHECK(state.live_libraries == 0);
}
