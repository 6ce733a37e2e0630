// Compares what a foreign kernel computes without rounding with the oracle (docs/design/numerics.md, "The algorithm").
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "harness/judge/context.hpp"
#include "harness/judge/input_set.hpp"

namespace assay::harness {

/// The allowed error of an unrounded value, in units of the oracle's bound for a kernel with f64 promotion. That bound
/// is a few times 2^-53 times the sum of the influences of all inputs, so the allowed error is about 1e-12 of this sum.
inline constexpr double kUnroundedErrorFactor = 0x1p13;
/// How many times half an ulp each constant in the code may be off, and half an ulp of a double each result. Correct
/// kernels need 1.1. A constant that is off by a factor of 1.00001 is off by more than 100 times half an ulp.
inline constexpr double kTrackedErrorFactor = 2;
/// The additional error that polynomials in the code may cause, in units of the bound of the rounded value without its
/// own rounding. The documented errors of the functions of the math library are added to it.
inline constexpr double kPolynomialErrorFactor = 0.25;
/// The same for floats that the host computes: it may round as often as a kernel.
inline constexpr double kHostErrorFactor = 1;

/// The unrounded scalars of one array, and whether they agree with the oracle.
struct UnroundedComparison {
  std::vector<ComputedScalar> computed;  ///< by scalar: the unrounded value
  std::vector<ExpectedScalar>
      expected;             ///< by scalar: the oracle's value, and the allowed error of the unrounded value
  ComparisonResult result;  ///< comparison of the scalars that threads write
  /// Whether a scalar that has a finite value is infinite or NaN without rounding, although nothing overflowed.
  /// Rounding is not the cause: such a value is the result of a division by zero, or no thread wrote it.
  bool has_non_finite_scalars = false;

  /// Whether everything that the code computes is correct without rounding.
  [[nodiscard]] bool is_correct() const { return result.agrees() && !has_non_finite_scalars; }
};

/// What the oracle expects of one array.
struct UnroundedExpectation {
  const ExpectedArray& exact;    ///< with f64 promotion
  const ExpectedArray& rounded;  ///< with the kernel's own types
  /// Returns the array with f64 promotion and AddedErrors::kLibrary. Called only if the code evaluates polynomials.
  std::function<ExpectedArray()> with_library_errors;
  /// Returns the array with f64 promotion and AddedErrors::kConstants. Called only if a scalar differs without them.
  std::function<ExpectedArray()> with_constant_errors;
};

/// `bytes`: what the device wrote (UnroundedArrayHeader); `layout`: type and shape of the array, whose scalars are
/// floats of one type. Returns nullopt if the device wrote nothing, or if a comparison in the launch would have another
/// result without rounding.
std::optional<UnroundedComparison> compare_unrounded_values(std::span<const std::byte> bytes, const ir::Module& module,
                                                            const ir::Argument& layout,
                                                            const UnroundedExpectation& expectation);

/// Errors that the bounds with f64 promotion can contain.
enum class AddedErrors : std::uint8_t {
  /// Those that the vendor of the math library documents for its functions: its approximations differ from the exact
  /// functions also if they are evaluated without rounding.
  kLibrary,
  /// Those of the kernel's rounded constants: 0.9 * (a - b) + 0.1 * (a - c) is a - 0.9 * b - 0.1 * c, but the sum of
  /// the
  /// float32 constants is not exactly 1.
  kConstants,
};

/// The oracle's results for the input sets of a pass if everything is computed with f64 promotion, and only these
/// errors are added.
class ResultsWithErrors {
 public:
  /// Keeps a reference to the context.
  ResultsWithErrors(const PassContext& pass_context, AddedErrors errors, bool computes_gradient)
      : pass_context_(pass_context), errors_(errors), computes_gradient_(computes_gradient) {}

  /// The oracle's result for an input set, which is evaluated when it is first needed. Its bounds with f64 promotion
  /// contain the errors.
  const reference::ReferenceResult& of(std::size_t input_set_index);

 private:
  const PassContext& pass_context_;
  AddedErrors errors_;
  bool computes_gradient_;                                     ///< whether the results contain gradients
  std::map<std::size_t, reference::ReferenceResult> results_;  ///< by index of the input set
};

}  // namespace assay::harness
