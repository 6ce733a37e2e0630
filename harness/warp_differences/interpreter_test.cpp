#include "harness/warp_differences/interpreter.hpp"

#include <cstdlib>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace assay::warp {
namespace {

using ::testing::HasSubstr;

TEST(WarpInterpreter, ReportsMissingInterpreterNamedByEnvironmentVariable) {
  ASSERT_EQ(::setenv("ASSAY_WARP_PYTHON", "/no/such/python", 1), 0);
  const Result<WarpInterpreter> none = find_interpreter(ASSAY_SOURCE_DIR);
  ASSERT_FALSE(none.ok());
  EXPECT_THAT(none.error().text(), HasSubstr("/no/such/python"));
  EXPECT_THAT(none.error().text(), HasSubstr("ci/setup-warp"));
}

TEST(WarpInterpreter, RejectsProgramThatCannotImportWarp) {
  ASSERT_EQ(::setenv("ASSAY_WARP_PYTHON", "/bin/ls", 1), 0);
  const Result<WarpInterpreter> none = find_interpreter("/no/such/folder");
  ASSERT_FALSE(none.ok());
  EXPECT_THAT(none.error().text(), HasSubstr("has no Warp"));
}

}  // namespace
}  // namespace assay::warp
