#include "harness/dataset/finding.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace assay::dataset {
namespace {

using ::testing::HasSubstr;
using ::testing::Pair;

TEST(Finding, ExcerptsOfLongTextsShowFirstDifference) {
  const std::string same(500, 'x');
  const auto [found, expected] = excerpts_of_difference(same + " one " + same, same + " two " + same);
  EXPECT_THAT(found, HasSubstr("xx one xx"));
  EXPECT_THAT(expected, HasSubstr("xx two xx"));
  EXPECT_TRUE(found.starts_with("...\"") && found.ends_with("\"...")) << found;
  EXPECT_LT(found.size(), 120U);
}

TEST(Finding, ExcerptsOfShortTextsAreComplete) {
  EXPECT_THAT(excerpts_of_difference("a", "b"), Pair("\"a\"", "\"b\""));
  const std::string same(90, 'x');
  EXPECT_THAT(excerpts_of_difference(same + "1", same + "2"), Pair("\"" + same + "1\"", "\"" + same + "2\""));
}

TEST(Finding, ExcerptStatesWhereOneTextEnds) {
  const std::string same(500, 'x');
  const auto [found, expected] = excerpts_of_difference(same, same + "more");
  EXPECT_EQ(found, "...\"" + std::string(40, 'x') + "\"");
  EXPECT_EQ(expected, "...\"" + std::string(40, 'x') + "more\"");
}

TEST(Finding, FirstDifferenceShowsChangedPartOfLongLine) {
  const std::string same(500, 'x');
  const auto [found, expected] = first_difference("a\n" + same + "1\nb", "a\n" + same + "2\nb");
  EXPECT_THAT(found, HasSubstr("line 2: ...\"x"));
  EXPECT_THAT(found, HasSubstr("x1\""));
  EXPECT_THAT(expected, HasSubstr("x2\""));
  EXPECT_THAT(first_difference("", "a"), Pair("line 1: nothing", "line 1: \"a\""));
}

}  // namespace
}  // namespace assay::dataset
