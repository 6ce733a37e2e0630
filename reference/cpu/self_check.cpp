#include "reference/cpu/self_check.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "support/rng.hpp"

namespace assay::reference {
namespace {

ComponentValues random_direction(const ReferenceResult& from_reverse_sweep, Rng& rng) {
  ComponentValues direction(from_reverse_sweep.gradients.size());
  for (std::size_t p = 0; p < direction.size(); ++p) {
    const std::size_t components =
        from_reverse_sweep.gradients[p] ? from_reverse_sweep.gradients[p]->elements.size() : 0;
    for (std::size_t k = 0; k < components; ++k)
      direction[p].push_back(rng.uniform_real(0.25, 1.0) * (rng.bernoulli(0.5) ? 1 : -1));
  }
  return direction;
}

/// A disagreement between a dual number and a finite difference.
struct Disagreement {
  std::size_t parameter;
  std::size_t output;
  long double dual;
  DirectionalDifferences::Estimate estimate;

  std::pair<std::size_t, std::size_t> place() const { return {parameter, output}; }
  long double apart() const { return std::abs(dual - estimate.value); }
  std::string text() const {
    return fmt::format("dual numbers give {:.17g}, finite differences {:.17g} +- {:.2g} for element {} of parameter {}",
                       static_cast<double>(dual), static_cast<double>(estimate.value),
                       static_cast<double>(estimate.error), output, parameter);
  }
};

/// All disagreements, ordered by parameter and output.
std::vector<Disagreement> disagreements(const Tangents& tangents, std::size_t number,
                                        const DirectionalDifferences& differences) {
  std::vector<Disagreement> found;
  for (std::size_t p = 0; p < tangents.outputs.size(); ++p) {
    for (std::size_t k = 0; k < tangents.outputs[p].size(); ++k) {
      const Disagreement each{p, k, tangents.outputs[p][k][number], differences.outputs[p][k]};
      // Beyond the doubles every bound is infinite, and the points of a stencil may overflow.
      constexpr long double kLargest = std::numeric_limits<double>::max();
      if (!(std::abs(each.dual) <= kLargest && std::abs(each.estimate.value) <= kLargest)) continue;
      if (each.apart() > 1e-8L * std::abs(each.dual) + each.estimate.error) found.push_back(each);
    }
  }
  return found;
}

/// Number of further stencils, each a quarter of the previous one, in which a disagreement must persist. Near a point
/// with unbounded higher derivatives, as r^2 log r at 0, the extrapolation may underestimate its error in one output of
/// thousands. That error shrinks with the step, but an incorrect dual number does not change.
/// Polynomials of high degree, such as a state squared in a loop, need several quarters before the extrapolation holds.
constexpr int kConfirmations = 6;

/// Removes the disagreements that an oscillation explains.
void remove_unresolved(const Oracle& oracle, const OracleRun& run, const ComponentValues& direction, long double step,
                       std::vector<Disagreement>& suspects) {
  if (suspects.empty()) return;
  std::vector<Tangents> before, after;
  for (const long double share : kSampledFractions) {
    before.push_back(oracle.tangents(run, {direction}, -share * step));
    after.push_back(oracle.tangents(run, {direction}, share * step));
  }
  std::erase_if(suspects, [&](const Disagreement& suspect) {
    DerivativeSamples samples{.derivative_at_center = suspect.dual};
    for (std::size_t k = 0; k < before.size(); ++k) {
      samples.before[k] = before[k].outputs[suspect.parameter][suspect.output][0];
      samples.after[k] = after[k].outputs[suspect.parameter][suspect.output][0];
    }
    return samples.explain(suspect.apart());
  });
}

enum class Answer : std::uint8_t { kAgree, kDisagree, kUnknown };

/// Compares the dual numbers of a direction with differences; `message` describes the first disagreement.
Answer compare_with_differences(const Oracle& oracle, const OracleRun& run, const Tangents& tangents,
                                std::size_t number, const ComponentValues& direction, std::string& message) {
  DirectionalDifferences differences = oracle.directional_differences(run, direction);
  if (!differences.is_same_path) return Answer::kUnknown;
  std::vector<Disagreement> suspects = disagreements(tangents, number, differences);
  long double step = differences.step;
  for (int again = 0; again < kConfirmations && !suspects.empty(); ++again) {
    differences = oracle.directional_differences(run, direction, step / 4);
    if (!differences.is_same_path) break;  // a disagreement that cannot be refuted counts
    step = differences.step;
    const std::vector<Disagreement> closer = disagreements(tangents, number, differences);
    std::erase_if(suspects, [&](Disagreement& suspect) {
      const auto same = std::ranges::lower_bound(closer, suspect.place(), {}, &Disagreement::place);
      if (same == closer.end() || same->place() != suspect.place() || same->apart() < suspect.apart() / 2) return true;
      suspect = *same;
      return false;
    });
  }
  if (suspects.empty()) return Answer::kAgree;
  remove_unresolved(oracle, run, direction, step, suspects);
  if (suspects.empty()) return Answer::kUnknown;
  message = suspects.front().text();
  return Answer::kDisagree;
}

}  // namespace

bool DerivativeSamples::explain(long double difference) const {
  const long double slope = (after[0] - before[0]) / (2 * kSampledFractions[0]);
  for (std::size_t k = 0; k < before.size(); ++k) {
    const auto is_linear = [&](long double value, long double share) {
      return std::abs(value - (derivative_at_center + slope * share)) < difference / 2;
    };
    if (!is_linear(before[k], -kSampledFractions[k]) || !is_linear(after[k], kSampledFractions[k])) return true;
  }
  return false;
}

OracleSelfCheckResult self_check(const Oracle& oracle, const OracleRun& run, const ReferenceResult& from_reverse_sweep,
                                 std::uint64_t seed, int direction_count, bool differences) {
  Rng rng(seed);
  std::vector<ComponentValues> drawn;
  for (int d = 0; d < direction_count && d < kMaxDirectionCount; ++d)
    drawn.push_back(random_direction(from_reverse_sweep, rng));
  const Tangents tangents = oracle.tangents(run, drawn);
  OracleSelfCheckResult result;
  result.is_conclusive = !differences;
  for (std::size_t d = 0; d < drawn.size() && result.agrees; ++d) {
    const long double apart = gradient_disagreement(from_reverse_sweep, tangents, static_cast<int>(d), run, drawn[d]);
    if (apart > 0x1p-45L) {
      result.agrees = false;
      result.message =
          fmt::format("derivatives from the reverse sweep and from dual numbers differ by {:.2g} times the gradient",
                      static_cast<double>(apart));
      continue;
    }
    if (result.is_conclusive) continue;
    const Answer answer = compare_with_differences(oracle, run, tangents, d, drawn[d], result.message);
    result.is_conclusive = answer != Answer::kUnknown;
    result.agrees = answer != Answer::kDisagree;
  }
  return result;
}

}  // namespace assay::reference
