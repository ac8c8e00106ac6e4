// The counters' names and the calls that read them, as far as they go without a GPU.

#include <doctest/doctest.h>

#include "kernels/cuda/counters.hpp"
#include "tests/fake_gpu.hpp"

#if __has_include(<cupti_range_profiler.h>)
#include <cupti_profiler_host.h>
#include <cupti_profiler_target.h>
#include <cupti_range_profiler.h>
#include <cupti_target.h>
#endif

using namespace kernels::cuda;

// "slow" leaves it out of the sanitizer build: CUPTI opens a library in a way that sanitizers refuse.
TEST_CASE("cuda counters: every name is known on the chips that are measured" * doctest::test_suite("slow")) {
    if (!cupti::library().why.empty()) {
        MESSAGE("CUPTI is not here: " << cupti::library().why);
        CHECK(!metric_passes("GH100").fit.ok());
        return;
    }
    for (const char* chip : {"GA100", "GH100", "GB100"}) {
        const MetricPasses m = metric_passes(chip);
        CHECK_MESSAGE(m.fit.ok(), m.fit.why);
        CHECK(m.passes >= 1);
        CHECK(m.passes <= 20);
    }
    CHECK(metric_passes("GX999").fit.why.find("GX999: cuptiProfilerHostInitialize failed: ") == 0);
    CHECK(metric_names().size() == 10);
}

TEST_CASE("cuda counters: without a GPU or CUPTI nothing is counted, and nothing crashes") {
    const Runtime r = fake_gpu::install();
    cupti::Library none;
    none.why = "libcupti.so was not found";
    CHECK_THROWS_WITH(count(
                          gpu(r), [] {}, r, none),
                      "no CUPTI: libcupti.so was not found");
    const Gpu g = gpu(r);
    fake_gpu::state.devices = 0;
    CHECK_THROWS_AS(count(
                        g, [] {}, r, none),
                    CudaError);
}

#if __has_include(<cupti_range_profiler.h>)
namespace {
#define SIZE(ours, theirs) \
    static_assert(cupti::ours{}.size == theirs##_STRUCT_SIZE && sizeof(cupti::ours) == sizeof(theirs))
#define PLACE(ours, field, theirs, its) static_assert(offsetof(cupti::ours, field) == offsetof(theirs, its))
SIZE(Initialize, CUpti_Profiler_Initialize_Params);
SIZE(ChipName, CUpti_Device_GetChipName_Params);
PLACE(ChipName, chip, CUpti_Device_GetChipName_Params, pChipName);
SIZE(CounterAvailability, CUpti_Profiler_GetCounterAvailability_Params);
PLACE(CounterAvailability, image, CUpti_Profiler_GetCounterAvailability_Params, pCounterAvailabilityImage);
SIZE(HostInitialize, CUpti_Profiler_Host_Initialize_Params);
PLACE(HostInitialize, chip, CUpti_Profiler_Host_Initialize_Params, pChipName);
PLACE(HostInitialize, host, CUpti_Profiler_Host_Initialize_Params, pHostObject);
SIZE(HostDeinitialize, CUpti_Profiler_Host_Deinitialize_Params);
SIZE(AddMetrics, CUpti_Profiler_Host_ConfigAddMetrics_Params);
PLACE(AddMetrics, names, CUpti_Profiler_Host_ConfigAddMetrics_Params, ppMetricNames);
SIZE(ConfigImageSize, CUpti_Profiler_Host_GetConfigImageSize_Params);
SIZE(ConfigImage, CUpti_Profiler_Host_GetConfigImage_Params);
SIZE(PassCount, CUpti_Profiler_Host_GetNumOfPasses_Params);
PLACE(PassCount, passes, CUpti_Profiler_Host_GetNumOfPasses_Params, numOfPasses);
SIZE(Evaluate, CUpti_Profiler_Host_EvaluateToGpuValues_Params);
PLACE(Evaluate, range, CUpti_Profiler_Host_EvaluateToGpuValues_Params, rangeIndex);
PLACE(Evaluate, values, CUpti_Profiler_Host_EvaluateToGpuValues_Params, pMetricValues);
SIZE(Enable, CUpti_RangeProfiler_Enable_Params);
PLACE(Enable, profiler, CUpti_RangeProfiler_Enable_Params, pRangeProfilerObject);
SIZE(OfProfiler, CUpti_RangeProfiler_Start_Params);
SIZE(OfProfiler, CUpti_RangeProfiler_PopRange_Params);
SIZE(OfProfiler, CUpti_RangeProfiler_Disable_Params);
SIZE(CounterDataSize, CUpti_RangeProfiler_GetCounterDataSize_Params);
PLACE(CounterDataSize, tree_nodes, CUpti_RangeProfiler_GetCounterDataSize_Params, maxNumRangeTreeNodes);
PLACE(CounterDataSize, bytes, CUpti_RangeProfiler_GetCounterDataSize_Params, counterDataSize);
SIZE(CounterData, CUpti_RangeProfiler_CounterDataImage_Initialize_Params);
SIZE(SetConfig, CUpti_RangeProfiler_SetConfig_Params);
PLACE(SetConfig, data, CUpti_RangeProfiler_SetConfig_Params, pCounterDataImage);
PLACE(SetConfig, range, CUpti_RangeProfiler_SetConfig_Params, range);
PLACE(SetConfig, replay, CUpti_RangeProfiler_SetConfig_Params, replayMode);
PLACE(SetConfig, nesting_levels, CUpti_RangeProfiler_SetConfig_Params, numNestingLevels);
PLACE(SetConfig, least_level, CUpti_RangeProfiler_SetConfig_Params, minNestingLevel);
PLACE(SetConfig, pass, CUpti_RangeProfiler_SetConfig_Params, passIndex);
PLACE(SetConfig, target_level, CUpti_RangeProfiler_SetConfig_Params, targetNestingLevel);
SIZE(PushRange, CUpti_RangeProfiler_PushRange_Params);
PLACE(PushRange, name, CUpti_RangeProfiler_PushRange_Params, pRangeName);
SIZE(Stop, CUpti_RangeProfiler_Stop_Params);
PLACE(Stop, all_passes, CUpti_RangeProfiler_Stop_Params, isAllPassSubmitted);
SIZE(Decode, CUpti_RangeProfiler_DecodeData_Params);
static_assert(cupti::range_profiler == CUPTI_PROFILER_TYPE_RANGE_PROFILER);
static_assert(cupti::user_range == CUPTI_UserRange && cupti::user_replay == CUPTI_UserReplay);
}  // namespace
#endif
