#include "harness/judge/differences.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "reference/cpu/self_check.hpp"

namespace assay::harness {
namespace {

constexpr int kRows = 6;

/// C. J. F. Ridders, "Accurate computation of F'(x) and F'(x)F''(x)", Adv. Eng. Software 4(2), 1982: central
/// differences at steps h, h/2, ... are extrapolated. The error is the change between neighboring estimates plus the
/// effect of rounding: `noise` bounds it for the first row, and it doubles with each further row. The extrapolation at
/// most doubles it: the product of (4^k + 1) / (4^k - 1) over the columns is below 2.
DerivativeEstimate ridders_extrapolation(const std::array<double, kRows>& differences, double noise) {
  std::array<std::array<double, kRows>, kRows> table{};
  DerivativeEstimate best{.value = differences[0], .error = HUGE_VAL};
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

}  // namespace

ForwardDifferences::ForwardDifferences(const PassContext& pass_context, std::size_t set,
                                       std::vector<DirectionComponent> direction, PassVerdict& verdict)
    : pass_context_(pass_context),
      input_set_index_(set),
      input_(pass_context.input_sets[set]),
      direction_(std::move(direction)),
      verdict_(verdict) {}

std::optional<DerivativeEstimate> ForwardDifferences::at(double step) {
  const std::vector<ir::Launch> stencil = stencil_at(step);
  const auto noise = noise_along(stencil, step);
  return noise ? difference(stencil, step, *noise) : std::nullopt;
}

/// x + t d for t = h, -h, h/2, -h/2, ...
std::vector<ir::Launch> ForwardDifferences::stencil_at(double step) const {
  std::vector<ir::Launch> stencil;
  for (int row = 0; row < kRows; ++row, step /= 2) {
    for (const double t : {step, -step}) {
      ir::Launch launch = input_.launch_by_precision[Precision::kPromoted];
      for (const DirectionComponent& at : direction_) {
        std::byte* scalar = launch.arguments[at.parameter_index].bytes.data() + at.byte_offset;
        ir::write_float(ir::Scalar::kF64, scalar, ir::read_float(ir::Scalar::kF64, scalar) + t * at.direction_value);
      }
      stencil.push_back(std::move(launch));
    }
  }
  return stencil;
}

reference::OracleRun ForwardDifferences::run_at(const ir::Launch& launch) const {
  return {.launch = launch,
          .profile = pass_context_.configuration.profile,
          .uninitialized = pass_context_.is_poisoned,
          .fixes_thread_order = pass_context_.fixes_thread_order};
}

/// The direction in the form that the oracle expects.
reference::ComponentValues ForwardDifferences::component_direction() const {
  const ir::Launch& launch = input_.launch_by_precision[Precision::kPromoted];
  reference::ComponentValues direction(launch.arguments.size());
  for (const DirectionComponent& at : direction_) {
    direction[at.parameter_index].resize(component_count(pass_context_.subject, launch.arguments[at.parameter_index]));
    direction[at.parameter_index][at.scalar_index] = at.direction_value;
  }
  return direction;
}

/// The run at the input, unless a point between it and the outermost ones takes another path.
std::optional<reference::ReferenceResult> ForwardDifferences::middle_of(double step) const {
  const reference::Oracle& oracle = pass_context_.subject.promoted_oracle;
  const reference::OracleRun run = run_at(input_.launch_by_precision[Precision::kPromoted]);
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
  return oracle.evaluate_if_same_path(run, component_direction(), inner);
}

/// The rounding_noise of a stencil: the maximum over the middle and the outermost points, where it may be much
/// larger, because the rounding of canceling sums grows with their terms. Empty if the points do not all take the
/// input's path.
std::optional<double> ForwardDifferences::noise_along(const std::vector<ir::Launch>& stencil, double step) const {
  const auto is_defined = [](const reference::ReferenceResult& run) { return run.findings.empty() && run.is_complete; };
  const reference::Oracle& oracle = pass_context_.subject.promoted_oracle;
  const auto base = middle_of(step);
  if (!base || !is_defined(*base)) return std::nullopt;
  double noise = rounding_noise(*base);
  for (const ir::Launch& launch : std::span(stencil).first(2)) {
    const reference::ReferenceResult outermost = oracle.evaluate(run_at(launch));
    if (!is_defined(outermost) || outermost.decisions.path_hash != base->decisions.path_hash) return std::nullopt;
    noise = std::max(noise, rounding_noise(outermost));
  }
  return noise;
}

std::optional<DerivativeEstimate> ForwardDifferences::difference(const std::vector<ir::Launch>& stencil, double step,
                                                                 double noise) {
  std::vector<TestLaunch> test_launches;
  const std::vector<ArrayRole> roles = roles_of(pass_context_, backends::Pass::kForward);
  for (const ir::Launch& launch : stencil) {
    Result<KernelLauncher> placed =
        KernelLauncher::place(pass_context_.configuration.session, pass_context_.subject.promoted, pass_context_.kernel,
                              backends::Pass::kForward, backends::Precision::kPromoted, borrow_launch(launch), {},
                              roles, std::byte{0}, pass_context_.forward_settings({}));
    if (!placed.ok()) return std::nullopt;
    test_launches.push_back(
        {.input_set_index = input_set_index_, .precision = Precision::kPromoted, .launcher = placed.take()});
  }
  if (!run_launches(pass_context_, test_launches, verdict_)) return std::nullopt;
  std::array<double, kRows> differences{};
  noise /= step;
  estimate_series_.estimates.clear();
  for (std::size_t row = 0; row < kRows; ++row, step /= 2) {
    differences[row] = weighted_change(test_launches[2 * row], test_launches[2 * row + 1]) / (2 * step);
    if (std::isfinite(differences[row]))
      estimate_series_.estimates.push_back({.step = step, .value = differences[row]});
  }
  return ridders_extrapolation(differences, noise);
}

/// <w, f(x + t d) - f(x - t d)>
double ForwardDifferences::weighted_change(const TestLaunch& plus, const TestLaunch& minus) const {
  double sum = 0;
  for (std::size_t p = 0; p < pass_context_.parameter_uses.size(); ++p) {
    if (!pass_context_.parameter_uses[p].changed() || input_.cotangents[p].empty()) continue;
    const auto scalars = [&](const TestLaunch& test_launch) {
      return read_scalars(pass_context_.subject.promoted, *test_launch.launcher.arrays()[p].initial_content,
                          test_launch.launcher.bytes(pass_context_.configuration.session, p));
    };
    const auto a = scalars(plus);
    const auto b = scalars(minus);
    for (std::size_t i = 0; i < a.size(); ++i)
      sum += input_.cotangents[p][i] * (a[i].value - b[i].value);
  }
  return sum;
}

bool ForwardDifferences::oscillates_within(double step, double difference) const {
  const reference::OracleRun run = run_at(input_.launch_by_precision[Precision::kPromoted]);
  const reference::ComponentValues along = component_direction();
  const auto derivative_at = [&](long double share) {
    return derivative_of_weighted_outputs(
        input_, pass_context_.subject.promoted_oracle.tangents(run, {along}, share * static_cast<long double>(step)));
  };
  reference::DerivativeSamples samples{.derivative_at_center = derivative_at(0)};
  for (std::size_t k = 0; k < reference::kSampledFractions.size(); ++k) {
    samples.before[k] = derivative_at(-reference::kSampledFractions[k]);
    samples.after[k] = derivative_at(reference::kSampledFractions[k]);
  }
  return samples.explain(static_cast<long double>(difference));
}

/// Bound on the rounding of <w, f(x)>, from the oracle's bounds with f64 promotion.
double ForwardDifferences::rounding_noise(const reference::ReferenceResult& run) const {
  double sum = 0;
  for (std::size_t p = 0; p < pass_context_.parameter_uses.size(); ++p) {
    const auto& output = run.outputs[p];
    if (!output || input_.cotangents[p].empty()) continue;
    for (std::size_t i = 0; i < output->elements.size(); ++i)
      sum += std::abs(input_.cotangents[p][i]) * output->elements[i].bound[Precision::kPromoted];
  }
  return sum;
}

std::vector<DirectionComponent> list_perturbable_scalars(const PassContext& pass_context, const InputSet& set,
                                                         std::size_t parameter) {
  std::vector<DirectionComponent> scalars;
  const ir::Argument& argument = set.launch_by_precision[Precision::kPromoted].arguments[parameter];
  const auto components = ir::scalar_components(pass_context.subject.promoted, argument.type.element());
  std::size_t number = 0;
  for (std::int64_t e = 0; e < ir::element_count(argument); ++e) {
    for (const ir::ScalarComponent& component : components) {
      if (ir::is_float(component.scalar))
        scalars.push_back({parameter, number, ir::element_offset(argument, e) + component.offset, 0});
      ++number;
    }
  }
  return scalars;
}

}  // namespace assay::harness
