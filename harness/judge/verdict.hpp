// The findings of all checks of one pass of one kernel, and the outcome that follows from them.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "backends/device/backend.hpp"
#include "harness/judge/compare/comparator.hpp"
#include "harness/judge/compare/controls.hpp"
#include "harness/judge/counterexample.hpp"
#include "harness/judge/coverage.hpp"
#include "harness/judge/policy.hpp"
#include "harness/records/record.hpp"
#include "support/result.hpp"

namespace assay::harness {

/// The checks that docs/design/numerics.md defines.
enum class NamedCheck : std::uint8_t {
  kOracleSelfCheck,  ///< the oracle's reverse sweep agrees with its dual numbers and with finite differences
  /// The kernel with f64 promotion agrees with the oracle; of a foreign kernel, what it computes without rounding.
  kF64Promotion,
  kFiniteDifferences,  ///< the backward pass agrees with differences of the forward pass
  kNativePrecision,    ///< the kernel's own types agree with the oracle
  kDeterminism,        ///< repeated launches give the same bits
  kDeviceAgreement     ///< the results agree with those of the cross-check device
};

/// Collects the findings of all checks of one pass, and decides its outcome.
class PassVerdict {
 public:
  // Members that become part of the record; filled by the judge.
  CheckResults check_results;                      ///< results of the named checks
  std::int64_t values_compared = 0;                ///< number of scalars compared with the oracle
  std::int64_t input_sets = 0;                     ///< number of input sets that were compared
  std::set<std::int64_t> thread_counts;            ///< thread counts of the launches that completed
  std::int64_t uniform_input_sets = 0;             ///< number of sets drawn evenly from the domain
  std::int64_t conclusive_uniform_input_sets = 0;  ///< of these, the sets without uncertain decisions
  InconclusiveCounts inconclusive;                 ///< checks without a verdict, by cause
  std::vector<Mismatch> mismatches;                ///< values outside their bound, at most kMaxMismatches
  std::map<std::string, NegativeControlCounts> negative_controls;  ///< negative controls, by output array or gradient
  RhoHistogram rho_histogram{};                                    ///< histogram of rho over the compared values
  std::optional<FiniteDifferenceSeries>
      finite_difference_series;  ///< finite differences of the set that used most of the tolerance
  std::vector<ToleranceComparison> tolerance_comparisons;  ///< one for each tolerance; empty if none was made
  BranchCoverage coverage;                                 ///< branches covered by the conclusive input sets
  std::vector<Assumption> assumptions;                     ///< what Assay assumed about the inputs
  std::optional<DefectRecord> finding;                     ///< defect that the oracle found in the kernel
  std::vector<backends::MemoryFinding> memory_findings;    ///< the device's memory findings, at most kMaxMemoryFindings
  std::vector<backends::ExecutionProfile> profiles;        ///< execution profiles, one for each target of the kernel
  bool has_outputs = true;                                 ///< whether a statement of the kernel changes an array
  std::string target;      ///< target being judged, named in failure messages; empty if the kernel has only one
  std::string worker_log;  ///< output of a worker that crashed; else empty
  std::optional<Counterexample> counterexample;  ///< the launch in which the pass failed; not part of the record
  double rho_max = 0;                            ///< greatest rho of the compared values

  void count(NamedCheck named_check, const ComparisonResult& comparison);
  /// Counts a comparison of two devices' results, which does not measure the accuracy of either.
  void count_agreement(const ComparisonResult& comparison);
  /// Counts a comparison of unrounded values, which is the check kF64Promotion of foreign kernels. Their rounded values
  /// are counted separately.
  void count_algorithm(const ComparisonResult& comparison);
  void count_one(NamedCheck named_check, double rho, bool failed);
  void keep(Mismatch mismatch) { keep_mismatch(mismatches, std::move(mismatch)); }
  /// Keeps the finite differences of one input set if they used more of the tolerance than those of any earlier set.
  void keep(FiniteDifferenceSeries seen, double rho);
  /// Keeps a device's findings in one launch. Repeated findings of the same instruction are dropped.
  void keep(const std::vector<backends::MemoryFinding>& findings);
  /// Reports a failed check. The first one decides the case.
  void fail(Outcome outcome, std::string kind, std::string message);
  /// Reports that the arrays of the launches do not fit into the device's memory, so that nothing can be decided.
  void fail_for_memory(const Error& error);
  bool failed() const { return failure_.has_value(); }
  /// Replaces the kind and message of a failed comparison.
  void reclassify_failure(std::string kind, std::string message) {
    failure_->outcome_detail = std::move(kind);
    failure_->message = std::move(message);
  }
  /// States that the values which failed would be correct without rounding.
  void attribute_failure_to_rounding();
  /// States that the failure is caused by the documented errors of these approximate instructions, at least one.
  void attribute_failure_to_approximations(std::span<const backends::ApproximateInstruction> instructions);
  /// Reports that the oracle contradicts itself, which invalidates all earlier findings.
  void fail_oracle(std::string message);

  /// The outcome of a pass, with its reason.
  struct Decision {
    Outcome outcome = Outcome::pass;  ///< outcome of the pass
    std::string outcome_detail;       ///< the word in parentheses after the outcome, as in CaseRecord::outcome_detail
    std::string message;              ///< one line for people
  };
  /// The rejected control with the least rho, over all arrays.
  std::optional<ClosestNegativeControl> closest_negative_control() const;
  /// The outcome of the pass once everything is counted.
  Decision decide() const;

 private:
  std::optional<Decision> failure_;   ///< the first failure; empty if no check failed
  double finite_difference_rho_ = 0;  ///< share of the tolerance that `finite_difference_series` used
};

}  // namespace assay::harness
