// Chooses the input sets for candidates: code that may use another algorithm than the kernel.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "harness/judge/input_set.hpp"
#include "harness/judge/inputs/input_space.hpp"
#include "harness/judge/policy.hpp"

namespace assay::harness {

/// Whether the judged code is a candidate, which may use another algorithm than the kernel, distribute the work over
/// threads in another way, and use atomics although the kernel does not.
bool is_candidate(const reference::ArithmeticProfile& profile);

/// How the sets are drawn. References must outlive the object.
struct CandidateSetDrawer {
  const KernelUnderTest& subject;
  const InputSpace& space;
  const JudgingPolicy& policy;
  /// Returns a request without special extents or values. `set` and `draw` determine its seed.
  std::function<DrawRequest(int set, int draw, Distribution distribution)> request;
  /// Draws a set and keeps it if it is conclusive and `accepts` returns true for it. Returns whether it was kept. What
  /// its values and extents teach about the domain does not affect other sets.
  std::function<bool(const DrawRequest& request, const std::function<bool(const InputSet&)>& accepts)> add;
};

/// Adds sets on which code of another algorithm fails although the kernel does not: large offsets and factors
/// (JudgingPolicy::float_offset_input_sets sets), special values and other shapes.
void add_candidate_sets(const CandidateSetDrawer& drawer);

/// The indices of the sets on which a candidate also runs in other orders of blocks, ascending: those for which it
/// probably launches the most blocks. The set with the most threads, with and without round extents, and the one with
/// the largest arrays; at most three.
std::vector<std::size_t> sets_with_many_blocks(const std::vector<InputSet>& sets);

}  // namespace assay::harness
