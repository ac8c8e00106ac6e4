#include "kernels/cuda/clocks.hpp"

#include "kernels/cuda/shared_library.hpp"

namespace kernels::cuda {
namespace {

enum Clock : int { sm_clock = 1, memory_clock = 2 };  // nvmlClockType_t

/// Why a clock is below its highest (nvmlClocksEventReasons), worst first. Not listed: idle, and clocks a person set.
struct Reason {
    unsigned long long bit;
    const char* words;
};
constexpr Reason reasons[] = {
    {0x40, "thermal limit"},    {0x80, "power brake"}, {0x20, "software thermal limit"},
    {0x8, "hardware slowdown"}, {0x4, "power cap"},
};

struct Nvml {
    SharedLibrary library = SharedLibrary::open("nvidia-ml");
    int (*init)() = nullptr;
    int (*device)(unsigned, void**) = nullptr;
    int (*clock)(void*, Clock, unsigned*) = nullptr;
    int (*power)(void*, unsigned*) = nullptr;
    int (*throttle)(void*, unsigned long long*) = nullptr;
    void* gpu = nullptr;

    Nvml() {
        library.get("nvmlInit_v2", init);
        library.get("nvmlDeviceGetHandleByIndex_v2", device);
        library.get("nvmlDeviceGetClockInfo", clock);
        library.get("nvmlDeviceGetPowerUsage", power);
        library.get("nvmlDeviceGetCurrentClocksThrottleReasons", throttle);
        if (!init || !device || init() != 0 || device(0, &gpu) != 0) gpu = nullptr;
    }
};

}  // namespace

ClockState clock_state() {
    static const Nvml nvml;
    ClockState state;
    if (!nvml.gpu) return state;
    unsigned value = 0;
    if (nvml.clock && nvml.clock(nvml.gpu, sm_clock, &value) == 0) state.clock_mhz = value;
    if (nvml.clock && nvml.clock(nvml.gpu, memory_clock, &value) == 0) state.memory_mhz = value;
    if (nvml.power && nvml.power(nvml.gpu, &value) == 0) state.power_w = value / 1e3;
    unsigned long long bits = 0;
    if (nvml.throttle && nvml.throttle(nvml.gpu, &bits) == 0)
        for (const Reason& r : reasons)
            if (bits & r.bit) {
                state.throttled = r.words;
                break;
            }
    return state;
}

}  // namespace kernels::cuda
