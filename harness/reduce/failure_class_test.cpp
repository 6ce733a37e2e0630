#include "harness/reduce/failure_class.hpp"

#include <gtest/gtest.h>

namespace assay::reduce {
namespace {

using harness::CaseRecord;
using harness::Outcome;

CaseRecord record(Outcome outcome, const std::string& kind, const std::string& message,
                  const std::vector<std::string>& arrays = {}) {
  CaseRecord record;
  record.outcome = outcome;
  record.outcome_detail = kind;
  record.message = message;
  for (const std::string& array : arrays)
    record.mismatches.push_back({.check_name = "t1", .array_name = array});
  return record;
}

TEST(FailureClass, MismatchesInSameArrayHaveSameClass) {
  const FailureClass ending = ending_of(record(Outcome::fail, "mismatch", "grad_x[3] is 1, expected 2", {"grad_x"}));
  EXPECT_EQ(to_text(ending), "fail(mismatch) in grad_x");
  EXPECT_TRUE(has_ending(record(Outcome::fail, "mismatch", "grad_y[0] is 5", {"grad_y", "grad_x"}), ending));
  EXPECT_FALSE(has_ending(record(Outcome::fail, "mismatch", "grad_y[0] is 5", {"grad_y"}), ending));
  EXPECT_FALSE(has_ending(record(Outcome::fail, "nondeterministic", "", {"grad_x"}), ending));
  EXPECT_FALSE(has_ending(record(Outcome::pass, "", ""), ending));
}

TEST(FailureClass, BuildFailuresWithSameCompilerErrorHaveSameClass) {
  const FailureClass ending =
      ending_of(record(Outcome::build_failed, "build", "kernel:0:k:12:5: error: 'atn' was not declared in this scope"));
  EXPECT_EQ(ending.normalized_message, "was not declared in this scope");
  EXPECT_TRUE(has_ending(
      record(Outcome::build_failed, "build", "kernel:3:k:2:1: error: 'b2' was not declared in this scope"), ending));
  EXPECT_FALSE(has_ending(record(Outcome::build_failed, "build", "k:2:1: error: expected ';' before 'b'"), ending));
}

TEST(FailureClass, CrashesWithSameSignalHaveSameClass) {
  const FailureClass ending =
      ending_of(record(Outcome::crashed, "signal", "crashed: SIGSEGV (segmentation fault) (input set 3, 17 threads)"));
  EXPECT_TRUE(has_ending(
      record(Outcome::crashed, "signal", "crashed: SIGSEGV (segmentation fault) (input set 0, 1 threads)"), ending));
  EXPECT_FALSE(has_ending(
      record(Outcome::crashed, "signal", "crashed: SIGFPE (arithmetic error) (input set 0, 1 threads)"), ending));
}

TEST(FailureClass, MemoryFaultsOfSameKindHaveSameClass) {
  const FailureClass ending =
      ending_of(record(Outcome::memory_fault, "out_of_bounds", "memory next to 'out' was overwritten"));
  EXPECT_TRUE(has_ending(record(Outcome::memory_fault, "out_of_bounds", "something else"), ending));
  EXPECT_FALSE(has_ending(record(Outcome::memory_fault, "input_modified", "memory next to 'out'"), ending));
}

}  // namespace
}  // namespace assay::reduce
