#include "harness/blame/decide.hpp"

#include <vector>

#include <gtest/gtest.h>

namespace assay::blame {
namespace {

using harness::CaseRecord;
using harness::Outcome;
using Role = backends::BuildVariant::Role;

CaseRecord failing_on_ptx() {
  CaseRecord record = harness::record_of("user/k/f32/ptx/backward");
  record.outcome = Outcome::fail;
  record.kind = "mismatch";
  return record;
}

Vote ptx(Role role, const char* target, Outcome outcome, const char* compiler = "NVRTC 13.0.88") {
  return {.device = "ptx", .role = role, .compiler = compiler, .target = target, .outcome = outcome};
}

Vote cpu(Role role, Outcome outcome) { return {.device = "cpu", .role = role, .compiler = "g++", .outcome = outcome}; }

Vote warp(Outcome outcome) {
  return {.device = "warp-cpu", .compiler = "code of NVIDIA Warp", .is_other_generator = true, .outcome = outcome};
}

const std::vector<Vote> kWrongText{ptx(Role::kSameFlags, "compute_75", Outcome::fail),
                                   ptx(Role::kUnoptimized, "compute_75", Outcome::fail),
                                   cpu(Role::kUnoptimized, Outcome::fail)};

std::vector<Vote> with(std::vector<Vote> votes, const Vote& more) {
  votes.push_back(more);
  return votes;
}

TEST(Blame, NamesCompilerAndTargetIfOnlyTheOptimizedBuildFails) {
  const std::vector<Vote> votes{
      ptx(Role::kSameFlags, "compute_75", Outcome::pass), ptx(Role::kSameFlags, "compute_100", Outcome::fail),
      ptx(Role::kUnoptimized, "compute_75", Outcome::pass), ptx(Role::kUnoptimized, "compute_100", Outcome::pass)};
  const harness::Blame blame = decide(failing_on_ptx(), votes);
  EXPECT_EQ(blame.culprit, "compiler(NVRTC 13.0.88 compute_100)");
  ASSERT_EQ(blame.witnesses.size(), votes.size());
  EXPECT_EQ(blame.witnesses[1].build, "NVRTC 13.0.88 compute_100, flags of the case");
  EXPECT_EQ(blame.witnesses[1].result, "fail");
}

TEST(Blame, DoesNotNameTheCompilerIfTheUnoptimizedBuildPassesOnlyForAnotherTarget) {
  const std::vector<Vote> votes{ptx(Role::kSameFlags, "compute_100", Outcome::fail),
                                ptx(Role::kUnoptimized, "compute_75", Outcome::pass),
                                ptx(Role::kUnoptimized, "compute_100", Outcome::inconclusive)};
  EXPECT_EQ(decide(failing_on_ptx(), votes).culprit, "undetermined");
}

TEST(Blame, NamesTheKernelIfOnlyItsBuildThatTrapsUndefinedBehaviorCrashes) {
  const std::vector<Vote> votes{ptx(Role::kSameFlags, "compute_100", Outcome::fail),
                                ptx(Role::kUnoptimized, "compute_100", Outcome::pass),
                                cpu(Role::kTrapping, Outcome::crashed)};
  EXPECT_EQ(decide(failing_on_ptx(), votes).culprit, "kernel");
}

TEST(Blame, DoesNotNameTheKernelIfItsBuildWithoutTrapsCrashesToo) {
  const std::vector<Vote> votes{ptx(Role::kSameFlags, "compute_100", Outcome::fail),
                                ptx(Role::kUnoptimized, "compute_100", Outcome::fail),
                                cpu(Role::kUnoptimized, Outcome::crashed), cpu(Role::kTrapping, Outcome::crashed)};
  EXPECT_EQ(decide(failing_on_ptx(), votes).culprit, "undetermined");
}

/// The votes of a compiler that is wrong only if it optimizes.
const std::vector<Vote> kWrongIfOptimized{ptx(Role::kSameFlags, "compute_100", Outcome::fail),
                                          ptx(Role::kUnoptimized, "compute_100", Outcome::pass)};

TEST(Blame, NamesTheInterpreterIfItExecutesAnInstructionIncorrectly) {
  const ExecutionEvidence execution{.wrong = {"selp.f32 of 0x1: got 0x0, expected 0x1"}};
  const harness::Blame blame = decide(failing_on_ptx(), kWrongIfOptimized, execution);
  EXPECT_EQ(blame.culprit, "interpreter");
  EXPECT_EQ(blame.reason, "an instruction does not compute what PTX defines: selp.f32 of 0x1: got 0x0, expected 0x1");
  EXPECT_EQ(decide(failing_on_ptx(), kWrongText, execution).culprit, "interpreter");
}

TEST(Blame, DoesNotNameTheCompilerIfOnlyFailingBuildsExecuteAnUntestedInstruction) {
  const ExecutionEvidence execution{.unchecked = {"redux.sync.add.s32"}};
  EXPECT_EQ(decide(failing_on_ptx(), kWrongIfOptimized).culprit, "compiler(NVRTC 13.0.88 compute_100)");
  const harness::Blame blame = decide(failing_on_ptx(), kWrongIfOptimized, execution);
  EXPECT_EQ(blame.culprit, "undetermined");
  EXPECT_EQ(blame.reason, "only failing builds execute redux.sync.add.s32, which no model of the interpreter checks");
}

TEST(Blame, IsUndeterminedIfTheFailureDoesNotOccurAgain) {
  const std::vector<Vote> votes{ptx(Role::kSameFlags, "compute_75", Outcome::pass),
                                ptx(Role::kUnoptimized, "compute_75", Outcome::pass)};
  EXPECT_EQ(decide(failing_on_ptx(), votes).culprit, "undetermined");
}

/// The votes of a text that is wrong, with what finite differences say about the gradient of the unoptimized build.
std::vector<Vote> wrong_text_with(const char* kind) {
  std::vector<Vote> votes = kWrongText;
  votes[1].kind = kind;
  return votes;
}

TEST(Blame, NamesTheEmitterIfTheGradientContradictsFiniteDifferences) {
  EXPECT_EQ(decide(failing_on_ptx(), wrong_text_with("wrong_gradient")).culprit, "emitter");
  CaseRecord record = failing_on_ptx();
  record.kind = "finite_differences";
  EXPECT_EQ(decide(record, kWrongText).culprit, "emitter");
}

TEST(Blame, NamesTheOracleIfTheEmittedGradientAgreesWithFiniteDifferences) {
  EXPECT_EQ(decide(failing_on_ptx(), wrong_text_with("oracle_wrong")).culprit, "oracle");
}

TEST(Blame, IsUndeterminedIfFiniteDifferencesAreInconclusive) {
  EXPECT_EQ(decide(failing_on_ptx(), wrong_text_with("undecided")).culprit, "undetermined");
  EXPECT_EQ(decide(failing_on_ptx(), wrong_text_with("rounding")).culprit, "undetermined");
}

TEST(Blame, NamesEmitterOrOracleByTheResultOfWarpCodeIfEveryBuildFails) {
  EXPECT_EQ(decide(failing_on_ptx(), kWrongText).culprit, "undetermined");
  EXPECT_EQ(decide(failing_on_ptx(), with(kWrongText, warp(Outcome::pass))).culprit, "emitter");
  EXPECT_EQ(decide(failing_on_ptx(), with(kWrongText, warp(Outcome::fail))).culprit, "oracle");
  EXPECT_EQ(decide(failing_on_ptx(), with(kWrongText, warp(Outcome::unsupported))).culprit, "undetermined");
}

TEST(Blame, IsUndeterminedIfOnlyOneDeviceFailsEvenIfItsGradientContradictsFiniteDifferences) {
  const std::vector<Vote> votes{wrong_text_with("wrong_gradient")[0], wrong_text_with("wrong_gradient")[1],
                                ptx(Role::kOtherCompiler, "compute_75", Outcome::fail, "NVRTC 13.5.37"),
                                cpu(Role::kUnoptimized, Outcome::pass)};
  const harness::Blame blame = decide(failing_on_ptx(), votes);
  EXPECT_EQ(blame.culprit, "undetermined");
  EXPECT_EQ(blame.reason, "only this device fails, so that its source or its execution is wrong");
}

TEST(Blame, IsUndeterminedIfNoBuildOfTheOtherDeviceRuns) {
  std::vector<Vote> votes = wrong_text_with("wrong_gradient");
  votes.back() = cpu(Role::kUnoptimized, Outcome::unsupported);
  EXPECT_EQ(decide(failing_on_ptx(), votes).culprit, "undetermined");
}

TEST(Blame, IsUndeterminedIfUnoptimizedBuildsFailButAnotherCompilerPasses) {
  const std::vector<Vote> votes{
      ptx(Role::kSameFlags, "compute_75", Outcome::fail), ptx(Role::kUnoptimized, "compute_75", Outcome::fail),
      ptx(Role::kOtherCompiler, "compute_75", Outcome::pass, "NVRTC 13.5.37"), cpu(Role::kUnoptimized, Outcome::pass)};
  EXPECT_EQ(decide(failing_on_ptx(), votes).culprit, "undetermined");
}

}  // namespace
}  // namespace assay::blame
