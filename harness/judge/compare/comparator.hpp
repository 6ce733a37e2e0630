// The comparator: does a computed value agree with the oracle's? A pure function of its arguments.
//
// A value passes iff |got - expected| <= bound. There is no slack and no tolerance to choose (docs/design/numerics.md,
// section 2).
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "harness/records/record.hpp"

namespace assay::harness {

/// What the oracle says that one scalar must be.
struct Expected {
  long double value = 0;  ///< floats; may be infinite or NaN, whose class must then match
  double bound = 0;       ///< proved bound on |computed - value|; infinity: nothing is known
  std::int64_t integer = 0;
  bool is_integer = false;  ///< integers and bools: `integer` must match exactly
  /// What the bound must be narrow against for the comparison to mean something: for a gradient the greater of its
  /// magnitude and the sum of its contributions' magnitudes, without the prefill. Infinity: always narrow enough.
  double scale = std::numeric_limits<double>::infinity();
};

/// One computed scalar.
struct Computed {
  double value = 0;
  std::int64_t integer = 0;
};

enum class Agreement : std::uint8_t {
  kAgrees,
  kDiffers,
  kUnknown,  ///< the bound is infinite: no verdict
};

struct Score {
  Agreement agreement = Agreement::kAgrees;
  double rho = 0;  ///< |got - expected| / bound; 0 where equal, infinity where the bound is 0 and they differ
};

Score score(const Computed& got, const Expected& expected);

/// A bound, or a difference, below this share of a value's scale is small.
inline constexpr double kInformative = 0x1p-10;

/// Whether the bound is narrow enough for the comparison to mean something: at most 2^-10 of the scale.
bool is_informative(const Expected& expected);

/// One array compared, or the outputs of one pass.
struct Comparison {
  std::int64_t checks = 0;          ///< scalars with a verdict
  std::int64_t unknown = 0;         ///< scalars without one, their bound being infinite
  std::int64_t uninformative = 0;   ///< of the checks: passed within a bound too wide to mean much
  std::vector<std::size_t> failed;  ///< positions that differ
  double rho_max = 0;
  RhoHistogram by_rho{};  ///< of the checks

  bool agrees() const { return failed.empty(); }
  void add(std::size_t position, const Computed& got, const Expected& expected);
  void add(const Comparison& other);
};

/// `got` and `expected` have the same length.
Comparison compare(std::span<const Computed> got, std::span<const Expected> expected);

}  // namespace assay::harness
