// Which ways the judged inputs take at a kernel's choices. A derivative in an arm that no input reaches is not proved.
#pragma once

#include <vector>

#include "harness/records/record.hpp"
#include "reference/cpu/reference.hpp"

namespace assay::harness {

/// Each way of a choice wants this many samples (docs/design/numerics.md, section 4).
inline constexpr std::int64_t kSamplesWanted = 2;

class Coverage {
 public:
  /// Counts what one evaluation did; all are of one kernel.
  void add(const std::vector<reference::Choice>& choices);
  /// Number of samples that are lacking, over all ways.
  std::int64_t lacking() const;
  /// How many of these the evaluation would bring.
  std::int64_t gain(const std::vector<reference::Choice>& choices) const;
  /// The ways that lack samples, each once: line 12, "the condition is never true". The module is the kernel's.
  std::vector<Uncovered> gaps(const ir::Module& module) const;

 private:
  std::vector<reference::Choice> total_;
};

}  // namespace assay::harness
