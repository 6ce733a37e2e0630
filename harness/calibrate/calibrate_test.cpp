#include "harness/calibrate/calibrate.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "backends/source/print.hpp"
#include "harness/testing/cpu_run.hpp"

namespace assay::harness {
namespace {

/// Every 65,521st float32: 65,551 of them, of each sign and magnitude, NaNs and infinities.
CalibrationOptions some_inputs(std::vector<ir::Op> operations) {
  return {.operations = std::move(operations), .bit_pattern_step = 65'521, .jobs = 2};
}

Printer printer_injecting(const std::string& from, const std::string& to) {
  return [=](const ir::Module& module, const ir::Function& forward, const ir::Function* backward,
             backends::SourceTarget target) {
    auto emitted = source::print(module, forward, backward, target);
    if (emitted.ok() && !from.empty()) {
      const std::size_t at = emitted->body.find(from);
      EXPECT_NE(at, std::string::npos) << emitted->body;
      emitted->body.replace(at, from.size(), to);
    }
    return emitted;
  };
}

TEST(Calibrate, AcceptsMathLibraryWhoseErrorsAreWithinBounds) {
  const auto device = testing::cpu_device();
  const auto results = calibrate_operations(*device, printer_injecting("", ""), some_inputs(calibrated_operations()));
  ASSERT_TRUE(results.ok()) << results.error().text();
  EXPECT_GT(results->size(), 30U);
  for (const OperationCalibration& result : *results) {
    const auto name = ir::row(result.op).mnemonic;
    EXPECT_EQ(result.violation_count, 0U)
        << name << " of " << (result.first_violation ? result.first_violation->input : 0);
    EXPECT_GT(result.compared_count, 30'000U) << name;
    const ir::UlpBound figure = ulp_bound_of(result.op, backends::SourceTarget::kCpp);
    if (figure.kind == ir::UlpBound::Kind::kExact) {
      EXPECT_EQ(result.worst_point.ulps, 0) << name;
    }
    if (figure.kind == ir::UlpBound::Kind::kUlpsFromExactResult) {
      EXPECT_GT(result.worst_point.ulps, 0) << name;
      EXPECT_LE(result.worst_point.ulps, figure.ulps) << name;
    }
  }
}

TEST(Calibrate, DetectsFunctionWithErrorBeyondBound) {
  const auto device = testing::cpu_device();
  const auto results =
      calibrate_operations(*device, printer_injecting("= exp(", "= 1.000001f * exp("), some_inputs({ir::Op::kExp}));
  ASSERT_TRUE(results.ok()) << results.error().text();
  const OperationCalibration& exp = results->front();
  EXPECT_GT(exp.violation_count, 1000U);
  EXPECT_GT(exp.worst_point.ulps, 8);
  EXPECT_LT(exp.worst_point.ulps, 20);
  ASSERT_TRUE(exp.first_violation.has_value());
  EXPECT_NEAR(exp.first_violation->device_result, exp.first_violation->oracle_value,
              exp.first_violation->oracle_value * 2e-6);
}

TEST(Calibrate, DetectsNanWhereFiniteValueIsExpected) {
  const auto device = testing::cpu_device();
  const auto results =
      calibrate_operations(*device, printer_injecting("= sqrt(", "= sqrt(0 * 1e-30f + "), some_inputs({ir::Op::kSqrt}));
  ASSERT_TRUE(results.ok());
  EXPECT_EQ(results->front().violation_count, 0U);
  const auto negated =
      calibrate_operations(*device, printer_injecting("= sqrt(", "= sqrt(-"), some_inputs({ir::Op::kSqrt}));
  ASSERT_TRUE(negated.ok());
  EXPECT_GT(negated->front().violation_count, negated->front().compared_count / 2);
}

TEST(Calibrate, ReportsBuildFailure) {
  const auto device = testing::cpu_device();
  const auto results =
      calibrate_operations(*device, printer_injecting("= exp(", "= undeclared("), some_inputs({ir::Op::kExp}));
  ASSERT_FALSE(results.ok());
  EXPECT_THAT(results.error().text(), ::testing::HasSubstr("undeclared"));
}

}  // namespace
}  // namespace assay::harness
