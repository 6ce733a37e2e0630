// T0 for one kernel: the oracle against itself, on the first input sets. A disagreement is an error of Assay, never of
// the kernel, whatever the other checks said.
#include <fmt/format.h>

#include "harness/judge/trial.hpp"
#include "ir/custom.hpp"
#include "reference/cpu/self_check.hpp"

namespace assay::harness {

namespace {

bool agrees_with_itself(const Stage& stage, const InputSet& set) {
  const reference::Run run{.launch = set.launch[Lane::kNative],
                           .profile = stage.bench.profile,
                           .gradient = true,
                           .seeds = set.seeds,
                           .uninitialised = stage.poisoned};
  const bool differences = !ir::has_custom_gradient(stage.subject.module, stage.subject.kernel);
  const reference::SelfCheck check =
      reference::self_check(stage.subject.oracle, run, set.reference, stage.bench.seed, 2, differences);
  PassVerdict& verdict = stage.judgement.backward;
  verdict.count_one(Tier::kT0, 0, !check.agrees);
  if (!check.agrees) verdict.fail_oracle(check.message);
  return check.agrees;
}

}  // namespace

void test_oracle(const Stage& stage) {
  for (std::size_t s = 0; s < stage.sets.size() && stage.is_deep(s); ++s) {
    if (!agrees_with_itself(stage, stage.sets[s])) return;
  }
}

}  // namespace assay::harness
