#include "harness/warp_differences/exchange.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/suite/select/kernel_file.hpp"
#include "harness/warp_differences/forward.hpp"
#include "harness/warp_differences/gradients.hpp"

namespace assay::warp {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr std::string_view kHead = R"(import warp as wp


@wp.kernel
def square(x: wp.array(dtype=float), out: wp.array(dtype=float)):
    i = wp.tid()
)";

std::string kernel(const std::string& body) { return std::string(kHead) + body; }

/// A subject whose oracle computes a square, while Warp runs `python`.
ComparedKernel with_python_of_warp(const std::string& python) {
  Result<harness::KernelSet> read = harness::read_text(kernel("    out[i] = x[i] * x[i]\n"), "square.py");
  harness::KernelSource source = std::move(read.value().kernels.at(0));
  source.family = "exchange";
  source.python = python;
  return ComparedKernel::make(std::move(source), GradientLaunches::kFirstLaunch, 1).take();
}

TEST(WarpSession, ReportsEachFailingKernelAndRunsTheOtherKernels) {
  const Result<WarpInterpreter> interpreter = find_interpreter();
  if (!interpreter.ok()) GTEST_SKIP() << interpreter.error().text();
  std::vector<ComparedKernel> subjects;
  subjects.push_back(with_python_of_warp("def broken(:"));
  subjects.push_back(with_python_of_warp(kernel("    out[i] = x[i + 1000000000]\n")));
  subjects.push_back(with_python_of_warp(kernel("    while x[i] == x[i]:\n        out[i] = x[i]\n")));
  subjects.push_back(with_python_of_warp(kernel("    out[i] = x[i] * x[i] * 1.001\n")));
  subjects.push_back(with_python_of_warp(kernel("    y = x[i]\n    out[i] = y * y + 0.0 * wp.log(y * 0.0)\n")));
  subjects.push_back(with_python_of_warp(kernel("    out[i] = x[i] * x[i]\n")));
  const Result<WarpResults> session = run_in_warp(*interpreter, ASSAY_SOURCE_DIR, ASSAY_WARP_CACHE, subjects,
                                                  {.time_limit_per_pass = std::chrono::seconds(2)});
  ASSERT_TRUE(session.ok()) << session.error().text();
  const auto answer = [&](std::size_t number) -> const WarpLaunchResult& {
    return session->launch_results.at(number).at(0);
  };

  EXPECT_EQ(answer(0).forward.status, WarpPassStatus::kRejected);
  EXPECT_THAT(answer(0).forward.message, HasSubstr("SyntaxError"));
  EXPECT_EQ(answer(1).forward.status, WarpPassStatus::kCrashed);
  EXPECT_EQ(answer(1).backward.status, WarpPassStatus::kCrashed);
  EXPECT_THAT(answer(1).backward.message, HasSubstr("SIGSEGV"));
  EXPECT_EQ(answer(2).forward.status, WarpPassStatus::kTimedOut);

  ASSERT_EQ(answer(3).forward.status, WarpPassStatus::kDone) << answer(3).forward.message;
  EXPECT_THAT(compare_forward(subjects[3], 0, answer(3).forward).mismatches, SizeIs(8))
      << "only the first mismatches are listed";
  EXPECT_THAT(compare_forward(subjects[3], 0, answer(3).forward).mismatches.at(0), HasSubstr("out[0]: expected "));
  ASSERT_EQ(answer(3).backward.status, WarpPassStatus::kDone) << answer(3).backward.message;
  const GradientComparison off = compare_gradients(subjects[3], 0, answer(3).backward);
  ASSERT_THAT(off.differences, SizeIs(1));
  EXPECT_EQ(off.differences[0].finite_difference_verdict, FiniteDifferenceVerdict::kWarpIncorrect);
  EXPECT_EQ(off.differences[0].differing_scalar_count, 13U);

  ASSERT_EQ(answer(4).backward.status, WarpPassStatus::kDone) << answer(4).backward.message;
  const GradientComparison nan = compare_gradients(subjects[4], 0, answer(4).backward);
  ASSERT_THAT(nan.differences, SizeIs(1)) << "NaN must not agree with any value";

  ASSERT_EQ(answer(5).backward.status, WarpPassStatus::kDone) << answer(5).backward.message;
  EXPECT_THAT(compare_forward(subjects[5], 0, answer(5).forward).mismatches, IsEmpty());
  EXPECT_EQ(compare_gradients(subjects[5], 0, answer(5).backward).agreeing_arrays, 1U);
}

}  // namespace
}  // namespace assay::warp
