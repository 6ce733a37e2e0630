#include "backends/cuda/cupti/counters.hpp"

#include <array>

namespace assay::cuda {

namespace {

constexpr std::array kRows{
    CounterMetric{"dram_read_bytes", "dram__bytes_read.sum"},
    CounterMetric{"dram_written_bytes", "dram__bytes_write.sum"},
    CounterMetric{"dram_throughput", "dram__throughput.avg.pct_of_peak_sustained_elapsed"},
    CounterMetric{"sm_throughput", "sm__throughput.avg.pct_of_peak_sustained_elapsed"},
    CounterMetric{"achieved_occupancy", "sm__warps_active.avg.pct_of_peak_sustained_active"},
    CounterMetric{"stalled_memory", "smsp__average_warps_issue_stalled_long_scoreboard_per_issue_active.ratio"},
    CounterMetric{"stalled_shared", "smsp__average_warps_issue_stalled_short_scoreboard_per_issue_active.ratio"},
    CounterMetric{"stalled_queue", "smsp__average_warps_issue_stalled_lg_throttle_per_issue_active.ratio"},
    CounterMetric{"stalled_math", "smsp__average_warps_issue_stalled_math_pipe_throttle_per_issue_active.ratio"},
    CounterMetric{"stalled_barrier", "smsp__average_warps_issue_stalled_barrier_per_issue_active.ratio"},
};

constexpr std::string_view kSubject = "hardware counters";

/// Enables CUPTI's profiler, which slows launches down, during its lifetime.
class Profiler {
 public:
  explicit Profiler(const Cupti& cupti) : cupti_(&cupti) {
    auto params = zeroed_params<CUpti_Profiler_Initialize_Params>();
    cupti.call(cupti.cuptiProfilerInitialize, kSubject, &params);
  }
  Profiler(const Profiler&) = delete;
  Profiler& operator=(const Profiler&) = delete;
  ~Profiler() {
    auto params = zeroed_params<CUpti_Profiler_DeInitialize_Params>();
    cupti_->cuptiProfilerDeInitialize.address(&params);
  }

 private:
  const Cupti* cupti_;
};

/// Enables the range profiler of a context during its lifetime.
class RangeProfiler {
 public:
  RangeProfiler(const Cupti& cupti, CUcontext context) : cupti_(&cupti) {
    auto params = zeroed_params<CUpti_RangeProfiler_Enable_Params>();
    params.ctx = context;
    cupti.call(cupti.cuptiRangeProfilerEnable, kSubject, &params);
    object_ = params.pRangeProfilerObject;
  }
  RangeProfiler(const RangeProfiler&) = delete;
  RangeProfiler& operator=(const RangeProfiler&) = delete;
  ~RangeProfiler() {
    auto params = zeroed_params<CUpti_RangeProfiler_Disable_Params>();
    params.pRangeProfilerObject = object_;
    cupti_->cuptiRangeProfilerDisable.address(&params);
  }

  /// Parameters of a call that refers to this profiler.
  template <typename Params>
  Params params() const {
    auto params = zeroed_params<Params>();
    params.pRangeProfilerObject = object_;
    return params;
  }

 private:
  const Cupti* cupti_;
  CUpti_RangeProfiler_Object* object_ = nullptr;
};

/// The memory that counts are decoded into.
std::vector<std::uint8_t> make_counter_data(const Cupti& cupti, const RangeProfiler& profiler,
                                            CounterConfiguration& plan) {
  auto size = profiler.params<CUpti_RangeProfiler_GetCounterDataSize_Params>();
  size.pMetricNames = plan.metrics().data();
  size.numMetrics = plan.metrics().size();
  size.maxNumOfRanges = 1;
  size.maxNumRangeTreeNodes = 1;
  cupti.call(cupti.cuptiRangeProfilerGetCounterDataSize, kSubject, &size);
  std::vector<std::uint8_t> data(size.counterDataSize);
  auto initialize = profiler.params<CUpti_RangeProfiler_CounterDataImage_Initialize_Params>();
  initialize.counterDataSize = data.size();
  initialize.pCounterData = data.data();
  cupti.call(cupti.cuptiRangeProfilerCounterDataImageInitialize, kSubject, &initialize);
  return data;
}

std::string chip_of(const Cupti& cupti, int ordinal) {
  auto params = zeroed_params<CUpti_Device_GetChipName_Params>();
  params.deviceIndex = static_cast<std::size_t>(ordinal);
  cupti.call(cupti.cuptiDeviceGetChipName, kSubject, &params);
  return params.pChipName;
}

}  // namespace

std::span<const CounterMetric> counter_metrics() { return kRows; }

CounterConfiguration::CounterConfiguration(const Cupti& cupti, const std::string& chip) : cupti_(&cupti) {
  auto initialize = zeroed_params<CUpti_Profiler_Host_Initialize_Params>();
  initialize.profilerType = CUPTI_PROFILER_TYPE_RANGE_PROFILER;
  initialize.pChipName = chip.c_str();
  cupti.call(cupti.cuptiProfilerHostInitialize, chip, &initialize);
  host_ = {initialize.pHostObject, [cupti](CUpti_Profiler_Host_Object* host) {
             auto end = zeroed_params<CUpti_Profiler_Host_Deinitialize_Params>();
             end.pHostObject = host;
             cupti.cuptiProfilerHostDeinitialize.address(&end);
           }};
  for (const CounterMetric& row : kRows)
    cupti_metric_names_.push_back(row.cupti_metric);
  auto add = zeroed_params<CUpti_Profiler_Host_ConfigAddMetrics_Params>();
  add.pHostObject = host_.get();
  add.ppMetricNames = cupti_metric_names_.data();
  add.numMetrics = cupti_metric_names_.size();
  cupti.call(cupti.cuptiProfilerHostConfigAddMetrics, chip, &add);
  auto size = zeroed_params<CUpti_Profiler_Host_GetConfigImageSize_Params>();
  size.pHostObject = host_.get();
  cupti.call(cupti.cuptiProfilerHostGetConfigImageSize, chip, &size);
  configuration_image_.resize(size.configImageSize);
  auto image = zeroed_params<CUpti_Profiler_Host_GetConfigImage_Params>();
  image.pHostObject = host_.get();
  image.configImageSize = configuration_image_.size();
  image.pConfigImage = configuration_image_.data();
  cupti.call(cupti.cuptiProfilerHostGetConfigImage, chip, &image);
}

std::map<std::string, double> CounterConfiguration::evaluate(const std::vector<std::uint8_t>& counter_data) {
  std::array<double, kRows.size()> values{};
  auto params = zeroed_params<CUpti_Profiler_Host_EvaluateToGpuValues_Params>();
  params.pHostObject = host_.get();
  params.pCounterDataImage = counter_data.data();
  params.counterDataImageSize = counter_data.size();
  params.ppMetricNames = cupti_metric_names_.data();
  params.numMetrics = cupti_metric_names_.size();
  params.pMetricValues = values.data();
  cupti_->call(cupti_->cuptiProfilerHostEvaluateToGpuValues, kSubject, &params);
  std::map<std::string, double> figures;
  for (std::size_t i = 0; i < kRows.size(); ++i)
    figures.emplace(kRows[i].measure_name, values[i]);
  return figures;
}

std::map<std::string, double> read_counters(const Cupti& cupti, int ordinal, CUcontext context,
                                            const std::function<void()>& launch) {
  const Profiler session(cupti);
  CounterConfiguration plan(cupti, chip_of(cupti, ordinal));
  const RangeProfiler profiler(cupti, context);
  std::vector<std::uint8_t> data = make_counter_data(cupti, profiler, plan);
  auto config = profiler.params<CUpti_RangeProfiler_SetConfig_Params>();
  config.configSize = plan.image().size();
  config.pConfig = plan.image().data();
  config.counterDataImageSize = data.size();
  config.pCounterDataImage = data.data();
  config.range = CUPTI_AutoRange;
  config.replayMode = CUPTI_KernelReplay;
  config.maxRangesPerPass = 1;
  config.numNestingLevels = 1;
  config.minNestingLevel = 1;
  config.targetNestingLevel = 1;
  cupti.call(cupti.cuptiRangeProfilerSetConfig, kSubject, &config);
  auto start = profiler.params<CUpti_RangeProfiler_Start_Params>();
  cupti.call(cupti.cuptiRangeProfilerStart, kSubject, &start);
  launch();
  auto stop = profiler.params<CUpti_RangeProfiler_Stop_Params>();
  cupti.call(cupti.cuptiRangeProfilerStop, kSubject, &stop);
  auto decode = profiler.params<CUpti_RangeProfiler_DecodeData_Params>();
  cupti.call(cupti.cuptiRangeProfilerDecodeData, kSubject, &decode);
  return plan.evaluate(data);
}

}  // namespace assay::cuda
