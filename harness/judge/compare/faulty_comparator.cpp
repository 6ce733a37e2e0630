#include "harness/judge/compare/faulty_comparator.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>

#include "support/fault_injection.hpp"

namespace assay::harness {
namespace {

constexpr ScalarComparison kEqual = {.agreement = Agreement::kAgrees, .rho = 0};

ScalarComparison score_within(const ComputedScalar& got, ExpectedScalar expected, double factor) {
  expected.bound *= factor;
  return original_score(got, expected);
}

/// Each mismatch doubles all later bounds.
ScalarComparison forgiving_score(const ComputedScalar& got, const ExpectedScalar& expected) {
  static std::atomic<int> mismatches = 0;
  const ScalarComparison scored = score_within(got, expected, std::ldexp(1.0, std::min(mismatches.load(), 64)));
  if (scored.agreement == Agreement::kDiffers) ++mismatches;
  return scored;
}

}  // namespace

ScalarComparison faulty_score(const ComputedScalar& got, const ExpectedScalar& expected) {
  const bool number = !expected.is_integer && !std::isnan(got.value) && !std::isnan(expected.value);
  if (fault_is_active("nan_equals_anything") && !expected.is_integer && !number) return kEqual;
  if (fault_is_active("absolute_value_dropped") && number && static_cast<long double>(got.value) < expected.value)
    return kEqual;
  if (fault_is_active("bounds_times_one_and_a_half")) return score_within(got, expected, 1.5);
  if (fault_is_active("bounds_times_ten")) return score_within(got, expected, 10);
  if (fault_is_active("bounds_double_with_each_mismatch")) return forgiving_score(got, expected);
  return original_score(got, expected);
}

}  // namespace assay::harness
