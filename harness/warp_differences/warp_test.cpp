// Compares forward results and gradients of Warp itself with the oracle.

#include <filesystem>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include "harness/warp_differences/exchange.hpp"
#include "harness/warp_differences/forward.hpp"
#include "harness/warp_differences/gradients.hpp"
#include "harness/warp_differences/signatures.hpp"
#include "harness/warp_differences/subject.hpp"

namespace assay::warp {
namespace {

/// Maximum share of kernels without certain inputs.
constexpr double kMostLeftOut = 0.01;

/// All subjects and Warp's answers, shared by all tests.
class WarpTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    const Result<WarpInterpreter> interpreter = find_interpreter();
    if (!interpreter.ok()) {
      skip_ = interpreter.error().text();
      return;
    }
    Result<ComparedKernels> subjects = all_subjects(ASSAY_SOURCE_DIR);
    ASSERT_TRUE(subjects.ok()) << subjects.error().text();
    subjects_ = subjects.take();
    Result<WarpResults> session = run_in_warp(*interpreter, ASSAY_SOURCE_DIR, ASSAY_WARP_CACHE, subjects_.kernels);
    ASSERT_TRUE(session.ok()) << session.error().text();
    session_ = session.take();
  }
  static void TearDownTestSuite() {
    subjects_ = {};
    session_ = {};
  }

  void SetUp() override {
    if (!skip_.empty()) GTEST_SKIP() << skip_;
    ASSERT_FALSE(session_.launch_results.empty());
  }

  inline static std::string skip_;
  inline static ComparedKernels subjects_;
  inline static WarpResults session_;
};

TEST_F(WarpTest, FewKernelsAreExcludedFromComparison) {
  const auto all = static_cast<double>(subjects_.kernels.size() + subjects_.excluded_kernel_messages.size());
  EXPECT_LE(static_cast<double>(subjects_.excluded_kernel_messages.size()), kMostLeftOut * all)
      << fmt::format("{}", fmt::join(subjects_.excluded_kernel_messages, "\n"));
}

TEST_F(WarpTest, EveryCuratedCaseIsCompared) {
  EXPECT_TRUE(subjects_.excluded_case_messages.empty())
      << fmt::format("{}", fmt::join(subjects_.excluded_case_messages, "\n"));
}

TEST_F(WarpTest, ForwardResultsAreWithinBounds) {
  for (std::size_t s = 0; s < subjects_.kernels.size(); ++s) {
    const ComparedKernel& subject = subjects_.kernels[s];
    std::int64_t checks = 0;
    for (std::size_t l = 0; l < subject.sets().size(); ++l) {
      const WarpPassResult& answer = session_.launch_results[s][l].forward;
      if (answer.status != WarpPassStatus::kDone) {
        ADD_FAILURE() << fmt::format("{}, launch {}: {}: {}\n{}", subject.name(), l, to_text(answer.status),
                                     answer.message, subject.python());
        continue;
      }
      const ForwardComparison comparison = compare_forward(subject, l, answer);
      checks += comparison.checked_scalars;
      EXPECT_TRUE(comparison.mismatches.empty()) << fmt::format(
          "{}, launch {}:\n{}\n{}", subject.name(), l, fmt::join(comparison.mismatches, "\n"), subject.python());
    }
    EXPECT_GT(checks, 0) << subject.name() << ": no scalar with a finite bound\n" << subject.python();
  }
}

TEST_F(WarpTest, FiniteDifferencesOfWarpConfirmGradientsOfAssay) {
  std::size_t agreeing = 0;
  for (std::size_t s = 0; s < subjects_.kernels.size(); ++s) {
    const ComparedKernel& subject = subjects_.kernels[s];
    for (std::size_t l = 0; l < subject.sets().size(); ++l) {
      const WarpPassResult& answer = session_.launch_results[s][l].backward;
      if (!subject.has_gradient(l) || answer.status != WarpPassStatus::kDone) continue;
      const GradientComparison comparison = compare_gradients(subject, l, answer);
      agreeing += comparison.agreeing_arrays;
      for (const GradientDifference& difference_found : comparison.differences) {
        EXPECT_NE(difference_found.finite_difference_verdict, FiniteDifferenceVerdict::kAssayIncorrect) << fmt::format(
            "{}: gradient of {}: ours {:.17g}, Warp's {:.17g}, difference quotient {:.17g}\n{}", subject.name(),
            difference_found.element_notation, difference_found.oracle_value, difference_found.warp_value,
            difference_found.difference_quotient.value_or(0), subject.python());
      }
    }
  }
  EXPECT_GT(agreeing, 100U);
}

}  // namespace
}  // namespace assay::warp
