#include "harness/judge/compare/controls.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "support/rng.hpp"

namespace assay::harness {
namespace {

/// Zeros of either sign are the same, and so are NaNs.
bool same(const ComputedScalar& a, const ComputedScalar& b) {
  return a.integer == b.integer && (a.value == b.value || (std::isnan(a.value) && std::isnan(b.value)));
}

/// The greatest finite magnitude of the result, the scale for differences between outputs.
double size_of(std::span<const ComputedScalar> got) {
  double size = 0;
  for (const ComputedScalar& value : got) {
    if (std::isfinite(value.value)) size = std::max(size, std::abs(value.value));
  }
  return size;
}

/// A result within a bound this small of zero is considered zero: dot(cross(v, w), v), for example.
constexpr double kVanishingValue = 0x1p-40;

/// Whether a control's scalar is incorrect: it differs significantly from the computed one, relative to its scale, or
/// to `size` if it has none. Scalars without an informative bound are ignored.
bool is_wrong(const ComputedScalar& control, const ComputedScalar& got, const ExpectedScalar& expected, double size) {
  if (!is_informative(expected) || !(expected.bound < HUGE_VAL)) return false;
  if (same(control, got)) return false;
  if (control.integer != got.integer) return true;
  const bool vanishes =
      std::abs(expected.value) <= static_cast<long double>(expected.bound) && expected.bound <= kVanishingValue;
  const double scale = std::isfinite(expected.informative_bound_scale)
                           ? expected.informative_bound_scale
                           : std::max(size, vanishes ? kVanishingValue / kMaxInformativeRelativeBound : 0);
  const auto apart = static_cast<double>(std::abs(static_cast<long double>(control.value) - expected.value));
  return !(apart <= kMaxInformativeRelativeBound * scale);
}

/// An incorrect result, computed lazily by scalar: most controls are rejected at their first scalar.
using Control = std::function<ComputedScalar(std::size_t)>;

template <class Change>
Control changed(std::span<const ComputedScalar> got, Change change) {
  return [got, change](std::size_t i) { return change(got[i]); };
}

Control shuffled(std::span<const ComputedScalar> got, std::uint64_t seed) {
  std::vector<ComputedScalar> values(got.begin(), got.end());
  Rng rng(seed);
  rng.shuffle(values);
  return [values = std::move(values)](std::size_t i) { return values[i]; };
}

Control shifted(std::span<const ComputedScalar> got, std::size_t row) {
  const std::size_t by = row < got.size() ? row : 0;
  return [got, by](std::size_t i) { return got[(i + by) % got.size()]; };
}

/// Compares a control. Stops once it is rejected with a rho of `enough`.
ComparisonResult rejection(const Control& control, std::span<const ExpectedScalar> expected, double enough) {
  ComparisonResult comparison;
  for (std::size_t i = 0; i < expected.size() && (comparison.agrees() || comparison.rho_max < enough); ++i)
    comparison.add(i, control(i), expected[i]);
  return comparison;
}

// ---- The edge of the bounds

/// How far beyond its bound a value is placed to test the edge of the bound.
constexpr long double kBeyond = 1.25L;

/// A value just beyond the bound; empty if it cannot be distinguished from one within.
std::optional<ComputedScalar> just_beyond(const ExpectedScalar& expected, int side) {
  if (expected.is_integer) return ComputedScalar{.integer = expected.integer + side};
  if (!std::isfinite(expected.value) || !(expected.bound < HUGE_VAL)) return std::nullopt;
  const auto bound = static_cast<long double>(expected.bound);
  const auto value = static_cast<double>(expected.value + side * kBeyond * bound);
  const bool beyond = std::isfinite(value) && std::abs(static_cast<long double>(value) - expected.value) > bound;
  // If the adjacent double is farther away than twice the bound, it is not "just" beyond.
  const bool just = std::abs(static_cast<long double>(value) - expected.value) < 1.4L * bound;
  return beyond && just ? std::optional(ComputedScalar{.value = value}) : std::nullopt;
}

/// All values just beyond their bounds on one side.
Control beyond(std::span<const ComputedScalar> got, std::span<const ExpectedScalar> expected, int side) {
  return [=](std::size_t i) { return just_beyond(expected[i], side).value_or(got[i]); };
}

/// Only the last value that can be beyond its bound is.
Control last_beyond(std::span<const ComputedScalar> got, std::span<const ExpectedScalar> expected) {
  std::size_t last = expected.size();
  while (last > 0 && !just_beyond(expected[last - 1], +1))
    --last;
  return [=](std::size_t i) { return i + 1 == last ? *just_beyond(expected[i], +1) : got[i]; };
}

bool has_bounded_kind(const ExpectedScalar& expected) { return !expected.is_integer && expected.bound < HUGE_VAL; }

/// Exchanges numbers and NaN.
Control other_kind(std::span<const ComputedScalar> got, std::span<const ExpectedScalar> expected) {
  return [=](std::size_t i) {
    if (!has_bounded_kind(expected[i])) return got[i];
    const double other = std::isnan(expected[i].value) ? 1 : std::numeric_limits<double>::quiet_NaN();
    return ComputedScalar{.value = other, .integer = got[i].integer};
  };
}

/// The first result at the edge that the comparator accepts; empty if none.
std::string_view accepted_at_the_edge(std::span<const ComputedScalar> got, std::span<const ExpectedScalar> expected) {
  const auto has_edge = [&](int side) {
    return std::ranges::any_of(expected, [side](const ExpectedScalar& e) { return just_beyond(e, side).has_value(); });
  };
  const bool has_kind = std::ranges::any_of(expected, has_bounded_kind);
  struct Edge {
    std::string_view name;
    bool exists;
    Control result;
  };
  const Edge edges[] = {
      {"the result just above its bounds", has_edge(+1), beyond(got, expected, +1)},
      {"the result just below its bounds", has_edge(-1), beyond(got, expected, -1)},
      {"the result with an incorrect last value", has_edge(+1), last_beyond(got, expected)},
      {"the result with numbers and NaN exchanged", has_kind, other_kind(got, expected)},
  };
  for (const Edge& edge : edges) {
    if (edge.exists && rejection(edge.result, expected, 0).agrees()) return edge.name;
  }
  return {};
}

}  // namespace

void NegativeControlCounts::reject(std::string_view name, double rho) {
  if (!nearest_rejected_control.empty() && !(rho < least_rejected_rho)) return;
  nearest_rejected_control = name;
  least_rejected_rho = rho;
}

void NegativeControlCounts::add(const NegativeControlCounts& other) {
  tried_controls += other.tried_controls;
  rejected_controls += other.rejected_controls;
  if (wrongly_accepted_control_name.empty()) wrongly_accepted_control_name = other.wrongly_accepted_control_name;
  if (!other.nearest_rejected_control.empty()) reject(other.nearest_rejected_control, other.least_rejected_rho);
}

NegativeControlCounts try_negative_controls(std::span<const ComputedScalar> got,
                                            std::span<const ExpectedScalar> expected, double input_mean,
                                            std::size_t row_length, std::uint64_t seed,
                                            std::span<const ComputedScalar> initial_gradient) {
  const bool integers = !expected.empty() && expected[0].is_integer;
  const ComputedScalar mean =
      integers ? ComputedScalar{.integer = std::llround(input_mean)} : ComputedScalar{.value = input_mean};
  const ComputedScalar one = integers ? ComputedScalar{.integer = 1} : ComputedScalar{.value = 1};
  const auto constant = [](const ComputedScalar& value) { return [value](std::size_t) { return value; }; };
  const auto plus_one = [integers](const ComputedScalar& v) {
    return integers ? ComputedScalar{.integer = v.integer + 1} : ComputedScalar{.value = v.value + 1};
  };
  const auto scaled = [](int factor) {
    return [factor](const ComputedScalar& v) { return ComputedScalar{factor * v.value, factor * v.integer}; };
  };
  std::vector<std::pair<std::string_view, Control>> controls = {
      {"zeros", constant({})},
      {"the mean of the inputs", constant(mean)},
      {"ones", constant(one)},
      {"the result plus one", changed(got, plus_one)},
      {"the negated result", changed(got, scaled(-1))},
      {"the doubled result", changed(got, scaled(2))},
      {"the shuffled result", shuffled(got, seed)},
      {"the result shifted by one row", shifted(got, row_length)},
  };
  if (!initial_gradient.empty())
    controls.emplace_back("a zero gradient", [=](std::size_t i) { return initial_gradient[i]; });
  const double size = size_of(got);
  NegativeControlCounts tally{.wrongly_accepted_control_name = accepted_at_the_edge(got, expected)};
  for (const auto& [name, control] : controls) {
    bool differs = false;
    for (std::size_t i = 0; i < got.size() && !differs; ++i)
      differs = is_wrong(control(i), got[i], expected[i], size);
    if (!differs) continue;
    ++tally.tried_controls;
    // Report only a control that was rejected more narrowly than all before.
    const ComparisonResult comparison =
        rejection(control, expected, tally.rejected_controls > 0 ? tally.least_rejected_rho : HUGE_VAL);
    if (comparison.agrees()) {
      tally.wrongly_accepted_control_name = name;
    } else {
      ++tally.rejected_controls;
      tally.reject(name, comparison.rho_max);
    }
  }
  return tally;
}

}  // namespace assay::harness
