#include "support/result.hpp"

#include <memory>
#include <string>

#include <gtest/gtest.h>

namespace assay {
namespace {

Result<int> parse_digit(char c) {
  if (c < '0' || c > '9') return Error{"expected a digit", "line 1"};
  return c - '0';
}

TEST(Result, SuccessfulResultReturnsItsValue) {
  const Result<int> result = parse_digit('7');
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result.value(), 7);
  EXPECT_EQ(*result, 7);
  EXPECT_EQ(result.value_or(3), 7);
}

TEST(Result, FailedResultReturnsItsErrorOrFallbackValue) {
  const Result<int> result = parse_digit('x');
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error(), (Error{"expected a digit", "line 1"}));
  EXPECT_EQ(result.error().text(), "line 1: expected a digit");
  EXPECT_EQ(result.value_or(3), 3);
}

TEST(Error, TextIsOnlyTheMessageIfLocationIsEmpty) { EXPECT_EQ((Error{"no device"}).text(), "no device"); }

TEST(Result, SupportsMoveOnlyValues) {
  Result<std::unique_ptr<int>> result = std::make_unique<int>(5);
  const std::unique_ptr<int> taken = result.take();
  EXPECT_EQ(*taken, 5);
}

TEST(Result, StringBecomesValueRatherThanError) {
  const Result<std::string> result = std::string("text");
  EXPECT_EQ(result.value(), "text");
}

TEST(Result, MapTransformsValueAndLeavesErrorUnchanged) {
  const auto twice = [](int value) { return 2.5 * value; };
  EXPECT_EQ(parse_digit('4').map(twice).value(), 10.0);
  EXPECT_EQ(parse_digit('x').map(twice).error().message, "expected a digit");
}

TEST(Result, AndThenStopsAtFirstError) {
  const auto reject_zero = [](int value) -> Result<int> {
    if (value == 0) return Error{"zero"};
    return value;
  };
  EXPECT_EQ(parse_digit('4').and_then(reject_zero).value(), 4);
  EXPECT_EQ(parse_digit('0').and_then(reject_zero).error().message, "zero");
  EXPECT_EQ(parse_digit('x').and_then(reject_zero).error().message, "expected a digit");
}

TEST(ResultOfVoid, IsSuccessByDefaultAndCanHoldAnError) {
  const Result<void> done;
  const Result<void> failed = Error{"disk full"};
  EXPECT_TRUE(done.ok());
  ASSERT_FALSE(failed.ok());
  EXPECT_EQ(failed.error().message, "disk full");
}

TEST(ResultOfVoid, AndThenStopsAtFirstError) {
  int calls = 0;
  const auto count = [&]() -> Result<void> { return ++calls, Result<void>{}; };
  EXPECT_TRUE(Result<void>{}.and_then(count).ok());
  EXPECT_FALSE(Result<void>{Error{"early"}}.and_then(count).ok());
  EXPECT_EQ(calls, 1);
}

TEST(ResultDeathTest, AbortsIfValueOfFailedResultIsRead) {
  const Result<int> result = parse_digit('x');
  EXPECT_DEATH((void)result.value(), "value\\(\\) called on a failed Result: line 1: expected a digit");
}

TEST(ResultDeathTest, AbortsIfErrorOfSuccessfulResultIsRead) {
  const Result<void> result;
  EXPECT_DEATH((void)result.error(), "error.. called on a successful Result");
}

}  // namespace
}  // namespace assay
