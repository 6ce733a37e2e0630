#include "harness/compare/controls.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "ir/support/rng.hpp"

namespace assay::harness {
namespace {

using Values = std::vector<Computed>;

/// A sign of zero is no difference, nor is one of two NaNs.
bool same(const Computed& a, const Computed& b) {
  return a.integer == b.integer && (a.value == b.value || (std::isnan(a.value) && std::isnan(b.value)));
}

/// The greatest finite magnitude of the result, against which outputs differ by much or little.
double size_of(std::span<const Computed> got) {
  double size = 0;
  for (const Computed& value : got) {
    if (std::isfinite(value.value)) size = std::max(size, std::abs(value.value));
  }
  return size;
}

/// A result within its bound of zero, where the bound is this small, is zero for all purposes: dot(cross(v, w), v),
/// say.
constexpr double kVanishing = 0x1p-40;

/// Whether a control's scalar is no true result: it differs from the one computed by enough to matter, against its
/// scale, or `size` where it has none. A scalar without an informative bound decides nothing.
bool is_wrong(const Computed& control, const Computed& got, const Expected& expected, double size) {
  if (!is_informative(expected) || !(expected.bound < HUGE_VAL)) return false;
  if (same(control, got)) return false;
  if (control.integer != got.integer) return true;
  const bool vanishes =
      std::abs(expected.value) <= static_cast<long double>(expected.bound) && expected.bound <= kVanishing;
  const double scale =
      std::isfinite(expected.scale) ? expected.scale : std::max(size, vanishes ? kVanishing / kInformative : 0);
  const auto apart = static_cast<double>(std::abs(static_cast<long double>(control.value) - expected.value));
  return !(apart <= kInformative * scale);
}

template <class Change>
Values changed(std::span<const Computed> got, Change change) {
  Values values(got.begin(), got.end());
  for (Computed& value : values)
    change(value);
  return values;
}

Values shuffled(std::span<const Computed> got, std::uint64_t seed) {
  Values values(got.begin(), got.end());
  Rng rng(seed);
  rng.shuffle(values);
  return values;
}

Values shifted(std::span<const Computed> got, std::size_t row) {
  Values values(got.begin(), got.end());
  if (row > 0 && row < values.size()) {
    std::rotate(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(row), values.end());
  }
  return values;
}

// ---- The edge of the bounds

/// How far beyond its bound a value is put to see where the comparator draws the line.
constexpr long double kBeyond = 1.25L;

/// A value just beyond the bound; nothing where it cannot be told from the one within.
std::optional<Computed> just_beyond(const Expected& expected, int side) {
  if (expected.is_integer) return Computed{.integer = expected.integer + side};
  if (!std::isfinite(expected.value) || !(expected.bound < HUGE_VAL)) return std::nullopt;
  const auto bound = static_cast<long double>(expected.bound);
  const auto value = static_cast<double>(expected.value + side * kBeyond * bound);
  const bool beyond = std::isfinite(value) && std::abs(static_cast<long double>(value) - expected.value) > bound;
  // Of a number so far out that a double next to it is farther than twice the bound, no neighbour is "just" beyond.
  const bool just = std::abs(static_cast<long double>(value) - expected.value) < 1.4L * bound;
  return beyond && just ? std::optional(Computed{.value = value}) : std::nullopt;
}

/// All values beyond their bounds, or the last one alone.
std::optional<Values> beyond(std::span<const Computed> got, std::span<const Expected> expected, int side,
                             bool last_alone) {
  Values values(got.begin(), got.end());
  bool any = false;
  for (std::size_t i = got.size(); i > 0 && !(any && last_alone); --i) {
    if (const auto value = just_beyond(expected[i - 1], side)) {
      values[i - 1] = *value;
      any = true;
    }
  }
  return any ? std::optional(std::move(values)) : std::nullopt;
}

/// No number where there should be one, and a number where there should be none.
std::optional<Values> other_kind(std::span<const Computed> got, std::span<const Expected> expected) {
  Values values(got.begin(), got.end());
  bool any = false;
  for (std::size_t i = 0; i < got.size(); ++i) {
    if (expected[i].is_integer || !(expected[i].bound < HUGE_VAL)) continue;
    values[i].value = std::isnan(expected[i].value) ? 1 : std::numeric_limits<double>::quiet_NaN();
    any = true;
  }
  return any ? std::optional(std::move(values)) : std::nullopt;
}

/// The first of the results at the edge that the comparator takes; empty if none.
std::string_view accepted_at_the_edge(std::span<const Computed> got, std::span<const Expected> expected) {
  const std::pair<std::string_view, std::optional<Values>> edges[] = {
      {"the result just above its bounds", beyond(got, expected, +1, false)},
      {"the result just below its bounds", beyond(got, expected, -1, false)},
      {"the result with its last value wrong", beyond(got, expected, +1, true)},
      {"the result that is no number", other_kind(got, expected)},
  };
  for (const auto& [name, values] : edges) {
    if (values && compare(*values, expected).agrees()) return name;
  }
  return {};
}

}  // namespace

void ControlTally::refuse(std::string_view name, double rho) {
  if (!closest.empty() && !(rho < closest_rho)) return;
  closest = name;
  closest_rho = rho;
}

void ControlTally::add(const ControlTally& other) {
  presented += other.presented;
  rejected += other.rejected;
  if (accepted.empty()) accepted = other.accepted;
  if (!other.closest.empty()) refuse(other.closest, other.closest_rho);
}

ControlTally present_controls(std::span<const Computed> got, std::span<const Expected> expected, double input_mean,
                              std::size_t row, std::uint64_t seed, std::span<const Computed> untouched) {
  const bool integers = !expected.empty() && expected[0].is_integer;
  const Computed mean = integers ? Computed{.integer = std::llround(input_mean)} : Computed{.value = input_mean};
  std::vector<std::pair<std::string_view, Values>> controls = {
      {"zeros", changed(got, [](Computed& v) { v = {}; })},
      {"the inputs' mean", changed(got, [&](Computed& v) { v = mean; })},
      {"ones", changed(got, [&](Computed& v) { v = integers ? Computed{.integer = 1} : Computed{.value = 1}; })},
      {"the result plus one", changed(got,
                                      [&](Computed& v) {
                                        v = integers ? Computed{.integer = v.integer + 1}
                                                     : Computed{.value = v.value + 1};
                                      })},
      {"the negated result", changed(got, [](Computed& v) { v = {.value = -v.value, .integer = -v.integer}; })},
      {"the doubled result", changed(got, [](Computed& v) { v = {.value = 2 * v.value, .integer = 2 * v.integer}; })},
      {"the shuffled result", shuffled(got, seed)},
      {"the result shifted by one row", shifted(got, row)},
  };
  if (!untouched.empty()) controls.emplace_back("a zero gradient", Values(untouched.begin(), untouched.end()));
  const double size = size_of(got);
  ControlTally tally{.accepted = accepted_at_the_edge(got, expected)};
  for (const auto& [name, values] : controls) {
    bool differs = false;
    for (std::size_t i = 0; i < got.size() && !differs; ++i)
      differs = is_wrong(values[i], got[i], expected[i], size);
    if (!differs) continue;
    ++tally.presented;
    const Comparison comparison = compare(values, expected);
    if (comparison.agrees()) {
      tally.accepted = name;
    } else {
      ++tally.rejected;
      tally.refuse(name, comparison.rho_max);
    }
  }
  return tally;
}

}  // namespace assay::harness
