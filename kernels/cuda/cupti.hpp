#pragma once
// CUPTI's range profiler, opened where it is: its calls as they are made here, by their documented C interface. Each
// call takes one struct that starts with its own size.

#include <cstddef>
#include <cstdint>
#include <string>

#include "kernels/cuda/shared_library.hpp"

namespace kernels::cuda::cupti {

inline constexpr int range_profiler = 0, user_range = 2, user_replay = 3;

struct Initialize {
    std::size_t size = 16;
    void* reserved = nullptr;
};
struct ChipName {
    std::size_t size = 32;
    void* reserved = nullptr;
    std::size_t device = 0;
    const char* chip = nullptr;
};
struct CounterAvailability {
    std::size_t size = 40;
    void* reserved = nullptr;
    void* context = nullptr;
    std::size_t bytes = 0;
    std::uint8_t* image = nullptr;
};
struct HostInitialize {
    std::size_t size = 48;
    void* reserved = nullptr;
    int type = range_profiler;
    const char* chip = nullptr;
    const std::uint8_t* availability = nullptr;
    void* host = nullptr;
};
struct HostDeinitialize {
    std::size_t size = 24;
    void* reserved = nullptr;
    void* host = nullptr;
};
struct AddMetrics {
    std::size_t size = 40;
    void* reserved = nullptr;
    void* host = nullptr;
    const char** names = nullptr;
    std::size_t count = 0;
};
struct ConfigImageSize {
    std::size_t size = 32;
    void* reserved = nullptr;
    void* host = nullptr;
    std::size_t bytes = 0;
};
struct ConfigImage {
    std::size_t size = 40;
    void* reserved = nullptr;
    void* host = nullptr;
    std::size_t bytes = 0;
    std::uint8_t* image = nullptr;
};
struct PassCount {
    std::size_t size = 40;
    void* reserved = nullptr;
    std::size_t bytes = 0;
    std::uint8_t* image = nullptr;
    std::size_t passes = 0;
};
struct Evaluate {
    std::size_t size = 72;
    void* reserved = nullptr;
    void* host = nullptr;
    const std::uint8_t* data = nullptr;
    std::size_t data_bytes = 0;
    std::size_t range = 0;
    const char** names = nullptr;
    std::size_t count = 0;
    double* values = nullptr;
};
struct Enable {
    std::size_t size = 32;
    void* reserved = nullptr;
    void* context = nullptr;
    void* profiler = nullptr;
};
struct OfProfiler {  // disable, start, pop
    std::size_t size = 24;
    void* reserved = nullptr;
    void* profiler = nullptr;
};
struct CounterDataSize {
    std::size_t size = 64;
    void* reserved = nullptr;
    void* profiler = nullptr;
    const char** names = nullptr;
    std::size_t count = 0;
    std::size_t ranges = 1;
    std::uint32_t tree_nodes = 1;
    std::size_t bytes = 0;
};
struct CounterData {
    std::size_t size = 40;
    void* reserved = nullptr;
    void* profiler = nullptr;
    std::size_t bytes = 0;
    std::uint8_t* data = nullptr;
};
struct SetConfig {
    std::size_t size = 90;
    void* reserved = nullptr;
    void* profiler = nullptr;
    std::size_t config_bytes = 0;
    const std::uint8_t* config = nullptr;
    std::size_t data_bytes = 0;
    std::uint8_t* data = nullptr;
    int range = user_range;
    int replay = user_replay;
    std::size_t ranges_a_pass = 1;
    std::uint16_t nesting_levels = 1, least_level = 1;
    std::size_t pass = 0;
    std::uint16_t target_level = 1;
};
struct PushRange {
    std::size_t size = 32;
    void* reserved = nullptr;
    void* profiler = nullptr;
    const char* name = nullptr;
};
struct Stop {
    std::size_t size = 41;
    void* reserved = nullptr;
    void* profiler = nullptr;
    std::size_t pass = 0;
    std::size_t level = 0;
    std::uint8_t all_passes = 0;
};
struct Decode {
    std::size_t size = 32;
    void* reserved = nullptr;
    void* profiler = nullptr;
    std::size_t dropped = 0;
};

/// The functions; all return a CUptiResult, 0 for success.
struct Library {
    SharedLibrary library;
    std::string why;  ///< empty exactly when every function is here

    int (*result_string)(int, const char**) = nullptr;
    int (*initialize)(Initialize*) = nullptr;
    int (*chip_name)(ChipName*) = nullptr;  ///< crashes without a driver
    int (*counter_availability)(CounterAvailability*) = nullptr;
    int (*host_initialize)(HostInitialize*) = nullptr;
    int (*host_deinitialize)(HostDeinitialize*) = nullptr;
    int (*add_metrics)(AddMetrics*) = nullptr;
    int (*config_image_size)(ConfigImageSize*) = nullptr;
    int (*config_image)(ConfigImage*) = nullptr;
    int (*pass_count)(PassCount*) = nullptr;
    int (*evaluate)(Evaluate*) = nullptr;
    int (*enable)(Enable*) = nullptr;
    int (*disable)(OfProfiler*) = nullptr;
    int (*counter_data_size)(CounterDataSize*) = nullptr;
    int (*counter_data)(CounterData*) = nullptr;
    int (*set_config)(SetConfig*) = nullptr;
    int (*start)(OfProfiler*) = nullptr;
    int (*push)(PushRange*) = nullptr;
    int (*pop)(OfProfiler*) = nullptr;
    int (*stop)(Stop*) = nullptr;
    int (*decode)(Decode*) = nullptr;
};

/// The library of this machine, opened when first asked for.
const Library& library();

}  // namespace kernels::cuda::cupti
