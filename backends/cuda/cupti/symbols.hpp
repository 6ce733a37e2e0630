// The list of all CUPTI functions used: name, and parameters as declared in its headers. All return CUptiResult.
//
// As for the driver (driver/symbols.hpp), types are declared here under the headers' names, because the toolkit is
// optional. A test compares them with the headers if those are available.
#pragma once

#include <cstddef>
#include <cstdint>

#include "backends/cuda/driver/symbols.hpp"

/// Functions of every CUPTI of CUDA 12 and 13: activity records.
#define ASSAY_CUPTI_SYMBOLS(X)                                                                        \
  X(cuptiGetVersion, (std::uint32_t * version))                                                       \
  X(cuptiGetResultString, (CUptiResult result, const char** text))                                    \
  X(cuptiActivityRegisterCallbacks,                                                                   \
    (CUpti_BuffersCallbackRequestFunc requested, CUpti_BuffersCallbackCompleteFunc completed))        \
  X(cuptiActivityEnable, (CUpti_ActivityKind kind))                                                   \
  X(cuptiActivityDisable, (CUpti_ActivityKind kind))                                                  \
  X(cuptiActivityFlushAll, (std::uint32_t flag))                                                      \
  X(cuptiActivityGetNextRecord, (std::uint8_t * buffer, std::size_t bytes, CUpti_Activity * *record)) \
  X(cuptiActivityGetNumDroppedRecords, (CUcontext context, std::uint32_t stream, std::size_t * dropped))

/// Functions since CUDA 12.6: hardware counters of the range profiler.
#define ASSAY_CUPTI_OPTIONAL_SYMBOLS(X)                                                                              \
  X(cuptiProfilerInitialize, (CUpti_Profiler_Initialize_Params * params))                                            \
  X(cuptiProfilerDeInitialize, (CUpti_Profiler_DeInitialize_Params * params))                                        \
  X(cuptiDeviceGetChipName, (CUpti_Device_GetChipName_Params * params))                                              \
  X(cuptiProfilerHostInitialize, (CUpti_Profiler_Host_Initialize_Params * params))                                   \
  X(cuptiProfilerHostDeinitialize, (CUpti_Profiler_Host_Deinitialize_Params * params))                               \
  X(cuptiProfilerHostConfigAddMetrics, (CUpti_Profiler_Host_ConfigAddMetrics_Params * params))                       \
  X(cuptiProfilerHostGetConfigImageSize, (CUpti_Profiler_Host_GetConfigImageSize_Params * params))                   \
  X(cuptiProfilerHostGetConfigImage, (CUpti_Profiler_Host_GetConfigImage_Params * params))                           \
  X(cuptiProfilerHostEvaluateToGpuValues, (CUpti_Profiler_Host_EvaluateToGpuValues_Params * params))                 \
  X(cuptiRangeProfilerEnable, (CUpti_RangeProfiler_Enable_Params * params))                                          \
  X(cuptiRangeProfilerDisable, (CUpti_RangeProfiler_Disable_Params * params))                                        \
  X(cuptiRangeProfilerGetCounterDataSize, (CUpti_RangeProfiler_GetCounterDataSize_Params * params))                  \
  X(cuptiRangeProfilerCounterDataImageInitialize, (CUpti_RangeProfiler_CounterDataImage_Initialize_Params * params)) \
  X(cuptiRangeProfilerSetConfig, (CUpti_RangeProfiler_SetConfig_Params * params))                                    \
  X(cuptiRangeProfilerStart, (CUpti_RangeProfiler_Start_Params * params))                                            \
  X(cuptiRangeProfilerStop, (CUpti_RangeProfiler_Stop_Params * params))                                              \
  X(cuptiRangeProfilerDecodeData, (CUpti_RangeProfiler_DecodeData_Params * params))

namespace assay::cuda {

using CUptiResult = int;
inline constexpr CUptiResult CUPTI_SUCCESS = 0;
inline constexpr CUptiResult CUPTI_ERROR_INVALID_PARAMETER = 1;
inline constexpr CUptiResult CUPTI_ERROR_INVALID_OPERATION = 7;
inline constexpr CUptiResult CUPTI_ERROR_MAX_LIMIT_REACHED = 12;
inline constexpr CUptiResult CUPTI_ERROR_NOT_SUPPORTED = 27;
inline constexpr CUptiResult CUPTI_ERROR_VIRTUALIZED_DEVICE_NOT_SUPPORTED = 33;
inline constexpr CUptiResult CUPTI_ERROR_INSUFFICIENT_PRIVILEGES = 35;
inline constexpr CUptiResult CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES = 40;

// ---------------------------------------------------------------------------------------------------- activity

using CUpti_ActivityKind = int;
inline constexpr CUpti_ActivityKind CUPTI_ACTIVITY_KIND_MEMCPY = 1;
inline constexpr CUpti_ActivityKind CUPTI_ACTIVITY_KIND_DRIVER = 4;
inline constexpr CUpti_ActivityKind CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL = 10;
inline constexpr std::uint32_t CUPTI_ACTIVITY_FLAG_FLUSH_FORCED = 1;
inline constexpr std::uint8_t CUPTI_ACTIVITY_MEMCPY_KIND_DTOD = 8;
/// The callback ID of a driver function.
inline constexpr std::uint32_t CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel = 307;

/// The beginning of every activity record.
struct CUpti_Activity {
  CUpti_ActivityKind kind;  ///< kind of the activity, which determines the type of the record
};

/// The beginning of a kernel record, common to all versions of CUDA 12 and 13. Times are in nanoseconds.
struct CUpti_ActivityKernel {
  CUpti_ActivityKind kind;
  std::uint8_t cacheConfig;                      ///< cache configuration of the kernel
  std::uint8_t sharedMemoryConfig;               ///< shared memory configuration of the kernel
  std::uint16_t registersPerThread;              ///< number of registers of a thread
  std::int32_t partitionedGlobalCacheRequested;  ///< requested configuration of the partitioned global cache
  std::int32_t partitionedGlobalCacheExecuted;   ///< actual configuration of the partitioned global cache
  std::uint64_t start;                           ///< start time of the kernel
  std::uint64_t end;                             ///< end time of the kernel
};

/// The beginning of a memory copy record.
struct CUpti_ActivityMemcpy {
  CUpti_ActivityKind kind;
  std::uint8_t copyKind;  ///< direction of the copy
  std::uint8_t srcKind;   ///< kind of memory that is the source
  std::uint8_t dstKind;   ///< kind of memory that is the destination
  std::uint8_t flags;     ///< flags of the copy
  std::uint64_t bytes;    ///< number of bytes copied
  std::uint64_t start;
  std::uint64_t end;
};

/// The record of a driver call.
struct CUpti_ActivityAPI {
  CUpti_ActivityKind kind;
  std::uint32_t cbid;  ///< callback ID, which identifies the driver function
  std::uint64_t start;
  std::uint64_t end;
  std::uint32_t processId;
  std::uint32_t threadId;
  std::uint32_t correlationId;  ///< links the call to the activity that it caused
  std::uint32_t returnValue;    ///< result code of the call
};

using CUpti_BuffersCallbackRequestFunc = void (*)(std::uint8_t** buffer, std::size_t* bytes, std::size_t* max_records);
using CUpti_BuffersCallbackCompleteFunc = void (*)(CUcontext context, std::uint32_t stream, std::uint8_t* buffer,
                                                   std::size_t bytes, std::size_t valid_bytes);

// ---------------------------------------------------------------------------------------------------- counters

// Each structure contains its size, from which the library derives its version; zeroed_params() sets it.

struct CUpti_Profiler_Host_Object;
struct CUpti_RangeProfiler_Object;

inline constexpr int CUPTI_PROFILER_TYPE_RANGE_PROFILER = 0;
inline constexpr int CUPTI_AutoRange = 1;  ///< each kernel is its own range
inline constexpr int CUPTI_KernelReplay =
    2;  ///< CUPTI repeats the kernel until all metrics are counted, restoring its memory

/// Parameters of cuptiProfilerInitialize.
struct CUpti_Profiler_Initialize_Params {
  std::size_t structSize;  ///< size of this structure, from which CUPTI derives its version
  void* pPriv;             ///< reserved; must be null
};
/// Parameters of cuptiProfilerDeInitialize.
struct CUpti_Profiler_DeInitialize_Params {
  std::size_t structSize;
  void* pPriv;
};
/// Parameters of cuptiDeviceGetChipName.
struct CUpti_Device_GetChipName_Params {
  std::size_t structSize;
  void* pPriv;
  std::size_t deviceIndex;  ///< number of the GPU
  const char* pChipName;    ///< output: name of the chip, such as "GH100"
};
/// Parameters of cuptiProfilerHostInitialize.
struct CUpti_Profiler_Host_Initialize_Params {
  std::size_t structSize;
  void* pPriv;
  int profilerType;  ///< kind of profiler: CUPTI_PROFILER_TYPE_RANGE_PROFILER
  const char* pChipName;
  const std::uint8_t* pCounterAvailabilityImage;  ///< counters that are available; null: all
  CUpti_Profiler_Host_Object* pHostObject;        ///< output: the new profiler object
};
/// Parameters of cuptiProfilerHostDeinitialize.
struct CUpti_Profiler_Host_Deinitialize_Params {
  std::size_t structSize;
  void* pPriv;
  CUpti_Profiler_Host_Object* pHostObject;
};
/// Parameters of cuptiProfilerHostConfigAddMetrics.
struct CUpti_Profiler_Host_ConfigAddMetrics_Params {
  std::size_t structSize;
  void* pPriv;
  CUpti_Profiler_Host_Object* pHostObject;
  const char** ppMetricNames;  ///< names of the metrics to count
  std::size_t numMetrics;      ///< number of names
};
/// Parameters of cuptiProfilerHostGetConfigImageSize.
struct CUpti_Profiler_Host_GetConfigImageSize_Params {
  std::size_t structSize;
  void* pPriv;
  CUpti_Profiler_Host_Object* pHostObject;
  std::size_t configImageSize;  ///< output: size of the configuration image in bytes
};
/// Parameters of cuptiProfilerHostGetConfigImage.
struct CUpti_Profiler_Host_GetConfigImage_Params {
  std::size_t structSize;
  void* pPriv;
  CUpti_Profiler_Host_Object* pHostObject;
  std::size_t configImageSize;
  std::uint8_t* pConfigImage;  ///< output: the configuration image
};
/// Parameters of cuptiProfilerHostEvaluateToGpuValues.
struct CUpti_Profiler_Host_EvaluateToGpuValues_Params {
  std::size_t structSize;
  void* pPriv;
  CUpti_Profiler_Host_Object* pHostObject;
  const std::uint8_t* pCounterDataImage;  ///< counter data image with the counted values
  std::size_t counterDataImageSize;       ///< size of this image in bytes
  std::size_t rangeIndex;                 ///< index of the range to evaluate
  const char** ppMetricNames;
  std::size_t numMetrics;
  double* pMetricValues;  ///< output: value of each metric
};
/// Parameters of cuptiRangeProfilerEnable.
struct CUpti_RangeProfiler_Enable_Params {
  std::size_t structSize;
  void* pPriv;
  CUcontext ctx;                                     ///< context in which to count
  CUpti_RangeProfiler_Object* pRangeProfilerObject;  ///< output: the range profiler object
};
/// Parameters of cuptiRangeProfilerDisable.
struct CUpti_RangeProfiler_Disable_Params {
  std::size_t structSize;
  void* pPriv;
  CUpti_RangeProfiler_Object* pRangeProfilerObject;
};
/// Parameters of cuptiRangeProfilerGetCounterDataSize.
struct CUpti_RangeProfiler_GetCounterDataSize_Params {
  std::size_t structSize;
  void* pPriv;
  CUpti_RangeProfiler_Object* pRangeProfilerObject;
  const char** pMetricNames;  ///< names of the metrics to count
  std::size_t numMetrics;
  std::size_t maxNumOfRanges;          ///< maximum number of ranges that are counted
  std::uint32_t maxNumRangeTreeNodes;  ///< maximum number of nodes in the tree of nested ranges
  std::size_t counterDataSize;         ///< output: size of the counter data image in bytes
};
/// Parameters of cuptiRangeProfilerCounterDataImageInitialize.
struct CUpti_RangeProfiler_CounterDataImage_Initialize_Params {
  std::size_t structSize;
  void* pPriv;
  CUpti_RangeProfiler_Object* pRangeProfilerObject;
  std::size_t counterDataSize;
  std::uint8_t* pCounterData;  ///< output: the counter data image
};
/// Parameters of cuptiRangeProfilerSetConfig.
struct CUpti_RangeProfiler_SetConfig_Params {
  std::size_t structSize;
  void* pPriv;
  CUpti_RangeProfiler_Object* pRangeProfilerObject;
  std::size_t configSize;       ///< size of the configuration image in bytes
  const std::uint8_t* pConfig;  ///< the configuration image
  std::size_t counterDataImageSize;
  std::uint8_t* pCounterDataImage;
  int range;                         ///< how kernels are grouped into ranges: CUPTI_AutoRange
  int replayMode;                    ///< how runs are repeated: CUPTI_KernelReplay
  std::size_t maxRangesPerPass;      ///< maximum number of ranges in one pass over the counters
  std::uint16_t numNestingLevels;    ///< number of levels of nested ranges
  std::uint16_t minNestingLevel;     ///< lowest nesting level to count
  std::size_t passIndex;             ///< index of the current pass over the counters
  std::uint16_t targetNestingLevel;  ///< nesting level of the current pass
};
/// Parameters of cuptiRangeProfilerStart.
struct CUpti_RangeProfiler_Start_Params {
  std::size_t structSize;
  void* pPriv;
  CUpti_RangeProfiler_Object* pRangeProfilerObject;
};
/// Parameters of cuptiRangeProfilerStop.
struct CUpti_RangeProfiler_Stop_Params {
  std::size_t structSize;
  void* pPriv;
  CUpti_RangeProfiler_Object* pRangeProfilerObject;
  std::size_t passIndex;
  std::size_t targetNestingLevel;
  std::uint8_t isAllPassSubmitted;  ///< output: whether all passes over the counters are done
};
/// Parameters of cuptiRangeProfilerDecodeData.
struct CUpti_RangeProfiler_DecodeData_Params {
  std::size_t structSize;
  void* pPriv;
  CUpti_RangeProfiler_Object* pRangeProfilerObject;
  std::size_t numOfRangeDropped;  ///< output: number of ranges without space in the counter data image
};

/// The size as defined by the headers: up to the end of the last member, without trailing padding.
template <typename Params>
inline constexpr std::size_t kParamsSize = sizeof(Params);
template <>
inline constexpr std::size_t kParamsSize<CUpti_RangeProfiler_SetConfig_Params> =
    offsetof(CUpti_RangeProfiler_SetConfig_Params, targetNestingLevel) + sizeof(std::uint16_t);
template <>
inline constexpr std::size_t kParamsSize<CUpti_RangeProfiler_Stop_Params> = offsetof(CUpti_RangeProfiler_Stop_Params,
                                                                                     isAllPassSubmitted) +
                                                                            sizeof(std::uint8_t);

template <typename Params>
Params zeroed_params() {
  Params params{};
  params.structSize = kParamsSize<Params>;
  return params;
}

}  // namespace assay::cuda
