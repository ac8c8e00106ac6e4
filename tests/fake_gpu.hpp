#pragma once
// A GPU that is not there: the functions of kernels::cuda::Runtime over host memory, so that everything above them
// runs anywhere. A launch is written down and then computed by a function of the test; time passes only as it says.

#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "kernels/cuda/runtime.hpp"

namespace fake_gpu {

using namespace kernels::cuda;

struct Launch {
    std::string kernel;
    LaunchShape shape;
};

/// What the one fake GPU of the process is and has seen.
struct State {
    int devices = 1, capability = 90, sm_count = 132, l2_bytes = 50 << 20;
    std::string name = "NVIDIA H200", cubin_refused;
    std::size_t memory = std::size_t{1} << 30;
    int failing_call = 0;  ///< a call that fails from now on, by the error it gives: see fail()
    std::string failing;

    std::vector<Launch> launches;
    std::map<const void*, int> dynamic_smem, non_portable;  ///< attributes by kernel
    std::map<void*, std::size_t> allocated;
    std::size_t most_allocated = 0;
    double clock_us = 0;
    std::map<void*, double> events;
    std::vector<std::string> kernels;  ///< names handed out; a handle is 1 + index
    int live_libraries = 0;
    /// Computes a launch and returns how long it took, in µs.
    std::function<double(const Launch&, void** arguments)> compute = [](const Launch&, void**) { return 10.0; };
};
inline State state;

namespace detail {

inline int fails(const char* call) { return state.failing == call ? state.failing_call : 0; }
inline std::string& kernel_name(const void* handle) { return state.kernels[reinterpret_cast<std::size_t>(handle) - 1]; }

inline int allocate(void** p, std::size_t bytes) {
    if (const int e = fails("cudaMalloc")) return e;
    std::size_t used = bytes;
    for (const auto& [at, size] : state.allocated) used += size;
    if (used > state.memory) return 2;
    *p = std::aligned_alloc(256, (bytes + 255) / 256 * 256);
    std::memset(*p, 0xab, bytes);
    state.allocated[*p] = bytes;
    state.most_allocated = std::max(state.most_allocated, used);
    return 0;
}
inline int release(void* p) {
    state.allocated.erase(p);
    std::free(p);
    return 0;
}
inline int attribute(int* value, DeviceAttribute a, int) {
    switch (a) {
        case DeviceAttribute::clock_khz: *value = 1980000; break;
        case DeviceAttribute::sm_count: *value = state.sm_count; break;
        case DeviceAttribute::l2_bytes: *value = state.l2_bytes; break;
        case DeviceAttribute::capability_major: *value = state.capability / 10; break;
        case DeviceAttribute::capability_minor: *value = state.capability % 10; break;
        case DeviceAttribute::smem_per_sm: *value = 228 << 10; break;
        case DeviceAttribute::smem_per_cta: *value = 227 << 10; break;
        case DeviceAttribute::smem_reserved: *value = 1 << 10; break;
    }
    return 0;
}
inline int launch(const LaunchConfig* c, const void* kernel, void** arguments) {
    if (const int e = fails("cudaLaunchKernelExC")) return e;
    LaunchShape shape{c->grid, c->block, {}, static_cast<sim::i64>(c->dynamic_smem_bytes)};
    for (unsigned i = 0; i < c->attribute_count; i++)
        if (c->attributes[i].id == cluster_dimension)
            shape.cluster = {c->attributes[i].value[0], c->attributes[i].value[1], c->attributes[i].value[2]};
    if (c->dynamic_smem_bytes > 48 << 10 && state.dynamic_smem[kernel] < static_cast<int>(c->dynamic_smem_bytes))
        return 1;  // cudaErrorInvalidValue, as a GPU says
    state.launches.push_back({kernel_name(kernel), shape});
    state.clock_us += state.compute(state.launches.back(), arguments);
    return 0;
}
inline int device_name(char* text, int size, int) {
    std::strncpy(text, state.name.c_str(), static_cast<std::size_t>(size));
    return 0;
}
/// cuTensorMapEncodeTiled: keeps what it was asked in the map itself.
inline int encode_tiled(void* map, int dtype, unsigned rank, void* address, const unsigned long long* dims,
                        const unsigned long long* strides, const unsigned* box, const unsigned*, int, int swizzle, int,
                        int) {
    if (reinterpret_cast<std::size_t>(address) % 16 != 0 || strides[0] % 16 != 0) return 1;
    const unsigned long long kept[] = {static_cast<unsigned long long>(dtype),
                                       rank,
                                       reinterpret_cast<unsigned long long>(address),
                                       dims[0],
                                       dims[1],
                                       strides[0],
                                       box[0],
                                       box[1],
                                       static_cast<unsigned long long>(swizzle)};
    std::memcpy(map, kept, sizeof kept);
    return 0;
}

}  // namespace detail

/// A fresh GPU; what was before is forgotten.
inline Runtime install() {
    using namespace detail;
    state = State{};
    Runtime r;
    r.error_name = [](int e) { return e == 35 ? "cudaErrorInsufficientDriver" : "cudaErrorFake"; };
    r.error_string = [](int) { return "as the test wants it"; };
    r.driver_version = [](int* v) { return *v = state.devices < 0 ? 0 : 13000, 0; };
    r.device_count = [](int* n) { return state.devices > 0 ? (*n = state.devices, 0) : 35; };
    r.device_attribute = attribute;
    r.set_device = [](int) { return 0; };
    r.synchronize = [] { return fails("cudaDeviceSynchronize"); };
    r.last_error = [] { return 0; };
    r.memory_info = [](std::size_t* free, std::size_t* total) { return *free = *total = state.memory, 0; };
    r.allocate = allocate;
    r.release = release;
    r.copy = [](void* to, const void* from, std::size_t n, CopyKind) { return std::memcpy(to, from, n), 0; };
    r.set_bytes = [](void* p, int v, std::size_t n, void*) { return std::memset(p, v, n), 0; };
    r.event_create = [](void** e) { return *e = std::malloc(1), 0; };
    r.event_destroy = [](void* e) { return state.events.erase(e), std::free(e), 0; };
    r.event_record = [](void* e, void*) { return state.events[e] = state.clock_us, 0; };
    r.event_synchronize = [](void*) { return fails("cudaEventSynchronize"); };
    r.event_elapsed_ms = [](float* ms, void* a, void* b) {
        return *ms = static_cast<float>((state.events.at(b) - state.events.at(a)) / 1e3), 0;
    };
    r.library_load = [](void** l, const void*, int*, void**, unsigned, int*, void**, unsigned) {
        return *l = &state, state.live_libraries++, fails("cudaLibraryLoadData");
    };
    r.library_unload = [](void*) { return state.live_libraries--, 0; };
    r.library_kernel = [](void** k, void*, const char* name) {
        state.kernels.push_back(name);
        *k = reinterpret_cast<void*>(state.kernels.size());
        return 0;
    };
    r.function_attribute = [](const void* k, FunctionAttribute a, int v) {
        return (a == FunctionAttribute::max_dynamic_smem ? state.dynamic_smem : state.non_portable)[k] = v, 0;
    };
    r.occupancy = [](int* ctas, const void*, int, std::size_t) { return *ctas = 1, 0; };
    r.max_clusters = [](int* clusters, const void*, const LaunchConfig*) { return *clusters = 66, 0; };
    r.launch = launch;
    r.driver_entry_point = [](const char* symbol, void** f, unsigned, unsigned long long, int* status) {
        const std::string name = symbol;
        *status = 0;
        if (name == "cuDeviceGetName")
            *f = reinterpret_cast<void*>(&device_name);
        else if (name == "cuTensorMapEncodeTiled")
            *f = reinterpret_cast<void*>(&encode_tiled);
        else
            *status = 1;
        return 0;
    };
    return r;
}

/// From now on that call returns that error.
inline void fail(const std::string& call, int error) {
    state.failing = call;
    state.failing_call = error;
}

}  // namespace fake_gpu
