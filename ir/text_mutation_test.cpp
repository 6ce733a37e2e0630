#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "ir/testing/exercise.hpp"
#include "ir/testing/mutation.hpp"
#include "ir/testing/programs.hpp"

namespace assay::ir {
namespace {

TEST(TextFormParser, DoesNotCrashOnMutatedText) {
  constexpr int kTexts = 4000;
  Rng rng(fnv1a("text mutation 1"));
  int valid = 0;
  for (int i = 0; i < kTexts; ++i) {
    std::string text(testing::kEverything);
    for (int changes = rng.uniform_int(1, 3); changes > 0; --changes)
      text = testing::mutated(std::move(text), rng);
    valid += testing::exercise_text(text) ? 1 : 0;
  }
  // Both outcomes must occur.
  EXPECT_GT(valid, kTexts / 50);
  EXPECT_LT(valid, kTexts / 2);
}

TEST(TextFormParser, DoesNotCrashOnArbitraryBytes) {
  Rng rng(fnv1a("bytes"));
  for (int i = 0; i < 1000; ++i) {
    std::string bytes(rng.uniform_int<std::size_t>(0, 64), '\0');
    for (char& byte : bytes)
      byte = static_cast<char>(rng.uniform_int(0, 255));
    testing::exercise_text(bytes);
  }
}

}  // namespace
}  // namespace assay::ir
