#include "kernels/cuda/runtime.hpp"

#include <fmt/format.h>

namespace kernels::cuda {
namespace {

constexpr sim::i64 usual_dynamic_smem = 48 << 10;  // more must be asked for
constexpr unsigned portable_cluster = 8;

Runtime open() {
    Runtime r;
    r.library = SharedLibrary::open("cudart");
    r.why = r.library.why();
    if (!r.library) return r;
    const auto get = [&](const char* symbol, auto*& function) {
        if (!r.library.get(symbol, function) && r.why.empty())
            r.why = fmt::format("{} is too old: it has no {} (CUDA 12.8 has)", r.library.path(), symbol);
    };
    get("cudaGetErrorName", r.error_name);
    get("cudaGetErrorString", r.error_string);
    get("cudaDriverGetVersion", r.driver_version);
    get("cudaGetDeviceCount", r.device_count);
    get("cudaDeviceGetAttribute", r.device_attribute);
    get("cudaSetDevice", r.set_device);
    get("cudaDeviceSynchronize", r.synchronize);
    get("cudaGetLastError", r.last_error);
    get("cudaMemGetInfo", r.memory_info);
    get("cudaMalloc", r.allocate);
    get("cudaFree", r.release);
    get("cudaMemcpy", r.copy);
    get("cudaMemsetAsync", r.set_bytes);
    get("cudaEventCreate", r.event_create);
    get("cudaEventDestroy", r.event_destroy);
    get("cudaEventRecord", r.event_record);
    get("cudaEventSynchronize", r.event_synchronize);
    get("cudaEventElapsedTime", r.event_elapsed_ms);
    get("cudaLibraryLoadData", r.library_load);
    get("cudaLibraryUnload", r.library_unload);
    get("cudaLibraryGetKernel", r.library_kernel);
    get("cudaFuncSetAttribute", r.function_attribute);
    get("cudaOccupancyMaxActiveBlocksPerMultiprocessor", r.occupancy);
    get("cudaOccupancyMaxActiveClusters", r.max_clusters);
    get("cudaLaunchKernelExC", r.launch);
    get("cudaGetDriverEntryPointByVersion", r.driver_entry_point);
    return r;
}

std::string version_text(int version) { return fmt::format("{}.{}", version / 1000, version % 1000 / 10); }

}  // namespace

const Runtime& runtime() {
    static const Runtime opened = open();
    return opened;
}

sim::Fit available(const Runtime& r) {
    if (!r.why.empty()) return {"no CUDA runtime: " + r.why};
    int version = 0, devices = 0;
    r.driver_version(&version);
    if (version == 0) return {"no NVIDIA driver: libcuda.so.1 was not found"};
    const int result = r.device_count(&devices);
    if (result != 0) {
        r.last_error();  // it would be found by the next call that looks
        return {fmt::format("no NVIDIA GPU: {} ({}); the driver speaks CUDA {}", r.error_string(result),
                            r.error_name(result), version_text(version))};
    }
    return devices > 0 ? sim::Fit{} : sim::Fit{"no NVIDIA GPU: the driver sees none"};
}

void check(const Runtime& r, int result, std::string_view call, std::source_location place) {
    if (result == 0) return;
    std::string_view file = place.file_name();
    if (const auto at = file.rfind("kernels/"); at != std::string_view::npos) file.remove_prefix(at);
    throw CudaError(fmt::format("{} failed: {} ({}), at {}:{}", call, r.error_string(result), r.error_name(result),
                                file, place.line()));
}

Gpu gpu(const Runtime& r) {
    Gpu g;
    check(r, r.set_device(0), "cudaSetDevice");
    const auto attribute = [&](DeviceAttribute a) {
        int value = 0;
        check(r, r.device_attribute(&value, a, 0), "cudaDeviceGetAttribute");
        return value;
    };
    g.capability = 10 * attribute(DeviceAttribute::capability_major) + attribute(DeviceAttribute::capability_minor);
    g.sm_count = attribute(DeviceAttribute::sm_count);
    g.l2_bytes = attribute(DeviceAttribute::l2_bytes);
    g.smem_per_cta_bytes = attribute(DeviceAttribute::smem_per_cta);
    g.smem_per_sm_bytes = attribute(DeviceAttribute::smem_per_sm);
    g.smem_reserved_bytes = attribute(DeviceAttribute::smem_reserved);
    g.clock_mhz = attribute(DeviceAttribute::clock_khz) / 1e3;
    std::size_t free = 0, total = 0;
    check(r, r.memory_info(&free, &total), "cudaMemGetInfo");
    g.free_bytes = static_cast<sim::i64>(free);
    g.memory_bytes = static_cast<sim::i64>(total);
    int version = 0;
    check(r, r.driver_version(&version), "cudaDriverGetVersion");
    g.driver = version_text(version);
    // The runtime's own cudaDeviceProp differs from version to version; the driver's call does not.
    const auto name = reinterpret_cast<int (*)(char*, int, int)>(driver_function(r, "cuDeviceGetName", 2000));
    char text[256] = {};
    if (name(text, sizeof text - 1, 0) == 0) g.name = text;
    return g;
}

void* driver_function(const Runtime& r, const char* name, unsigned version) {
    constexpr unsigned long long usual = 0;  // cudaEnableDefault
    void* function = nullptr;
    int status = 0;
    check(r, r.driver_entry_point(name, &function, version, usual, &status), "cudaGetDriverEntryPointByVersion");
    if (status != 0 || !function) throw CudaError(fmt::format("the NVIDIA driver has no {}", name));
    return function;
}

DeviceMemory::DeviceMemory(const Runtime& r, sim::i64 bytes) : r_(&r), bytes_(bytes) {
    void* data = nullptr;
    check(r, r.allocate(&data, static_cast<std::size_t>(bytes)),
          fmt::format("cudaMalloc of {}", sim::format_bytes(static_cast<double>(bytes))));
    data_ = static_cast<std::byte*>(data);
}

DeviceMemory::~DeviceMemory() {
    if (data_) r_->release(data_);
}

void DeviceMemory::copy_from_host(const void* from, sim::i64 bytes, sim::i64 offset) const {
    check(*r_, r_->copy(data_ + offset, from, static_cast<std::size_t>(bytes), CopyKind::to_device), "cudaMemcpy");
}

void DeviceMemory::copy_to_host(void* to, sim::i64 bytes, sim::i64 offset) const {
    check(*r_, r_->copy(to, data_ + offset, static_cast<std::size_t>(bytes), CopyKind::to_host), "cudaMemcpy");
}

void DeviceMemory::copy_from(const DeviceMemory& other) const {
    check(*r_, r_->copy(data_, other.data_, static_cast<std::size_t>(other.bytes_), CopyKind::on_device), "cudaMemcpy");
}

void DeviceMemory::fill(int byte, sim::i64 offset, sim::i64 bytes) const {
    check(*r_, r_->set_bytes(data_ + offset, byte, static_cast<std::size_t>(bytes), nullptr), "cudaMemsetAsync");
}

Event::Event(const Runtime& r) : r_(&r) { check(r, r.event_create(&event_), "cudaEventCreate"); }

Event::~Event() {
    if (event_) r_->event_destroy(event_);
}

void Event::record() const { check(*r_, r_->event_record(event_, nullptr), "cudaEventRecord"); }
void Event::wait() const { check(*r_, r_->event_synchronize(event_), "cudaEventSynchronize"); }

double Event::us_since(const Event& earlier) const {
    float ms = 0;
    check(*r_, r_->event_elapsed_ms(&ms, earlier.event_, event_), "cudaEventElapsedTime");
    return static_cast<double>(ms) * 1e3;
}

Module::Module(const Runtime& r, std::string_view cubin) : r_(&r) {
    check(r, r.library_load(&library_, cubin.data(), nullptr, nullptr, 0, nullptr, nullptr, 0), "cudaLibraryLoadData");
}

Module::~Module() {
    if (library_) r_->library_unload(library_);
}

const void* Module::kernel(const std::string& lowered) const {
    void* found = nullptr;
    check(*r_, r_->library_kernel(&found, library_, lowered.c_str()), "cudaLibraryGetKernel");
    return found;
}

void prepare(const Runtime& r, const void* kernel, const LaunchShape& shape) {
    if (shape.dynamic_smem_bytes > usual_dynamic_smem)
        check(r,
              r.function_attribute(kernel, FunctionAttribute::max_dynamic_smem,
                                   static_cast<int>(shape.dynamic_smem_bytes)),
              "cudaFuncSetAttribute");
    if (shape.cluster.x * shape.cluster.y * shape.cluster.z > portable_cluster)
        check(r, r.function_attribute(kernel, FunctionAttribute::non_portable_cluster, 1), "cudaFuncSetAttribute");
}

void launch(const Runtime& r, const void* kernel, const LaunchShape& shape, void** arguments) {
    const auto smem = static_cast<std::size_t>(shape.dynamic_smem_bytes);
    const unsigned ctas = shape.cluster.x * shape.cluster.y * shape.cluster.z;
    LaunchAttribute cluster{cluster_dimension, 0, {shape.cluster.x, shape.cluster.y, shape.cluster.z}};
    LaunchConfig config{shape.grid, shape.block, smem, nullptr, nullptr, 0};
    if (ctas > 1) {
        config.attributes = &cluster;
        config.attribute_count = 1;
    }
    check(r, r.launch(&config, kernel, arguments), "cudaLaunchKernelExC");
}

}  // namespace kernels::cuda
