#include "harness/benchmark/compile_lower_bound.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace assay::benchmark {
namespace {

TEST(CompileLowerBound, AveragesRepeatedMeasurementsOfSameBatchSize) {
  const auto means = means_of({{.batch_size = 32, .translation_unit_count = 2, .wall_seconds = 10},
                               {.batch_size = 16, .translation_unit_count = 4, .wall_seconds = 12},
                               {.batch_size = 32, .translation_unit_count = 2, .wall_seconds = 20}});
  ASSERT_EQ(means.size(), 2U);
  EXPECT_EQ(means[0].batch_size, 32U);
  EXPECT_EQ(means[0].translation_unit_count, 2U);
  EXPECT_EQ(means[0].wall_seconds, 15);
  EXPECT_EQ(means[1].batch_size, 16U);
  EXPECT_EQ(means[1].wall_seconds, 12);
}

}  // namespace
}  // namespace assay::benchmark
