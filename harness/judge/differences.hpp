// Finite differences of the generated forward pass, promoted to f64. Private to the judge.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "harness/judge/context.hpp"

namespace assay::harness {

/// One scalar of one input, and its component of a direction.
struct DirectionComponent {
  std::size_t parameter_index;  ///< index of the parameter
  std::size_t scalar_index;     ///< index of the scalar among all scalars of the parameter
  std::size_t byte_offset;      ///< byte offset of the scalar in the parameter's promoted content
  double direction_value;       ///< component of the direction for this scalar
};

/// A directional derivative, estimated from differences.
struct DerivativeEstimate {
  double value = 0;  ///< extrapolated derivative
  double error = 0;  ///< estimate of its error, including rounding
};

/// Estimates a directional derivative of the forward pass that the device runs: Ridders' extrapolation of differences
/// of phi(t) = <w, f(x + t d)>, where x is an input set, w its cotangents, d a direction and f the forward pass.
class ForwardDifferences {
 public:
  static constexpr double kFirstStep = 0x1p-6;  ///< the first step t
  /// How often the step is divided by 4 if the points of a stencil do not take the same path.
  static constexpr int kMaxStepReductions = 6;
  /// An extrapolation has converged if its error is below this share of the derivative.
  static constexpr double kConvergenceTolerance = 1e-6;

  /// Keeps references to the context and to the verdict, which gets the failures of launches.
  ForwardDifferences(const PassContext& pass_context, std::size_t set, std::vector<DirectionComponent> direction,
                     PassVerdict& verdict);

  /// The derivative along the direction, extrapolated from the steps `step`, `step` / 2 and so on. Empty if the oracle
  /// finds that the points do not all take the input's path, or if a launch does not complete.
  std::optional<DerivativeEstimate> at(double step);
  /// Whether an oscillation within the stencil explains a difference between the gradient and the differences; see
  /// reference::DerivativeSamples.
  bool oscillates_within(double step, double difference) const;
  /// The estimates of the last call of at().
  const FiniteDifferenceSeries& estimates() const { return estimate_series_; }
  const std::vector<DirectionComponent>& direction() const { return direction_; }

 private:
  std::vector<ir::Launch> stencil_at(double step) const;  ///< x + t d for t = step, -step, step/2, -step/2, ...
  reference::OracleRun run_at(const ir::Launch& launch) const;
  reference::ComponentValues component_direction() const;  ///< the direction d, for the oracle
  std::optional<reference::ReferenceResult> middle_of(double step) const;
  std::optional<double> noise_along(const std::vector<ir::Launch>& stencil, double step) const;
  std::optional<DerivativeEstimate> difference(const std::vector<ir::Launch>& stencil, double step, double noise);
  double weighted_change(const TestLaunch& plus, const TestLaunch& minus) const;  ///< <w, f(plus) - f(minus)>
  double rounding_noise(const reference::ReferenceResult& run) const;             ///< bound on the rounding of <w, f>

  const PassContext& pass_context_;            ///< the kernel and the device
  std::size_t input_set_index_;                ///< index of the input set
  const InputSet& input_;                      ///< the input set x, with its cotangents w
  std::vector<DirectionComponent> direction_;  ///< the direction d
  PassVerdict& verdict_;                       ///< receives the failures of launches
  FiniteDifferenceSeries estimate_series_;     ///< estimates of the last call of at()
};

/// The scalars of a parameter that may be perturbed: its floats, in the promoted launch of the set.
std::vector<DirectionComponent> list_perturbable_scalars(const PassContext& pass_context, const InputSet& set,
                                                         std::size_t parameter);

}  // namespace assay::harness
