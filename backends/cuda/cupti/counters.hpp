// What the hardware counts while one kernel runs, by CUPTI's range profiler.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "backends/cuda/cupti/cupti.hpp"

namespace assay::cuda {

/// A figure of ours and the metric that it is.
struct CounterRow {
  const char* name;    ///< "dram_read_bytes"
  const char* metric;  ///< "dram__bytes_read.sum"
};

/// Bytes to and from memory, throughput, occupancy, and what warps wait for: warps stalled for each instruction that is
/// issued. Shares are in percent.
[[nodiscard]] std::span<const CounterRow> counter_rows();

/// What to count, worked out for one chip; needs no GPU.
class CounterPlan {
 public:
  /// `chip` as cuptiDeviceGetChipName tells it: "GH100". Throws CallError.
  CounterPlan(const Cupti& cupti, const std::string& chip);

  /// Names of metrics, and the image that hardware is set up by.
  [[nodiscard]] std::vector<const char*>& metrics() { return metrics_; }
  [[nodiscard]] const std::vector<std::uint8_t>& image() const { return image_; }
  /// The figures in a counter data image. Throws CallError.
  [[nodiscard]] std::map<std::string, double> evaluate(const std::vector<std::uint8_t>& counter_data);

 private:
  const Cupti* cupti_;  ///< outlives this
  std::unique_ptr<CUpti_Profiler_Host_Object, std::function<void(CUpti_Profiler_Host_Object*)>> host_;
  std::vector<const char*> metrics_;
  std::vector<std::uint8_t> image_;
};

/// Has `launch` launch one kernel in the context of the GPU and wait for it, while the hardware counts; CUPTI repeats
/// the kernel as often as it must. The figures by the names of counter_rows(). Throws CallError, also where the
/// counters are not permitted.
[[nodiscard]] std::map<std::string, double> count(const Cupti& cupti, int ordinal, CUcontext context,
                                                  const std::function<void()>& launch);

}  // namespace assay::cuda
