// How fast a device with a clock of its own runs a kernel, on a launch that is large enough to tell, beside the best
// that the same device does in the same run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "backends/device/backend.hpp"
#include "harness/judge/input_set.hpp"
#include "support/result.hpp"

namespace assay::harness {

struct MeasureOptions {
  std::int32_t threads = 1 << 24;  ///< wanted extent of the launch's first dimension
  int samples = 30;                ///< timed runs of each pass
  /// Of the host's memory, and of the device's: what a launch and its copies may take.
  std::size_t memory_bytes = std::size_t{8} << 30;
  std::uint64_t seed = 1;
};

/// What the device does at best.
struct Ceilings {
  double bytes_per_second = 0;       ///< of copies within its memory, read and written bytes together
  double operations_per_second = 0;  ///< of a loop of fused multiply-adds in f32, which count as two operations
};

/// Of each pass that was asked for and exists.
struct PassMeasurements {
  std::optional<backends::Measurement> forward;
  std::optional<backends::Measurement> backward;
};

class Measurer {
 public:
  /// Measures the ceilings. `observer` executes what the device builds and counts what that does; without one (null)
  /// operations are not told. Both outlive this. Fails where the device does not run the ceilings' kernel or cannot
  /// time it.
  static Result<Measurer> make(backends::Device& device, backends::Device* observer, const MeasureOptions& options);

  [[nodiscard]] const Ceilings& ceilings() const { return ceilings_; }

  /// To the device's own measures adds, for each pass: bytes (what the launch must move at least: each array that it
  /// reads, and each that it writes, once), bytes_per_second, of_copy (the share of the ceiling), operations and
  /// requested_bytes (those that the observer counted), operations_per_second, of_fma; the ceilings themselves; and
  /// backward_over_forward, the ratio of the times. What could not be measured has a remark that says why.
  PassMeasurements measure(const Subject& subject, const backends::BuiltKernel& kernel, bool forward, bool backward);

 private:
  Measurer() = default;
  Result<void> measure_ceilings(backends::Device& device);

  MeasureOptions options_;
  std::unique_ptr<backends::Session> session_;
  std::unique_ptr<backends::Session> observing_;  ///< null without an observer
  Ceilings ceilings_;
};

}  // namespace assay::harness
