// The random kernels of every family: their backward kernels against the oracle.
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "generators/generator.hpp"
#include "ir/passes/against_oracle_test.hpp"
#include "ir/support/hash.hpp"

namespace assay::passes::testing {
namespace {

using generators::Family;

constexpr std::uint64_t kSeeds = 30;

class Families : public ::testing::TestWithParam<Family> {};

TEST_P(Families, GradientsAreTheOracles) {
  std::int64_t changed = 0;
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    const generators::Generated made = generators::generate(GetParam(), seed);
    const ir::Function& kernel = made.module.kernels[0];
    const Comparison result = compare(made.module, kernel, draw(made.module, kernel, fnv1a(made.name)));
    EXPECT_EQ(result.kind, Comparison::Kind::kAgrees) << made.name << ": " << result.message;
    changed += result.changed;
  }
  EXPECT_GT(changed, 100);
}

std::vector<Family> all_families() {
  std::vector<Family> all;
  for (const generators::FamilyRow& family : generators::families())
    all.push_back(family.family);
  return all;
}

std::string name_of(const ::testing::TestParamInfo<Family>& info) {
  return std::string(generators::row(info.param).name);
}

INSTANTIATE_TEST_SUITE_P(Adjoint, Families, ::testing::ValuesIn(all_families()), name_of);

}  // namespace
}  // namespace assay::passes::testing
