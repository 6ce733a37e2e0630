// T0 for one kernel: the oracle's reverse sweep against its dual numbers, and these against finite differences. Along
// random directions on the sets that go deep. A disagreement is an error of Assay, never of the kernel.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "harness/judge/trial.hpp"
#include "ir/support/rng.hpp"

namespace assay::harness {
namespace {

using reference::LeafValues;

constexpr int kSelfTestDirections = 2;

LeafValues random_direction(const Stage& stage, const InputSet& set, Rng& rng) {
  const ir::Launch& launch = set.launch[Lane::kNative];
  LeafValues direction(launch.arguments.size());
  for (std::size_t p = 0; p < direction.size(); ++p) {
    const auto leaves = ir::leaves_of(stage.subject.module, launch.arguments[p].type.element());
    const auto count = static_cast<std::size_t>(ir::element_count(launch.arguments[p]));
    if (stage.poisoned[p]) continue;
    for (std::size_t i = 0; i < count * leaves.size(); ++i) {
      const bool real = ir::is_float(leaves[i % leaves.size()].scalar);
      direction[p].push_back(real ? rng.uniform_real(0.5, 1) * (rng.bernoulli(0.5) ? 1 : -1) : 0);
    }
  }
  return direction;
}

void compare_differences(const Stage& stage, const reference::Tangents& tangents,
                         const reference::Differences& differences, std::size_t set) {
  PassVerdict& verdict = stage.judgement.backward;
  for (std::size_t p = 0; p < tangents.outputs.size(); ++p) {
    for (std::size_t i = 0; i < tangents.outputs[p].size(); ++i) {
      const long double exact = tangents.outputs[p][i][0];
      const auto& estimate = differences.outputs[p][i];
      if (!std::isfinite(exact) || !std::isfinite(estimate.value)) continue;
      const long double allowed = kDifferenceGate * std::max(std::abs(exact), 1.0L) + 10 * std::abs(estimate.error);
      const long double error = std::abs(estimate.value - exact);
      verdict.count_one(Tier::kT0, static_cast<double>(error / allowed), error > allowed);
      if (error <= allowed) continue;
      return verdict.fail(
          Outcome::internal_error, "oracle",
          fmt::format("the oracle's derivative of {}[{}] is {}, finite differences give {} (input set {})",
                      stage.subject.kernel.variables[p].name, i, static_cast<double>(exact),
                      static_cast<double>(estimate.value), set));
    }
  }
}

}  // namespace

void test_oracle(const Stage& stage) {
  Rng rng(stage.bench.seed + 0x70);
  PassVerdict& verdict = stage.judgement.backward;
  for (std::size_t s = 0; s < stage.sets.size() && stage.is_deep(s); ++s) {
    const InputSet& set = stage.sets[s];
    const reference::Run run{.launch = set.launch[Lane::kNative],
                             .profile = stage.bench.profile,
                             .gradient = true,
                             .seeds = set.seeds,
                             .prefills = set.prefills,
                             .uninitialised = stage.poisoned};
    std::vector<LeafValues> directions;
    for (int d = 0; d < kSelfTestDirections; ++d)
      directions.push_back(random_direction(stage, set, rng));
    const reference::Tangents tangents = stage.subject.oracle.tangents(run, directions);
    for (int d = 0; d < kSelfTestDirections; ++d) {
      const auto gap = static_cast<double>(
          reference::disagreement(set.reference, tangents, d, run, directions[static_cast<std::size_t>(d)]));
      if (std::isnan(gap)) continue;
      verdict.count_one(Tier::kT0, gap / kSelfTestGate, gap > kSelfTestGate);
      if (gap > kSelfTestGate) {
        verdict.fail(Outcome::internal_error, "oracle",
                     fmt::format("the oracle's sweep and dual numbers differ by {} relative (input set {})", gap, s));
      }
    }
    const reference::Differences differences = stage.subject.oracle.differences(run, directions[0]);
    if (differences.same_path) compare_differences(stage, tangents, differences, s);
  }
}

}  // namespace assay::harness
