// What is declared here of NVIDIA's libraries, held against NVIDIA's own headers where they are; and the occupancy
// rules against NVIDIA's own calculator. The program itself needs neither.

#include <doctest/doctest.h>

#include "kernels/cuda/cublas_lt.hpp"
#include "kernels/cuda/nvrtc.hpp"
#include "kernels/cuda/runtime.hpp"
#include "sim/experiment.hpp"
#include "sim/fit.hpp"

#if __has_include(<cuda_runtime_api.h>) && __has_include(<nvrtc.h>) && __has_include(<cuda_occupancy.h>)
#if __has_include(<cublasLt.h>)
#include <cublasLt.h>
#endif
#include <cuda_occupancy.h>
#include <cuda_runtime_api.h>
#include <nvrtc.h>

namespace {

using namespace kernels::cuda;

/// Two functions can stand for each other: as many parameters, each as large, and pointers where pointers are.
template <class T, class U>
constexpr bool same_slot =
    sizeof(T) == sizeof(U) && std::is_pointer_v<T> == std::is_pointer_v<U>&& std::is_floating_point_v<T> ==
                                  std::is_floating_point_v<U>;
template <class F, class G>
constexpr bool alike = false;
template <class R, class... A, class S, class... B>
requires(sizeof...(A) == sizeof...(B)) constexpr bool alike<R (*)(A...), S (*)(B...)> = same_slot<R, S> &&
                                                                                        (same_slot<A, B> && ...);
#define SAME(theirs, ours) static_assert(alike<decltype(&theirs), decltype(ours)>)
static_assert(!alike<int (*)(void*), int (*)(int)>);
static_assert(!alike<int (*)(void*), int (*)(void*, int)>);

static_assert(sizeof(LaunchConfig) == sizeof(cudaLaunchConfig_t));
static_assert(offsetof(LaunchConfig, block) == offsetof(cudaLaunchConfig_t, blockDim));
static_assert(offsetof(LaunchConfig, dynamic_smem_bytes) == offsetof(cudaLaunchConfig_t, dynamicSmemBytes));
static_assert(offsetof(LaunchConfig, stream) == offsetof(cudaLaunchConfig_t, stream));
static_assert(offsetof(LaunchConfig, attributes) == offsetof(cudaLaunchConfig_t, attrs));
static_assert(offsetof(LaunchConfig, attribute_count) == offsetof(cudaLaunchConfig_t, numAttrs));
static_assert(sizeof(LaunchAttribute) == sizeof(cudaLaunchAttribute));
static_assert(offsetof(LaunchAttribute, value) == offsetof(cudaLaunchAttribute, val));
static_assert(cluster_dimension == cudaLaunchAttributeClusterDimension);
static_assert(int(FunctionAttribute::max_dynamic_smem) == cudaFuncAttributeMaxDynamicSharedMemorySize);
static_assert(int(FunctionAttribute::non_portable_cluster) == cudaFuncAttributeNonPortableClusterSizeAllowed);
static_assert(int(DeviceAttribute::clock_khz) == cudaDevAttrClockRate);
static_assert(int(DeviceAttribute::sm_count) == cudaDevAttrMultiProcessorCount);
static_assert(int(DeviceAttribute::l2_bytes) == cudaDevAttrL2CacheSize);
static_assert(int(DeviceAttribute::capability_major) == cudaDevAttrComputeCapabilityMajor);
static_assert(int(DeviceAttribute::capability_minor) == cudaDevAttrComputeCapabilityMinor);
static_assert(int(DeviceAttribute::smem_per_sm) == cudaDevAttrMaxSharedMemoryPerMultiprocessor);
static_assert(int(DeviceAttribute::smem_per_cta) == cudaDevAttrMaxSharedMemoryPerBlockOptin);
static_assert(int(DeviceAttribute::smem_reserved) == cudaDevAttrReservedSharedMemoryPerBlock);
static_assert(int(CopyKind::to_device) == cudaMemcpyHostToDevice);
static_assert(int(CopyKind::to_host) == cudaMemcpyDeviceToHost);
static_assert(int(CopyKind::on_device) == cudaMemcpyDeviceToDevice);
static_assert(cudaSuccess == 0 && NVRTC_SUCCESS == 0);

SAME(cudaGetErrorName, Runtime::error_name);
SAME(cudaDriverGetVersion, Runtime::driver_version);
SAME(cudaGetDeviceCount, Runtime::device_count);
SAME(cudaDeviceGetAttribute, Runtime::device_attribute);
SAME(cudaSetDevice, Runtime::set_device);
SAME(cudaDeviceSynchronize, Runtime::synchronize);
SAME(cudaMemGetInfo, Runtime::memory_info);
SAME(cudaMalloc, Runtime::allocate);
SAME(cudaFree, Runtime::release);
SAME(cudaMemcpy, Runtime::copy);
SAME(cudaMemsetAsync, Runtime::set_bytes);
SAME(cudaEventCreate, Runtime::event_create);
SAME(cudaEventRecord, Runtime::event_record);
SAME(cudaEventElapsedTime, Runtime::event_elapsed_ms);
SAME(cudaLibraryLoadData, Runtime::library_load);
SAME(cudaLibraryUnload, Runtime::library_unload);
SAME(cudaLibraryGetKernel, Runtime::library_kernel);
SAME(cudaFuncSetAttribute, Runtime::function_attribute);
SAME(cudaOccupancyMaxActiveBlocksPerMultiprocessor, Runtime::occupancy);
SAME(cudaOccupancyMaxActiveClusters, Runtime::max_clusters);
SAME(cudaLaunchKernelExC, Runtime::launch);
SAME(cudaGetDriverEntryPointByVersion, Runtime::driver_entry_point);

SAME(nvrtcVersion, Nvrtc::version);
SAME(nvrtcCreateProgram, Nvrtc::create);
SAME(nvrtcDestroyProgram, Nvrtc::destroy);
SAME(nvrtcAddNameExpression, Nvrtc::add_name);
SAME(nvrtcGetLoweredName, Nvrtc::lowered_name);
SAME(nvrtcCompileProgram, Nvrtc::compile);
SAME(nvrtcGetProgramLogSize, Nvrtc::log_size);
SAME(nvrtcGetProgramLog, Nvrtc::log);
SAME(nvrtcGetCUBINSize, Nvrtc::cubin_size);
SAME(nvrtcGetCUBIN, Nvrtc::cubin);

#if __has_include(<cublasLt.h>)
static_assert(sizeof(LtChoice) == sizeof(cublasLtMatmulHeuristicResult_t));
static_assert(offsetof(LtChoice, workspace_bytes) == offsetof(cublasLtMatmulHeuristicResult_t, workspaceSize));
static_assert(offsetof(LtChoice, status) == offsetof(cublasLtMatmulHeuristicResult_t, state));
SAME(cublasLtGetVersion, CublasLt::version);
SAME(cublasLtGetStatusName, CublasLt::status_name);
SAME(cublasLtCreate, CublasLt::create);
SAME(cublasLtDestroy, CublasLt::destroy);
SAME(cublasLtMatmulDescCreate, CublasLt::desc_create);
SAME(cublasLtMatmulDescDestroy, CublasLt::desc_destroy);
SAME(cublasLtMatmulDescSetAttribute, CublasLt::desc_set);
SAME(cublasLtMatrixLayoutCreate, CublasLt::layout_create);
SAME(cublasLtMatrixLayoutDestroy, CublasLt::layout_destroy);
SAME(cublasLtMatrixLayoutSetAttribute, CublasLt::layout_set);
SAME(cublasLtMatmulPreferenceCreate, CublasLt::preference_create);
SAME(cublasLtMatmulPreferenceDestroy, CublasLt::preference_destroy);
SAME(cublasLtMatmulPreferenceSetAttribute, CublasLt::preference_set);
SAME(cublasLtMatmulAlgoGetHeuristic, CublasLt::heuristic);
SAME(cublasLtMatmul, CublasLt::matmul);
#endif

}  // namespace

TEST_CASE("cuda headers: resident CTAs are those of NVIDIA's occupancy calculator") {
    // What the calculator must be told beside the device file: the driver's own limits.
    int compared = 0;
    for (const sim::Device* d : sim::Catalogue::builtin().all()) {
        if (d->kind != sim::DeviceKind::gpu || d->compute_capability.empty()) continue;
        const int major = std::stoi(d->compute_capability), minor = d->compute_capability.back() - '0';
        if (major < 8) continue;
        CAPTURE(d->id);
        cudaOccDeviceProp p;
        p.computeMajor = major;
        p.computeMinor = minor;
        p.maxThreadsPerBlock = 1024;
        p.maxThreadsPerMultiprocessor = static_cast<int>(d->per_sm.threads.value);
        p.regsPerBlock = p.regsPerMultiprocessor = static_cast<int>(d->registers.bytes_per_sm.value) / 4;
        p.warpSize = 32;
        p.sharedMemPerBlock = 48 << 10;
        p.sharedMemPerMultiprocessor = static_cast<size_t>(d->sram.bytes_per_sm.value);
        p.numSms = static_cast<int>(d->sm_count.value);
        p.sharedMemPerBlockOptin = static_cast<size_t>(d->sram.bytes_per_cta.value);
        p.reservedSharedMemPerBlock = static_cast<size_t>(d->sram.reserved_per_cta.value);
        sim::Experiment e;
        e.device = d->id;
        for (const int registers : {16, 24, 32, 40, 63, 64, 65, 96, 128, 168, 200, 255})
            for (const int threads : {32, 64, 96, 128, 160, 256, 384, 512, 768, 1024})
                for (const int smem : {0, 1024, 8 << 10, 33000, 48 << 10, 65 << 10, 99 << 10, 160 << 10, 227 << 10}) {
                    if (smem > static_cast<int>(p.sharedMemPerBlockOptin)) continue;
                    cudaOccFuncAttributes a;
                    a.maxThreadsPerBlock = threads;
                    a.numRegs = registers;
                    a.sharedSizeBytes = 0;
                    a.partitionedGCConfig = PARTITIONED_GC_OFF;
                    a.shmemLimitConfig = FUNC_SHMEM_LIMIT_OPTIN;
                    a.maxDynamicSharedSizeBytes = static_cast<size_t>(smem);
                    a.numBlockBarriers = 1;
                    const cudaOccDeviceState state;
                    cudaOccResult theirs{};
                    if (cudaOccMaxActiveBlocksPerMultiprocessor(&theirs, &p, &a, &state, threads,
                                                                static_cast<size_t>(smem)) != CUDA_OCC_SUCCESS)
                        continue;
                    sim::CtaShape cta;
                    cta.threads = threads;
                    cta.registers = registers;
                    cta.smem_bytes = smem;
                    const int ours = sim::occupancy(e, *d, cta).ctas_per_sm;
                    CHECK_MESSAGE(ours == theirs.activeBlocksPerMultiprocessor,
                                  registers << " registers, " << threads << " threads, " << smem << " B");
                    ++compared;
                }
    }
    CHECK(compared > 1000);
}

#endif
