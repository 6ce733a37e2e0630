// finite_differences: the generated forward pass against the generated backward pass, without the oracle's values.
//
// Along a random direction d of the inputs, Ridders' extrapolated differences of phi(t) = <w, f(x + t d)>, where f is
// the generated forward pass promoted to f64, must equal <J^T w, d> of the generated backward pass promoted to f64. The
// oracle only decides whether all points of the stencil take the same path; if not, the step is divided by 4.
#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <vector>

#include <fmt/format.h>

#include "harness/judge/context.hpp"
#include "ir/custom.hpp"
#include "support/rng.hpp"

namespace assay::harness {
namespace {

constexpr int kRows = 6;
constexpr int kShrinks = 6;
constexpr double kFirstStep = 0x1p-6;
/// An extrapolation has converged if its error is below this share of the gradient.
constexpr double kSettled = 1e-6;

/// One scalar of one input array, and its component of the direction.
struct Perturbation {
  std::size_t parameter;
  std::size_t component;  ///< among those of the parameter
  std::size_t offset;
  double direction;
};

struct Extrapolation {
  double value = 0;
  double error = 0;
};

/// C. J. F. Ridders, "Accurate computation of F'(x) and F'(x)F''(x)", Adv. Eng. Software 4(2), 1982: central
/// differences at steps h, h/2, ... are extrapolated. The error is the change between neighbouring estimates plus the
/// effect of rounding: `noise` bounds it for the first row, and it doubles with each further row. The extrapolation at
/// most doubles it: the product of (4^k + 1) / (4^k - 1) over the columns is below 2.
Extrapolation ridders(const std::array<double, kRows>& differences, double noise) {
  std::array<std::array<double, kRows>, kRows> table{};
  Extrapolation best{.value = differences[0], .error = HUGE_VAL};
  for (std::size_t row = 0; row < kRows; ++row, noise *= 2) {
    table[row][0] = differences[row];
    double factor = 4;
    for (std::size_t column = 1; column <= row; ++column, factor *= 4) {
      table[row][column] = (factor * table[row][column - 1] - table[row - 1][column - 1]) / (factor - 1);
      const double error = 2 * noise + std::max(std::abs(table[row][column] - table[row][column - 1]),
                                                std::abs(table[row][column] - table[row - 1][column - 1]));
      if (error < best.error) best = {.value = table[row][column], .error = error};
    }
  }
  return best;
}

class ConsistencyJudge {
 public:
  ConsistencyJudge(const PassContext& pass_context, std::size_t set)
      : pass_context_(pass_context),
        set_(set),
        input_(pass_context.sets[set]),
        verdict_(pass_context.judgement.backward) {}

  void run() {
    choose_direction();
    const auto dot = adjoint_product();
    if (!dot) return;
    if (!std::isfinite(*dot) && has_open_gradient()) {
      ++verdict_.inconclusive.overflow;
      return;
    }
    double step = kFirstStep;
    std::optional<Contradiction> contradiction;
    for (int shrink = 0; shrink <= kShrinks; ++shrink, step /= 4) {
      const std::vector<ir::Launch> stencil = stencil_at(step);
      const auto noise = noise_along(stencil, step);
      if (!noise) continue;
      const auto derivative = difference(stencil, step, *noise);
      if (verdict_.failed()) return;
      if (!std::isfinite(derivative.value) || derivative.error > kSettled * std::max(1.0, size_)) continue;
      const double allowed = kDifferenceTolerance * std::max(size_, 0x1p-20) + derivative.error;
      // A contradicted gradient is not a suitable scale: if the forward pass oscillates within a step (sin of a large
      // number), the differences are small relative to the true gradient, and far from converged.
      const bool agrees = std::abs(derivative.value - *dot) <= allowed;
      if (!agrees && derivative.error > kSettled * std::max(1.0, std::abs(derivative.value))) continue;
      // Neighbouring estimates may agree by accident before they converge. A smaller stencil reveals that.
      if (agrees) return decide(*dot, derivative, allowed);
      if (oscillates_within(step, std::abs(derivative.value - *dot))) continue;
      if (contradiction) return decide(*dot, derivative, allowed);
      contradiction = {derivative, allowed, seen_};
    }
    if (!contradiction) {
      ++verdict_.inconclusive.path;
      return;
    }
    seen_ = std::move(contradiction->seen);
    decide(*dot, contradiction->derivative, contradiction->allowed);
  }

 private:
  static constexpr std::size_t kPromotedPrecision = Precision::kPromoted;

  /// Handles a stencil that contradicts the gradient.
  struct Contradiction {
    Extrapolation derivative;
    double allowed;
    Plateau seen;
  };

  void choose_direction() {
    Rng rng(pass_context_.configuration.seed * 31 + set_);
    const ir::Launch& launch = input_.launch[kPromotedPrecision];
    for (std::size_t p = 0; p < launch.arguments.size(); ++p) {
      if (pass_context_.poisoned[p]) continue;
      const ir::Argument& argument = launch.arguments[p];
      const auto leaves = ir::scalar_components(pass_context_.subject.promoted, argument.type.element());
      std::size_t number = 0;
      for (std::int64_t e = 0; e < ir::element_count(argument); ++e) {
        for (const ir::ScalarComponent& component : leaves) {
          ++number;
          if (!ir::is_float(component.scalar)) continue;
          const std::size_t offset = ir::element_offset(argument, e) + component.offset;
          const double scale =
              std::max(1.0, std::abs(ir::read_float(component.scalar, argument.bytes.data() + offset)));
          perturbations_.push_back(
              {p, number - 1, offset, scale * rng.uniform_real(0.5, 1) * (rng.bernoulli(0.5) ? 1 : -1)});
        }
      }
    }
  }

  /// <J^T w, d> from the generated backward, and the size of its terms.
  std::optional<double> adjoint_product() {
    const auto& subject = pass_context_.subject;
    const auto backward = backward_launch(pass_context_, set_, Precision::kPromoted, verdict_);
    if (!backward) return std::nullopt;
    Result<KernelLauncher> placed =
        KernelLauncher::place(pass_context_.configuration.session, pass_context_.subject.promoted, pass_context_.kernel,
                              backends::Pass::kBackward, backends::Precision::kPromoted, borrowed(*backward),
                              gradient_arguments(subject, input_, Precision::kPromoted, InitialGradient::kZero, 1),
                              roles_of(pass_context_, backends::Pass::kBackward), std::byte{0xFF});
    if (!placed.ok()) return std::nullopt;
    TestLaunch test_launch{.set = set_, .precision = Precision::kPromoted, .launcher = placed.take()};
    if (!run_launches(pass_context_, {&test_launch, 1}, verdict_)) return std::nullopt;

    double dot = 0;
    std::size_t next = 0;
    const ir::Launch& launch = input_.launch[kPromotedPrecision];
    for (std::size_t p = 0; p < launch.arguments.size(); ++p) {
      std::vector<double> gradient(component_count(subject, launch.arguments[p]));
      for (std::size_t g = 0; g < subject.adjoint->gradients.size(); ++g) {
        if (static_cast<std::size_t>(subject.adjoint->gradients[g].primal) != p) continue;
        const std::size_t array = test_launch.launcher.parameters() + g;
        const std::vector<std::size_t> leaves = gradient_components(subject, input_, g);
        const std::vector<Computed> scalars =
            read_scalars(subject.promoted, *test_launch.launcher.arrays()[array].before,
                         test_launch.launcher.bytes(pass_context_.configuration.session, array));
        for (std::size_t i = 0; i < scalars.size(); ++i)
          gradient[leaves[i]] = scalars[i].value;
      }
      for (; next < perturbations_.size() && perturbations_[next].parameter == p; ++next) {
        const double term = gradient[perturbations_[next].component] * perturbations_[next].direction;
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

  /// x + t d for t = h, -h, h/2, -h/2, ...
  std::vector<ir::Launch> stencil_at(double step) const {
    std::vector<ir::Launch> stencil;
    for (int row = 0; row < kRows; ++row, step /= 2) {
      for (const double t : {step, -step}) {
        ir::Launch launch = input_.launch[kPromotedPrecision];
        for (const Perturbation& at : perturbations_) {
          std::byte* scalar = launch.arguments[at.parameter].bytes.data() + at.offset;
          ir::write_float(ir::Scalar::kF64, scalar, ir::read_float(ir::Scalar::kF64, scalar) + t * at.direction);
        }
        stencil.push_back(std::move(launch));
      }
    }
    return stencil;
  }

  reference::OracleRun run_at(const ir::Launch& launch) const {
    return {.launch = launch, .profile = pass_context_.configuration.profile, .uninitialised = pass_context_.poisoned};
  }

  /// The direction in the form that the oracle expects.
  reference::ComponentValues direction() const {
    const ir::Launch& launch = input_.launch[kPromotedPrecision];
    reference::ComponentValues direction(launch.arguments.size());
    for (const Perturbation& at : perturbations_) {
      direction[at.parameter].resize(component_count(pass_context_.subject, launch.arguments[at.parameter]));
      direction[at.parameter][at.component] = at.direction;
    }
    return direction;
  }

  /// The run at the input, unless a point between it and the outermost ones takes another path.
  std::optional<reference::ReferenceResult> middle_of(double step) const {
    const reference::Oracle& oracle = pass_context_.subject.promoted_oracle;
    const reference::OracleRun run = run_at(input_.launch[kPromotedPrecision]);
    // Without decisions all points take the same path.
    if (!input_.reference.decisions.any()) {
      reference::ReferenceResult middle = oracle.evaluate(run);
      if (!middle.decisions.any()) return middle;
    }
    std::vector<long double> inner;
    for (int row = 1; row < kRows; ++row) {
      step /= 2;
      inner.insert(inner.end(), {step, -step});
    }
    return oracle.evaluate_along(run, direction(), inner);
  }

  /// The rounding_noise of a stencil: the maximum over the middle and the outermost points, where it may be much
  /// larger, because the rounding of cancelling sums grows with their terms. Empty if the points do not all take the
  /// input's path.
  std::optional<double> noise_along(const std::vector<ir::Launch>& stencil, double step) const {
    const auto is_defined = [](const reference::ReferenceResult& run) { return run.findings.empty() && run.complete; };
    const reference::Oracle& oracle = pass_context_.subject.promoted_oracle;
    const auto base = middle_of(step);
    if (!base || !is_defined(*base)) return std::nullopt;
    double noise = rounding_noise(*base);
    for (const ir::Launch& launch : std::span(stencil).first(2)) {
      const reference::ReferenceResult outermost = oracle.evaluate(run_at(launch));
      if (!is_defined(outermost) || outermost.decisions.path != base->decisions.path) return std::nullopt;
      noise = std::max(noise, rounding_noise(outermost));
    }
    return noise;
  }

  Extrapolation difference(const std::vector<ir::Launch>& stencil, double step, double noise) {
    std::vector<TestLaunch> test_launches;
    const std::vector<ArrayRole> roles = roles_of(pass_context_, backends::Pass::kForward);
    for (const ir::Launch& launch : stencil) {
      Result<KernelLauncher> placed = KernelLauncher::place(
          pass_context_.configuration.session, pass_context_.subject.promoted, pass_context_.kernel,
          backends::Pass::kForward, backends::Precision::kPromoted, borrowed(launch), {}, roles, std::byte{0});
      if (!placed.ok()) return {.value = NAN};
      test_launches.push_back({.set = set_, .precision = Precision::kPromoted, .launcher = placed.take()});
    }
    if (!run_launches(pass_context_, test_launches, verdict_)) return {.value = NAN};
    std::array<double, kRows> differences{};
    noise /= step;
    seen_.estimates.clear();
    for (std::size_t row = 0; row < kRows; ++row, step /= 2) {
      differences[row] = weighted_change(test_launches[2 * row], test_launches[2 * row + 1]) / (2 * step);
      if (std::isfinite(differences[row])) seen_.estimates.push_back({.step = step, .value = differences[row]});
    }
    return ridders(differences, noise);
  }

  /// <w, f(x + t d) - f(x - t d)>
  double weighted_change(const TestLaunch& plus, const TestLaunch& minus) const {
    double sum = 0;
    for (std::size_t p = 0; p < pass_context_.uses.size(); ++p) {
      if (!pass_context_.uses[p].changed() || input_.cotangents[p].empty()) continue;
      const auto scalars = [&](const TestLaunch& test_launch) {
        return read_scalars(pass_context_.subject.promoted, *test_launch.launcher.arrays()[p].before,
                            test_launch.launcher.bytes(pass_context_.configuration.session, p));
      };
      const auto a = scalars(plus);
      const auto b = scalars(minus);
      for (std::size_t i = 0; i < a.size(); ++i)
        sum += input_.cotangents[p][i] * (a[i].value - b[i].value);
    }
    return sum;
  }

  /// Whether the derivative of phi changes within the stencil by as much as `difference`, other than linearly: a term
  /// that oscillates faster than the stencil resolves changes the derivative, but hardly the differences.
  bool oscillates_within(double step, double difference) const {
    const reference::OracleRun run = run_at(input_.launch[kPromotedPrecision]);
    const reference::ComponentValues along = direction();
    const auto derivative_at = [&](long double moved) {
      const reference::Tangents tangents = pass_context_.subject.promoted_oracle.tangents(run, {along}, moved);
      long double sum = 0;
      for (std::size_t p = 0; p < tangents.outputs.size(); ++p) {
        for (std::size_t i = 0; i < tangents.outputs[p].size() && i < input_.cotangents[p].size(); ++i)
          sum += static_cast<long double>(input_.cotangents[p][i]) * tangents.outputs[p][i][0];
      }
      return sum;
    };
    const long double center = derivative_at(0);
    for (const long double share : {0.171L, 0.382L, 0.618L, 0.853L}) {
      const long double moved = share * static_cast<long double>(step);
      const long double mean = (derivative_at(-moved) + derivative_at(moved)) / 2;
      if (!(std::abs(mean - center) < difference / 2)) return true;
    }
    return false;
  }

  /// Bound on the rounding of <w, f(x)>, from the oracle's bounds with f64 promotion.
  double rounding_noise(const reference::ReferenceResult& run) const {
    double sum = 0;
    for (std::size_t p = 0; p < pass_context_.uses.size(); ++p) {
      const auto& output = run.outputs[p];
      if (!output || input_.cotangents[p].empty()) continue;
      for (std::size_t i = 0; i < output->elements.size(); ++i)
        sum += std::abs(input_.cotangents[p][i]) * output->elements[i].bound[kPromotedPrecision];
    }
    return sum;
  }

  void decide(double dot, const Extrapolation& derivative, double allowed) {
    const double error = std::abs(derivative.value - dot);
    verdict_.count_one(NamedCheck::kFiniteDifferences, error / allowed, !(error <= allowed));
    seen_.input_set = static_cast<std::int64_t>(set_);
    seen_.gradient = dot;
    seen_.allowed = allowed;
    if (std::isfinite(dot) && std::isfinite(allowed)) verdict_.keep(std::move(seen_), error / allowed);
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
  std::vector<Perturbation> perturbations_;
  double size_ = 0;
  Plateau seen_;
};

}  // namespace

void judge_consistency(const PassContext& pass_context) {
  // A custom gradient need not be that of the forward pass: only the oracle can check its use.
  if (ir::has_custom_gradient(pass_context.subject.module, pass_context.subject.kernel)) return;
  for (std::size_t s = 0; s < pass_context.sets.size() && pass_context.is_deep(s); ++s) {
    if (pass_context.sets[s].reference.decisions.uncertain[Precision::kPromoted] == 0)
      ConsistencyJudge(pass_context, s).run();
    if (pass_context.judgement.backward.failed()) return;
  }
}

}  // namespace assay::harness
