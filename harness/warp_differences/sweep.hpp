// The sweep over edge values: every operation and library function, on every combination of operand types, over a table
// of edge values, in Warp and in the oracle.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "harness/warp_differences/exchange.hpp"
#include "harness/warp_differences/subject.hpp"
#include "harness/warp_differences/sweep_kernels.hpp"
#include "support/result.hpp"

namespace assay::warp {

/// The calls of the sweep, and their inputs.
struct EdgeValueSweep {
  std::vector<SweptCall> calls;  ///< the calls that are compared; parallel to `kernels`
  /// The kernels of the calls. Each element of their arrays belongs to one tuple of operands.
  std::vector<ComparedKernel> kernels;
  std::vector<std::string> rejected_call_messages;  ///< a line for each call that Assay rejects, with the reason
  /// Number of omitted operand tuples, by reason: the kind of the oracle's finding for a tuple outside the domain, or
  /// kUndecidedBranchReason.
  std::map<std::string, std::size_t> omitted_tuples_by_reason;
};
/// Reason for omitting a tuple for which the oracle cannot decide which branch of a formula to take.
inline constexpr const char* kUndecidedBranchReason = "undecided branch";

/// Parses the kernels of the calls and binds their edge values. Fails if the file of the kernels cannot be parsed.
Result<EdgeValueSweep> make_sweep(const std::vector<SweptCall>& calls);

/// A scalar for which Warp's result is not within the oracle's bound, or is a zero of the other sign.
struct SweptDifference {
  const SweptCall* call = nullptr;            ///< the call
  std::vector<std::vector<double>> operands;  ///< by operand: the values of its components
  std::size_t result_index = 0;               ///< index of the result of the call
  std::size_t component_index = 0;            ///< index of the component of that result
  harness::ExpectedScalar expected;           ///< the oracle's value and bound
  harness::ComputedScalar got;                ///< Warp's result
};
/// The difference as text: "min_f32_f32(nan, 1): expected 1 within 0, got nan".
std::string describe(const SweptDifference& difference);

/// The result of the sweep.
struct SweepComparison {
  std::size_t executed_kernel_count = 0;     ///< number of kernels that Warp ran
  std::size_t compared_tuples = 0;           ///< number of operand tuples for which at least one scalar was compared
  std::size_t compared_scalars = 0;          ///< number of scalars with a verdict
  std::size_t unbounded_scalars = 0;         ///< number of scalars whose bound is infinite
  std::vector<SweptDifference> differences;  ///< one for each scalar that differs
  /// Number of calls that Warp rejects as an extension rule (sweep_rules.hpp) states, by name of the rule.
  std::map<std::string_view, std::size_t> rejections_by_rule;
  /// A line for each other kernel that Warp did not run, and for each kernel that Warp ran although a rule states that
  /// it rejects the call.
  std::vector<std::string> unexplained_outcomes;
};
SweepComparison compare_sweep(const EdgeValueSweep& sweep, const WarpResults& answers);

}  // namespace assay::warp
