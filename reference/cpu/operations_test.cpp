// oracle_self_check of each operation and library function on its domain: dual numbers against extrapolated finite
// differences, and the reverse sweep against dual numbers.
#include <cmath>
#include <set>

#include <gtest/gtest.h>

#include "reference/cpu/evaluators.hpp"
#include "reference/cpu/testing/operation_samples.hpp"

namespace assay::reference {
namespace {

using testing::SampleKernel;
using testing::Usage;

constexpr int kEvaluatesShiftedPoints = 64;

class OperationTest : public ::testing::TestWithParam<Usage> {};

ComponentValues random_direction(const std::vector<std::vector<double>>& point, Rng& rng) {
  ComponentValues direction = point;
  for (auto& components : direction) {
    for (double& component : components)
      component = rng.uniform_real(0.25, 1.0) * (rng.bernoulli(0.5) ? 1 : -1);
  }
  direction.emplace_back();
  return direction;
}

/// Compares dual numbers with differences at one point; false if the stencil does not stay on one path.
bool agree_with_differences(const SampleKernel& sample, const ComponentValues& direction) {
  const Oracle oracle = sample.fixture.oracle();
  const auto run = sample.fixture.run();
  const DirectionalDifferences differences = oracle.directional_differences(run, direction);
  if (!differences.is_same_path) return false;
  const Tangents tangents = oracle.tangents(run, {direction});
  const auto p = static_cast<std::size_t>(sample.out);
  for (std::size_t k = 0; k < tangents.outputs[p].size(); ++k) {
    const long double dual = tangents.outputs[p][k][0];
    const DirectionalDifferences::Estimate& estimate = differences.outputs[p][k];
    EXPECT_LE(std::abs(dual - estimate.value), 1e-8L * std::abs(dual) + estimate.error)
        << "dual " << dual << ", difference " << estimate.value;
    EXPECT_LE(estimate.error, 1e-6L * std::max(1.0L, std::abs(dual))) << "the differences are too inaccurate";
  }
  return true;
}

TEST_P(OperationTest, DualNumbersMatchFiniteDifferences) {
  const Usage& usage = GetParam();
  Rng rng(7);
  int checked = 0;
  for (int attempt = 0; attempt < 4 * kEvaluatesShiftedPoints && checked < kEvaluatesShiftedPoints; ++attempt) {
    const auto point = testing::sample(usage, rng);
    checked += agree_with_differences(testing::kernel_at(usage, point), random_direction(point, rng));
    if (HasFailure()) return;
  }
  EXPECT_EQ(checked, kEvaluatesShiftedPoints) << "too many points near a kink";
}

TEST_P(OperationTest, ReverseSweepMatchesDualNumbers) {
  const Usage& usage = GetParam();
  Rng rng(8);
  for (int n = 0; n < kEvaluatesShiftedPoints; ++n) {
    const auto point = testing::sample(usage, rng);
    const SampleKernel sample = testing::kernel_at(usage, point);
    const ComponentValues direction = random_direction(point, rng);
    const int components = sample.fixture.kernel().var(sample.out).type.element().components();
    std::vector<double> cotangents;
    for (int k = 0; k < components; ++k)
      cotangents.push_back(rng.uniform_real(0.5, 1.5));
    const Oracle oracle = sample.fixture.oracle();
    const auto run = sample.fixture.gradient_run(sample.fixture.cotangents_for(sample.out, cotangents));
    const ReferenceResult swept = oracle.evaluate(run);
    ASSERT_LE(gradient_disagreement(swept, oracle.tangents(run, {direction}), 0, run, direction), 0x1p-45L);
  }
}

INSTANTIATE_TEST_SUITE_P(F64, OperationTest, ::testing::ValuesIn(testing::all_usages(ir::Scalar::kF64)),
                         [](const auto& usage) { return usage.param.name(); });

TEST(OperationSamples, CoverEveryDifferentiableOperation) {
  std::set<ir::Op> covered;
  for (const Usage& usage : testing::usages(ir::Scalar::kF64))
    covered.insert(usage.op);
  for (const ir::OperationEntry& row : ir::kOperations) {
    // kWithField needs a struct; memory_test has it.
    if (row.adjoint_kind != ir::AdjointKind::kHasRule || row.op == ir::Op::kWithField) continue;
    EXPECT_TRUE(covered.count(row.op)) << row.mnemonic;
  }
}

}  // namespace
}  // namespace assay::reference
