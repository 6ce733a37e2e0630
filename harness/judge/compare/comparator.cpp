#include "harness/judge/compare/comparator.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>

#include "harness/judge/compare/faulty_comparator.hpp"
#include "support/fault_injection.hpp"

namespace assay::harness {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

ScalarComparison equal_or_not(bool equal) {
  return {.agreement = equal ? Agreement::kAgrees : Agreement::kDiffers, .rho = equal ? 0.0 : kInfinity};
}

/// The bin of rho; NaN counts as outside the bound.
std::size_t bin_of(double rho) {
  constexpr std::size_t kTenths = kRhoBinCount - 1;
  return rho <= 1 ? std::min(static_cast<std::size_t>(rho * kTenths), kTenths - 1) : kTenths;
}

}  // namespace

ScalarComparison original_score(const ComputedScalar& got, const ExpectedScalar& expected) {
  if (expected.is_integer) return equal_or_not(got.integer == expected.integer);
  if (!(expected.bound < kInfinity)) return {.agreement = Agreement::kUnknown, .rho = 0};
  if (std::isnan(expected.value)) return equal_or_not(std::isnan(got.value));
  if (std::isinf(expected.value)) return equal_or_not(static_cast<long double>(got.value) == expected.value);
  if (!std::isfinite(got.value)) return equal_or_not(false);
  const long double error = std::abs(static_cast<long double>(got.value) - expected.value);
  if (error == 0) return equal_or_not(true);
  if (expected.bound == 0) return equal_or_not(false);
  const auto rho = static_cast<double>(error / static_cast<long double>(expected.bound));
  return {.agreement = error <= static_cast<long double>(expected.bound) ? Agreement::kAgrees : Agreement::kDiffers,
          .rho = rho};
}

ScalarComparison score(const ComputedScalar& got, const ExpectedScalar& expected) {
  if constexpr (kFaultInjectionEnabled) return faulty_score(got, expected);
  return original_score(got, expected);
}

bool is_informative(const ExpectedScalar& expected) {
  if (expected.is_integer || !std::isfinite(expected.value)) return true;
  return expected.bound <= kMaxInformativeRelativeBound * expected.informative_bound_scale;
}

void ComparisonResult::add(std::size_t position, const ComputedScalar& got, const ExpectedScalar& expected) {
  if (position > 0 && fault_is_active("first_value_only")) return;
  const ScalarComparison scored = score(got, expected);
  if (scored.agreement == Agreement::kUnknown) {
    ++unbounded_scalars;
    return;
  }
  ++checked_scalars;
  if (scored.agreement == Agreement::kDiffers) failed.push_back(position);
  if (scored.agreement == Agreement::kAgrees && !is_informative(expected)) ++uninformative_scalars;
  rho_max = std::max(rho_max, scored.rho);
  ++rho_histogram[bin_of(scored.rho)];
}

void ComparisonResult::add(const ComparisonResult& other) {
  checked_scalars += other.checked_scalars;
  unbounded_scalars += other.unbounded_scalars;
  uninformative_scalars += other.uninformative_scalars;
  failed.insert(failed.end(), other.failed.begin(), other.failed.end());
  rho_max = std::max(rho_max, other.rho_max);
  for (std::size_t i = 0; i < rho_histogram.size(); ++i)
    rho_histogram[i] += other.rho_histogram[i];
}

ComparisonResult compare(std::span<const ComputedScalar> got, std::span<const ExpectedScalar> expected) {
  assert(got.size() == expected.size());
  ComparisonResult comparison;
  for (std::size_t i = 0; i < got.size(); ++i)
    comparison.add(i, got[i], expected[i]);
  return comparison;
}

}  // namespace assay::harness
