#include "reference/cpu/self_check.hpp"

#include <cmath>

#include <fmt/format.h>

#include "ir/support/rng.hpp"

namespace assay::reference {
namespace {

LeafValues random_direction(const Reference& swept, Rng& rng) {
  LeafValues direction(swept.gradients.size());
  for (std::size_t p = 0; p < direction.size(); ++p) {
    const std::size_t leaves = swept.gradients[p] ? swept.gradients[p]->elements.size() : 0;
    for (std::size_t k = 0; k < leaves; ++k)
      direction[p].push_back(rng.uniform_real(0.25, 1.0) * (rng.bernoulli(0.5) ? 1 : -1));
  }
  return direction;
}

/// Where a dual number and a difference disagree, in words; empty where none does.
std::string first_difference(const Tangents& tangents, std::size_t number, const Differences& differences) {
  for (std::size_t p = 0; p < tangents.outputs.size(); ++p) {
    for (std::size_t k = 0; k < tangents.outputs[p].size(); ++k) {
      const long double dual = tangents.outputs[p][k][number];
      const Differences::Estimate& estimate = differences.outputs[p][k];
      if (!std::isfinite(dual) || !std::isfinite(estimate.value)) continue;
      if (std::abs(dual - estimate.value) <= 1e-8L * std::abs(dual) + estimate.error) continue;
      return fmt::format("dual numbers give {:.17g}, differences {:.17g} +- {:.2g}, in element {} of parameter {}",
                         static_cast<double>(dual), static_cast<double>(estimate.value),
                         static_cast<double>(estimate.error), k, p);
    }
  }
  return {};
}

}  // namespace

SelfCheck self_check(const Oracle& oracle, const Run& run, const Reference& swept, std::uint64_t seed, int directions,
                     bool differences) {
  Rng rng(seed);
  std::vector<LeafValues> drawn;
  for (int d = 0; d < directions && d < kDirections; ++d)
    drawn.push_back(random_direction(swept, rng));
  const Tangents tangents = oracle.tangents(run, drawn);
  SelfCheck result;
  result.conclusive = !differences;
  for (std::size_t d = 0; d < drawn.size() && result.agrees; ++d) {
    const long double apart = disagreement(swept, tangents, static_cast<int>(d), run, drawn[d]);
    if (apart > 0x1p-45L) {
      result.agrees = false;
      result.message =
          fmt::format("the sweep and the dual numbers are apart by {:.2g} of the gradient", static_cast<double>(apart));
      continue;
    }
    if (result.conclusive) continue;
    const Differences quotients = oracle.differences(run, drawn[d]);
    if (!quotients.same_path) continue;
    result.conclusive = true;
    result.message = first_difference(tangents, d, quotients);
    result.agrees = result.message.empty();
  }
  return result;
}

}  // namespace assay::reference
