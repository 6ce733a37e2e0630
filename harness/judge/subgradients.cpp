#include "harness/judge/subgradients.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

namespace assay::harness {
namespace {

/// Distance from an input on a threshold at which a value is on one side of it.
constexpr long double kNearThreshold = 0x1p-20L;
/// Tolerance of the limits, relative to the scale of the gradient, in addition to their error.
constexpr double kLimitTolerance = 1e-6;

/// The limit of a derivative, extrapolated from two inputs on one side.
struct OneSidedLimit {
  double value = 0;             ///< the limit
  double error = 0;             ///< change of the derivative between the two inputs
  std::uint64_t path_hash = 0;  ///< the path on this side
};

class Limits {
 public:
  Limits(const PassContext& pass_context, const TestLaunch& test_launch, std::size_t gradient)
      : pass_context_(pass_context),
        input_(pass_context.input_sets[test_launch.input_set_index]),
        launch_(input_.launch_by_precision[test_launch.precision]),
        oracle_(test_launch.precision == Precision::kPromoted ? pass_context.subject.promoted_oracle
                                                              : pass_context.subject.oracle),
        parameter_(
            static_cast<std::size_t>(pass_context.subject.adjoint->gradient_parameters[gradient].primal_parameter)),
        components_(gradient_components(pass_context.subject, input_, gradient)) {}

  /// Empty if the evaluation stops early, or if the two inputs take different paths.
  std::optional<OneSidedLimit> from_side(int side, std::size_t scalar) const {
    const reference::Tangents near = tangents_at(side * kNearThreshold, scalar);
    const reference::Tangents far = tangents_at(2 * side * kNearThreshold, scalar);
    if (!near.is_complete || !far.is_complete || near.path_hash != far.path_hash) return std::nullopt;
    const auto at_near = static_cast<double>(derivative_of_weighted_outputs(input_, near));
    const auto at_far = static_cast<double>(derivative_of_weighted_outputs(input_, far));
    if (!std::isfinite(at_near) || !std::isfinite(at_far)) return std::nullopt;
    return OneSidedLimit{
        .value = 2 * at_near - at_far, .error = std::abs(at_near - at_far), .path_hash = near.path_hash};
  }

 private:
  /// The derivatives of all outputs along one scalar of the primal, which is moved by `step`.
  reference::Tangents tangents_at(long double step, std::size_t scalar) const {
    reference::ComponentValues direction(launch_.arguments.size());
    direction[parameter_].resize(component_count(pass_context_.subject, launch_.arguments[parameter_]));
    direction[parameter_][components_[scalar]] = 1;
    return oracle_.tangents(
        {.launch = launch_, .profile = pass_context_.configuration.profile, .uninitialized = pass_context_.is_poisoned},
        {std::move(direction)}, step);
  }

  const PassContext& pass_context_;
  const InputSet& input_;
  const ir::Launch& launch_;
  const reference::Oracle& oracle_;
  std::size_t parameter_;
  std::vector<std::size_t> components_;
};

}  // namespace

bool are_subgradients(const PassContext& pass_context, const TestLaunch& test_launch, const DifferingScalars& scalars) {
  const InputSet& input = pass_context.input_sets[test_launch.input_set_index];
  const auto gradients =
      expected_gradients(pass_context.subject, input, input.reference, test_launch.precision, InitialGradient::kZero);
  const Limits limits(pass_context, test_launch, scalars.gradient_index);
  return std::ranges::all_of(scalars.positions, [&](std::size_t at) {
    const auto before = limits.from_side(-1, at);
    const auto after = limits.from_side(1, at);
    if (!before || !after || before->path_hash == after->path_hash) return false;
    const ExpectedScalar& expected = scalars.expected[at];
    const auto [low, high] = std::minmax(before->value, after->value);
    const double scale = std::max({std::abs(low), std::abs(high), expected.informative_bound_scale});
    const double allowed = kLimitTolerance * scale + 4 * (before->error + after->error);
    // The buffer holds the initial gradient and `gradient_factor` times the gradient.
    const double without_gradient =
        static_cast<double>(expected.value) -
        scalars.gradient_factor * static_cast<double>(gradients[scalars.gradient_index][at].value);
    const double got = scalars.got[at].value - without_gradient;
    return got >= scalars.gradient_factor * (low - allowed) - expected.bound &&
           got <= scalars.gradient_factor * (high + allowed) + expected.bound;
  });
}

}  // namespace assay::harness
