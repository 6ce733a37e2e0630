// Compares the backward kernel of each operation and each library function with the oracle.
#include <gtest/gtest.h>

#include "ir/transforms/testing/against_oracle.hpp"
#include "reference/cpu/testing/operation_samples.hpp"

namespace assay::transforms::testing {
namespace {

using reference::testing::SampleKernel;
using reference::testing::Usage;

constexpr int kPoints = 8;

class AdjointOfOperation : public ::testing::TestWithParam<Usage> {};

TEST_P(AdjointOfOperation, MatchesOracle) {
  const Usage& usage = GetParam();
  Rng rng(17);
  for (int n = 0; n < kPoints; ++n) {
    SampleKernel sample = kernel_at(usage, reference::testing::sample(usage, rng));
    const int components = sample.fixture.kernel().var(sample.out).type.element().components();
    std::vector<double> seeds;
    for (int k = 0; k < components; ++k)
      seeds.push_back(rng.uniform_int(512, 1536) / 1024.0);  // exact in f32 too
    const OracleInput input{.launch = sample.fixture.launch(),
                            .cotangents = sample.fixture.cotangents_for(sample.out, seeds)};
    const OracleComparison result = compare(sample.fixture.module(), sample.fixture.kernel(), input);
    ASSERT_EQ(result.kind, OracleComparison::Kind::kAgrees) << result.message;
    EXPECT_GT(result.compared, 0);
  }
}

INSTANTIATE_TEST_SUITE_P(Adjoint, AdjointOfOperation,
                         ::testing::ValuesIn(reference::testing::all_usages(ir::Scalar::kF64)),
                         [](const auto& usage) { return usage.param.name(); });

}  // namespace
}  // namespace assay::transforms::testing
