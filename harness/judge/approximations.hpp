// Judges a pass with the documented errors of the approximate instructions that it executes
// (docs/design/numerics.md, "Approximate instructions").
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "harness/judge/context.hpp"

namespace assay::harness {

/// The approximate instructions that the launches executed, by index of the input set, as
/// LaunchRequest::instructions_with_errors. Contains only sets with a launch that executed some, and only launches that
/// computed unrounded values.
std::map<std::size_t, std::uint32_t> executed_approximations(const PassContext& pass_context,
                                                             std::span<const TestLaunch> test_launches);

/// The additional relative error of the inputs, in unit roundoffs of float32, for results with documented errors: that
/// of two approximate operations with an error of 2 ulp each, such as an exponential and a division, which the
/// candidate's formula may have instead of the operations of the specification.
inline constexpr double kApproximationErrorInUnitRoundoffs = 8;

/// How often the formula of a candidate's gradient may use an approximate result, as in 0.5 r^3 with r = 1 / sqrt(x).
/// Approximations may change a gradient by this factor times as much as they may change that of the specification.
inline constexpr double kUsesOfApproximateResultInGradient = 3;

/// The oracle's results for the input sets of a pass if the bounds also allow the errors of CUDA's approximate
/// division, square root and logarithms (ArithmeticProfile::has_approximate_operations), and further approximations in
/// the candidate (kApproximationErrorInUnitRoundoffs).
class ApproximateReferences {
 public:
  /// Keeps a reference to the context.
  ApproximateReferences(const PassContext& pass_context, bool computes_gradient)
      : pass_context_(pass_context), computes_gradient_(computes_gradient) {}

  /// The result for an input set, which is evaluated when it is first needed. Null if correct code with such errors may
  /// take several paths.
  const reference::ReferenceResult* of(std::size_t input_set_index);

 private:
  const PassContext& pass_context_;
  bool computes_gradient_;                                     ///< whether the results contain gradients
  std::map<std::size_t, reference::ReferenceResult> results_;  ///< by index of the input set
};

/// How a pass judges a launch with documented errors. `instructions`: as LaunchRequest::instructions_with_errors.
struct DocumentedErrorSteps {
  /// Places such a launch of an input set; returns nullopt if that is impossible, and reports the reason in the
  /// verdict.
  std::function<std::optional<TestLaunch>(std::size_t set, std::uint32_t instructions, PassVerdict& verdict)> place;
  /// Compares the results of the launch with this index, and reports the first failure in the verdict of the pass.
  std::function<void(std::size_t launch)> check;
  std::function<bool(const TestLaunch& test_launch)> agrees;  ///< whether all results of a launch are correct
};

/// Resets the session and judges input sets again, with the documented errors of the instructions that
/// executed_approximations() returned. Replaces the launches. A failure is attributed to those instructions whose
/// errors alone make the launch fail, or to all of them if there are none.
void judge_documented_errors(const PassContext& pass_context,
                             const std::map<std::size_t, std::uint32_t>& instructions_by_set,
                             const DocumentedErrorSteps& steps, std::vector<TestLaunch>& test_launches,
                             PassVerdict& verdict);

}  // namespace assay::harness
