#include "harness/warp_differences/gradients.hpp"

#include <algorithm>
#include <cmath>

#include "harness/judge/launch.hpp"
#include "harness/warp_differences/forward.hpp"
#include "ir/custom.hpp"
#include "ir/spatial_paths.hpp"

namespace assay::warp {
namespace {

constexpr double kBoundFactor = 4, kRelative = 1e-5;
/// Relative tolerance between our gradient and the difference quotient, in addition to the scheme's error estimate.
constexpr double kFiniteDifferenceTolerance = 1e-6;
/// A quotient with a larger relative error estimate is ignored.
constexpr double kMostError = 1e-3;
/// Maximum number of differing scalars of an array that are checked with finite differences.
constexpr std::size_t kTried = 3;

double scale_of(const reference::GradientElement& ours) {
  return std::max(ours.magnitude_sum, static_cast<double>(std::abs(ours.value)));
}

double tolerance(const reference::GradientElement& ours) {
  return kBoundFactor * ours.bound[reference::kNative] + kRelative * scale_of(ours);
}

bool agrees(double warp, const reference::GradientElement& ours) {
  if (std::isfinite(ours.value)) return std::abs(warp - ours.value) <= tolerance(ours);
  return std::isnan(ours.value) ? std::isnan(warp) : static_cast<long double>(warp) == ours.value;
}

/// d(sum of cotangent * output) / d(scalar) by finite differences.
std::optional<reference::DirectionalDifferences::Estimate> quotient(const ComparedKernel& subject,
                                                                    const harness::InputSet& set, std::size_t parameter,
                                                                    std::size_t scalar) {
  if (ir::has_custom_gradient(subject.module(), subject.kernel())) return std::nullopt;
  reference::ComponentValues direction(set.reference.gradients.size());
  direction[parameter].assign(set.reference.gradients[parameter]->elements.size(), 0.0);
  direction[parameter][scalar] = 1;
  const reference::DirectionalDifferences differences =
      subject.oracle().directional_differences(subject.run(set), direction);
  if (!differences.is_same_path) return std::nullopt;
  reference::DirectionalDifferences::Estimate sum;
  for (std::size_t p = 0; p < differences.outputs.size(); ++p) {
    for (std::size_t i = 0; i < differences.outputs[p].size() && i < set.cotangents[p].size(); ++i) {
      const double seed = set.cotangents[p][i];
      if (seed == 0) continue;
      sum.value += seed * differences.outputs[p][i].value;
      sum.error += std::abs(seed) * differences.outputs[p][i].error;
    }
  }
  if (!std::isfinite(sum.value) || !std::isfinite(sum.error)) return std::nullopt;
  return sum;
}

/// Stores the quotient and which gradient agrees with it.
void decide_by_finite_differences(GradientDifference& difference_found, const reference::GradientElement& ours,
                                  const std::optional<reference::DirectionalDifferences::Estimate>& quotient) {
  difference_found.finite_difference_verdict = FiniteDifferenceVerdict::kUndecided;
  difference_found.difference_quotient.reset();
  if (!quotient || !std::isfinite(ours.value)) return;
  const double scale = scale_of(ours);
  if (static_cast<double>(quotient->error) > kMostError * std::max(scale, 1e-3)) return;
  difference_found.difference_quotient = quotient->value;
  const auto error = static_cast<double>(quotient->error);
  if (std::abs(ours.value - quotient->value) > kFiniteDifferenceTolerance * std::max(scale, 1e-6) + 4 * error) {
    difference_found.finite_difference_verdict = FiniteDifferenceVerdict::kAssayIncorrect;
  } else if (!(std::abs(difference_found.warp_value - quotient->value) <= 4 * error)) {
    difference_found.finite_difference_verdict = FiniteDifferenceVerdict::kWarpIncorrect;
  }
}

/// The scalars that differ, the worst first.
std::vector<std::size_t> departing_scalars(const std::vector<harness::ComputedScalar>& warp,
                                           const std::vector<reference::GradientElement>& ours) {
  std::vector<std::size_t> differing;
  for (std::size_t i = 0; i < ours.size(); ++i) {
    if (std::isfinite(ours[i].bound[reference::kNative]) && !agrees(warp[i].value, ours[i])) differing.push_back(i);
  }
  const auto badness = [&](std::size_t i) {
    const auto excess = static_cast<double>(std::abs(warp[i].value - ours[i].value)) / (scale_of(ours[i]) + 1e-30);
    return std::isnan(excess) ? HUGE_VAL : excess;
  };
  std::stable_sort(differing.begin(), differing.end(),
                   [&](std::size_t a, std::size_t b) { return badness(a) > badness(b); });
  return differing;
}

/// The difference at the most significant scalar: one that shows that we are wrong, else one that shows that Warp is.
GradientDifference judged(const ComparedKernel& subject, const harness::InputSet& set, std::size_t parameter,
                          const std::vector<harness::ComputedScalar>& warp, const std::vector<std::size_t>& differing) {
  const auto& ours = set.reference.gradients[parameter]->elements;
  const ir::Argument& argument = set.launch_by_precision[reference::kNative].arguments[parameter];
  std::optional<GradientDifference> telling;
  for (std::size_t k = 0; k < std::min(kTried, differing.size()); ++k) {
    const std::size_t i = differing[k];
    GradientDifference difference_found{.parameter_index = parameter,
                                        .differing_scalar_count = differing.size(),
                                        .compared_scalar_count = ours.size(),
                                        .element_notation = element_notation(subject, parameter, argument, i),
                                        .oracle_value = ours[i].value,
                                        .warp_value = warp[i].value};
    decide_by_finite_differences(difference_found, ours[i], quotient(subject, set, parameter, i));
    const bool tells_more = !telling ||
                            difference_found.finite_difference_verdict == FiniteDifferenceVerdict::kAssayIncorrect ||
                            (difference_found.finite_difference_verdict == FiniteDifferenceVerdict::kWarpIncorrect &&
                             telling->finite_difference_verdict == FiniteDifferenceVerdict::kUndecided);
    if (tells_more && !(telling && telling->finite_difference_verdict == FiniteDifferenceVerdict::kAssayIncorrect))
      telling = difference_found;
  }
  return *telling;
}

}  // namespace

GradientComparison compare_gradients(const ComparedKernel& subject, std::size_t launch, const WarpPassResult& answer) {
  const harness::InputSet& set = subject.sets()[launch];
  GradientComparison comparison;
  for (std::size_t p = 0; p < set.reference.gradients.size(); ++p) {
    const ir::Argument& argument = set.launch_by_precision[reference::kNative].arguments[p];
    const ir::ParameterUse& use = subject.uses()[p];
    const bool only_overwritten = use.written && !use.read && !use.is_atomically_updated;
    // Warp has no arrays for the gradients of meshes, hierarchies of boxes and textures.
    const bool is_spatial = ir::is_spatial_path(subject.kernel().var(static_cast<ir::VarId>(p)).path);
    if (!set.reference.gradients[p] || !argument.type.is_array() || only_overwritten || is_spatial) continue;
    const auto& ours = set.reference.gradients[p]->elements;
    const auto warp = harness::read_scalars(subject.module(), argument, answer.array_contents[p]);
    const bool known =
        std::ranges::any_of(ours, [](const auto& element) { return std::isfinite(element.bound[reference::kNative]); });
    const auto differing = departing_scalars(warp, ours);
    if (!differing.empty()) {
      comparison.differences.push_back(judged(subject, set, p, warp, differing));
    } else {
      ++(known ? comparison.agreeing_arrays : comparison.unbounded_arrays);
    }
  }
  return comparison;
}

}  // namespace assay::warp
