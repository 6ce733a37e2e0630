// Fault injection into Assay itself: incorrect derivatives in the oracle, and a comparator or a verdict that accepts
// incorrect results. The program assay-faulty judges a correct kernel with one fault at a time; the suite must detect
// it.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "harness/records/outcome.hpp"

namespace assay::mutation {

/// The component that contains an injected fault.
enum class FaultyComponent : std::uint8_t { kOracle, kComparator, kVerdict };
constexpr std::string_view to_text(FaultyComponent component) {
  constexpr std::array<std::string_view, 3> kTexts = {"oracle", "comparator", "verdict"};
  return kTexts[static_cast<std::size_t>(component)];
}

/// A deliberate error in the suite itself, which the suite must detect.
struct InjectedFault {
  std::string_view name;      ///< name of the fault at its injection points (support/fault_injection.hpp)
  FaultyComponent component;  ///< component that contains the fault
  std::string_view change;    ///< what the fault changes, for people
  std::string_view selector;  ///< selects the kernel that is judged with the fault
};

/// Selector of a kernel that stores nothing, so that there is nothing to compare.
inline constexpr std::string_view kIdleKernelSelector = "idle.py:idle";
inline constexpr std::string_view kIdleKernelText = R"(import warp as wp


@wp.kernel
def idle(x: wp.array(dtype=float), out: wp.array(dtype=float)):
    i = wp.tid()
    if i < 0:
        out[i] = x[i]
)";

// clang-format off
inline constexpr InjectedFault kFaultInjectionEnabled[] = {
  {"product_of_the_same", FaultyComponent::kOracle, "d(ab)/da = a", "arithmetic/grouping"},
  {"quotient_without_its_sign", FaultyComponent::kOracle, "d(a/b)/db = a/b^2", "arithmetic/reciprocal_chain"},
  {"magnitude_without_its_sign", FaultyComponent::kOracle, "d|x|/dx = 1", "conditional/abs_chain"},
  {"maximum_of_the_other", FaultyComponent::kOracle, "the derivative of max goes to the smaller operand", "conditional/max_of_three_with_tie"},
  {"root_without_its_half", FaultyComponent::kOracle, "d sqrt(x)/dx = 1/sqrt(x)", "math/roots"},
  {"exponential_off_by_one_percent", FaultyComponent::kOracle, "d exp(x)/dx = 1.01 exp(x)", "math/exponentials_and_logarithms"},
  {"logarithm_off_by_one_millionth", FaultyComponent::kOracle, "d log(x)/dx = 1.000001/x", "math/exponentials_and_logarithms"},
  {"sine_negated", FaultyComponent::kOracle, "d sin(x)/dx = -cos(x)", "math/trigonometry"},
  {"tanh_without_its_square", FaultyComponent::kOracle, "d tanh(x)/dx = 1 - tanh(x)", "math/hyperbolic"},
  {"power_of_the_same_exponent", FaultyComponent::kOracle, "d a^b/da = b a^b", "math/pow_active_exponent"},
  {"arctangent_of_the_other", FaultyComponent::kOracle, "atan2 exchanges its two derivatives", "math/atan2_quadrants"},
  {"product_sum_without_its_first", FaultyComponent::kOracle, "dot omits the derivative of its first component", "vector/root_of_dot"},
  {"inverse_negated", FaultyComponent::kOracle, "the derivative of the matrix inverse has an incorrect sign in one element", "matrix/well_conditioned_inverse"},
  {"nan_equals_anything", FaultyComponent::kComparator, "NaN compares equal to every value", "math/trigonometry"},
  {"absolute_value_dropped", FaultyComponent::kComparator, "values below the lower bound are accepted", "math/trigonometry"},
  {"bounds_double_with_each_mismatch", FaultyComponent::kComparator, "each mismatch doubles the bounds", "math/trigonometry"},
  {"first_value_only", FaultyComponent::kComparator, "only the first value of an array is compared", "math/trigonometry"},
  {"bounds_times_one_and_a_half", FaultyComponent::kComparator, "all bounds are 1.5 times as wide", "math/trigonometry"},
  {"bounds_times_ten", FaultyComponent::kComparator, "all bounds are 10 times as wide", "math/trigonometry"},
  {"nothing_passes", FaultyComponent::kVerdict, "a case in which no value was compared passes", kIdleKernelSelector},
};
// clang-format on

/// The outcome of an injected fault.
struct FaultResult {
  InjectedFault injected_fault;  ///< the fault
  bool is_detected = false;      ///< whether the suite detected the fault and attributed it correctly
  std::string verdict;  ///< first verdict other than pass, such as "internal_error(oracle)"; "pass" if there is none
};

}  // namespace assay::mutation
