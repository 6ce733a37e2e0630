// Measures how fast a device runs a kernel on a large launch, and compares it with the ceilings of the same device in
// the same run. The device must time its launches.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "backends/device/backend.hpp"
#include "harness/judge/input_set.hpp"
#include "support/result.hpp"

namespace assay::harness {

/// How kernels are timed.
struct MeasureOptions {
  std::int32_t threads = 1 << 24;  ///< requested extent of the launch's first dimension
  int timed_runs_per_pass = 30;    ///< number of timed runs of each pass
  /// Limit on the memory of a launch and its copies; it applies to host memory and to device memory separately.
  std::size_t memory_limit_bytes = std::size_t{8} << 30;
  std::uint64_t seed = 1;  ///< seed of the random inputs
};

/// The highest rates that the device reached in the same run.
struct PeakRates {
  double bytes_per_second = 0;       ///< rate of copies within device memory, counting bytes read and bytes written
  double operations_per_second = 0;  ///< rate of a loop of f32 fused multiply-adds, which count as two operations each
};

/// The measurements of a kernel, by pass.
struct PassMeasurements {
  /// Empty if the forward pass was not requested.
  std::optional<backends::Measurement> forward;
  /// Empty if the backward pass was not requested or does not exist.
  std::optional<backends::Measurement> backward;
};

/// Times the passes of kernels on a device.
class Measurer {
 public:
  /// Measures the ceilings. `observer` executes what the device builds and counts operations; if it is null, operations
  /// are not reported. Both must outlive this. Fails if the device cannot run or time the ceilings' kernel.
  static Result<Measurer> make(backends::Device& device, backends::Device* observer, const MeasureOptions& options);

  [[nodiscard]] const PeakRates& peak_rates() const { return peak_rates_; }

  /// Measures the requested passes. Adds to the device's own measures, for each pass: bytes (the least that the launch
  /// must move: each array that it reads, and each that it writes, once), bytes_per_second, of_copy (the share of the
  /// peak rate of copies), operations and requested_bytes (counted by the observer), operations_per_second, of_fma (the
  /// share of the peak rate of operations); the peak rates themselves; and backward_over_forward, the ratio of the
  /// times. If a measurement fails, its remark states the reason.
  PassMeasurements measure(const KernelUnderTest& subject, const backends::BuiltKernel& kernel, bool forward,
                           bool backward);

 private:
  Measurer() = default;
  Result<void> measure_peak_rates(backends::Device& device);

  MeasureOptions options_;                            ///< the options
  std::unique_ptr<backends::DeviceSession> session_;  ///< session on the measured device
  std::unique_ptr<backends::DeviceSession>
      operation_counting_session_;  ///< session on the observer; null without an observer
  PeakRates peak_rates_;            ///< the peak rates of the device
};

}  // namespace assay::harness
