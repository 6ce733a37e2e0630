#include "backends/cpu/process.hpp"

#include <chrono>
#include <csignal>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace assay::cpu {
namespace {

using EndReason = ProcessResult::EndReason;
using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::HasSubstr;

ProcessResult shell(const std::string& script, milliseconds limit = seconds{20}) {
  return run_process("/bin/sh", {"-c", script}, limit);
}

TEST(RunProcess, CapturesExitStatusStdoutAndStderr) {
  const ProcessResult result = shell("echo out; echo err >&2; exit 3");
  EXPECT_EQ(result.end_reason, EndReason::kExited);
  EXPECT_EQ(result.status_or_signal, 3);
  EXPECT_EQ(result.output, "out\nerr\n");
  EXPECT_TRUE(shell("true").succeeded());
}

TEST(RunProcess, ReportsSignalThatKilledProgram) {
  const ProcessResult result = shell("kill -SEGV $$");
  EXPECT_EQ(result.end_reason, EndReason::kSignaled);
  EXPECT_EQ(result.status_or_signal, SIGSEGV);
}

TEST(RunProcess, KillsChildProcessesAtTimeLimit) {
  const auto start = std::chrono::steady_clock::now();
  const ProcessResult result = shell("echo started; sleep 60 & sleep 60; wait", milliseconds{300});
  EXPECT_EQ(result.end_reason, EndReason::kTimedOut);
  EXPECT_EQ(result.output, "started\n");
  EXPECT_LT(std::chrono::steady_clock::now() - start, seconds{30});
}

TEST(RunProcess, ReportsMissingProgram) {
  const ProcessResult result = run_process("/nonexistent", {}, seconds{20});
  EXPECT_EQ(result.end_reason, EndReason::kNotStarted);
  EXPECT_THAT(result.output, HasSubstr("/nonexistent: No such file"));
}

TEST(RunProcess, RunsProgramInCLocale) { EXPECT_EQ(shell("echo $LC_ALL").output, "C\n"); }

TEST(FindProgram, FindsExecutableByPathVariableOrByFullPath) {
  EXPECT_TRUE(find_program("sh").has_value());
  EXPECT_EQ(find_program("/bin/sh"), "/bin/sh");
  EXPECT_FALSE(find_program("no-such-program").has_value());
  EXPECT_FALSE(find_program("/etc/passwd").has_value());
}

}  // namespace
}  // namespace assay::cpu
