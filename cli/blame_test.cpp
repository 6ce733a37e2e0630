// The search for the culprit of a failure, with compilers that are wrong on purpose: scripts that change the source
// before they call the compiler.
#include <filesystem>
#include <string>
#include <string_view>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/testing/command_runner.hpp"
#include "harness/records/record_reader.hpp"

namespace assay::cli {
namespace {

using testing::CommandResult;
using ::testing::HasSubstr;
using ::testing::StartsWith;
using testing::Workshop;

constexpr std::string_view kKernel = R"(import warp as wp


@wp.kernel
def scale(x: wp.array(dtype=float), out: wp.array(dtype=float)):
    i = wp.tid()
    out[i] = 3.25 * x[i]
)";

/// Compiles with another constant if an argument matches the pattern.
constexpr std::string_view kWrongCompiler = R"(#!/bin/sh
case " $* " in
  PATTERN)
    for argument; do
      case $argument in *.cpp) sed -i 's/3\.25/3.5/g' "$argument" ;; esac
    done ;;
esac
exec c++ "$@"
)";

class BlameTest : public ::testing::Test {
 protected:
  BlameTest() : workshop_(ASSAY_PROGRAM) { workshop_.write("scale.py", kKernel); }

  void write_compiler(std::string_view pattern) const {
    std::string script(kWrongCompiler);
    script.replace(script.find("PATTERN"), std::string_view("PATTERN").size(), pattern);
    workshop_.write("wrong", script);
    std::filesystem::permissions(workshop_.path() / "wrong", std::filesystem::perms::owner_all);
  }

  /// The record of the forward case, which fails.
  [[nodiscard]] harness::CaseRecord failing(const std::string& options) const {
    const CommandResult run = workshop_.run("assay run scale.py --quick --pass forward --reduce 0 " + options);
    EXPECT_EQ(run.status, 1) << run.out << run.err;
    EXPECT_THAT(run.out, HasSubstr("blamed on: "));
    auto read = harness::read_records(workshop_.path() / "out");
    EXPECT_TRUE(read.ok() && read->cases.size() == 1) << run.out;
    harness::CaseRecord record = read.ok() && !read->cases.empty() ? read->cases.front() : harness::CaseRecord();
    if (!record.failure_origin) {
      ADD_FAILURE() << "no culprit: " << record.message;
      record.failure_origin = harness::FailureOrigin();
    }
    return record;
  }

  Workshop workshop_;
};

TEST_F(BlameTest, BlamesCompilerWhoseCodeIsIncorrectOnlyWithOptimization) {
  write_compiler("*' -O2 '*");
  const harness::CaseRecord record = failing("--cxx \"$PWD/wrong\" --optimise 2");
  EXPECT_THAT(record.failure_origin->responsible_component, StartsWith("compiler("));
  EXPECT_THAT(record.message, HasSubstr("without optimizations, the same source passes"));
  EXPECT_GE(record.failure_origin->examined_builds.size(), 3U);
}

TEST_F(BlameTest, DoesNotBlameCompilerWhoseCodeIsIncorrectEvenWithoutOptimization) {
  write_compiler("*");
  EXPECT_EQ(failing("--cxx \"$PWD/wrong\" --optimise 2").failure_origin->responsible_component, "undetermined");
}

TEST_F(BlameTest, DoesNotSearchForCauseIfBlameOptionIsZero) {
  write_compiler("*");
  const CommandResult run =
      workshop_.run("assay run scale.py --quick --pass forward --reduce 0 --blame 0 --cxx \"$PWD/wrong\"");
  EXPECT_EQ(run.status, 1);
  EXPECT_THAT(run.out, ::testing::Not(HasSubstr("blamed on")));
}

}  // namespace
}  // namespace assay::cli
