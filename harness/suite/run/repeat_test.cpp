#include "harness/suite/run/repeat.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace assay::harness {
namespace {

CaseRecord attempt(Outcome outcome) {
  return {.outcome = outcome,
          .message = std::string(to_text(outcome)),
          .attempt_outcomes = {outcome},
          .stage_times = {.launch_ms = 2}};
}

TEST(RepeatedCase, FailsIfAnyAttemptFailsAndRecordsEveryAttempt) {
  CaseRecord record = attempt(Outcome::pass);
  for (const Outcome later : {Outcome::fail, Outcome::pass, Outcome::crashed})
    add_attempt(record, attempt(later));
  EXPECT_EQ(record.outcome, Outcome::fail);
  EXPECT_EQ(record.message, "fail");
  EXPECT_THAT(record.attempt_outcomes,
              ::testing::ElementsAre(Outcome::pass, Outcome::fail, Outcome::pass, Outcome::crashed));
  EXPECT_EQ(record.stage_times.launch_ms, 8);
}

TEST(RepeatedCase, InternalErrorOverridesOtherOutcomes) {
  CaseRecord record = attempt(Outcome::fail);
  add_attempt(record, attempt(Outcome::internal_error));
  add_attempt(record, attempt(Outcome::crashed));
  EXPECT_EQ(record.outcome, Outcome::internal_error);
}

}  // namespace
}  // namespace assay::harness
