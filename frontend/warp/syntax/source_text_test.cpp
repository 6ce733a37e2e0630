#include "frontend/warp/syntax/source_text.hpp"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "frontend/warp/testing/parse.hpp"
#include "ir/source_location.hpp"

namespace assay::frontend::testing {
namespace {

using ::testing::ElementsAre;

TEST(SourceText, SplitsTextAtBothKindsOfLineEnding) {
  EXPECT_THAT(ir::split_lines("a\r\n\nb"), ElementsAre("a", "", "b"));
  EXPECT_THAT(ir::split_lines("a\n"), ElementsAre("a"));
}

TEST(SourceText, ConvertsByteOffsetToLineAndColumn) {
  const SourceText text("ab\n\nc");
  const auto place = [&](std::size_t offset) {
    return std::to_string(text.loc(offset).line) + ":" + std::to_string(text.loc(offset).column);
  };
  EXPECT_EQ(place(0), "1:1");
  EXPECT_EQ(place(2), "1:3");
  EXPECT_EQ(place(3), "2:1");
  EXPECT_EQ(place(4), "3:1");
}

TEST(SourceText, JoinsBracketedLinesAndPreservesByteOffsets) {
  EXPECT_EQ(join_bracketed_lines("f(1,\n2) # c\nx"), "f(1, 2) # c\nx");
  EXPECT_EQ(join_bracketed_lines("f([1, # ) c\r\n2],\n3)\nx"), "f([1,        2], 3)\nx");
  EXPECT_EQ(join_bracketed_lines("(\"(\\\"\",\n'''\n(''')\nx"), "(\"(\\\"\", '''\n(''')\nx");
  EXPECT_EQ(join_bracketed_lines(")\n("), ")\n(");
}

TEST(SourceText, RejectsTooManyConsecutiveEmptyContinuationLines) {
  const auto check = [](std::size_t lines) {
    std::string text = "x = ";
    for (std::size_t i = 0; i < lines; ++i)
      text += "\\\n ";
    return check_statement_length(text + "1 + \\\n 1\n");
  };
  EXPECT_TRUE(check(kMaxEmptyContinuations).ok());
  const auto rejected = check(kMaxEmptyContinuations + 1);
  ASSERT_FALSE(rejected.ok());
  EXPECT_EQ(rejected.error().text(), "101:2: more than 100 consecutive lines contain only a backslash; remove them");
}

TEST(SourceText, ErrorInContinuationLineReportsActualLineAndColumn) {
  const ParsedFile file =
      read("import warp as wp\n@wp.kernel\ndef k(x: wp.array(dtype=float)):\n    x[0] = (1.0 +\n2.0 *  # c\n bad)\n");
  EXPECT_EQ(messages(file), "test.py:6:2: error: in k: bad: name is not defined\n");
}

}  // namespace
}  // namespace assay::frontend::testing
