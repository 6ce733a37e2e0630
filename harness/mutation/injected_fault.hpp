// Faults planted in Assay itself, one at a time: wrong derivatives in the oracle, and a comparator or a verdict that
// lets wrong results pass. The program assay-faulty has one of them at a time; it judges a right kernel, of which the
// suite must then not say that all is well.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "harness/records/outcome.hpp"

namespace assay::mutation {

/// What a planted fault is part of.
enum class Planted : std::uint8_t { kOracle, kComparator, kVerdict };
constexpr std::string_view to_text(Planted part) {
  constexpr std::array<std::string_view, 3> kTexts = {"oracle", "comparator", "verdict"};
  return kTexts[static_cast<std::size_t>(part)];
}

struct InjectedFault {
  std::string_view fault;  ///< as the seams in the code know it (support/fault_injection.hpp)
  Planted part;
  std::string_view change;    ///< what it does, for people
  std::string_view selector;  ///< of the kernel that is judged
};

/// A kernel that stores nothing: of it there is nothing to say. Plants name it by this selector.
inline constexpr std::string_view kIdleKernel = "idle.py:idle";
inline constexpr std::string_view kIdleKernelText = R"(import warp as wp


@wp.kernel
def idle(x: wp.array(dtype=float), out: wp.array(dtype=float)):
    i = wp.tid()
    if i < 0:
        out[i] = x[i]
)";

// clang-format off
inline constexpr InjectedFault kComparatorFaults[] = {
  {"product_of_the_same", Planted::kOracle, "d(ab)/da = a", "arithmetic/grouping"},
  {"quotient_without_its_sign", Planted::kOracle, "d(a/b)/db = a/b^2", "arithmetic/reciprocal_chain"},
  {"magnitude_without_its_sign", Planted::kOracle, "d|x|/dx = 1", "conditional/abs_chain"},
  {"maximum_of_the_other", Planted::kOracle, "max gives its derivative to the lesser", "conditional/max_of_three_with_tie"},
  {"root_without_its_half", Planted::kOracle, "d sqrt(x)/dx = 1/sqrt(x)", "math/roots"},
  {"exponential_off_by_one_percent", Planted::kOracle, "d exp(x)/dx = 1.01 exp(x)", "math/exponentials_and_logarithms"},
  {"logarithm_off_by_one_millionth", Planted::kOracle, "d log(x)/dx = 1.000001/x", "math/exponentials_and_logarithms"},
  {"sine_negated", Planted::kOracle, "d sin(x)/dx = -cos(x)", "math/trigonometry"},
  {"tanh_without_its_square", Planted::kOracle, "d tanh(x)/dx = 1 - tanh(x)", "math/hyperbolic"},
  {"power_of_the_same_exponent", Planted::kOracle, "d a^b/da = b a^b", "math/pow_active_exponent"},
  {"arctangent_of_the_other", Planted::kOracle, "atan2 exchanges its two derivatives", "math/atan2_quadrants"},
  {"product_sum_without_its_first", Planted::kOracle, "dot leaves out its first component's derivative", "vector/root_of_dot"},
  {"inverse_negated", Planted::kOracle, "an element of the inverse has the wrong sign in its derivative", "matrix/well_conditioned_inverse"},
  {"nan_equals_anything", Planted::kComparator, "NaN equals anything", "math/trigonometry"},
  {"absolute_value_dropped", Planted::kComparator, "what is too small passes", "math/trigonometry"},
  {"bounds_double_with_each_mismatch", Planted::kComparator, "each mismatch doubles the bounds", "math/trigonometry"},
  {"first_value_only", Planted::kComparator, "only the first value of an array is compared", "math/trigonometry"},
  {"bounds_times_one_and_a_half", Planted::kComparator, "all bounds are 1.5 times as wide", "math/trigonometry"},
  {"bounds_times_ten", Planted::kComparator, "all bounds are 10 times as wide", "math/trigonometry"},
  {"nothing_passes", Planted::kVerdict, "where nothing was compared, all is well", kIdleKernel},
};
// clang-format on

/// What became of a planted fault.
struct FaultResult {
  InjectedFault injected_fault;
  bool noticed =
      false;          ///< the suite no longer gives the verdict that it gives without the fault, for the right reason
  std::string check;  ///< of the first other verdict: "internal_error(oracle)"; "pass" where all is as ever
};

}  // namespace assay::mutation
