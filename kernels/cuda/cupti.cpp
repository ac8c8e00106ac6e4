#include "kernels/cuda/cupti.hpp"

namespace kernels::cuda::cupti {
namespace {

Library open() {
    Library c;
    c.library = SharedLibrary::open("cupti");
    c.why = c.library.why();
    if (!c.library) return c;
    const auto get = [&](const char* symbol, auto*& function) {
        if (!c.library.get(symbol, function) && c.why.empty())
            c.why = c.library.path() + " is too old: it has no " + symbol;
    };
    get("cuptiGetResultString", c.result_string);
    get("cuptiProfilerInitialize", c.initialize);
    get("cuptiDeviceGetChipName", c.chip_name);
    get("cuptiProfilerGetCounterAvailability", c.counter_availability);
    get("cuptiProfilerHostInitialize", c.host_initialize);
    get("cuptiProfilerHostDeinitialize", c.host_deinitialize);
    get("cuptiProfilerHostConfigAddMetrics", c.add_metrics);
    get("cuptiProfilerHostGetConfigImageSize", c.config_image_size);
    get("cuptiProfilerHostGetConfigImage", c.config_image);
    get("cuptiProfilerHostGetNumOfPasses", c.pass_count);
    get("cuptiProfilerHostEvaluateToGpuValues", c.evaluate);
    get("cuptiRangeProfilerEnable", c.enable);
    get("cuptiRangeProfilerDisable", c.disable);
    get("cuptiRangeProfilerGetCounterDataSize", c.counter_data_size);
    get("cuptiRangeProfilerCounterDataImageInitialize", c.counter_data);
    get("cuptiRangeProfilerSetConfig", c.set_config);
    get("cuptiRangeProfilerStart", c.start);
    get("cuptiRangeProfilerPushRange", c.push);
    get("cuptiRangeProfilerPopRange", c.pop);
    get("cuptiRangeProfilerStop", c.stop);
    get("cuptiRangeProfilerDecodeData", c.decode);
    return c;
}

}  // namespace

const Library& library() {
    static const Library opened = open();
    return opened;
}

}  // namespace kernels::cuda::cupti
