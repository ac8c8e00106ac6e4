// Step `constants`: what a device file says of a GPU, measured; and step `counters`: the DRAM counters on known bytes.

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <numeric>
#include <random>

#include "kernels/cuda/clocks.hpp"
#include "kernels/cuda/counters.hpp"
#include "tests/gpu/probe.hpp"

namespace campaign {
namespace {

using namespace kernels::cuda;
using sim::i64;

const Source source = {"constants.cu",
                       R"(
using i64 = long long;
__device__ i64 first() { return blockIdx.x * (i64)blockDim.x + threadIdx.x; }
__device__ i64 stride() { return gridDim.x * (i64)blockDim.x; }
__device__ uint4 load(const uint4* p) {  // past the L1
    uint4 v;
    asm volatile("ld.global.cg.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "l"(p));
    return v;
}
extern "C" __global__ void read_words(const uint4* from, unsigned* never, i64 n, int rounds) {
    unsigned any = 0;
    for (int r = 0; r < rounds; ++r)
        for (i64 i = first(); i < n; i += 4 * stride()) {
            uint4 v[4] = {};
#pragma unroll
            for (int u = 0; u < 4; ++u)
                if (i + u * stride() < n) v[u] = load(from + i + u * stride());
#pragma unroll
            for (int u = 0; u < 4; ++u) any |= v[u].x ^ v[u].y ^ v[u].z ^ v[u].w;
        }
    if (any == 0x9e3779b9u && n < 0) *never = any;
}
extern "C" __global__ void write_words(uint4* to, i64 n) {
    for (i64 i = first(); i < n; i += stride()) to[i] = {1, 2, 3, 4};
}
extern "C" __global__ void copy_words(const uint4* from, uint4* to, i64 n) {
    for (i64 i = first(); i < n; i += 4 * stride()) {
        uint4 v[4] = {};
#pragma unroll
        for (int u = 0; u < 4; ++u)
            if (i + u * stride() < n) v[u] = load(from + i + u * stride());
#pragma unroll
        for (int u = 0; u < 4; ++u)
            if (i + u * stride() < n) to[i + u * stride()] = v[u];
    }
}
/// Every warp reads 512 bytes of shared memory at once, `rounds` times four; out[block] = cycles.
extern "C" __global__ void read_shared(i64* out, unsigned* never, int rounds) {
    __shared__ uint4 words[1024];
    words[threadIdx.x] = {threadIdx.x, 1, 2, 3};
    __syncthreads();
    const i64 start = clock64();
    unsigned any = 0;
    int at = threadIdx.x;
    for (int r = 0; r < rounds; ++r) {
#pragma unroll
        for (int u = 0; u < 4; ++u) {
            uint4 v;
            asm volatile("ld.shared.v4.u32 {%0, %1, %2, %3}, [%4];"
                         : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
                         : "r"((unsigned)__cvta_generic_to_shared(words + ((at + 32 * u) & 1023))));
            any |= v.y ^ v.z ^ v.w;
        }
    }
    __syncthreads();
    if (threadIdx.x == 0) out[blockIdx.x] = clock64() - start;
    if (any == 0x9e3779b9u && rounds < 0) *never = any;
}
/// Follows indices through memory, on from where the launch before ended (out[1]), twice; out[0] = cycles of the later
/// `steps` loads. Past the L1 where `past`.
extern "C" __global__ void chase(const unsigned* next, i64* out, int steps, int past) {
    unsigned at = (unsigned)out[1];
    for (int warm = 0; warm < 2; ++warm) {
        const i64 start = clock64();
        for (int i = 0; i < steps; ++i) {
            if (past)
                asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(at) : "l"(next + at));
            else
                asm volatile("ld.global.ca.u32 %0, [%1];" : "=r"(at) : "l"(next + at));
        }
        out[0] = clock64() - start;
    }
    out[1] = at;
}
extern "C" __global__ void chase_shared(i64* out, int steps) {
    __shared__ unsigned next[1024];
    for (int i = threadIdx.x; i < 1024; i += blockDim.x) next[i] = (unsigned)__cvta_generic_to_shared(next + (i + 33) % 1024);
    __syncthreads();
    unsigned at = (unsigned)__cvta_generic_to_shared(next);
    const i64 start = clock64();
    for (int i = 0; i < steps; ++i) asm volatile("ld.shared.u32 %0, [%0];" : "+r"(at));
    out[0] = clock64() - start;
    out[1] = at;
}
extern "C" __global__ void empty() {}
/// Independent multiply-adds; out[block] = cycles and nanoseconds.
extern "C" __global__ void multiply_adds(i64* out, float* never, int rounds) {
    float v[16];
#pragma unroll
    for (int i = 0; i < 16; ++i) v[i] = threadIdx.x * 1e-3f + i;
    i64 ns0, ns1;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns0));
    const i64 start = clock64();
    for (int r = 0; r < rounds; ++r) {
#pragma unroll
        for (int i = 0; i < 16; ++i) v[i] = fmaf(v[i], 0.999f, 1e-3f);
    }
    const i64 cycles = clock64() - start;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns1));
    float sum = 0;
#pragma unroll
    for (int i = 0; i < 16; ++i) sum += v[i];
    if (threadIdx.x == 0) {
        out[2 * blockIdx.x] = cycles;
        out[2 * blockIdx.x + 1] = ns1 - ns0;
    }
    if (sum == -1.0f) *never = sum;
}
)",
                       {}};
const std::vector<std::string> kernel_names = {"read_words", "write_words",  "copy_words", "read_shared",
                                               "chase",      "chase_shared", "empty",      "multiply_adds"};

struct Bed {
    Context& context;
    Probe probe{context, source, kernel_names};
    const Runtime& r = context.machine.runtime;
    unsigned sms = static_cast<unsigned>(context.gpu.sm_count);

    /// CTAs that fill the GPU.
    LaunchShape all(unsigned threads = 512, unsigned a_sm = 4) const { return {{a_sm * sms}, {threads}, {}, 0}; }
    double gbps(double bytes, double us) const { return bytes / us / 1e3; }
    std::vector<long long> read(const DeviceMemory& m, std::size_t count) const {
        check(r, r.synchronize(), "cudaDeviceSynchronize");
        std::vector<long long> values(count);
        m.copy_to_host(values.data(), static_cast<i64>(8 * count));
        return values;
    }
};

/// GB/s of reads, writes and a copy beyond the L2.
Record dram(Bed& b) {
    const i64 bytes = std::min<i64>(i64{4} << 30, b.context.gpu.free_bytes / 4 / 16 * 16);
    const DeviceMemory from(b.r, bytes), to(b.r, bytes);
    from.fill(1);
    void *source_at = from.data(), *target = to.data();
    const long long words = bytes / 16;
    Record more;
    double read = 0;
    for (const unsigned a_sm : {1u, 2u, 4u}) {
        const double us = b.probe.us("read_words", b.all(1024, a_sm), 9, source_at, target, words, 1);
        more["read_by_ctas_a_sm"][std::to_string(a_sm)] = b.gbps(static_cast<double>(bytes), us);
        read = std::max(read, b.gbps(static_cast<double>(bytes), us));
    }
    more["read_gbps"] = read;
    more["write_gbps"] =
        b.gbps(static_cast<double>(bytes), b.probe.us("write_words", b.all(1024, 2), 9, target, words));
    more["copy_gbps"] =
        b.gbps(2.0 * static_cast<double>(bytes), b.probe.us("copy_words", b.all(1024, 2), 9, source_at, target, words));
    return more;
}

/// GB/s of reading a working set again and again, by its size: flat while the L2 holds it.
Record l2(Bed& b) {
    const DeviceMemory from(b.r, i64{256} << 20), never(b.r, 256);
    from.fill(1);
    Record more;
    double best = 0;
    for (const i64 mib : {4, 8, 12, 16, 20, 24, 28, 32, 36, 40, 44, 48, 52, 56, 60, 64, 80, 96, 128, 256}) {
        const i64 bytes = mib << 20;
        const int rounds = static_cast<int>(std::max<i64>(2, (i64{1} << 30) / bytes));
        void *at = from.data(), *out = never.data();
        const double us =
            b.probe.us("read_words", b.all(1024, 2), 5, at, out, static_cast<long long>(bytes / 16), rounds);
        const double gbps = b.gbps(static_cast<double>(bytes) * rounds, us);
        more["gbps_by_mib"].push_back({mib, gbps});
        if (mib >= 8 && mib <= 16) best = std::max(best, gbps);
    }
    more["read_gbps"] = best;
    // What it keeps: the largest set that still reads at nine tenths of that speed.
    for (const auto& point : more["gbps_by_mib"])
        if (point[1].get<double>() > 0.9 * best) more["effective_mib"] = point[0];
    return more;
}

Record smem(Bed& b) {
    constexpr int rounds = 4000;
    const DeviceMemory out(b.r, 8 * b.sms), never(b.r, 256);
    void *at = out.data(), *never_at = never.data();
    b.probe.launch("read_shared", {{b.sms}, {1024}, {}, 0}, at, never_at, rounds);
    const auto cycles = b.read(out, b.sms);
    const double worst = static_cast<double>(*std::max_element(cycles.begin(), cycles.end()));
    return {{"bytes_per_clock", 4.0 * rounds * 1024 * 16 / worst}};
}

/// Cycles and ns of a load whose address is the load before, by where it is found.
Record latency(Bed& b) {
    constexpr int steps = 20000;
    const DeviceMemory out(b.r, 256);
    void* out_at = out.data();
    Record more;
    const auto say = [&](const char* level, double us) {
        const double cycles = static_cast<double>(b.read(out, 1)[0]) / steps;
        more[level] = {{"cycles", cycles}, {"ns", us * 1e3 / (2.0 * steps)}};
    };
    const LaunchShape one{{1}, {1}, {}, 0};
    b.probe.launch("chase_shared", one, out_at, steps);
    more["sram"] = {{"cycles", static_cast<double>(b.read(out, 1)[0]) / steps}};
    struct Where {
        const char* level;
        i64 bytes;
        int past;
    };
    for (const Where& w : {Where{"l1", 32 << 10, 0}, Where{"l2", 4 << 20, 1}, Where{"dram", i64{512} << 20, 1}}) {
        const i64 line = 128, lines = w.bytes / line;  // each line once, in an order without a pattern
        std::vector<unsigned> order(static_cast<std::size_t>(lines)), next(static_cast<std::size_t>(w.bytes / 4));
        std::iota(order.begin(), order.end(), 0u);
        std::mt19937_64 random(draw_seed);
        for (std::size_t i = order.size() - 1; i > 1; i--) std::swap(order[i], order[1 + random() % i]);
        for (std::size_t i = 0; i < order.size(); i++)
            next[static_cast<std::size_t>(order[i]) * 32] = order[(i + 1) % order.size()] * 32;
        const DeviceMemory memory(b.r, w.bytes);
        memory.copy_from_host(next.data(), w.bytes);
        out.fill(0);
        void* at = memory.data();
        say(w.level, b.probe.us("chase", one, 1, at, out_at, steps, w.past));
    }
    return more;
}

/// µs from kernel to kernel of a stream that does not run dry.
Record launch_gap(Bed& b) {
    Record more;
    for (const unsigned ctas : {1u, b.sms, 8 * b.sms}) {
        constexpr int many = 1000;
        const double us = b.probe.median_us(5, [&] {
            for (int i = 0; i < many; i++) b.probe.launch("empty", {{ctas}, {128}, {}, 0});
        });
        more["empty_us_by_ctas"][std::to_string(ctas)] = us / many;
        if (ctas == b.sms) more["launch_us"] = us / many;
    }
    return more;
}

struct Fma {
    double mhz, tflops;
};
Fma multiply(Bed& b, int rounds) {
    const DeviceMemory out(b.r, 16 * 2 * b.sms), never(b.r, 256);
    void *at = out.data(), *never_at = never.data();
    const double us = b.probe.us("multiply_adds", {{2 * b.sms}, {1024}, {}, 0}, 3, at, never_at, rounds);
    const auto v = b.read(out, 4 * b.sms);
    std::vector<double> mhz;
    for (std::size_t i = 0; i < v.size(); i += 2)
        mhz.push_back(1e3 * static_cast<double>(v[i]) / static_cast<double>(std::max<long long>(1, v[i + 1])));
    return {kernels::median(mhz), 2.0 * 16 * rounds * 1024 * 2 * b.sms / us / 1e6};
}

/// The clock as the cycle counter and the nanosecond timer have it, under f32 load.
Record clock(Bed& b) {
    const Fma f = multiply(b, 200000);
    const kernels::ClockState c = clock_state();
    return {{"sm_mhz", f.mhz}, {"nvml_sm_mhz", c.clock_mhz}, {"nvml_memory_mhz", c.memory_mhz}};
}
Record fma(Bed& b) {
    const Fma f = multiply(b, 50000);
    return {{"f32_tflops", f.tflops}, {"sm_mhz", f.mhz}};
}

/// Watts and clocks at rest, and within half a second of reads, of multiply-adds and of our matmul.
Record power(Bed& b) {
    Record more;
    const auto under = [&](const char* load, const std::function<void()>& queue) {
        const auto start = std::chrono::steady_clock::now();
        kernels::ClockState most;
        std::vector<double> mhz;
        while (std::chrono::steady_clock::now() - start < std::chrono::milliseconds(700)) {
            queue();
            const kernels::ClockState now = clock_state();
            if (now.power_w >= most.power_w) most = now;
            mhz.push_back(now.clock_mhz);
            check(b.r, b.r.synchronize(), "cudaDeviceSynchronize");
        }
        more[load] = {{"power_w", most.power_w}, {"sm_mhz", kernels::median(mhz)}, {"held_back_by", most.throttled}};
    };
    under("rest", [] {});
    const i64 bytes = std::min<i64>(i64{2} << 30, b.context.gpu.free_bytes / 4 / 16 * 16);
    const DeviceMemory memory(b.r, bytes), out(b.r, 64 * b.sms);
    memory.fill(1);
    void *at = memory.data(), *out_at = out.data();
    under("dram", [&] {
        for (int i = 0; i < 40; i++)
            b.probe.launch("read_words", b.all(1024, 2), at, out_at, static_cast<long long>(bytes / 16), 1);
    });
    under("fma", [&] { b.probe.launch("multiply_adds", {{2 * b.sms}, {1024}, {}, 0}, out_at, at, 20000); });
    const sim::Experiment e = sim::parse_experiment(
        fmt::format("{} 8192x8192x8192 bf16 forward fused tile 128x256x64 stages 4 rung 09_tma_wgmma schedule "
                    "persistent raster grouped:8",
                    device_id),
        sim::Catalogue::builtin());
    try {
        auto ready = b.context.ready(e);
        kernels::RunOptions options;
        options.seconds = 1.5;
        const kernels::RunResult result = ready.time(options);
        more["matmul"] = {{"power_w", result.clocks.power_w},
                          {"sm_mhz", result.clocks.clock_mhz},
                          {"tflops", 2 * 8192.0 * 8192 * 8192 / std::max(result.median_us, 1e-3) / 1e6},
                          {"held_back_by", result.clocks.throttled}};
    } catch (const std::runtime_error& error) {
        more["matmul"] = {{"why", error.what()}};
    }
    return more;
}

struct Constant {
    std::string_view name;
    Record (*measure)(Bed&);
};
constexpr Constant constants[] = {{"dram", dram},         {"l2", l2},       {"smem", smem}, {"latency", latency},
                                  {"launch", launch_gap}, {"clock", clock}, {"fma", fma},   {"power", power}};

}  // namespace

Record measure_constant(Context& context, const Case& c) {
    Bed bed{context};
    for (const Constant& constant : constants)
        if (constant.name == c.id) return {{"status", "ok"}, {"more", constant.measure(bed)}};
    throw sim::BadInput("constant \"" + c.id + "\" is not known");
}

Record count_copy(Context& context, const Case& c) {
    Bed bed{context};
    const i64 l2s = std::stoll(c.id.substr(5));
    const i64 bytes = l2s * sim::round_up(context.gpu.l2_bytes, 16);
    const DeviceMemory from(bed.r, bytes), to(bed.r, bytes);
    from.fill(1);
    to.fill(2);
    void *source_at = from.data(), *target = to.data();
    const kernels::Counters counted = count(
        context.gpu,
        [&] { bed.probe.launch("copy_words", bed.all(), source_at, target, static_cast<long long>(bytes / 16)); },
        bed.r);
    return {{"status", "ok"},
            {"more",
             {{"known_bytes", bytes},
              {"read_share", counted.dram_read_bytes / static_cast<double>(bytes)},
              {"write_share", counted.dram_write_bytes / static_cast<double>(bytes)},
              {"calibration_read", counted.calibration_read},
              {"calibration_write", counted.calibration_write}}}};
}

}  // namespace campaign
