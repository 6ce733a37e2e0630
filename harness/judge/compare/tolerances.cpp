#include "harness/judge/compare/tolerances.hpp"

#include <cmath>

namespace assay::harness {

bool are_close(std::span<const ComputedScalar> got, std::span<const ExpectedScalar> expected, double tolerance) {
  for (std::size_t i = 0; i < got.size(); ++i) {
    const bool is_integer = expected[i].is_integer;
    const auto value = is_integer ? static_cast<double>(got[i].integer) : got[i].value;
    const auto wanted =
        static_cast<double>(is_integer ? static_cast<long double>(expected[i].integer) : expected[i].value);
    if (value == wanted || (std::isnan(value) && std::isnan(wanted))) continue;
    if (!std::isfinite(wanted) || !(std::abs(value - wanted) <= tolerance + tolerance * std::abs(wanted))) return false;
  }
  return true;
}

}  // namespace assay::harness
