#include "ir/transforms/value_set.hpp"

#include <initializer_list>

#include <gmock/gmock.h>

namespace assay::transforms {
namespace {

using testing::ElementsAre;

constexpr std::size_t kValues = 130;  // two words and a part of a third

ValueSet set_of(std::initializer_list<std::size_t> values) {
  ValueSet set(kValues);
  for (const std::size_t value : values)
    set.add(value);
  return set;
}

std::vector<std::size_t> values_of(const ValueSet& set) {
  std::vector<std::size_t> values;
  set.for_each([&](std::size_t value) { values.push_back(value); });
  return values;
}

TEST(ValueSet, ContainsExactlyTheAddedValues) {
  const ValueSet set = set_of({0, 63, 64, 129});
  for (std::size_t value = 0; value < kValues; ++value) {
    EXPECT_EQ(set[value], value == 0 || value == 63 || value == 64 || value == 129) << value;
  }
  EXPECT_THAT(values_of(set), ElementsAre(0, 63, 64, 129));
  EXPECT_THAT(values_of(ValueSet(kValues)), ElementsAre());
}

TEST(ValueSet, ComputesUnionAndIntersection) {
  const ValueSet a = set_of({1, 64, 129});
  const ValueSet b = set_of({1, 2, 129});
  ValueSet either = a;
  either |= b;
  EXPECT_THAT(values_of(either), ElementsAre(1, 2, 64, 129));
  EXPECT_THAT(values_of(a & b), ElementsAre(1, 129));
  EXPECT_THAT(values_of(a - b), ElementsAre(64));
}

TEST(ValueSet, IntersectsAnotherSetIfAnyValueIsInBoth) {
  EXPECT_TRUE(set_of({129}).intersects(set_of({3, 129})));
  EXPECT_FALSE(set_of({128}).intersects(set_of({3, 129})));
}

}  // namespace
}  // namespace assay::transforms
