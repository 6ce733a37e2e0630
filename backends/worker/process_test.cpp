#include "backends/worker/process.hpp"

#include <cstdlib>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "backends/worker/shared_memory.hpp"

namespace assay::worker {
namespace {

using ::testing::HasSubstr;

std::string error_of_start(const char* program) {
  const auto memory = SharedMemory::create({});
  EXPECT_TRUE(memory.ok());
  WorkerProcess process(program, "--worker", **memory);
  const Result<void> started = process.start();
  return started.ok() ? std::string() : started.error().text();
}

TEST(WorkerProcess, ReportsThatProgramIsNotAWorker) {
  EXPECT_THAT(error_of_start("/bin/true"), HasSubstr("the program is not an Assay worker"));
}

TEST(WorkerProcess, WorkerCannotStartAnotherWorker) {
  ::setenv("ASSAY_IN_WORKER", "1", 1);
  const std::string error = error_of_start("/bin/true");
  ::unsetenv("ASSAY_IN_WORKER");
  EXPECT_THAT(error, HasSubstr("main() of the program must call run_if_worker() first"));
}

}  // namespace
}  // namespace assay::worker
