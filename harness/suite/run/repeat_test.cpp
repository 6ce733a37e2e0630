#include "harness/suite/run/repeat.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace assay::harness {
namespace {

CaseRecord attempt(Outcome outcome) {
  return {
      .outcome = outcome, .message = std::string(to_text(outcome)), .attempts = {outcome}, .time_ms = {.run_ms = 2}};
}

TEST(RepeatedCase, FailsIfAnyAttemptFailsAndRecordsEveryAttempt) {
  CaseRecord record = attempt(Outcome::pass);
  for (const Outcome later : {Outcome::fail, Outcome::pass, Outcome::crashed})
    add_attempt(record, attempt(later));
  EXPECT_EQ(record.outcome, Outcome::fail);
  EXPECT_EQ(record.message, "fail");
  EXPECT_THAT(record.attempts, ::testing::ElementsAre(Outcome::pass, Outcome::fail, Outcome::pass, Outcome::crashed));
  EXPECT_EQ(record.time_ms.run_ms, 8);
}

TEST(RepeatedCase, InternalErrorOverridesOtherOutcomes) {
  CaseRecord record = attempt(Outcome::fail);
  add_attempt(record, attempt(Outcome::internal_error));
  add_attempt(record, attempt(Outcome::crashed));
  EXPECT_EQ(record.outcome, Outcome::internal_error);
}

}  // namespace
}  // namespace assay::harness
