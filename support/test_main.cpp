// The main function of every test executable: GoogleTest's own, but for the exit status.
//
// GoogleTest treats a run in which every test was skipped, or that has no tests, as a success. Here the first exits
// with status 77, which CTest shows as skipped, and the second is an error.

#include <cstdio>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

int main(int argc, char** argv) {
  constexpr int kExitSkipped = 77;
  testing::InitGoogleMock(&argc, argv);
  const int status = RUN_ALL_TESTS();
  const testing::UnitTest& unit_test = *testing::UnitTest::GetInstance();
  if (status != 0 || GTEST_FLAG_GET(list_tests)) return status;
  if (unit_test.test_to_run_count() == 0) {
    std::fputs("no test matches the filter\n", stderr);
    return 1;
  }
  return unit_test.skipped_test_count() == unit_test.test_to_run_count() ? kExitSkipped : 0;
}
