#include "harness/judge/coverage.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace assay::harness {
namespace {

using reference::Choice;
using ::testing::ElementsAre;

Choice branch(int line, std::int64_t yes, std::int64_t no) {
  return {.kind = Choice::Kind::kBranch, .loc = {.line = line}, .taken = {yes, no, 0}};
}
Choice range(int line, std::int64_t inside, std::int64_t below, std::int64_t above) {
  return {.kind = Choice::Kind::kRange, .loc = {.line = line}, .taken = {inside, below, above}};
}

TEST(Coverage, OfNothingLacksNothing) {
  EXPECT_EQ(Coverage{}.lacking(), 0);
  EXPECT_TRUE(Coverage{}.gaps({}).empty());
}

TEST(Coverage, WantsTwoSamplesOfEachWay) {
  Coverage coverage;
  coverage.add({branch(3, 5, 0), range(4, 1, 2, 0)});
  EXPECT_EQ(coverage.lacking(), 2 + 1 + 2);
  EXPECT_THAT(coverage.gaps({}), ElementsAre(Uncovered{3, "the condition is never false"},
                                             Uncovered{4, "the operand is never inside the range more than once"},
                                             Uncovered{4, "the operand is never above the range"}));
  EXPECT_EQ(coverage.gain({branch(3, 9, 7), range(4, 0, 9, 1)}), 2 + 1);
  coverage.add({branch(3, 9, 7), range(4, 0, 9, 1)});
  EXPECT_EQ(coverage.lacking(), 1 + 1);
  coverage.add({branch(3, 0, 0), range(4, 1, 0, 1)});
  EXPECT_EQ(coverage.lacking(), 0);
  EXPECT_TRUE(coverage.gaps({}).empty());
}

TEST(Coverage, NamesAWayOfALineOnce) {
  Coverage coverage;
  coverage.add({branch(3, 5, 0), branch(3, 4, 0)});
  EXPECT_EQ(coverage.lacking(), 4);
  EXPECT_EQ(coverage.gaps({}).size(), 1U);
}

TEST(Coverage, NamesTheFileOfAnImportedLine) {
  ir::Module module;
  module.source_name = "wave.py";
  module.imported_files = {{.name = "physics.py", .lines_before = 10}};
  Coverage coverage;
  coverage.add({branch(3, 2, 0), branch(13, 2, 0)});
  EXPECT_THAT(coverage.gaps(module), ElementsAre(Uncovered{3, "the condition is never false"},
                                                 Uncovered{3, "the condition is never false", "physics.py"}));
}

}  // namespace
}  // namespace assay::harness
