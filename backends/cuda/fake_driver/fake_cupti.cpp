// CUPTI functions for the fake GPU: records of its activities, and counters that count nothing but enforce CUPTI's
// order of calls. They are in the same library as the fake driver; set $ASSAY_CUPTI to this library to use it as
// libcupti.
#include <array>
#include <cstring>
#include <string>
#include <string_view>

#include "backends/cuda/cupti/symbols.hpp"
#include "backends/cuda/fake_driver/process.hpp"

namespace assay::cuda::fake {

namespace {

constexpr std::uint32_t kCuptiVersion = 130000;
constexpr std::size_t kConfigBytes = 64;
constexpr std::size_t kCounterBytes = 128;

struct KindRow {
  CUpti_ActivityKind kind;
  RecordedActivity::Kind activity;
  std::size_t bytes;  ///< size of its record
};
constexpr std::array kKinds{
    KindRow{CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, RecordedActivity::Kind::kKernel, sizeof(CUpti_ActivityKernel)},
    KindRow{CUPTI_ACTIVITY_KIND_MEMCPY, RecordedActivity::Kind::kCopy, sizeof(CUpti_ActivityMemcpy)},
    KindRow{CUPTI_ACTIVITY_KIND_DRIVER, RecordedActivity::Kind::kLaunchCall, sizeof(CUpti_ActivityAPI)}};

template <typename Value>
const KindRow* row_of(Value KindRow::*member, Value value) {
  for (const KindRow& row : kKinds)
    if (row.*member == value) return &row;
  return nullptr;
}

CUpti_BuffersCallbackRequestFunc request_buffer = nullptr;
CUpti_BuffersCallbackCompleteFunc complete_buffer = nullptr;

/// The record of an activity as bytes.
std::string record_of(const RecordedActivity& activity) {
  const auto bytes_of = [](const auto& record) {
    return std::string(reinterpret_cast<const char*>(&record), sizeof(record));
  };
  switch (activity.kind) {
    case RecordedActivity::Kind::kKernel: {
      CUpti_ActivityKernel record{};
      record.kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
      record.start = activity.start;
      record.end = activity.end;
      return bytes_of(record);
    }
    case RecordedActivity::Kind::kCopy: {
      CUpti_ActivityMemcpy record{};
      record.kind = CUPTI_ACTIVITY_KIND_MEMCPY;
      record.copyKind = CUPTI_ACTIVITY_MEMCPY_KIND_DTOD;
      record.bytes = activity.bytes;
      record.start = activity.start;
      record.end = activity.end;
      return bytes_of(record);
    }
    case RecordedActivity::Kind::kLaunchCall: break;
  }
  CUpti_ActivityAPI record{};
  record.kind = CUPTI_ACTIVITY_KIND_DRIVER;
  record.cbid = CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel;
  record.start = activity.start;
  record.end = activity.end;
  return bytes_of(record);
}

/// Delivers the records in buffers provided by the client.
CUptiResult flush() {
  if (request_buffer == nullptr) return CUPTI_ERROR_INVALID_OPERATION;
  std::string records;
  for (const RecordedActivity& activity : FakeDriverState::get().take_activities())
    records += record_of(activity);
  std::uint8_t* buffer = nullptr;
  std::size_t bytes = 0;
  std::size_t max_records = 0;
  request_buffer(&buffer, &bytes, &max_records);
  if (records.size() > bytes) return CUPTI_ERROR_MAX_LIMIT_REACHED;
  std::memcpy(buffer, records.data(), records.size());
  complete_buffer(nullptr, 0, buffer, bytes, records.size());
  return CUPTI_SUCCESS;
}

CUptiResult next_record(std::uint8_t* buffer, std::size_t bytes, CUpti_Activity** record) {
  std::size_t at = 0;
  if (*record != nullptr) {
    const KindRow* const row = row_of(&KindRow::kind, (*record)->kind);
    at = static_cast<std::size_t>(reinterpret_cast<std::uint8_t*>(*record) - buffer) + row->bytes;
  }
  if (at >= bytes) return CUPTI_ERROR_MAX_LIMIT_REACHED;
  *record = reinterpret_cast<CUpti_Activity*>(buffer + at);
  return CUPTI_SUCCESS;
}

CUptiResult enable(CUpti_ActivityKind kind, bool on) {
  const KindRow* const row = row_of(&KindRow::kind, kind);
  if (row == nullptr || request_buffer == nullptr) return CUPTI_ERROR_INVALID_OPERATION;
  FakeDriverState::get().record(row->activity, on);
  return CUPTI_SUCCESS;
}

/// The state of the counters; calls in an invalid order are rejected.
struct Counters {
  bool initialized = false;
  bool host = false;
  bool metrics = false;
  bool enabled = false;
  bool configured = false;
  bool started = false;
  bool stopped = false;
  bool decoded = false;
} counters;

CUptiResult step(bool allowed, bool& flag, bool value = true) {
  if (!allowed) return CUPTI_ERROR_INVALID_OPERATION;
  flag = value;
  return CUPTI_SUCCESS;
}

/// Defines a CUPTI function with the given body.
#define ASSAY_FAKE(name, parameters, ...)                                                                      \
  extern "C" CUptiResult name parameters {                                                                     \
    return FakeDriverState::get().call(#name, [&]([[maybe_unused]] FakeGpu & gpu) -> CUptiResult __VA_ARGS__); \
  }

}  // namespace

extern "C" CUptiResult cuptiGetResultString(CUptiResult result, const char** text) {
  *text = result == CUPTI_ERROR_INSUFFICIENT_PRIVILEGES ? "CUPTI_ERROR_INSUFFICIENT_PRIVILEGES" : "CUPTI_ERROR";
  return CUPTI_SUCCESS;
}

ASSAY_FAKE(cuptiGetVersion, (std::uint32_t * version), { return *version = kCuptiVersion, CUPTI_SUCCESS; })
ASSAY_FAKE(cuptiActivityRegisterCallbacks,
           (CUpti_BuffersCallbackRequestFunc requested, CUpti_BuffersCallbackCompleteFunc completed), {
             request_buffer = requested;
             complete_buffer = completed;
             return CUPTI_SUCCESS;
           })
ASSAY_FAKE(cuptiActivityEnable, (CUpti_ActivityKind kind), { return enable(kind, true); })
ASSAY_FAKE(cuptiActivityDisable, (CUpti_ActivityKind kind), { return enable(kind, false); })
ASSAY_FAKE(cuptiActivityFlushAll, (std::uint32_t), { return flush(); })
ASSAY_FAKE(cuptiActivityGetNextRecord, (std::uint8_t * buffer, std::size_t bytes, CUpti_Activity** record),
           { return next_record(buffer, bytes, record); })
ASSAY_FAKE(cuptiActivityGetNumDroppedRecords, (CUcontext, std::uint32_t, std::size_t* dropped),
           { return *dropped = FakeDriverState::get().take_dropped(), CUPTI_SUCCESS; })

ASSAY_FAKE(cuptiProfilerInitialize, (CUpti_Profiler_Initialize_Params*), { return step(true, counters.initialized); })
ASSAY_FAKE(cuptiProfilerDeInitialize, (CUpti_Profiler_DeInitialize_Params*),
           { return step(counters.initialized && !counters.enabled && !counters.host, counters.initialized, false); })
ASSAY_FAKE(cuptiDeviceGetChipName, (CUpti_Device_GetChipName_Params * params), {
  params->pChipName = "FAKE";
  return CUPTI_SUCCESS;
})
ASSAY_FAKE(cuptiProfilerHostInitialize, (CUpti_Profiler_Host_Initialize_Params * params), {
  params->pHostObject = reinterpret_cast<CUpti_Profiler_Host_Object*>(&counters);
  return step(params->pChipName == std::string_view("FAKE"), counters.host);
})
ASSAY_FAKE(cuptiProfilerHostDeinitialize, (CUpti_Profiler_Host_Deinitialize_Params*),
           { return step(counters.host, counters.host, false); })
ASSAY_FAKE(cuptiProfilerHostConfigAddMetrics, (CUpti_Profiler_Host_ConfigAddMetrics_Params*),
           { return step(counters.host, counters.metrics); })
ASSAY_FAKE(cuptiProfilerHostGetConfigImageSize, (CUpti_Profiler_Host_GetConfigImageSize_Params * params), {
  params->configImageSize = kConfigBytes;
  return step(counters.metrics, counters.metrics);
})
ASSAY_FAKE(cuptiProfilerHostGetConfigImage, (CUpti_Profiler_Host_GetConfigImage_Params * params), {
  std::memset(params->pConfigImage, 1, kConfigBytes);
  return step(counters.metrics && params->configImageSize == kConfigBytes, counters.metrics);
})
ASSAY_FAKE(cuptiProfilerHostEvaluateToGpuValues, (CUpti_Profiler_Host_EvaluateToGpuValues_Params * params), {
  // The value of a metric is the length of its name.
  for (std::size_t i = 0; i < params->numMetrics; ++i)
    params->pMetricValues[i] = static_cast<double>(std::string_view(params->ppMetricNames[i]).size());
  return step(counters.decoded, counters.decoded);
})
ASSAY_FAKE(cuptiRangeProfilerEnable, (CUpti_RangeProfiler_Enable_Params * params), {
  params->pRangeProfilerObject = reinterpret_cast<CUpti_RangeProfiler_Object*>(&counters);
  return step(counters.initialized && params->ctx != nullptr, counters.enabled);
})
ASSAY_FAKE(cuptiRangeProfilerDisable, (CUpti_RangeProfiler_Disable_Params*), {
  counters.configured = counters.started = counters.stopped = counters.decoded = false;
  return step(counters.enabled, counters.enabled, false);
})
ASSAY_FAKE(cuptiRangeProfilerGetCounterDataSize, (CUpti_RangeProfiler_GetCounterDataSize_Params * params), {
  params->counterDataSize = kCounterBytes;
  return step(counters.enabled, counters.enabled);
})
ASSAY_FAKE(cuptiRangeProfilerCounterDataImageInitialize,
           (CUpti_RangeProfiler_CounterDataImage_Initialize_Params * params),
           { return step(counters.enabled && params->counterDataSize == kCounterBytes, counters.enabled); })
ASSAY_FAKE(cuptiRangeProfilerSetConfig, (CUpti_RangeProfiler_SetConfig_Params * params),
           { return step(counters.enabled && params->configSize == kConfigBytes, counters.configured); })
ASSAY_FAKE(cuptiRangeProfilerStart, (CUpti_RangeProfiler_Start_Params*),
           { return step(counters.configured, counters.started); })
ASSAY_FAKE(cuptiRangeProfilerStop, (CUpti_RangeProfiler_Stop_Params * params), {
  params->isAllPassSubmitted = 1;
  return step(counters.started, counters.stopped);
})
ASSAY_FAKE(cuptiRangeProfilerDecodeData, (CUpti_RangeProfiler_DecodeData_Params*),
           { return step(counters.stopped, counters.decoded); })

#undef ASSAY_FAKE

}  // namespace assay::cuda::fake
