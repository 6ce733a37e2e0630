// Hardware counters of one kernel launch, read through CUPTI's range profiler.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "backends/cuda/cupti/cupti.hpp"

namespace assay::cuda {

/// A measure that Assay reports, and the CUPTI metric that supplies its value.
struct CounterMetric {
  const char* measure_name;  ///< Assay's name of the measure: "dram_read_bytes"
  const char* cupti_metric;  ///< CUPTI's name of the metric: "dram__bytes_read.sum"
};

/// Memory traffic, throughput, occupancy, and stall reasons as stalled warps per issued instruction. Ratios are in
/// percent.
[[nodiscard]] std::span<const CounterMetric> counter_metrics();

/// The CUPTI configuration that counts all of counter_metrics() on one chip. Making it needs no GPU.
class CounterConfiguration {
 public:
  /// `chip` is a name as returned by cuptiDeviceGetChipName: "GH100". Throws CallError.
  CounterConfiguration(const Cupti& cupti, const std::string& chip);

  /// The names of the metrics, and the configuration image for the hardware.
  [[nodiscard]] std::vector<const char*>& metrics() { return cupti_metric_names_; }
  [[nodiscard]] const std::vector<std::uint8_t>& image() const { return configuration_image_; }
  /// The measures in a counter data image. Throws CallError.
  [[nodiscard]] std::map<std::string, double> evaluate(const std::vector<std::uint8_t>& counter_data);

 private:
  const Cupti* cupti_;  ///< loaded CUPTI library; must outlive this object
  std::unique_ptr<CUpti_Profiler_Host_Object, std::function<void(CUpti_Profiler_Host_Object*)>> host_;
  std::vector<const char*> cupti_metric_names_;    ///< CUPTI's names of the metrics to count
  std::vector<std::uint8_t> configuration_image_;  ///< configuration image, which CUPTI loads into the hardware
};

/// Counts one kernel: calls `launch`, which must launch one kernel in the context of the GPU and wait for it. CUPTI
/// repeats the kernel as often as it needs to count all metrics. Returns the measures by their names in
/// counter_metrics(). Throws CallError, also if access to the counters is not permitted.
[[nodiscard]] std::map<std::string, double> read_counters(const Cupti& cupti, int ordinal, CUcontext context,
                                                          const std::function<void()>& launch);

}  // namespace assay::cuda
