#include "harness/judge/verdict.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "support/fault_injection.hpp"

namespace assay::harness {
namespace {

std::optional<CheckResult>& result_of(CheckResults& check_results, NamedCheck named_check) {
  switch (named_check) {
    case NamedCheck::kOracleSelfCheck: return check_results.oracle_self_check;
    case NamedCheck::kF64Promotion: return check_results.f64_promotion;
    case NamedCheck::kFiniteDifferences: return check_results.finite_differences;
    case NamedCheck::kNativePrecision: return check_results.native_precision;
    case NamedCheck::kDeterminism: return check_results.determinism;
    case NamedCheck::kDeviceAgreement: return check_results.device_agreement;
  }
  return check_results.oracle_self_check;
}

void add(std::optional<CheckResult>& into, std::int64_t checks, std::int64_t failed, double rho) {
  if (!into) into.emplace();
  into->compared_values += checks;
  into->failed += failed;
  if (checks > 0) into->rho_max = std::max(into->rho_max.value_or(0), rho);
}

}  // namespace

void PassVerdict::count(NamedCheck named_check, const ComparisonResult& comparison) {
  add(result_of(check_results, named_check), comparison.checked_scalars,
      static_cast<std::int64_t>(comparison.failed.size()), comparison.rho_max);
  values_compared += comparison.checked_scalars;
  inconclusive.unbounded_values += comparison.unbounded_scalars;
  inconclusive.ill_conditioned_values += comparison.uninformative_scalars;
  rho_max = std::max(rho_max, comparison.rho_max);
  for (std::size_t i = 0; i < rho_histogram.size(); ++i)
    rho_histogram[i] += comparison.rho_histogram[i];
}

void PassVerdict::count_agreement(const ComparisonResult& comparison) {
  add(check_results.device_agreement, comparison.checked_scalars, static_cast<std::int64_t>(comparison.failed.size()),
      comparison.rho_max);
}

void PassVerdict::count_algorithm(const ComparisonResult& comparison) {
  add(check_results.f64_promotion, comparison.checked_scalars, static_cast<std::int64_t>(comparison.failed.size()),
      comparison.rho_max);
}

void PassVerdict::attribute_failure_to_rounding() {
  failure_->outcome_detail = "rounding";
  failure_->message += "; without rounding, the values would be correct";
}

void PassVerdict::attribute_failure_to_approximations(std::span<const backends::ApproximateInstruction> instructions) {
  std::vector<std::string_view> names, accurate;
  for (const backends::ApproximateInstruction& instruction : instructions) {
    names.push_back(instruction.name);
    accurate.push_back(instruction.accurate_operation);
  }
  if (failure_->outcome == Outcome::fail) failure_->outcome_detail = "rounding";
  failure_->message +=
      fmt::format("; the cause is the documented error of {} on a GPU; use {} where this error is too large",
                  fmt::join(names, " and "), fmt::join(accurate, " and "));
}

void PassVerdict::count_one(NamedCheck named_check, double rho, bool failed) {
  add(result_of(check_results, named_check), 1, failed ? 1 : 0, rho);
}

void PassVerdict::fail_for_memory(const Error& error) {
  fail(Outcome::inconclusive, "memory",
       fmt::format("the arrays of all launches need too much memory: {}; limit the values that determine the sizes of "
                   "arrays in a '# domain:' comment above the kernel",
                   error.message));
}

void PassVerdict::fail(Outcome outcome, std::string kind, std::string message) {
  if (failure_) return;
  if (!target.empty()) message += fmt::format(" [{}]", target);
  failure_ = Decision{outcome, std::move(kind), std::move(message)};
}

void PassVerdict::fail_oracle(std::string message) {
  failure_ = Decision{Outcome::internal_error, "oracle", std::move(message)};
}

void PassVerdict::keep(FiniteDifferenceSeries seen, double rho) {
  if (finite_difference_series && !(rho > finite_difference_rho_)) return;
  finite_difference_series = std::move(seen);
  finite_difference_rho_ = rho;
}

std::optional<ClosestNegativeControl> PassVerdict::closest_negative_control() const {
  std::optional<ClosestNegativeControl> closest;
  for (const auto& [array, tally] : negative_controls) {
    if (tally.nearest_rejected_control.empty() || (closest && !(tally.least_rejected_rho < closest->rho))) continue;
    closest = {.array_name = array,
               .control_name = std::string(tally.nearest_rejected_control),
               .rho = tally.least_rejected_rho};
  }
  return closest;
}

void PassVerdict::keep(const std::vector<backends::MemoryFinding>& findings) {
  for (const backends::MemoryFinding& found : findings) {
    const bool known =
        std::any_of(memory_findings.begin(), memory_findings.end(), [&](const backends::MemoryFinding& other) {
          return other.kind == found.kind && other.target == found.target && other.kernel == found.kernel &&
                 other.site.code_line == found.site.code_line;
        });
    if (!known && memory_findings.size() < kMaxMemoryFindings) memory_findings.push_back(found);
  }
}

namespace {

/// A kind of inconclusive checks.
struct InconclusiveKind {
  std::int64_t count = 0;   ///< number of checks
  const char* name = "";    ///< kind in the record
  const char* reason = "";  ///< why they are inconclusive, after "because"
};

InconclusiveKind most_frequent_kind(const InconclusiveCounts& counts) {
  const InconclusiveKind kinds[] = {
      {counts.uncertain_paths, "path", "compared values are so close that correct code may take either branch"},
      {counts.non_differentiable_points, "kink", "the gradient does not exist or is not unique at the inputs"},
      {counts.ill_conditioned_values, "conditioning", "the bounds are too wide to detect an error"},
      {counts.unbounded_values, "overflow",
       "the bound is infinite, by an overflow, a value next to a pole, or an infinite derivative"},
      {counts.races, "race", "threads race"},
      {counts.domain_errors, "domain", "no valid inputs were found"}};
  return *std::ranges::max_element(kinds, {}, &InconclusiveKind::count);
}

}  // namespace

PassVerdict::Decision PassVerdict::decide() const {
  if (failure_) {
    Decision decision = *failure_;
    const bool has_results = decision.outcome == Outcome::fail || decision.outcome == Outcome::memory_fault;
    for (const ToleranceComparison& comparison : tolerance_comparisons) {
      if (!has_results || !comparison.accepts_all_results) continue;
      decision.message += fmt::format("; a comparison with tolerance {} accepts the results on {} input sets",
                                      comparison.tolerance, comparison.input_sets);
      break;
    }
    return decision;
  }
  if (values_compared == 0 && !fault_is_active("nothing_passes")) {
    return {Outcome::inconclusive, "nothing_compared",
            inconclusive.total() > 0
                ? fmt::format("no value could be compared, mostly because {}", most_frequent_kind(inconclusive).reason)
            : has_outputs ? "no value to compare: no thread stores a value"
                          : "no value to compare: the kernel has no statement that stores a value"};
  }
  for (const auto& [array, tally] : negative_controls) {
    if (!tally.wrongly_accepted_control_name.empty() || tally.rejected_controls < kRequiredRejectedControls) {
      const std::string which = tally.wrongly_accepted_control_name.empty()
                                    ? "too few deliberately incorrect results differ from the actual result"
                                    : fmt::format("the deliberately incorrect result '{}' would have passed",
                                                  tally.wrongly_accepted_control_name);
      return {Outcome::inconclusive, "weak_oracle", fmt::format("the checks of '{}' are too weak: {}", array, which)};
    }
  }
  const std::int64_t doubtful = inconclusive.total();
  const auto checks = static_cast<double>(values_compared + inconclusive.uncertain_paths +
                                          inconclusive.non_differentiable_points + inconclusive.unbounded_values);
  const bool too_many = static_cast<double>(doubtful) > kMaxInconclusiveShare * checks;
  const bool too_few_sets = static_cast<double>(conclusive_uniform_input_sets) <
                            kMinConclusiveSetShare * static_cast<double>(uniform_input_sets);
  if (too_many || too_few_sets) {
    const InconclusiveKind most = most_frequent_kind(inconclusive);
    std::string message;
    if (doubtful > 0)
      message = fmt::format("{} of {:.0f} checks are inconclusive, mostly because {}", doubtful, checks, most.reason);
    if (too_few_sets)
      message += fmt::format("{}{} of {} uniformly drawn input sets are inconclusive", doubtful > 0 ? "; " : "",
                             uniform_input_sets - conclusive_uniform_input_sets, uniform_input_sets);
    return {Outcome::inconclusive, most.name, std::move(message)};
  }
  return {};
}

}  // namespace assay::harness
