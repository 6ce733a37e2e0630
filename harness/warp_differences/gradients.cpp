#include "harness/warp_differences/gradients.hpp"

#include <algorithm>
#include <cmath>

#include "harness/judge/launch.hpp"
#include "harness/warp_differences/forward.hpp"
#include "ir/custom.hpp"

namespace assay::warp {
namespace {

constexpr double kBoundFactor = 4, kRelative = 1e-5;
/// Relative agreement of ours with the difference quotient, beside the scheme's own error estimate.
constexpr double kDifferenceGate = 1e-6;
/// A quotient with a larger relative error estimate decides nothing.
constexpr double kMostError = 1e-3;
/// Departing scalars of one array that are tried with finite differences.
constexpr std::size_t kTried = 3;

double scale_of(const reference::GradientElement& ours) {
  return std::max(ours.magnitude, static_cast<double>(std::abs(ours.value)));
}

double tolerance(const reference::GradientElement& ours) {
  return kBoundFactor * ours.bound[reference::kNative] + kRelative * scale_of(ours);
}

bool agrees(double warp, const reference::GradientElement& ours) {
  if (std::isfinite(ours.value)) return std::abs(warp - ours.value) <= tolerance(ours);
  return std::isnan(ours.value) ? std::isnan(warp) : static_cast<long double>(warp) == ours.value;
}

/// d(sum of seed * output) / d(scalar) by finite differences.
std::optional<reference::Differences::Estimate> quotient(const Subject& subject, const harness::InputSet& set,
                                                         std::size_t parameter, std::size_t scalar) {
  if (ir::has_custom_gradient(subject.module(), subject.kernel())) return std::nullopt;
  reference::ComponentValues direction(set.reference.gradients.size());
  direction[parameter].assign(set.reference.gradients[parameter]->elements.size(), 0.0);
  direction[parameter][scalar] = 1;
  const reference::Differences differences = subject.oracle().differences(subject.run(set), direction);
  if (!differences.same_path) return std::nullopt;
  reference::Differences::Estimate sum;
  for (std::size_t p = 0; p < differences.outputs.size(); ++p) {
    for (std::size_t i = 0; i < differences.outputs[p].size() && i < set.seeds[p].size(); ++i) {
      const double seed = set.seeds[p][i];
      if (seed == 0) continue;
      sum.value += seed * differences.outputs[p][i].value;
      sum.error += std::abs(seed) * differences.outputs[p][i].error;
    }
  }
  if (!std::isfinite(sum.value) || !std::isfinite(sum.error)) return std::nullopt;
  return sum;
}

/// Notes the quotient and who agrees with it.
void arbitrate(Departure& departure, const reference::GradientElement& ours,
               const std::optional<reference::Differences::Estimate>& quotient) {
  departure.arbitration = Arbitration::kUndecided;
  departure.difference.reset();
  if (!quotient || !std::isfinite(ours.value)) return;
  const double scale = scale_of(ours);
  if (static_cast<double>(quotient->error) > kMostError * std::max(scale, 1e-3)) return;
  departure.difference = quotient->value;
  const auto error = static_cast<double>(quotient->error);
  if (std::abs(ours.value - quotient->value) > kDifferenceGate * std::max(scale, 1e-6) + 4 * error) {
    departure.arbitration = Arbitration::kWeWrong;
  } else if (!(std::abs(departure.warp - quotient->value) <= 4 * error)) {
    departure.arbitration = Arbitration::kWarpWrong;
  }
}

/// The scalars that depart, the worst first.
std::vector<std::size_t> departing_scalars(const std::vector<harness::Computed>& warp,
                                           const std::vector<reference::GradientElement>& ours) {
  std::vector<std::size_t> departing;
  for (std::size_t i = 0; i < ours.size(); ++i) {
    if (std::isfinite(ours[i].bound[reference::kNative]) && !agrees(warp[i].value, ours[i])) departing.push_back(i);
  }
  const auto badness = [&](std::size_t i) {
    const auto excess = static_cast<double>(std::abs(warp[i].value - ours[i].value)) / (scale_of(ours[i]) + 1e-30);
    return std::isnan(excess) ? HUGE_VAL : excess;
  };
  std::stable_sort(departing.begin(), departing.end(),
                   [&](std::size_t a, std::size_t b) { return badness(a) > badness(b); });
  return departing;
}

/// The departure as its most telling scalar shows it: one that proves us wrong, else one that proves Warp wrong.
Departure judged(const Subject& subject, const harness::InputSet& set, std::size_t parameter,
                 const std::vector<harness::Computed>& warp, const std::vector<std::size_t>& departing) {
  const auto& ours = set.reference.gradients[parameter]->elements;
  const ir::Argument& argument = set.launch[reference::kNative].arguments[parameter];
  std::optional<Departure> telling;
  for (std::size_t k = 0; k < std::min(kTried, departing.size()); ++k) {
    const std::size_t i = departing[k];
    Departure departure{.parameter = parameter,
                        .departing = departing.size(),
                        .compared = ours.size(),
                        .place = place(subject, parameter, argument, i),
                        .ours = ours[i].value,
                        .warp = warp[i].value};
    arbitrate(departure, ours[i], quotient(subject, set, parameter, i));
    const bool tells_more =
        !telling || departure.arbitration == Arbitration::kWeWrong ||
        (departure.arbitration == Arbitration::kWarpWrong && telling->arbitration == Arbitration::kUndecided);
    if (tells_more && !(telling && telling->arbitration == Arbitration::kWeWrong)) telling = departure;
  }
  return *telling;
}

}  // namespace

GradientComparison compare_gradients(const Subject& subject, std::size_t launch, const Answer& answer) {
  const harness::InputSet& set = subject.sets()[launch];
  GradientComparison comparison;
  for (std::size_t p = 0; p < set.reference.gradients.size(); ++p) {
    const ir::Argument& argument = set.launch[reference::kNative].arguments[p];
    const ir::ParameterUse& use = subject.uses()[p];
    const bool only_overwritten = use.written && !use.read && !use.atomically_updated;
    if (!set.reference.gradients[p] || !argument.type.is_array() || only_overwritten) continue;
    const auto& ours = set.reference.gradients[p]->elements;
    const auto warp = harness::read_scalars(subject.module(), argument, answer.arrays[p]);
    const bool known =
        std::ranges::any_of(ours, [](const auto& element) { return std::isfinite(element.bound[reference::kNative]); });
    const auto departing = departing_scalars(warp, ours);
    if (!departing.empty()) {
      comparison.departures.push_back(judged(subject, set, p, warp, departing));
    } else {
      ++(known ? comparison.agreeing : comparison.unknown);
    }
  }
  return comparison;
}

}  // namespace assay::warp
