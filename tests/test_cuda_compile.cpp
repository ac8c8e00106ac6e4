// Text to cubin: the compiler, its log, the cubin beside it, and the cache.

#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <thread>

#include "kernels/cuda/compile.hpp"
#include "kernels/cuda/cubin_cache.hpp"
#include "tests/skips.hpp"

using namespace kernels::cuda;
namespace fs = std::filesystem;
using Names = std::vector<std::string>;

namespace {

/// Shared memory, a header, a template: what the rungs are made of.
const Source sum_source = {"sum.cuh",
                           R"(#include "kernels/device/plus.cuh"
template <int N>
__global__ void __launch_bounds__(N) sum(const float* x, float* y) {
    __shared__ float part[N];
    part[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    if (threadIdx.x == 0) {
        float all = 0;
        for (int i = 0; i < N; i++) all = plus(all, part[i]);
        y[0] = all;
    }
})",
                           {{"kernels/device/plus.cuh", "__device__ float plus(float a, float b) { return a + b; }"}}};

/// More values alive than a thread may have registers for.
const Source spilling_source = {"spill.cuh",
                                R"(
__global__ void __launch_bounds__(1024, 2) spill(const float* x, float* y) {
    float a[128];
#pragma unroll
    for (int i = 0; i < 128; i++) a[i] = x[i * 7919 + threadIdx.x];
    __syncthreads();
#pragma unroll
    for (int i = 0; i < 128; i++) y[(127 - i) * 1024 + threadIdx.x] = a[i] * a[(i * 37) % 128];
})",
                                {}};

std::string error_of(const Source& source, const std::string& name, const std::string& arch) {
    try {
        compile(source, {&name, 1}, arch);
    } catch (const CompileError& e) {
        return e.what();
    }
    return "";
}

struct Folder {
    fs::path path = fs::temp_directory_path() / ("memwall-cubins-" + std::to_string(getpid()));
    Folder() { fs::remove_all(path); }
    ~Folder() { fs::remove_all(path); }
};

Program made_up(std::string cubin) {
    return {"sm_90a", std::move(cubin), {{"sum<32>", "_Z3sum", {58, 1, 4224, 16, 8, 12}}}, "a log", 12.5, false};
}

}  // namespace

TEST_CASE("cuda: a log of several kernels is read kernel by kernel") {
    const auto kernels = read_log(R"(ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function '_Z1av' for 'sm_90a'
ptxas info    : Function properties for _Z1av
    2096 bytes stack frame, 4104 bytes spill stores, 4108 bytes spill loads
ptxas info    : Used 255 registers, used 1 barriers, 2096 bytes cumulative stack size, 24832 bytes smem
ptxas info    : Compile time = 1115.799 ms
ptxas info    : Compiling entry function '_Z1bv' for 'sm_90a'
ptxas info    : Function properties for _Z6helperv
    64 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Function properties for _Z1bv
ptxas         .     0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 16 registers, 360 bytes cmem[0])");
    REQUIRE(kernels.size() == 2);
    CHECK(kernels.at("_Z1av") == Resources{255, 1, 24832, 2096, 4104, 4108});
    CHECK(kernels.at("_Z1av").spill_bytes() == 8212);
    CHECK(kernels.at("_Z1bv") == Resources{16, 0, 0, 0, 0, 0});
    CHECK(read_log("").empty());
}

TEST_CASE("cuda: what is no cubin, or half of one, is refused and not read") {
    CHECK_THROWS_WITH(read_cubin(""), "the bytes are no ELF file");
    CHECK_THROWS_WITH(read_cubin(std::string(4096, 'x')), "the bytes are no ELF file");
    std::ifstream self("/proc/self/exe", std::ios::binary);
    const std::string program{std::istreambuf_iterator<char>(self), {}};
    CHECK_THROWS_WITH(read_cubin(program), "the ELF file is not for an NVIDIA GPU");
}

TEST_CASE("cuda: kernels of one program get their resources, and the cubin agrees with the log") {
    SKIP_WITHOUT(skips::Need::nvrtc);
    for (const std::string arch : {"sm_80", "sm_90a", "sm_100a"}) {
        CAPTURE(arch);
        const Names names = {"sum<256>", "sum<64>"};
        const Program p = compile(sum_source, names, arch);
        CHECK(p.arch == arch);
        CHECK(p.compile_ms > 0);
        CHECK(!p.from_cache);
        REQUIRE(p.kernels.size() == 2);
        const auto cubin = read_cubin(p.cubin);
        CHECK(cubin.size() == 2);
        const sim::i64 reserved = arch == "sm_80" ? 0 : 1024;
        for (std::size_t i = 0; i < 2; i++) {
            const CompiledKernel& k = p.kernels[i];
            const int threads = i == 0 ? 256 : 64;
            CHECK(k.expression == names[i]);
            CHECK(k.resources.registers > 0);
            CHECK(k.resources.static_smem_bytes == 4 * threads);
            CHECK(k.resources.spill_bytes() == 0);
            REQUIRE(cubin.count(k.lowered) == 1);
            const CubinKernel& c = cubin.at(k.lowered);
            CHECK(c.registers == k.resources.registers);
            CHECK(c.stack_bytes == k.resources.stack_bytes);
            CHECK(c.shared_bytes == k.resources.static_smem_bytes + reserved);
            CHECK(c.param_bytes == 16);
            CHECK(c.max_threads == threads);
            CHECK(c.code_bytes > 0);
        }
        for (std::size_t cut = 0; cut < p.cubin.size(); cut += 61)  // never reads past the end
            try {
                read_cubin(std::string_view(p.cubin).substr(0, cut));
            } catch (const std::runtime_error&) {
            }
    }
}

TEST_CASE("cuda: spilled registers are seen") {
    SKIP_WITHOUT(skips::Need::nvrtc);
    const std::string name = "spill";
    const Resources r = compile(spilling_source, {&name, 1}, "sm_90a").kernels.at(0).resources;
    CHECK(r.registers <= 32);
    CHECK(r.spill_store_bytes > 0);
    CHECK(r.spill_load_bytes > 0);
    CHECK(r.stack_bytes > 0);
}

TEST_CASE("cuda: an error is one line with file and line") {
    SKIP_WITHOUT(skips::Need::nvrtc);
    const auto source = [](const char* text) { return Source{"bad.cuh", text, {}}; };
    CHECK(error_of(source("\n__global__ void f() { int x = y; }"), "f", "sm_80") ==
          "bad.cuh:2: identifier \"y\" is undefined");
    CHECK(error_of(source("#include <cuda_bf16.h>\n__global__ void f() {}"), "f", "sm_80") ==
          "bad.cuh:1: could not open source file \"cuda_bf16.h\" (no directories in search list)");  // of a toolkit
    CHECK(error_of(source("__global__ void f() { asm volatile(\"wgmma.fence.sync.aligned;\"); }"), "f", "sm_90")
              .find("of its PTX: Instruction 'wgmma.fence' not supported on .target 'sm_90'") != std::string::npos);
    CHECK(error_of(source("__global__ void f() {}"), "f", "sm_7").find("bad.cuh: invalid value for ") == 0);
    CHECK(error_of(source("__global__ void f() {}"), "g", "sm_80").find("identifier \"g\" is undefined") !=
          std::string::npos);
}

TEST_CASE("cuda: an architecture that the compiler lacks is refused with those it has") {
    SKIP_WITHOUT(skips::Need::nvrtc);
    for (const char* arch : {"sm_80", "sm_90", "sm_90a", "sm_100a"}) CHECK(arch_available(arch).ok());
    for (const char* arch : {"", "sm_", "sm_91", "90a", "sm_90b", "sm_90aa", "compute_90", "sm_-9"}) {
        CAPTURE(arch);
        CHECK(arch_available(arch).why.find(" sm_90 ") != std::string::npos);
    }
}

TEST_CASE("cuda: programs compile on several threads at once") {
    SKIP_WITHOUT(skips::Need::nvrtc);
    std::vector<std::string> cubins(4);
    {
        std::vector<std::jthread> threads;
        for (int i = 0; i < 4; i++)
            threads.emplace_back([&cubins, i] {
                const std::string name = i % 2 ? "sum<64>" : "sum<128>";
                cubins[static_cast<std::size_t>(i)] = compile(sum_source, {&name, 1}, "sm_90a").cubin;
            });
    }
    CHECK(!cubins[0].empty());
    CHECK(cubins[0] == cubins[2]);
    CHECK(cubins[1] == cubins[3]);
    CHECK(cubins[0] != cubins[1]);
}

TEST_CASE("cuda cache: a program comes back as it went in") {
    const Folder folder;
    const CubinCache cache(folder.path);
    CHECK(!cache.load("k"));
    const Program in =
        made_up(std::string("\x7f"
                            "ELF\0binary",
                            11));
    cache.store("k", in);
    const auto out = cache.load("k");
    REQUIRE(out);
    CHECK(out->arch == in.arch);
    CHECK(out->cubin == in.cubin);
    CHECK(out->kernels == in.kernels);
    CHECK(out->log == in.log);
    CHECK(out->compile_ms == in.compile_ms);
    CHECK(out->from_cache);
    CHECK(!cache.load("other"));
    CHECK(std::distance(fs::directory_iterator(folder.path), {}) == 1);  // nothing half-written lies about
}

TEST_CASE("cuda cache: a damaged file is no program, and goes") {
    const Folder folder;
    const CubinCache cache(folder.path);
    cache.store("k", made_up(std::string(300, 'c')));
    const fs::path file = folder.path / "k.cubin";
    std::ifstream in(file, std::ios::binary);
    const std::string whole{std::istreambuf_iterator<char>(in), {}};
    const auto damaged = [&](const std::string& bytes) {
        std::ofstream(file, std::ios::binary | std::ios::trunc) << bytes;
        const bool none = !cache.load("k");
        return none && !fs::exists(file);
    };
    CHECK(damaged(""));
    CHECK(damaged("memwall program 1\n"));
    for (std::size_t at = 0; at < whole.size(); at += 7) {
        CAPTURE(at);
        std::string flipped = whole;
        flipped[at] = static_cast<char>(flipped[at] ^ 1);
        CHECK(damaged(flipped));
        CHECK(damaged(whole.substr(0, at)));
    }
    CHECK(damaged(whole + "x"));
}

TEST_CASE("cuda cache: the key changes with everything a cubin depends on") {
    const Names names = {"f<1>", "f<2>"}, flags = {"-a", "-b"};
    const Source source = {"f.cuh", "text", {{"h.cuh", "header"}}};
    const std::string key = cache_key(source, names, flags, "13.0");
    CHECK(key.size() == 32);
    CHECK(cache_key(source, names, flags, "13.0") == key);
    CHECK(cache_key(source, names, flags, "12.9") != key);
    CHECK(cache_key(source, Names{"f<1>"}, flags, "13.0") != key);
    CHECK(cache_key(source, Names{"f<1>f<2>"}, flags, "13.0") != key);
    CHECK(cache_key(source, names, Names{"-a-b"}, "13.0") != key);
    CHECK(cache_key({"f.cuh", "texT", source.headers}, names, flags, "13.0") != key);
    CHECK(cache_key({"f.cuh", "text", {{"h.cuh", "Header"}}}, names, flags, "13.0") != key);
    CHECK(cache_key({"f.cuh", "texth.cuh", {{"", "header"}}}, names, flags, "13.0") != key);
}

TEST_CASE("cuda cache: the programs unused the longest make room") {
    const Folder folder;
    const CubinCache roomy(folder.path);
    for (const char* key : {"a", "b", "c"}) {
        roomy.store(key, made_up(std::string(1000, *key)));
        std::this_thread::sleep_for(std::chrono::milliseconds(15));
    }
    CHECK(roomy.load("a"));  // used again
    std::this_thread::sleep_for(std::chrono::milliseconds(15));
    const CubinCache narrow(folder.path, 3600);
    narrow.store("d", made_up(std::string(1000, 'd')));
    CHECK(!roomy.load("b"));
    CHECK(roomy.load("a"));
    CHECK(roomy.load("c"));
    CHECK(roomy.load("d"));
}

TEST_CASE("cuda cache: a folder that cannot be had costs nothing but time") {
    const CubinCache nowhere(fs::path{}), file(fs::path("/proc/version/cubins"));
    for (const CubinCache* cache : {&nowhere, &file}) {
        cache->store("k", made_up("c"));
        CHECK(!cache->load("k"));
    }
}
