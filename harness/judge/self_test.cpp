// oracle_self_check for one kernel: the oracle against itself, on the first input sets. A disagreement is an error of
// Assay, never of the kernel, regardless of the other checks.
#include <fmt/format.h>

#include "harness/judge/context.hpp"
#include "ir/custom.hpp"
#include "reference/cpu/self_check.hpp"

namespace assay::harness {

namespace {

bool agrees_with_itself(const PassContext& pass_context, const InputSet& set) {
  const reference::OracleRun run{.launch = set.launch_by_precision[Precision::kNative],
                                 .profile = pass_context.configuration.profile,
                                 .computes_gradient = true,
                                 .cotangents = set.cotangents,
                                 .uninitialized = pass_context.is_poisoned};
  const bool differences = !ir::has_custom_gradient(pass_context.subject.module, pass_context.subject.kernel);
  const reference::OracleSelfCheckResult check = reference::self_check(pass_context.subject.oracle, run, set.reference,
                                                                       pass_context.configuration.seed, 2, differences);
  PassVerdict& verdict = pass_context.judgment.backward;
  verdict.count_one(NamedCheck::kOracleSelfCheck, 0, !check.agrees);
  if (!check.agrees) verdict.fail_oracle(check.message);
  return check.agrees;
}

}  // namespace

void test_oracle(const PassContext& pass_context) {
  for (std::size_t s = 0; s < pass_context.input_sets.size() && pass_context.is_fully_checked(s); ++s) {
    if (!agrees_with_itself(pass_context, pass_context.input_sets[s])) return;
  }
}

}  // namespace assay::harness
