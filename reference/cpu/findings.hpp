// Collects findings: a few for each source location, so that one location does not hide the others. If a location has
// more findings, the last one kept has the farthest index, so that an extent that fits it fits the others too.
#pragma once

#include <cstddef>
#include <vector>

#include "reference/cpu/reference.hpp"

namespace assay::reference {

/// The findings of one run.
class FindingLog {
 public:
  static constexpr std::size_t kMaxFindings = 64;            ///< maximum number of findings of a run
  static constexpr std::size_t kMaxFindingsPerLocation = 4;  ///< maximum number of findings for one source location

  void add(Finding finding);
  std::vector<Finding> take() { return std::move(findings_); }

 private:
  std::vector<Finding> findings_;  ///< collected findings, in order
};

}  // namespace assay::reference
