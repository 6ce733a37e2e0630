#include "harness/judge/verdict.hpp"

#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace assay::harness {
namespace {

using ::testing::HasSubstr;

Comparison checks(std::int64_t count, double rho = 0.5) { return {.checks = count, .rho_max = rho}; }

/// A verdict of a pass with 100 checks that all held, controls and conclusive sets.
PassVerdict passing() {
  PassVerdict verdict;
  verdict.count(Tier::kT1, checks(50));
  verdict.count(Tier::kT3, checks(50));
  verdict.controls["out"] = {.presented = 8, .rejected = 8};
  verdict.input_sets = 10;
  verdict.generic_sets = 6;
  verdict.conclusive_generic_sets = 6;
  return verdict;
}

TEST(Verdict, Passes) {
  EXPECT_EQ(passing().decide().outcome, Outcome::pass);
  EXPECT_EQ(passing().values_compared, 100);
}

TEST(Verdict, NothingComparedIsNoPass) {
  PassVerdict verdict;
  EXPECT_EQ(verdict.decide().outcome, Outcome::inconclusive);
  EXPECT_EQ(verdict.decide().kind, "nothing_compared");
  EXPECT_THAT(verdict.decide().message, HasSubstr("no thread stores a value"));
  verdict.inconclusive.overflow = 1;
  EXPECT_THAT(verdict.decide().message, HasSubstr("every check was inconclusive"));
  verdict.controls["out"] = {.presented = 8, .rejected = 8};
  verdict.count(Tier::kT1, {});
  verdict.count_one(Tier::kT2, 0, false);
  EXPECT_EQ(verdict.decide().kind, "nothing_compared") << "T2 compares no value of the result";
}

TEST(Verdict, PassesHoweverMuchOfABoundIsUsed) {
  PassVerdict verdict = passing();
  verdict.count(Tier::kT3, checks(1, 1.0));
  EXPECT_EQ(verdict.decide().outcome, Outcome::pass);
  EXPECT_EQ(verdict.rho_max, 1.0);
}

TEST(Verdict, TheFirstFailureDecides) {
  PassVerdict verdict = passing();
  verdict.fail(Outcome::memory_fault, "out_of_bounds", "beside");
  verdict.fail(Outcome::fail, "mismatch", "later");
  EXPECT_TRUE(verdict.failed());
  EXPECT_EQ(verdict.decide().outcome, Outcome::memory_fault);
  EXPECT_EQ(verdict.decide().message, "beside");
}

TEST(Verdict, AnAcceptedControlIsAWeakOracle) {
  PassVerdict verdict = passing();
  verdict.controls["other"] = {.presented = 9, .rejected = 8, .accepted = "zeros"};
  EXPECT_EQ(verdict.decide().outcome, Outcome::inconclusive);
  EXPECT_EQ(verdict.decide().kind, "weak_oracle");
  EXPECT_THAT(verdict.decide().message, HasSubstr("'other'"));
  EXPECT_THAT(verdict.decide().message, HasSubstr("zeros would have passed"));
}

TEST(Verdict, AnOutputWithoutControlsIsAWeakOracle) {
  PassVerdict verdict = passing();
  verdict.controls["other"] = {};
  EXPECT_EQ(verdict.decide().kind, "weak_oracle");
}

TEST(Verdict, InconclusiveBeyondATenth) {
  PassVerdict verdict = passing();
  verdict.inconclusive.path = 11;  // of 111
  EXPECT_EQ(verdict.decide().outcome, Outcome::pass);
  verdict.inconclusive.path = 12;  // of 112
  EXPECT_EQ(verdict.decide().outcome, Outcome::inconclusive);
  EXPECT_EQ(verdict.decide().kind, "path");
  verdict.inconclusive.kink = 13;
  EXPECT_EQ(verdict.decide().kind, "kink") << "the most frequent doubt is named";
}

TEST(Verdict, WideBoundsCountAsDoubt) {
  PassVerdict overflow = passing();
  overflow.count(Tier::kT3, {.unknown = 20});
  EXPECT_EQ(overflow.decide().kind, "overflow");
  PassVerdict conditioning = passing();
  conditioning.count(Tier::kT3, {.checks = 20, .uninformative = 20});
  EXPECT_EQ(conditioning.decide().kind, "conditioning");
}

TEST(Verdict, FourFifthsOfTheGenericSetsMustBeConclusive) {
  PassVerdict verdict = passing();
  verdict.conclusive_generic_sets = 5;
  EXPECT_EQ(verdict.decide().outcome, Outcome::pass);
  verdict.conclusive_generic_sets = 4;
  EXPECT_EQ(verdict.decide().outcome, Outcome::inconclusive);
}

TEST(Verdict, TiersCountApart) {
  PassVerdict verdict;
  EXPECT_FALSE(verdict.tiers.t1.has_value()) << "a tier that did not run is absent";
  verdict.count(Tier::kT1, {.checks = 4, .failed = {1, 3}, .rho_max = std::numeric_limits<double>::infinity()});
  verdict.count(Tier::kT1, checks(2));
  verdict.count_one(Tier::kT5, 0, true);
  EXPECT_EQ(verdict.tiers.t1->checks, 6);
  EXPECT_EQ(verdict.tiers.t1->failed, 2);
  EXPECT_EQ(*verdict.tiers.t1->rho_max, std::numeric_limits<double>::infinity());
  EXPECT_EQ(verdict.tiers.t5->failed, 1);
  EXPECT_FALSE(verdict.tiers.t3.has_value());
}

}  // namespace
}  // namespace assay::harness
