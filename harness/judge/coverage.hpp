// Branch coverage of a kernel by the judged inputs. A derivative in a branch that no input covers is not verified.
#pragma once

#include <vector>

#include "harness/records/record.hpp"
#include "reference/cpu/reference.hpp"

namespace assay::harness {

/// Number of samples that each branch of a choice needs (docs/design/numerics.md, section 4).
inline constexpr std::int64_t kRequiredSamplesPerBranch = 2;

/// Counts how often each branch of a kernel was taken.
class BranchCoverage {
 public:
  /// Adds the choices of one evaluation. All evaluations must be of the same kernel.
  void add(const std::vector<reference::BranchPoint>& choices);
  /// Number of missing samples, over all branches.
  std::int64_t missing_samples() const;
  /// How many of the missing samples the evaluation would add.
  std::int64_t gain(const std::vector<reference::BranchPoint>& choices) const;
  /// The branches with missing samples, each once: line 12, "the condition is never true". `module` holds the kernel.
  std::vector<UncoveredBranch> uncovered(const ir::Module& module) const;

 private:
  std::vector<reference::BranchPoint> branch_points_;  ///< choices of the kernel, with the samples of all evaluations
};

}  // namespace assay::harness
