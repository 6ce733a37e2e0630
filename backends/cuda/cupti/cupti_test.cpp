#include "backends/cuda/cupti/cupti.hpp"

#include <array>
#include <cstdint>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include "backends/cuda/cupti/counters.hpp"
#include "backends/cuda/driver/same_call.hpp"
#include "backends/worker/sanitized.hpp"

#if __has_include(<cupti.h>) && __has_include(<cupti_range_profiler.h>)
#define ASSAY_HAVE_CUPTI_HEADERS 1
#include <cuda.h>
#include <cupti.h>
#include <cupti_profiler_host.h>
#include <cupti_range_profiler.h>
#include <cupti_target.h>
#endif

namespace assay::cuda {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

TEST(Cupti, ErrorMentionsFunctionThatLibraryLacks) {
  ::setenv("ASSAY_CUPTI", "libm.so.6", 1);
  const Result<Cupti> cupti = Cupti::load();
  ::unsetenv("ASSAY_CUPTI");
  ASSERT_FALSE(cupti.ok());
  EXPECT_EQ(cupti.error().text(), "libm.so.6 lacks cuptiGetVersion: no CUPTI");
}

TEST(Cupti, PermissionErrorExplainsHowToPermitHardwareCounters) {
  EXPECT_THAT(advice_on(CUPTI_ERROR_INSUFFICIENT_PRIVILEGES), HasSubstr("NVreg_RestrictProfilingToAdminUsers=0"));
  EXPECT_EQ(advice_on(CUPTI_ERROR_MAX_LIMIT_REACHED), "");
}

struct Chip {
  const char* name;
  std::uint32_t since;  ///< the first interface version that supports the chip; 0: all with counters
};
constexpr std::array kChips{Chip{"TU102", 0}, Chip{"GA100", 0}, Chip{"GA102", 0},
                            Chip{"AD102", 0}, Chip{"GH100", 0}, Chip{"GB100", 26}};  // 26: CUDA 12.8

/// The chip database works without a GPU; this test uses the installed library.
TEST(CounterConfiguration, FindsAllHardwareCountersOnEveryGpuArchitecture) {
  if (worker::kIsSanitizerBuild) GTEST_SKIP() << "sanitizers do not support how CUPTI loads its parts";
  const Result<Cupti> cupti = Cupti::load();
  if (!cupti.ok()) GTEST_SKIP() << cupti.error().text();
  if (!cupti->has_counters()) GTEST_SKIP() << cupti->library() << " is older than CUDA 12.6";
  for (const Chip& chip : kChips) {
    if (cupti->version() < chip.since) continue;
    SCOPED_TRACE(chip.name);
    try {
      CounterConfiguration plan(*cupti, chip.name);
      EXPECT_EQ(plan.metrics().size(), counter_metrics().size());
      EXPECT_GT(plan.image().size(), 0U);
    } catch (const CallError& error) {
      ADD_FAILURE() << error.what();
    }
  }
  EXPECT_THAT([&] { CounterConfiguration(*cupti, "unknown chip"); },
              ::testing::ThrowsMessage<CallError>(
                  StartsWith("cuptiProfilerHostInitialize of unknown chip: CUPTI call failed")));
}

#if ASSAY_HAVE_CUPTI_HEADERS
TEST(Cupti, DeclarationsMatchCudaHeaders) {
  static_assert(sizeof(::CUptiResult) == sizeof(CUptiResult));
  const CuptiSymbols symbols;
#define ASSAY_COMPARE(name, parameters) EXPECT_TRUE(testing::has_same_signature(symbols.name, &::name)) << #name;
  ASSAY_CUPTI_SYMBOLS(ASSAY_COMPARE)
  ASSAY_CUPTI_OPTIONAL_SYMBOLS(ASSAY_COMPARE)
#undef ASSAY_COMPARE
#define ASSAY_EQUAL(constant) EXPECT_EQ(static_cast<int>(::constant), static_cast<int>(constant)) << #constant;
  ASSAY_EQUAL(CUPTI_ERROR_INVALID_PARAMETER)
  ASSAY_EQUAL(CUPTI_ERROR_INVALID_OPERATION)
  ASSAY_EQUAL(CUPTI_ERROR_MAX_LIMIT_REACHED)
  ASSAY_EQUAL(CUPTI_ERROR_NOT_SUPPORTED)
  ASSAY_EQUAL(CUPTI_ERROR_VIRTUALIZED_DEVICE_NOT_SUPPORTED)
  ASSAY_EQUAL(CUPTI_ERROR_INSUFFICIENT_PRIVILEGES)
  ASSAY_EQUAL(CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES)
  ASSAY_EQUAL(CUPTI_ACTIVITY_KIND_MEMCPY)
  ASSAY_EQUAL(CUPTI_ACTIVITY_KIND_DRIVER)
  ASSAY_EQUAL(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL)
  ASSAY_EQUAL(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED)
  ASSAY_EQUAL(CUPTI_ACTIVITY_MEMCPY_KIND_DTOD)
  ASSAY_EQUAL(CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel)
  ASSAY_EQUAL(CUPTI_PROFILER_TYPE_RANGE_PROFILER)
  ASSAY_EQUAL(CUPTI_AutoRange)
  ASSAY_EQUAL(CUPTI_KernelReplay)
#undef ASSAY_EQUAL
}

#define ASSAY_SAME_MEMBER(ours, theirs, member)                                          \
  EXPECT_EQ(offsetof(ours, member), offsetof(::theirs, member)) << #theirs "::" #member; \
  EXPECT_EQ(sizeof(ours::member), sizeof(::theirs::member)) << #theirs "::" #member

TEST(Cupti, ActivityRecordLayoutsMatchCudaHeaders) {
#define ASSAY_KERNEL(theirs)                                           \
  ASSAY_SAME_MEMBER(CUpti_ActivityKernel, theirs, kind);               \
  ASSAY_SAME_MEMBER(CUpti_ActivityKernel, theirs, registersPerThread); \
  ASSAY_SAME_MEMBER(CUpti_ActivityKernel, theirs, start);              \
  ASSAY_SAME_MEMBER(CUpti_ActivityKernel, theirs, end)
  // The record versions of CUDA 12.0 and of the installed headers.
  ASSAY_KERNEL(CUpti_ActivityKernel9);
#if CUDA_VERSION >= 13000
  ASSAY_KERNEL(CUpti_ActivityKernel10);
#endif
#undef ASSAY_KERNEL
#define ASSAY_COPY(theirs)                                   \
  ASSAY_SAME_MEMBER(CUpti_ActivityMemcpy, theirs, kind);     \
  ASSAY_SAME_MEMBER(CUpti_ActivityMemcpy, theirs, copyKind); \
  ASSAY_SAME_MEMBER(CUpti_ActivityMemcpy, theirs, bytes);    \
  ASSAY_SAME_MEMBER(CUpti_ActivityMemcpy, theirs, start);    \
  ASSAY_SAME_MEMBER(CUpti_ActivityMemcpy, theirs, end)
  ASSAY_COPY(CUpti_ActivityMemcpy5);
#if CUDA_VERSION >= 13000
  ASSAY_COPY(CUpti_ActivityMemcpy6);
#endif
#undef ASSAY_COPY
  ASSAY_SAME_MEMBER(CUpti_ActivityAPI, CUpti_ActivityAPI, cbid);
  ASSAY_SAME_MEMBER(CUpti_ActivityAPI, CUpti_ActivityAPI, start);
  ASSAY_SAME_MEMBER(CUpti_ActivityAPI, CUpti_ActivityAPI, end);
}

TEST(Cupti, ParameterStructLayoutsMatchCudaHeaders) {
  // If the last member's offset and the reported size match, the members in between cannot differ.
#define ASSAY_SAME_PARAMS(name, last)                                     \
  EXPECT_EQ(sizeof(name), sizeof(::name)) << #name;                       \
  EXPECT_EQ(kParamsSize<name>, std::size_t{name##_STRUCT_SIZE}) << #name; \
  ASSAY_SAME_MEMBER(name, name, last)
  ASSAY_SAME_PARAMS(CUpti_Profiler_Initialize_Params, pPriv);
  ASSAY_SAME_PARAMS(CUpti_Profiler_DeInitialize_Params, pPriv);
  ASSAY_SAME_PARAMS(CUpti_Device_GetChipName_Params, pChipName);
  ASSAY_SAME_PARAMS(CUpti_Profiler_Host_Initialize_Params, pHostObject);
  ASSAY_SAME_PARAMS(CUpti_Profiler_Host_Deinitialize_Params, pHostObject);
  ASSAY_SAME_PARAMS(CUpti_Profiler_Host_ConfigAddMetrics_Params, numMetrics);
  ASSAY_SAME_PARAMS(CUpti_Profiler_Host_GetConfigImageSize_Params, configImageSize);
  ASSAY_SAME_PARAMS(CUpti_Profiler_Host_GetConfigImage_Params, pConfigImage);
  ASSAY_SAME_PARAMS(CUpti_Profiler_Host_EvaluateToGpuValues_Params, pMetricValues);
  ASSAY_SAME_PARAMS(CUpti_RangeProfiler_Enable_Params, pRangeProfilerObject);
  ASSAY_SAME_PARAMS(CUpti_RangeProfiler_Disable_Params, pRangeProfilerObject);
  ASSAY_SAME_PARAMS(CUpti_RangeProfiler_GetCounterDataSize_Params, counterDataSize);
  ASSAY_SAME_PARAMS(CUpti_RangeProfiler_CounterDataImage_Initialize_Params, pCounterData);
  ASSAY_SAME_PARAMS(CUpti_RangeProfiler_SetConfig_Params, targetNestingLevel);
  ASSAY_SAME_MEMBER(CUpti_RangeProfiler_SetConfig_Params, CUpti_RangeProfiler_SetConfig_Params, range);
  ASSAY_SAME_MEMBER(CUpti_RangeProfiler_SetConfig_Params, CUpti_RangeProfiler_SetConfig_Params, replayMode);
  ASSAY_SAME_MEMBER(CUpti_RangeProfiler_SetConfig_Params, CUpti_RangeProfiler_SetConfig_Params, passIndex);
  ASSAY_SAME_PARAMS(CUpti_RangeProfiler_Start_Params, pRangeProfilerObject);
  ASSAY_SAME_PARAMS(CUpti_RangeProfiler_Stop_Params, isAllPassSubmitted);
  ASSAY_SAME_PARAMS(CUpti_RangeProfiler_DecodeData_Params, numOfRangeDropped);
#undef ASSAY_SAME_PARAMS
}
#endif

}  // namespace
}  // namespace assay::cuda
