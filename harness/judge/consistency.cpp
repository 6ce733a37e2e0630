// finite_differences: the generated forward pass against the generated backward pass, without the oracle's values.
//
// Along a random direction d of the inputs, Ridders' extrapolated differences of phi(t) = <w, f(x + t d)>, where f is
// the generated forward pass promoted to f64, must equal <J^T w, d> of the generated backward pass promoted to f64. The
// oracle only decides whether all points of the stencil take the same path; if not, the step is divided by 4.
#include <algorithm>
#include <cmath>
#include <vector>

#include <fmt/format.h>

#include "harness/judge/context.hpp"
#include "harness/judge/differences.hpp"
#include "ir/custom.hpp"
#include "support/rng.hpp"

namespace assay::harness {
namespace {

class ConsistencyJudge {
 public:
  ConsistencyJudge(const PassContext& pass_context, std::size_t set)
      : pass_context_(pass_context),
        set_(set),
        input_(pass_context.input_sets[set]),
        verdict_(pass_context.judgment.backward) {}

  void run() {
    ForwardDifferences differences(pass_context_, set_, random_direction(), verdict_);
    const auto dot = adjoint_product(differences.direction());
    if (!dot) return;
    if (!std::isfinite(*dot) && has_open_gradient()) {
      ++verdict_.inconclusive.unbounded_values;
      return;
    }
    constexpr double kConvergenceTolerance = ForwardDifferences::kConvergenceTolerance;
    double step = ForwardDifferences::kFirstStep;
    std::optional<Contradiction> contradiction;
    for (int shrink = 0; shrink <= ForwardDifferences::kMaxStepReductions; ++shrink, step /= 4) {
      const auto derivative = differences.at(step);
      if (verdict_.failed()) return;
      if (!derivative || !std::isfinite(derivative->value) ||
          derivative->error > kConvergenceTolerance * std::max(1.0, size_))
        continue;
      const double allowed = kFiniteDifferenceTolerance * std::max(size_, 0x1p-20) + derivative->error;
      // A contradicted gradient is not a suitable scale: if the forward pass oscillates within a step (sin of a large
      // number), the differences are small relative to the true gradient, and far from converged.
      const bool agrees = std::abs(derivative->value - *dot) <= allowed;
      if (!agrees && derivative->error > kConvergenceTolerance * std::max(1.0, std::abs(derivative->value))) continue;
      // Neighboring estimates may agree by accident before they converge. A smaller stencil reveals that.
      series_ = differences.estimates();
      if (agrees) return decide(*dot, *derivative, allowed);
      if (differences.oscillates_within(step, std::abs(derivative->value - *dot))) continue;
      if (contradiction) return decide(*dot, *derivative, allowed);
      contradiction = {*derivative, allowed, series_};
    }
    if (!contradiction) {
      ++verdict_.inconclusive.uncertain_paths;
      return;
    }
    series_ = std::move(contradiction->seen);
    decide(*dot, contradiction->derivative, contradiction->allowed);
  }

 private:
  static constexpr std::size_t kPromotedPrecision = Precision::kPromoted;

  /// Handles a stencil that contradicts the gradient.
  struct Contradiction {
    DerivativeEstimate derivative;
    double allowed;
    FiniteDifferenceSeries seen;
  };

  std::vector<DirectionComponent> random_direction() const {
    Rng rng(pass_context_.configuration.seed * 31 + set_);
    const ir::Launch& launch = input_.launch_by_precision[kPromotedPrecision];
    std::vector<DirectionComponent> direction;
    for (std::size_t p = 0; p < launch.arguments.size(); ++p) {
      if (pass_context_.is_poisoned[p] || !has_gradient(p)) continue;
      for (DirectionComponent scalar : list_perturbable_scalars(pass_context_, input_, p)) {
        const std::byte* const at = launch.arguments[p].bytes.data() + scalar.byte_offset;
        const double scale = std::max(1.0, std::abs(ir::read_float(ir::Scalar::kF64, at)));
        scalar.direction_value = scale * rng.uniform_real(0.5, 1) * (rng.bernoulli(0.5) ? 1 : -1);
        direction.push_back(scalar);
      }
    }
    return direction;
  }

  /// False for a parameter passed by value whose gradient the device cannot return.
  bool has_gradient(std::size_t parameter) const {
    return std::ranges::any_of(pass_context_.subject.adjoint->gradient_parameters, [&](const auto& gradient) {
      return static_cast<std::size_t>(gradient.primal_parameter) == parameter;
    });
  }

  /// <J^T w, d> from the generated backward, and the size of its terms.
  std::optional<double> adjoint_product(const std::vector<DirectionComponent>& direction) {
    const auto& subject = pass_context_.subject;
    const auto backward = make_backward_launch(pass_context_, set_, Precision::kPromoted, verdict_);
    if (!backward) return std::nullopt;
    Result<KernelLauncher> placed =
        KernelLauncher::place(pass_context_.configuration.session, pass_context_.subject.promoted, pass_context_.kernel,
                              backends::Pass::kBackward, backends::Precision::kPromoted, borrow_launch(*backward),
                              make_gradient_arguments(subject, input_, Precision::kPromoted, InitialGradient::kZero, 1),
                              roles_of(pass_context_, backends::Pass::kBackward), std::byte{0xFF});
    if (!placed.ok()) return std::nullopt;
    TestLaunch test_launch{.input_set_index = set_, .precision = Precision::kPromoted, .launcher = placed.take()};
    if (!run_launches(pass_context_, {&test_launch, 1}, verdict_)) return std::nullopt;

    double dot = 0;
    std::size_t next = 0;
    const ir::Launch& launch = input_.launch_by_precision[kPromotedPrecision];
    for (std::size_t p = 0; p < launch.arguments.size(); ++p) {
      std::vector<double> gradient(component_count(subject, launch.arguments[p]));
      for (std::size_t g = 0; g < subject.adjoint->gradient_parameters.size(); ++g) {
        if (static_cast<std::size_t>(subject.adjoint->gradient_parameters[g].primal_parameter) != p) continue;
        const std::size_t array = test_launch.launcher.parameters() + g;
        const std::vector<std::size_t> components = gradient_components(subject, input_, g);
        const std::vector<ComputedScalar> scalars =
            read_scalars(subject.promoted, *test_launch.launcher.arrays()[array].initial_content,
                         test_launch.launcher.bytes(pass_context_.configuration.session, array));
        for (std::size_t i = 0; i < scalars.size(); ++i)
          gradient[components[i]] = scalars[i].value;
      }
      for (; next < direction.size() && direction[next].parameter_index == p; ++next) {
        const double term = gradient[direction[next].scalar_index] * direction[next].direction_value;
        dot += term;
        size_ += std::abs(term);
      }
    }
    return dot;
  }

  /// Whether some part of the gradient is not finite or has no bound: any value is allowed there.
  bool has_open_gradient() const {
    return std::ranges::any_of(input_.reference.gradients, [](const auto& gradient) {
      return gradient && std::ranges::any_of(gradient->elements, [](const reference::GradientElement& element) {
               return !std::isfinite(element.value) || !std::isfinite(element.bound[kPromotedPrecision]);
             });
    });
  }

  void decide(double dot, const DerivativeEstimate& derivative, double allowed) {
    const double error = std::abs(derivative.value - dot);
    verdict_.count_one(NamedCheck::kFiniteDifferences, error / allowed, !(error <= allowed));
    series_.input_set_index = static_cast<std::int64_t>(set_);
    series_.gradient = dot;
    series_.tolerance = allowed;
    if (std::isfinite(dot) && std::isfinite(allowed)) verdict_.keep(std::move(series_), error / allowed);
    if (error <= allowed) return;
    verdict_.fail(
        Outcome::fail, "finite_differences",
        fmt::format("along a random direction, finite differences of the forward pass give {}, but the backward pass "
                    "gives {} (tolerance {}, input set {})",
                    derivative.value, dot, allowed, set_));
  }

  const PassContext& pass_context_;
  std::size_t set_;
  const InputSet& input_;
  PassVerdict& verdict_;
  double size_ = 0;
  FiniteDifferenceSeries series_;
};

}  // namespace

void judge_consistency(const PassContext& pass_context) {
  // A custom gradient need not be that of the forward pass: only the oracle can check its use.
  if (ir::has_custom_gradient(pass_context.subject.module, pass_context.subject.kernel)) return;
  for (std::size_t s = 0; s < pass_context.input_sets.size() && pass_context.is_fully_checked(s); ++s) {
    if (pass_context.input_sets[s].reference.decisions.uncertain_decision_counts[Precision::kPromoted] == 0)
      ConsistencyJudge(pass_context, s).run();
    if (pass_context.judgment.backward.failed()) return;
  }
}

}  // namespace assay::harness
