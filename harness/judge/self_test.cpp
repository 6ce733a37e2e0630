// T0 for one kernel: the oracle against itself, on the first input set. A disagreement is an error of Assay, never of
// the kernel.
#include <fmt/format.h>

#include "harness/judge/trial.hpp"
#include "reference/cpu/self_check.hpp"

namespace assay::harness {

void test_oracle(const Stage& stage) {
  if (stage.sets.empty()) return;
  const InputSet& set = stage.sets.front();
  const reference::Run run{.launch = set.launch[Lane::kNative],
                           .profile = stage.bench.profile,
                           .gradient = true,
                           .seeds = set.seeds,
                           .uninitialised = stage.poisoned};
  const reference::SelfCheck check = reference::self_check(stage.subject.oracle, run, set.reference, stage.bench.seed);
  PassVerdict& verdict = stage.judgement.backward;
  verdict.count_one(Tier::kT0, 0, !check.agrees);
  if (!check.agrees) verdict.fail(Outcome::internal_error, "oracle", check.message);
}

}  // namespace assay::harness
