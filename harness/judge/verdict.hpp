// What judging one pass of one kernel found, collected check by check, and the outcome that follows.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "harness/judge/compare/comparator.hpp"
#include "harness/judge/compare/controls.hpp"
#include "harness/judge/counterexample.hpp"
#include "harness/judge/coverage.hpp"
#include "harness/judge/policy.hpp"
#include "harness/records/record.hpp"

namespace assay::harness {

enum class Tier : std::uint8_t { kT0, kT1, kT2, kT3, kT5, kDevices };

class PassVerdict {
 public:
  // What the record takes over; filled by the judge.
  TierResults tiers;
  std::int64_t values_compared = 0;
  std::int64_t input_sets = 0;
  std::set<std::int64_t> sizes;  ///< threads of the launches that completed
  std::int64_t generic_sets = 0;
  std::int64_t conclusive_generic_sets = 0;
  InconclusiveCounts inconclusive;
  std::vector<Mismatch> mismatches;
  std::map<std::string, ControlTally> controls;  ///< by output array
  RhoHistogram rho_histogram{};
  std::optional<Plateau> plateau;
  Coverage coverage;  ///< of the conclusive input sets
  std::optional<Finding> finding;
  std::vector<backends::MemoryFinding> faults;       ///< at most kMaxFaults
  std::vector<backends::ExecutionProfile> profiles;  ///< by target of the kernel
  std::string target;                                ///< that is being judged, named in what fails; empty: the only one
  std::string log;
  std::optional<Counterexample> counterexample;  ///< of a pass that failed on a launch; not part of the record
  double rho_max = 0;

  void count(Tier tier, const Comparison& comparison);
  /// Of two devices' results, which says nothing of how near either is to the truth.
  void count_agreement(const Comparison& comparison);
  void count_one(Tier tier, double rho, bool failed);
  void keep(Mismatch mismatch) { keep_mismatch(mismatches, std::move(mismatch)); }
  /// What T2 saw on one input set; kept if it used up more than any other so far.
  void keep(Plateau seen, double rho);
  /// What a device found in one launch; the same instruction's finding of a later launch is not kept again.
  void keep(const std::vector<backends::MemoryFinding>& findings);
  /// A check that failed; the first one decides the case.
  void fail(Outcome outcome, std::string kind, std::string message);
  bool failed() const { return failure_.has_value(); }
  /// A disagreement of the oracle with itself: what it said of the kernel before is worth nothing.
  void fail_oracle(std::string message);

  struct Decision {
    Outcome outcome = Outcome::pass;
    std::string kind;
    std::string message;
  };
  /// The refused control with the least rho, over all arrays.
  std::optional<ClosestControl> closest_control() const;
  /// The outcome of the pass once everything is counted.
  Decision decide() const;

 private:
  std::optional<Decision> failure_;
  double plateau_rho_ = 0;
};

}  // namespace assay::harness
