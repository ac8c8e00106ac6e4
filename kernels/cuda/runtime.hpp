#pragma once
// The CUDA runtime, opened where it is: its entry points as they are called here, by their documented C interface, and
// owners for what they hand out. The runtime opens the driver by itself; nothing here links either.

#include <array>
#include <cstddef>
#include <source_location>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include "kernels/cuda/shared_library.hpp"
#include "sim/error.hpp"
#include "sim/units.hpp"

namespace kernels::cuda {

struct Dim3 {
    unsigned x = 1, y = 1, z = 1;
    bool operator==(const Dim3&) const = default;
};

/// cudaLaunchAttribute, of which a cluster's shape is used.
struct LaunchAttribute {
    int id = 0;
    int pad = 0;
    std::array<unsigned, 16> value{};
};
inline constexpr int cluster_dimension = 4;  // cudaLaunchAttributeClusterDimension

/// cudaLaunchConfig_t.
struct LaunchConfig {
    Dim3 grid, block;
    std::size_t dynamic_smem_bytes = 0;
    void* stream = nullptr;
    LaunchAttribute* attributes = nullptr;
    unsigned attribute_count = 0;
};

/// cudaFuncAttribute, cudaDeviceAttr, cudaMemcpyKind: the values that are used.
enum class FunctionAttribute : int { max_dynamic_smem = 8, non_portable_cluster = 14 };
enum class DeviceAttribute : int {
    clock_khz = 13,
    sm_count = 16,
    l2_bytes = 38,
    capability_major = 75,
    capability_minor = 76,
    smem_per_sm = 81,
    smem_per_cta = 97,
    smem_reserved = 111
};
enum class CopyKind : int { to_device = 1, to_host = 2, on_device = 3 };

/// The functions by what they do; all return a cudaError_t, 0 for success.
struct Runtime {
    SharedLibrary library;
    std::string why;  ///< empty exactly when every function is here

    const char* (*error_name)(int) = nullptr;
    const char* (*error_string)(int) = nullptr;
    int (*driver_version)(int*) = nullptr;
    int (*device_count)(int*) = nullptr;
    int (*device_attribute)(int*, DeviceAttribute, int device) = nullptr;
    int (*set_device)(int) = nullptr;
    int (*synchronize)() = nullptr;
    int (*last_error)() = nullptr;
    int (*memory_info)(std::size_t* free, std::size_t* total) = nullptr;
    int (*allocate)(void**, std::size_t) = nullptr;
    int (*release)(void*) = nullptr;
    int (*copy)(void* to, const void* from, std::size_t, CopyKind) = nullptr;
    int (*set_bytes)(void*, int value, std::size_t, void* stream) = nullptr;
    int (*event_create)(void**) = nullptr;
    int (*event_destroy)(void*) = nullptr;
    int (*event_record)(void*, void* stream) = nullptr;
    int (*event_synchronize)(void*) = nullptr;
    int (*event_elapsed_ms)(float*, void* from, void* to) = nullptr;
    int (*library_load)(void** library, const void* code, int* options, void** values, unsigned count,
                        int* library_options, void** library_values, unsigned library_count) = nullptr;
    int (*library_unload)(void*) = nullptr;
    int (*library_kernel)(void** kernel, void* library, const char* name) = nullptr;
    int (*function_attribute)(const void* kernel, FunctionAttribute, int value) = nullptr;
    int (*occupancy)(int* ctas, const void* kernel, int threads, std::size_t dynamic_smem) = nullptr;
    int (*max_clusters)(int* clusters, const void* kernel, const LaunchConfig*) = nullptr;
    int (*launch)(const LaunchConfig*, const void* kernel, void** arguments) = nullptr;
    int (*driver_entry_point)(const char* symbol, void** function, unsigned version, unsigned long long flags,
                              int* status) = nullptr;
};

/// The runtime of this machine, opened when first asked for.
const Runtime& runtime();

/// Whether a kernel can run: "no NVIDIA driver: …", "no CUDA runtime: …", "no NVIDIA GPU: …".
sim::Fit available(const Runtime& r = runtime());

/// A call failed: what, how and where.
struct CudaError : std::runtime_error {
    using std::runtime_error::runtime_error;
};
/// Throws CudaError unless `result` is 0. `call` is the function as its manual names it.
void check(const Runtime& r, int result, std::string_view call,
           std::source_location place = std::source_location::current());

/// The GPU that kernels run on (number 0 of those that CUDA_VISIBLE_DEVICES leaves).
struct Gpu {
    std::string name;    ///< as the driver has it: "NVIDIA H200"
    int capability = 0;  ///< times 10: 90
    int sm_count = 0;
    sim::i64 l2_bytes = 0, memory_bytes = 0, free_bytes = 0;
    sim::i64 smem_per_cta_bytes = 0, smem_per_sm_bytes = 0, smem_reserved_bytes = 0;
    double clock_mhz = 0;  ///< highest
    std::string driver;    ///< newest CUDA it speaks: "13.0"
};
/// Throws CudaError; call it where available().
Gpu gpu(const Runtime& r = runtime());

/// A function of the driver by its name and the CUDA version it came with ("cuTensorMapEncodeTiled", 12000). Throws
/// CudaError where the driver has none.
void* driver_function(const Runtime& r, const char* name, unsigned version);

/// Memory on the GPU.
class DeviceMemory {
public:
    DeviceMemory(const Runtime& r, sim::i64 bytes);
    DeviceMemory(DeviceMemory&& o) noexcept
        : r_(o.r_), data_(std::exchange(o.data_, nullptr)), bytes_(std::exchange(o.bytes_, 0)) {}
    DeviceMemory& operator=(DeviceMemory&&) = delete;
    ~DeviceMemory();

    std::byte* data() const { return data_; }
    sim::i64 bytes() const { return bytes_; }
    void copy_from_host(const void* from, sim::i64 bytes, sim::i64 offset = 0) const;
    void copy_to_host(void* to, sim::i64 bytes, sim::i64 offset = 0) const;
    void copy_from(const DeviceMemory& other) const;
    /// Sets every byte, or some, in the order of other work of the GPU.
    void fill(int byte) const { fill(byte, 0, bytes_); }
    void fill(int byte, sim::i64 offset, sim::i64 bytes) const;

private:
    const Runtime* r_;
    std::byte* data_ = nullptr;
    sim::i64 bytes_ = 0;
};

/// A point in the GPU's work.
class Event {
public:
    explicit Event(const Runtime& r);
    Event(Event&& o) noexcept : r_(o.r_), event_(std::exchange(o.event_, nullptr)) {}
    Event& operator=(Event&&) = delete;
    ~Event();

    void record() const;
    void wait() const;
    /// Microseconds from `earlier` to this one; both must have happened.
    double us_since(const Event& earlier) const;

private:
    const Runtime* r_;
    void* event_ = nullptr;
};

/// A cubin on the GPU.
class Module {
public:
    Module(const Runtime& r, std::string_view cubin);
    Module(Module&& o) noexcept : r_(o.r_), library_(std::exchange(o.library_, nullptr)) {}
    Module& operator=(Module&&) = delete;
    ~Module();

    /// The kernel of that lowered name, valid as long as the module.
    const void* kernel(const std::string& lowered) const;

private:
    const Runtime* r_;
    void* library_ = nullptr;
};

/// How a kernel is launched.
struct LaunchShape {
    Dim3 grid, block, cluster;
    sim::i64 dynamic_smem_bytes = 0;
    bool operator==(const LaunchShape&) const = default;
};
/// Asks for what a kernel may not have unasked, once before it is launched so: more than 48 KiB of dynamic shared
/// memory, a cluster of more than 8 CTAs.
void prepare(const Runtime& r, const void* kernel, const LaunchShape& shape);
/// Launches a kernel on the default stream; `arguments` point to its parameters.
void launch(const Runtime& r, const void* kernel, const LaunchShape& shape, void** arguments);

}  // namespace kernels::cuda
