// Has a run measure what passes.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "backends/device/backend.hpp"
#include "cli/judge_options.hpp"
#include "cli/plan.hpp"
#include "harness/measure/measure.hpp"

namespace assay::cli {

class Measuring {
 public:
  /// Measures what the device does at best, if the options ask for measurements and it can run at all. The device
  /// outlives this.
  static Result<std::unique_ptr<Measuring>> make(const JudgeOptions& options, backends::Device& device);

  /// Has the groups' kernels measured, which they must be one after another; outlives their run.
  void bind(std::vector<Group>& groups);

 private:
  std::unique_ptr<backends::Device> observer_;
  std::optional<harness::Measurer> measurer_;
};

}  // namespace assay::cli
