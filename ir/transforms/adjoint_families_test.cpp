// Compares backward kernels of random kernels of every family with the oracle.
#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "generators/generator.hpp"
#include "ir/transforms/testing/against_oracle.hpp"
#include "ir/visit.hpp"
#include "support/hash.hpp"

namespace assay::transforms::testing {
namespace {

using generators::Family;

constexpr std::uint64_t kSeeds = 30;

bool takes_extremes(const ir::Function& kernel) {
  bool found = false;
  ir::for_each_statement(kernel.body, [&](const ir::Stmt& statement) {
    const auto* atomic = std::get_if<ir::Atomic>(&statement.node);
    found |= atomic != nullptr && (atomic->op == ir::AtomicOp::kMin || atomic->op == ir::AtomicOp::kMax);
  });
  return found;
}

/// Greatest rank of the arrays.
int most_rank(const ir::Function& kernel) {
  int most = 0;
  for (const ir::Variable& variable : kernel.variables)
    most = std::max<int>(most, variable.type.rank);
  return most;
}

class AdjointOfGeneratedKernel : public ::testing::TestWithParam<Family> {};

TEST_P(AdjointOfGeneratedKernel, MatchesOracle) {
  std::int64_t changed = 0;
  std::uint64_t undefined = 0;
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    const generators::GeneratedKernel made = generators::generate(GetParam(), seed);
    const ir::Function& kernel = made.module.kernels[0];
    const OracleComparison result = compare(
        made.module, kernel, draw(made.module, kernel, fnv1a(made.name), {.extent = most_rank(kernel) > 2 ? 8 : 30}));
    // Launches are random, without the search of the harness for launches on which the kernel is well defined. The
    // final content of an array updated by an atomic minimum or maximum is rounded, which hides the winner of a value
    // computed in long double.
    undefined += result.kind == OracleComparison::Kind::kUndefined;
    if (result.kind == OracleComparison::Kind::kUndefined || takes_extremes(kernel)) continue;
    EXPECT_EQ(result.kind, OracleComparison::Kind::kAgrees) << made.name << ": " << result.message;
    changed += result.changed;
  }
  EXPECT_GT(changed, 50);
  EXPECT_LE(undefined, kSeeds / 3);
}

std::vector<Family> all_families() {
  std::vector<Family> all;
  for (const generators::KernelFamilyDefinition& family : generators::families())
    // The inputs that this test draws are no meshes and the like.
    if (family.family != Family::kSpatial) all.push_back(family.family);
  return all;
}

std::string name_of(const ::testing::TestParamInfo<Family>& info) {
  return std::string(generators::row(info.param).name);
}

INSTANTIATE_TEST_SUITE_P(Adjoint, AdjointOfGeneratedKernel, ::testing::ValuesIn(all_families()), name_of);

}  // namespace
}  // namespace assay::transforms::testing
