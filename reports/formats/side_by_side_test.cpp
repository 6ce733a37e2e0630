#include "reports/formats/side_by_side.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace assay::reports {
namespace {

TEST(AlignLines, PairsEqualLinesAndLeavesDifferentLinesUnpaired) {
  const auto rows = align({"a", "only left", "b"}, {"a", "b", "something else"});
  ASSERT_EQ(rows.size(), 4U);
  EXPECT_EQ(rows[0].left_line_index, 0U);
  EXPECT_EQ(rows[0].right_line_index, 0U);
  EXPECT_EQ(rows[1].left_line_index, 1U);
  EXPECT_FALSE(rows[1].right_line_index);
  EXPECT_EQ(rows[2].left_line_index, 2U);
  EXPECT_EQ(rows[2].right_line_index, 1U);
  EXPECT_FALSE(rows[3].left_line_index);
}

TEST(AlignLines, PairsSimilarLines) {
  const auto rows = align({"void scale(long long begin, long long end, Array x) {"},
                          {"__global__ void scale(long long count, Array x) {"});
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_TRUE(rows[0].left_line_index && rows[0].right_line_index);
}

TEST(SideBySide, MarksChangedAndRemovedLines) {
  EXPECT_EQ(side_by_side("same\nint a = 1 + b;\nleft\n", "same\nint a = 2 + b;\n", 43, false),
            "same                   same\n"
            "int a = 1 + b;       | int a = 2 + b;\n"
            "left                 <\n");
}

TEST(SideBySide, WrapsLinesByCharactersNotBytes) {
  EXPECT_EQ(side_by_side("\u00e4bcdefghijklmnopqrstuvwxyz\n", "", 43, false),
            "\u00e4bcdefghijklmnopqrst <\n"
            "uvwxyz               <\n");
}

TEST(SideBySide, EmptyTextsGiveNoRows) { EXPECT_EQ(side_by_side("", "", 80, false), ""); }

}  // namespace
}  // namespace assay::reports
