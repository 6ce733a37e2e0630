// The comparator: does a computed value agree with the oracle's? A pure function of its arguments.
//
// A value passes iff |got - expected| <= bound. No slack or tolerance applies (docs/design/numerics.md,
// section 2).
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "harness/records/record.hpp"

namespace assay::harness {

/// The oracle's value and bound for one scalar.
struct ExpectedScalar {
  long double value = 0;     ///< expected value of a float; for infinity and NaN only the class must match
  double bound = 0;          ///< guaranteed bound on |computed - value|; infinity: unknown
  std::int64_t integer = 0;  ///< expected value of an integer or bool
  bool is_integer = false;   ///< whether `integer` applies and must match exactly; else `value`
  /// The scale against which the bound of an informative comparison must be narrow: for a gradient, the greater of its
  /// magnitude and the sum of its contributions' magnitudes, without the initial gradient. Infinity: always
  /// informative.
  double informative_bound_scale = std::numeric_limits<double>::infinity();
};

/// One computed scalar.
struct ComputedScalar {
  double value = 0;          ///< computed float
  std::int64_t integer = 0;  ///< computed integer or bool; which member applies depends on ExpectedScalar
};

/// The result of comparing one scalar.
enum class Agreement : std::uint8_t {
  kAgrees,   ///< within the bound
  kDiffers,  ///< outside the bound
  kUnknown,  ///< no verdict, because the bound is infinite
};

/// How one computed scalar compares with the expected one.
struct ScalarComparison {
  Agreement agreement = Agreement::kAgrees;  ///< whether the scalar is within its bound
  double rho = 0;  ///< |got - expected| / bound; 0 if equal, infinity if the bound is 0 and they differ
};

ScalarComparison score(const ComputedScalar& got, const ExpectedScalar& expected);

/// A bound is informative if it is at most this share of the value's scale. A negative control must differ by more.
inline constexpr double kMaxInformativeRelativeBound = 0x1p-10;

/// Whether the bound is narrow enough for an informative comparison: at most 2^-10 of the scale.
bool is_informative(const ExpectedScalar& expected);

/// The result of comparing one array, or all outputs of one pass.
struct ComparisonResult {
  std::int64_t checked_scalars = 0;    ///< number of scalars with a verdict
  std::int64_t unbounded_scalars = 0;  ///< number of scalars without a verdict, because their bound is infinite
  /// Of `checked_scalars`, the number that passed only within an uninformative bound.
  std::int64_t uninformative_scalars = 0;
  std::vector<std::size_t> failed;  ///< positions of the scalars that differ
  double rho_max = 0;               ///< greatest rho of the checked scalars
  RhoHistogram rho_histogram{};     ///< histogram of rho over the checked scalars

  bool agrees() const { return failed.empty(); }
  void add(std::size_t position, const ComputedScalar& got, const ExpectedScalar& expected);
  void add(const ComparisonResult& other);
};

/// `got` and `expected` have the same length.
ComparisonResult compare(std::span<const ComputedScalar> got, std::span<const ExpectedScalar> expected);

}  // namespace assay::harness
