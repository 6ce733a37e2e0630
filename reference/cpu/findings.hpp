// Collects findings: a few for each place, so that one bad line does not hide the others. Of a place with more, the
// last one that is kept went farthest: what it says of an array's extent goes for all before it.
#pragma once

#include <cstddef>
#include <vector>

#include "reference/cpu/reference.hpp"

namespace assay::reference {

class FindingLog {
 public:
  static constexpr std::size_t kMost = 64;
  static constexpr std::size_t kMostPerPlace = 4;

  void add(Finding finding);
  std::vector<Finding> take() { return std::move(findings_); }

 private:
  std::vector<Finding> findings_;
};

}  // namespace assay::reference
