// Searches for smaller inputs for which foreign code still fails.
#pragma once

#include <optional>

#include "harness/judge/judge.hpp"

namespace assay::harness {

/// Searches for launches with smaller extents for which the pass fails with the same outcome as in `failed`, and
/// returns the counterexample of the smallest one found; nullopt if no smaller launch fails. `failed` must have a
/// counterexample from a launch that was drawn for `request`. Judges at most 40 input sets.
std::optional<Counterexample> find_smaller_counterexample(const KernelUnderTest& subject,
                                                          const backends::BuiltKernel& kernel,
                                                          const JudgeConfiguration& configuration, backends::Pass pass,
                                                          const PassVerdict& failed, const DrawRequest& request);

}  // namespace assay::harness
