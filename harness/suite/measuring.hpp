// Makes a run measure the kernels that pass.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "backends/device/backend.hpp"
#include "harness/measure/measure.hpp"
#include "harness/suite/options.hpp"
#include "harness/suite/plan.hpp"

namespace assay::harness {

/// Adds measurements to the groups of a run.
class MeasurementHook {
 public:
  /// Measures the ceilings of the device if the options enable measurements and the device can run. The device must
  /// outlive this.
  static Result<std::unique_ptr<MeasurementHook>> make(const SuiteOptions& options, backends::Device& device);

  /// Makes the groups' runs measure their kernels, one at a time. Must outlive the runs.
  void bind(std::vector<KernelGroup>& groups);

 private:
  std::unique_ptr<backends::Device>
      operation_counting_device_;     ///< device that counts operations; null if measurements are disabled
  std::optional<Measurer> measurer_;  ///< measures the kernels; empty if measurements are disabled
};

}  // namespace assay::harness
