#include "harness/judge/gradient_difference.hpp"

#include <cmath>

namespace assay::harness {

std::string GradientDifference::name(const KernelUnderTest& subject, const InputSet& set) const {
  return component_notation(subject.module, subject.kernel, parameter,
                            set.launch_by_precision[Precision::kNative].arguments[parameter], component);
}

std::optional<GradientDifference> find_gradient_difference(const reference::ReferenceResult& first,
                                                           const reference::ReferenceResult& second) {
  std::optional<GradientDifference> worst;
  double worst_ratio = 1;
  for (std::size_t p = 0; p < first.gradients.size(); ++p) {
    if (!first.gradients[p] || !second.gradients[p]) continue;
    const auto& ours = first.gradients[p]->elements;
    const auto& theirs = second.gradients[p]->elements;
    for (std::size_t i = 0; i < ours.size(); ++i) {
      const double bound = ours[i].bound[reference::kPromoted] + theirs[i].bound[reference::kPromoted];
      const auto error = static_cast<double>(std::abs(ours[i].value - theirs[i].value));
      if (!std::isfinite(error) || !std::isfinite(bound) || error <= bound) continue;
      const double ratio = bound > 0 ? error / bound : HUGE_VAL;
      if (worst && ratio <= worst_ratio) continue;
      worst_ratio = ratio;
      worst = {.parameter = p, .component = i, .first = ours[i].value, .second = theirs[i].value, .bound = bound};
    }
  }
  return worst;
}

}  // namespace assay::harness
