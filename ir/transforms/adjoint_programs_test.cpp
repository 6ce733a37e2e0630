// Random structured programs: each is rejected or its gradients match the oracle.
//
// Set ASSAY_PROGRAMS=50000 in the environment to test that many programs, and ASSAY_FIRST_PROGRAM to choose the first.
#include <cstdlib>
#include <map>
#include <string>

#include <gtest/gtest.h>

#include "ir/text.hpp"
#include "ir/transforms/testing/against_oracle.hpp"
#include "ir/transforms/testing/random_program.hpp"
#include "ir/verifier.hpp"

namespace assay::transforms::testing {
namespace {

std::uint64_t from_environment(const char* name, std::uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

TEST(AdjointOfRandomProgram, IsRejectedOrMatchesOracle) {
  const std::uint64_t first = from_environment("ASSAY_FIRST_PROGRAM", 0);
  const std::uint64_t count = from_environment("ASSAY_PROGRAMS", 2000);
  std::map<OracleComparison::Kind, std::uint64_t> tally;
  std::uint64_t telling = 0;
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    const ir::Module module = random_program(seed);
    for (const ir::VerifierError& diagnostic : ir::verify(module))
      FAIL() << "program " << seed << ": " << ir::to_text(module, diagnostic);
    const ir::Function& kernel = module.kernels[0];
    const OracleComparison result = compare(module, kernel, draw(module, kernel, seed));
    ++tally[result.kind];
    if (result.kind == OracleComparison::Kind::kAgrees && result.changed >= 3) ++telling;
    if (result.kind == OracleComparison::Kind::kDisagrees) {
      ADD_FAILURE() << "program " << seed << ": " << result.message << "\n" << ir::to_text(module);
      if (tally[result.kind] >= 5) return;
    }
  }
  for (const auto& [kind, number] : tally)
    RecordProperty(::testing::PrintToString(kind), static_cast<int>(number));
  EXPECT_EQ(tally[OracleComparison::Kind::kUndefined], 0U);
  EXPECT_GE(tally[OracleComparison::Kind::kAgrees], count / 2);
  EXPECT_GE(telling, count / 3);
}

}  // namespace
}  // namespace assay::transforms::testing
