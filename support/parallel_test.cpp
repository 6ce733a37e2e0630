#include "support/parallel.hpp"

#include <atomic>
#include <vector>

#include <gtest/gtest.h>

namespace assay {
namespace {

TEST(Parallel, CallsFunctionOncePerIndex) {
  for (const unsigned jobs : {1U, 2U, 7U}) {
    std::vector<std::atomic<int>> done(100);
    for_each_index_in_parallel(done.size(), jobs, [&](std::size_t i) { ++done[i]; });
    for (const std::atomic<int>& times : done)
      EXPECT_EQ(times, 1) << jobs;
  }
  for_each_index_in_parallel(0, 2, [](std::size_t) { FAIL(); });
}

}  // namespace
}  // namespace assay
