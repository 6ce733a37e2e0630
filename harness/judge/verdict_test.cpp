#include "harness/judge/verdict.hpp"

#include <limits>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace assay::harness {
namespace {

using ::testing::HasSubstr;

ComparisonResult checks(std::int64_t count, double rho = 0.5) { return {.checked_scalars = count, .rho_max = rho}; }

/// The verdict of a pass with 100 passed checks, controls and conclusive sets.
PassVerdict passing() {
  PassVerdict verdict;
  verdict.count(NamedCheck::kF64Promotion, checks(50));
  verdict.count(NamedCheck::kNativePrecision, checks(50));
  verdict.negative_controls["out"] = {.tried_controls = 8, .rejected_controls = 8};
  verdict.input_sets = 10;
  verdict.uniform_input_sets = 6;
  verdict.conclusive_uniform_input_sets = 6;
  return verdict;
}

TEST(Verdict, PassesIfAllChecksHold) {
  EXPECT_EQ(passing().decide().outcome, Outcome::pass);
  EXPECT_EQ(passing().values_compared, 100);
}

TEST(Verdict, IsInconclusiveIfArraysDoNotFitIntoMemory) {
  PassVerdict verdict = passing();
  verdict.fail_for_memory(Error{"cannot allocate a buffer of 8 bytes: 1 of 4 bytes are in use"});
  EXPECT_EQ(verdict.decide().outcome, Outcome::inconclusive);
  EXPECT_EQ(verdict.decide().outcome_detail, "memory");
  EXPECT_THAT(verdict.decide().message, HasSubstr("1 of 4 bytes are in use; limit the values"));
}

TEST(Verdict, NamesApproximateInstructionsThatCauseFailure) {
  PassVerdict verdict = passing();
  verdict.fail(Outcome::fail, "mismatch", "y[0] is 1, expected 2");
  const std::vector<backends::ApproximateInstruction> causes = {{"sin.approx", "sinf"}, {"lg2.approx", "logf"}};
  verdict.attribute_failure_to_approximations(causes);
  EXPECT_EQ(verdict.decide().outcome_detail, "rounding");
  EXPECT_EQ(verdict.decide().message,
            "y[0] is 1, expected 2; the cause is the documented error of sin.approx and lg2.approx on a GPU; use sinf "
            "and logf where this error is too large");
  PassVerdict crashed = passing();
  crashed.fail(Outcome::memory_fault, "out_of_bounds", "x[9]");
  crashed.attribute_failure_to_approximations(causes);
  EXPECT_EQ(crashed.decide().outcome_detail, "out_of_bounds");
}

TEST(Verdict, IsInconclusiveIfNothingWasCompared) {
  PassVerdict verdict;
  EXPECT_EQ(verdict.decide().outcome, Outcome::inconclusive);
  EXPECT_EQ(verdict.decide().outcome_detail, "nothing_compared");
  EXPECT_THAT(verdict.decide().message, HasSubstr("no thread stores a value"));
  verdict.has_outputs = false;
  EXPECT_THAT(verdict.decide().message, HasSubstr("has no statement that stores a value"));
  verdict.inconclusive.unbounded_values = 1;
  EXPECT_THAT(verdict.decide().message, HasSubstr("no value could be compared, mostly because the bound is infinite"));
  verdict.negative_controls["out"] = {.tried_controls = 8, .rejected_controls = 8};
  verdict.count(NamedCheck::kF64Promotion, {});
  verdict.count_one(NamedCheck::kFiniteDifferences, 0, false);
  EXPECT_EQ(verdict.decide().outcome_detail, "nothing_compared")
      << "finite_differences compares no value of the result";
}

TEST(Verdict, PassesIfErrorEqualsBound) {
  PassVerdict verdict = passing();
  verdict.count(NamedCheck::kNativePrecision, checks(1, 1.0));
  EXPECT_EQ(verdict.decide().outcome, Outcome::pass);
  EXPECT_EQ(verdict.rho_max, 1.0);
}

TEST(Verdict, StatesWhatToleranceAcceptsIfThereAreResults) {
  const auto message_of = [](Outcome outcome) {
    PassVerdict verdict;
    verdict.tolerance_comparisons.push_back({.tolerance = 0.01, .input_sets = 5, .accepts_all_results = true});
    verdict.fail(outcome, "kind", "message");
    return verdict.decide().message;
  };
  EXPECT_EQ(message_of(Outcome::fail), "message; a comparison with tolerance 0.01 accepts the results on 5 input sets");
  EXPECT_EQ(message_of(Outcome::launch_failed), "message");
}

TEST(Verdict, FirstFailureDeterminesOutcome) {
  PassVerdict verdict = passing();
  verdict.fail(Outcome::memory_fault, "out_of_bounds", "overwritten");
  verdict.fail(Outcome::fail, "mismatch", "later");
  EXPECT_TRUE(verdict.failed());
  EXPECT_EQ(verdict.decide().outcome, Outcome::memory_fault);
  EXPECT_EQ(verdict.decide().message, "overwritten");
}

TEST(Verdict, ReportsWeakOracleIfNegativeControlIsAccepted) {
  PassVerdict verdict = passing();
  verdict.negative_controls["other"] = {
      .tried_controls = 9, .rejected_controls = 8, .wrongly_accepted_control_name = "zeros"};
  EXPECT_EQ(verdict.decide().outcome, Outcome::inconclusive);
  EXPECT_EQ(verdict.decide().outcome_detail, "weak_oracle");
  EXPECT_THAT(verdict.decide().message, HasSubstr("'other'"));
  EXPECT_THAT(verdict.decide().message, HasSubstr("'zeros' would have passed"));
}

TEST(Verdict, ReportsWeakOracleIfOutputHasNoNegativeControls) {
  PassVerdict verdict = passing();
  verdict.negative_controls["other"] = {};
  EXPECT_EQ(verdict.decide().outcome_detail, "weak_oracle");
}

TEST(Verdict, IsInconclusiveIfOverTenPercentOfChecksAreInconclusive) {
  PassVerdict verdict = passing();
  verdict.inconclusive.uncertain_paths = 11;  // of 111
  EXPECT_EQ(verdict.decide().outcome, Outcome::pass);
  verdict.inconclusive.uncertain_paths = 12;  // of 112
  EXPECT_EQ(verdict.decide().outcome, Outcome::inconclusive);
  EXPECT_EQ(verdict.decide().outcome_detail, "path");
  verdict.inconclusive.non_differentiable_points = 13;
  EXPECT_EQ(verdict.decide().outcome_detail, "kink") << "the most frequent kind is reported";
}

TEST(Verdict, CountsInfiniteAndUninformativeBoundsAsInconclusive) {
  PassVerdict overflow = passing();
  overflow.count(NamedCheck::kNativePrecision, {.unbounded_scalars = 20});
  EXPECT_EQ(overflow.decide().outcome_detail, "overflow");
  EXPECT_THAT(overflow.decide().message, HasSubstr(" checks are inconclusive, mostly because the bound is infinite"));
  PassVerdict conditioning = passing();
  conditioning.count(NamedCheck::kNativePrecision, {.checked_scalars = 20, .uninformative_scalars = 20});
  EXPECT_EQ(conditioning.decide().outcome_detail, "conditioning");
}

TEST(Verdict, IsInconclusiveIfFewerThanFourFifthsOfEvenlyDrawnInputSetsAreConclusive) {
  PassVerdict verdict = passing();
  verdict.conclusive_uniform_input_sets = 5;
  EXPECT_EQ(verdict.decide().outcome, Outcome::pass);
  verdict.conclusive_uniform_input_sets = 4;
  EXPECT_EQ(verdict.decide().outcome, Outcome::inconclusive);
  EXPECT_EQ(verdict.decide().message, "2 of 6 uniformly drawn input sets are inconclusive");
}

TEST(Verdict, CountsComparisonsOfEachCheckSeparately) {
  PassVerdict verdict;
  EXPECT_FALSE(verdict.check_results.f64_promotion.has_value()) << "a check that did not run is absent";
  verdict.count(NamedCheck::kF64Promotion,
                {.checked_scalars = 4, .failed = {1, 3}, .rho_max = std::numeric_limits<double>::infinity()});
  verdict.count(NamedCheck::kF64Promotion, checks(2));
  verdict.count_one(NamedCheck::kDeterminism, 0, true);
  EXPECT_EQ(verdict.check_results.f64_promotion->compared_values, 6);
  EXPECT_EQ(verdict.check_results.f64_promotion->failed, 2);
  EXPECT_EQ(*verdict.check_results.f64_promotion->rho_max, std::numeric_limits<double>::infinity());
  EXPECT_EQ(verdict.check_results.determinism->failed, 1);
  EXPECT_FALSE(verdict.check_results.native_precision.has_value());
}

}  // namespace
}  // namespace assay::harness
