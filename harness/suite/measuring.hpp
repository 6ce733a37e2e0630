// Has a run measure what passes.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "backends/device/backend.hpp"
#include "harness/measure/measure.hpp"
#include "harness/suite/options.hpp"
#include "harness/suite/plan.hpp"

namespace assay::harness {

class Measuring {
 public:
  /// Measures what the device does at best, if the options ask for measurements and it can run at all. The device
  /// outlives this.
  static Result<std::unique_ptr<Measuring>> make(const SuiteOptions& options, backends::Device& device);

  /// Has the groups' kernels measured, which they must be one after another; outlives their run.
  void bind(std::vector<Group>& groups);

 private:
  std::unique_ptr<backends::Device> observer_;
  std::optional<Measurer> measurer_;
};

}  // namespace assay::harness
