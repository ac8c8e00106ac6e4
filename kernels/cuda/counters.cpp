#include "kernels/cuda/counters.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "kernels/cuda/build.hpp"
#include "kernels/cuda/compile.hpp"

namespace kernels::cuda {
namespace {

constexpr double sector_bytes = 32, tolerance = 0.05;
constexpr sim::i64 flush_l2s = 3;  // a flush reads so many times what the L2 holds

enum Metric {
    dram_read,
    dram_write,
    l2_read_sectors,
    l2_write_sectors,
    l2_hits,
    l2_misses,
    smem_wavefronts,
    smem_conflicts,
    tensor,
    instructions,
    metric_count
};
constexpr std::string_view names[metric_count] = {
    "dram__bytes_read.sum",
    "dram__bytes_write.sum",
    "lts__t_sectors_op_read.sum",
    "lts__t_sectors_op_write.sum",
    "lts__t_sectors_lookup_hit.sum",
    "lts__t_sectors_lookup_miss.sum",
    "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum",
    "l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum",
    "sm__inst_executed_pipe_tensor.sum",
    "smsp__inst_executed.sum",
};
using Values = std::array<double, metric_count>;

/// The names as CUPTI takes them.
std::array<const char*, metric_count> name_pointers() {
    std::array<const char*, metric_count> pointers{};
    for (std::size_t i = 0; i < metric_count; i++) pointers[i] = names[i].data();
    return pointers;
}

void check_cupti(const cupti::Library& c, int result, const char* call) {
    if (result == 0) return;
    const char* words = "";
    c.result_string(result, &words);
    throw CudaError(fmt::format("{} failed: {} ({})", call, words, result));
}

/// The host's half: which counters a chip has, and how they are collected.
class Host {
public:
    Host(const cupti::Library& c, const char* chip, const std::uint8_t* availability) : c_(c) {
        cupti::HostInitialize p;
        p.chip = chip;
        p.availability = availability;
        check_cupti(c, c.host_initialize(&p), "cuptiProfilerHostInitialize");
        host_ = p.host;
        try {
            configure();
        } catch (...) {
            release();
            throw;
        }
    }
    Host(const Host&) = delete;
    Host& operator=(const Host&) = delete;
    ~Host() { release(); }

    const std::vector<std::uint8_t>& config() const { return config_; }
    std::size_t passes() const { return passes_; }
    Values evaluate(const std::vector<std::uint8_t>& data) const {
        Values values{};
        auto pointers = name_pointers();
        cupti::Evaluate p;
        p.host = host_;
        p.data = data.data();
        p.data_bytes = data.size();
        p.names = pointers.data();
        p.count = metric_count;
        p.values = values.data();
        check_cupti(c_, c_.evaluate(&p), "cuptiProfilerHostEvaluateToGpuValues");
        return values;
    }

private:
    void configure() {
        auto pointers = name_pointers();
        cupti::AddMetrics add;
        add.host = host_;
        add.names = pointers.data();
        add.count = metric_count;
        check_cupti(c_, c_.add_metrics(&add), "cuptiProfilerHostConfigAddMetrics");
        cupti::ConfigImageSize size;
        size.host = host_;
        check_cupti(c_, c_.config_image_size(&size), "cuptiProfilerHostGetConfigImageSize");
        config_.resize(size.bytes);
        cupti::ConfigImage image;
        image.host = host_;
        image.bytes = config_.size();
        image.image = config_.data();
        check_cupti(c_, c_.config_image(&image), "cuptiProfilerHostGetConfigImage");
        cupti::PassCount count;
        count.bytes = config_.size();
        count.image = config_.data();
        check_cupti(c_, c_.pass_count(&count), "cuptiProfilerHostGetNumOfPasses");
        passes_ = count.passes;
    }
    void release() {
        cupti::HostDeinitialize p;
        p.host = host_;
        c_.host_deinitialize(&p);
    }

    const cupti::Library& c_;
    void* host_ = nullptr;
    std::vector<std::uint8_t> config_;
    std::size_t passes_ = 0;
};

/// The GPU's half: the profiler of one context.
class Profiler {
public:
    Profiler(const cupti::Library& c, void* context) : c_(c) {
        cupti::Enable p;
        p.context = context;
        check_cupti(c, c.enable(&p), "cuptiRangeProfilerEnable");
        profiler_ = p.profiler;
    }
    Profiler(const Profiler&) = delete;
    Profiler& operator=(const Profiler&) = delete;
    ~Profiler() { on(c_.disable); }

    /// Runs `before` and then, inside the window, `work`, once a pass.
    Values window(const Host& host, const Runtime& r, const std::function<void()>& before,
                  const std::function<void()>& work) const {
        auto pointers = name_pointers();
        cupti::CounterDataSize size;
        size.profiler = profiler_;
        size.names = pointers.data();
        size.count = metric_count;
        check_cupti(c_, c_.counter_data_size(&size), "cuptiRangeProfilerGetCounterDataSize");
        std::vector<std::uint8_t> data(size.bytes);
        cupti::CounterData image;
        image.profiler = profiler_;
        image.bytes = data.size();
        image.data = data.data();
        check_cupti(c_, c_.counter_data(&image), "cuptiRangeProfilerCounterDataImageInitialize");
        cupti::SetConfig config;
        config.profiler = profiler_;
        config.config = host.config().data();
        config.config_bytes = host.config().size();
        config.data = data.data();
        config.data_bytes = data.size();
        check_cupti(c_, c_.set_config(&config), "cuptiRangeProfilerSetConfig");
        cupti::Stop stop;
        stop.profiler = profiler_;
        do {
            before();
            check(r, r.synchronize(), "cudaDeviceSynchronize");
            check_cupti(c_, on(c_.start), "cuptiRangeProfilerStart");
            cupti::PushRange push;
            push.profiler = profiler_;
            push.name = "run";
            check_cupti(c_, c_.push(&push), "cuptiRangeProfilerPushRange");
            work();
            check(r, r.synchronize(), "cudaDeviceSynchronize");
            check_cupti(c_, on(c_.pop), "cuptiRangeProfilerPopRange");
            check_cupti(c_, c_.stop(&stop), "cuptiRangeProfilerStop");
        } while (!stop.all_passes);
        cupti::Decode decode;
        decode.profiler = profiler_;
        check_cupti(c_, c_.decode(&decode), "cuptiRangeProfilerDecodeData");
        return host.evaluate(data);
    }

private:
    int on(int (*call)(cupti::OfProfiler*)) const {
        cupti::OfProfiler p;
        p.profiler = profiler_;
        return call(&p);
    }

    const cupti::Library& c_;
    void* profiler_ = nullptr;
};

/// Kernels that read, or copy, every byte once.
const Source traffic_source = {"traffic.cu",
                               R"(
__global__ void read_bytes(const uint4* from, unsigned* never, long long n) {
    unsigned any = 0;
    for (long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x; i < n; i += gridDim.x * (long long)blockDim.x) {
        const uint4 v = from[i];
        any |= v.x ^ v.y ^ v.z ^ v.w;
    }
    if (n < 0) *never = any;
}
__global__ void copy_bytes(const uint4* from, uint4* to, long long n) {
    for (long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x; i < n; i += gridDim.x * (long long)blockDim.x)
        to[i] = from[i];
}
)",
                               {}};

}  // namespace

std::span<const std::string_view> metric_names() { return names; }

MetricPasses metric_passes(const std::string& chip, const cupti::Library& c) {
    if (!c.why.empty()) return {{c.why}, 0};
    try {
        return {{}, Host(c, chip.c_str(), nullptr).passes()};
    } catch (const CudaError& e) {
        return {{chip + ": " + e.what()}, 0};
    }
}

Counters count(const Gpu& gpu, const std::function<void()>& queue, const Runtime& r, const cupti::Library& c) {
    if (const sim::Fit here = available(r); !here.ok()) throw CudaError(here.why);
    if (!c.why.empty()) throw CudaError("no CUPTI: " + c.why);
    cupti::Initialize initialize;
    check_cupti(c, c.initialize(&initialize), "cuptiProfilerInitialize");
    cupti::ChipName chip;
    check_cupti(c, c.chip_name(&chip), "cuptiDeviceGetChipName");
    check(r, r.release(nullptr), "cudaFree");  // the context is there from now on
    void* context = nullptr;
    reinterpret_cast<int (*)(void**)>(driver_function(r, "cuCtxGetCurrent", 4000))(&context);
    cupti::CounterAvailability availability;
    availability.context = context;
    check_cupti(c, c.counter_availability(&availability), "cuptiProfilerGetCounterAvailability");
    std::vector<std::uint8_t> counters_here(availability.bytes);
    availability.image = counters_here.data();
    check_cupti(c, c.counter_availability(&availability), "cuptiProfilerGetCounterAvailability");

    const std::string kernels[] = {"read_bytes", "copy_bytes"};
    const Program program = compile_cached(traffic_source, kernels, arch_name(gpu.capability));
    const Module module(r, program.cubin);
    const void* read = module.kernel(program.kernels[0].lowered);
    const void* copy = module.kernel(program.kernels[1].lowered);
    const sim::i64 known_bytes = flush_l2s * sim::round_up(gpu.l2_bytes, 16);
    const DeviceMemory flushed(r, known_bytes), from(r, known_bytes), to(r, known_bytes);
    for (const DeviceMemory* m : {&flushed, &from, &to}) m->fill(0);
    const LaunchShape shape{{static_cast<unsigned>(4 * gpu.sm_count)}, {512}, {}, 0};
    const auto move = [&](const void* kernel, void* source, void* target) {
        long long words = known_bytes / 16;
        void* arguments[] = {&source, &target, &words};
        launch(r, kernel, shape, arguments);
    };
    const auto flush = [&] { move(read, flushed.data(), to.data()); };

    const Host host(c, chip.chip, counters_here.data());
    const Profiler profiler(c, context);
    const Values base = profiler.window(host, r, flush, flush);
    const auto counted = [&](const std::function<void()>& work) {
        Values values = profiler.window(host, r, flush, [&] {
            work();
            flush();
        });
        for (std::size_t i = 0; i < metric_count; i++) values[i] -= base[i];
        return values;
    };

    const Values copied = counted([&] { move(copy, from.data(), to.data()); });
    Counters out;
    out.calibration_read = copied[dram_read] / static_cast<double>(known_bytes);
    out.calibration_write = copied[dram_write] / static_cast<double>(known_bytes);
    if (std::fabs(out.calibration_read - 1) > tolerance || std::fabs(out.calibration_write - 1) > tolerance)
        throw CudaError(fmt::format(
            "the DRAM counters made {:.3f} of the bytes read and {:.3f} of those written by a "
            "copy of {}",
            out.calibration_read, out.calibration_write, sim::format_bytes(static_cast<double>(known_bytes))));
    const Values v = counted(queue);
    out.dram_read_bytes = v[dram_read];
    out.dram_write_bytes = v[dram_write];
    out.l2_read_bytes = v[l2_read_sectors] * sector_bytes;
    out.l2_write_bytes = v[l2_write_sectors] * sector_bytes;
    out.l2_hit_share = v[l2_hits] / std::max(1.0, v[l2_hits] + v[l2_misses]);
    out.smem_wavefronts = v[smem_wavefronts];
    out.smem_conflicts = v[smem_conflicts];
    out.tensor_instructions = v[tensor];
    out.instructions = v[instructions];
    return out;
}

}  // namespace kernels::cuda
