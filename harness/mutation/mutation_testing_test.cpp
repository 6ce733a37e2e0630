// Complete mutation testing runs on the CPU device.
#include "harness/mutation/mutation_testing.hpp"

#include <algorithm>

#include <gtest/gtest.h>

#include "harness/testing/cpu_run.hpp"

namespace assay::mutation {
namespace {

const char* const kWeighted = R"(
@wp.kernel
def weighted(x: wp.array(dtype=float), w: wp.array(dtype=float), out: wp.array(dtype=float)):
    i = wp.tid()
    s = float(0.5)
    for j in range(3):
        s = s * wp.sin(x[i]) + w[i]
    out[i] = s * 2.0
)";

MutationCampaign campaign(std::size_t mutants) {
  MutationCampaign campaign;
  campaign.kernels = {harness::testing::kernel_of(kWeighted)};
  campaign.kernels[0].family = "user";
  campaign.kernels[0].kernel = "weighted";
  for (const MutationOperatorEntry& row : kOperators) {
    if (row.detectable_by != DetectableBy::kConcurrentThreads) campaign.operators.insert(row.op);
  }
  campaign.max_mutants = mutants;
  campaign.policy = harness::JudgingPolicy::quick();
  campaign.jobs = 1;
  return campaign;
}

/// The CPU's kernels have no barriers.
Result<bool> never_redundant(const backends::BuiltKernel&, backends::Precision) { return false; }

std::vector<MutantRecord> run(const MutationCampaign& campaign, const SameCode& same_code) {
  const auto device = harness::testing::cpu_device();
  const harness::Printer printer = harness::testing::faulty_printer({});
  std::vector<MutantRecord> records;
  const auto plan = plan_mutants(campaign, *device, printer);
  const Result<void> ran =
      run_mutants(campaign, plan, *device, printer, {same_code, never_redundant}, [&](const MutantRecord& mutant) {
        records.push_back(mutant);
        return Result<void>{};
      });
  EXPECT_TRUE(ran.ok());
  return records;
}

Result<bool> never_the_same(const backends::EmittedKernel& a, const backends::EmittedKernel& b) {
  return a.source() == b.source();
}

TEST(MutationTesting, DetectsEveryMutantExceptThoseThatReducePrecision) {
  const std::vector<MutantRecord> mutants = run(campaign(60), never_the_same);
  ASSERT_GE(mutants.size(), 40U);
  for (const MutantRecord& mutant : mutants) {
    EXPECT_TRUE(mutant.status == MutantStatus::kKilled || mutant.op == MutationOperator::kLowerPrecision)
        << mutant.name << ": " << to_text(mutant.status) << ", " << mutant.description << "\n"
        << mutant.patch;
    EXPECT_NE(mutant.status == MutantStatus::kKilled,
              mutant.promoted.rejecting_check.empty() && mutant.native.rejecting_check.empty());
  }
}

TEST(MutationTesting, PlanIsReproducibleAndSkipsFinishedMutants) {
  MutationCampaign first = campaign(20);
  const auto device = harness::testing::cpu_device();
  const harness::Printer printer = harness::testing::faulty_printer({});
  const auto names = [&](const MutationCampaign& of) {
    std::vector<std::string> all;
    for (const PlannedMutant& mutant : plan_mutants(of, *device, printer))
      all.push_back(name_of(of, mutant));
    return all;
  };
  const std::vector<std::string> planned = names(first);
  EXPECT_EQ(planned.size(), 20U);
  EXPECT_EQ(planned, names(first));
  first.seed = 2;
  EXPECT_NE(planned, names(first)) << "the choice of places must depend on the seed";

  MutationCampaign resumed = campaign(20);
  resumed.completed_mutants.insert(planned.begin(), planned.begin() + 18);
  const std::vector<MutantRecord> rest = run(resumed, never_the_same);
  EXPECT_LE(rest.size(), 2U);
  for (const MutantRecord& mutant : rest)
    EXPECT_FALSE(resumed.completed_mutants.contains(mutant.name));
}

TEST(MutationTesting, MarksMutantAsEquivalentOnlyIfUndetected) {
  MutationCampaign one = campaign(30);
  for (const MutantRecord& mutant : run(one, [](const auto&, const auto&) { return Result<bool>(true); })) {
    EXPECT_NE(mutant.status, MutantStatus::kSurvived) << mutant.name;
    const bool passed = mutant.promoted.rejecting_check.empty() && mutant.native.rejecting_check.empty();
    EXPECT_TRUE(passed || mutant.status != MutantStatus::kEquivalent) << mutant.name;
  }
}

/// The outcomes of all mutants by an operator in this kernel.
std::vector<MutantStatus> fates_of(MutationOperator op, const std::string& python) {
  MutationCampaign one = campaign(10);
  one.kernels = {harness::testing::kernel_of(python)};
  one.operators = {op};
  std::vector<MutantStatus> fates;
  for (const MutantRecord& mutant : run(one, never_the_same))
    fates.push_back(mutant.status);
  return fates;
}

TEST(MutationTesting, DetectsOutOfBoundsReadThatDoesNotChangeTheResult) {
  EXPECT_EQ(fates_of(MutationOperator::kGuardOffByOne, R"(
# domain: 1 <= x <= 2
@wp.kernel
def k(x: wp.array(dtype=float), out: wp.array(dtype=float)):
    i = wp.tid()
    s = float(0.0)
    for j in range(x.shape[0]):
        if x[j] > 0.75:
            s += 1.0
    out[i] = s + x[i]
)"),
            std::vector<MutantStatus>{MutantStatus::kKilled});
}

TEST(MutationTesting, DetectsOutOfBoundsAdditionOfZero) {
  EXPECT_EQ(fates_of(MutationOperator::kOneIterationMore, R"(
# domain: 1 <= x <= 2
@wp.kernel
def k(x: wp.array(dtype=float), out: wp.array(dtype=float)):
    i = wp.tid()
    s = float(0.0)
    for j in range(x.shape[0]):
        s += wp.where(x[j] > 0.75, x[j] * x[i], 0.0)
    out[i] = s
)"),
            std::vector<MutantStatus>{MutantStatus::kKilled});
}

TEST(MutationTesting, WiderBoundsDetectFewerMutants) {
  MutationCampaign wide = campaign(200);
  wide.operators = {MutationOperator::kDerivativeOffByOnePercent, MutationOperator::kDerivativeOffByBasisPoint};
  wide.judges_widened_bounds = true;
  std::size_t narrow = 0, widest = 0;
  for (const MutantRecord& mutant : run(wide, never_the_same)) {
    ASSERT_EQ(mutant.killed_with_widened_bounds.size(), kBoundWideningFactors.size()) << mutant.name;
    narrow += mutant.killed_with_widened_bounds.front();
    widest += mutant.killed_with_widened_bounds.back();
  }
  EXPECT_GT(narrow, 0U);
  EXPECT_LT(widest, narrow);
}

}  // namespace
}  // namespace assay::mutation
