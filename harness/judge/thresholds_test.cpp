#include "harness/judge/thresholds.hpp"

#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "harness/testing/kernel_text.hpp"

namespace assay::harness {
namespace {

/// A kernel of x, an integer n, a bool flag and out, its crossings, and the values of x[0], n and flag in a launch.
class Crossed {
 public:
  explicit Crossed(const std::string& body)
      : source_(
            testing::kernel_of("# domain: -2 <= x <= 2\n# domain: 0 <= n <= 12\n@wp.kernel\ndef k(x: wp.array(dtype="
                               "float), n: int, flag: bool, out: wp.array(dtype=float)):\n    i = wp.tid()\n" +
                               body)),
        oracle_(reference::Oracle::make(*source_.module, source_.module->kernels[0]).take()) {
    InputSpace space = InputSpace::make(*source_.module, source_.module->kernels[0], oracle_).take();
    found = find_threshold_crossings(*source_.module, oracle_, space, 1, 8);
  }

  static double x(const ir::Launch& launch) {
    return ir::read_float(ir::Scalar::kF32, launch.arguments[0].bytes.data());
  }
  static std::int64_t n(const ir::Launch& launch) {
    return ir::read_integer(ir::Scalar::kI32, launch.arguments[1].bytes.data());
  }
  static bool flag(const ir::Launch& launch) {
    return ir::read_integer(ir::Scalar::kBool, launch.arguments[2].bytes.data()) != 0;
  }

  std::vector<Crossing> found;

 private:
  KernelSource source_;
  reference::Oracle oracle_;
};

TEST(ThresholdSearch, BracketsFloatThresholdsClosely) {
  const Crossed crossed("    out[i] = 1.0\n    if x[i] * x[i] > 0.25:\n        out[i] = x[i]\n");
  ASSERT_EQ(crossed.found.size(), 2U);
  ASSERT_EQ(crossed.found[0].size(), std::size(kThresholdExponents));
  for (std::size_t k = 0; k < std::size(kThresholdExponents); ++k) {
    const double before = Crossed::x(crossed.found[0][k].before), after = Crossed::x(crossed.found[0][k].after);
    EXPECT_NE(before * before > 0.25, after * after > 0.25) << before << " " << after;
    EXPECT_LE(std::abs(before - after), std::ldexp(4, -kThresholdExponents[k]));
  }
}

TEST(ThresholdSearch, BracketsIntegerThresholdsWithAdjacentValues) {
  const Crossed crossed("    out[i] = 1.0\n    if n * 2 > 7:\n        out[i] = x[i]\n");
  ASSERT_EQ(crossed.found.size(), 2U);
  ASSERT_EQ(crossed.found[0].size(), 1U);
  const ThresholdPair& pair = crossed.found[0][0];
  EXPECT_EQ(Crossed::n(pair.before) + Crossed::n(pair.after), 3 + 4);
  EXPECT_EQ(Crossed::x(pair.before), Crossed::x(pair.after));
}

TEST(ThresholdSearch, MovesTheIntegersOfOneParameter) {
  // If both integers move, the condition changes where the kernel reads another element, far from the threshold.
  const KernelSource source = testing::kernel_of(R"(
# domain: 0 <= place < 3
# domain: -9 <= k <= 9
@wp.kernel
def f(k: wp.array(dtype=int), place: int, out: wp.array(dtype=int)):
    i = wp.tid()
    if k[place] > 2:
        out[i] = 1
)");
  const reference::Oracle oracle = reference::Oracle::make(*source.module, source.module->kernels[0]).take();
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    InputSpace space = InputSpace::make(*source.module, source.module->kernels[0], oracle).take();
    const std::vector<Crossing> found = find_threshold_crossings(*source.module, oracle, space, seed, 8);
    const auto element = [](const ir::Launch& launch) {
      const std::int64_t place = ir::read_integer(ir::Scalar::kI32, launch.arguments[1].bytes.data());
      return ir::read_integer(ir::Scalar::kI32, launch.arguments[0].bytes.data() + 4 * place);
    };
    EXPECT_TRUE(std::ranges::any_of(
        found,
        [&](const Crossing& crossing) { return element(crossing[0].before) + element(crossing[0].after) == 2 + 3; }))
        << "seed " << seed;
  }
}

TEST(ThresholdSearch, DrawsMoreInputsIfAChoiceDiffersOnlyInOtherLaunches) {
  const KernelSource source = testing::kernel_of(R"(
# domain: 0 <= k <= 9999
@wp.kernel
def f(k: wp.array(dtype=int), out: wp.array(dtype=int)):
    i = wp.tid()
    if k[i] > 700:
        out[i] = 1
)");
  const reference::Oracle oracle = reference::Oracle::make(*source.module, source.module->kernels[0]).take();
  const std::vector<reference::BranchPoint> both{{.branch_counts = {9, 1}}};
  int found = 0;
  int found_with_more = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    InputSpace space = InputSpace::make(*source.module, source.module->kernels[0], oracle).take();
    found += find_threshold_crossings(*source.module, oracle, space, seed, 1).empty() ? 0 : 1;
    found_with_more += find_threshold_crossings(*source.module, oracle, space, seed, 1, both).empty() ? 0 : 1;
  }
  EXPECT_LT(found, found_with_more);
}

TEST(ThresholdSearch, FindsBothValuesOfABool) {
  const Crossed crossed("    out[i] = 1.0\n    if flag:\n        out[i] = x[i]\n");
  ASSERT_EQ(crossed.found.size(), 2U);
  const ThresholdPair& pair = crossed.found[0].front();
  EXPECT_NE(Crossed::flag(pair.before), Crossed::flag(pair.after));
  EXPECT_EQ(Crossed::x(pair.before), Crossed::x(pair.after));
}

TEST(ThresholdSearch, CrossesEachComparisonOfACondition) {
  const Crossed crossed(
      "    inside = x[i] > -1.0 and x[i] < 0.5\n    out[i] = 1.0\n    if inside:\n        out[i] = x[i]\n");
  const auto crosses = [&](double threshold) {
    return std::ranges::any_of(crossed.found, [&](const Crossing& crossing) {
      return std::abs(Crossed::x(crossing.front().before) - threshold) < 1e-4;
    });
  };
  EXPECT_TRUE(crosses(-1.0));
  EXPECT_TRUE(crosses(0.5));
}

TEST(ThresholdSearch, OmitsThresholdsThatNoInputCrosses) {
  EXPECT_TRUE(Crossed("    out[i] = 1.0\n    if x[i] > 3.0:\n        out[i] = x[i]\n").found.empty());
  EXPECT_TRUE(Crossed("    out[i] = x[i]\n").found.empty());
}

/// The crossings of the only kernel in a source.
std::vector<Crossing> crossings_of(const std::string& text) {
  const KernelSource source = testing::kernel_of(text);
  const reference::Oracle oracle = reference::Oracle::make(*source.module, source.module->kernels[0]).take();
  InputSpace space = InputSpace::make(*source.module, source.module->kernels[0], oracle).take();
  return find_threshold_crossings(*source.module, oracle, space, 1, 8);
}

/// The float with this number in the first array of a launch.
double float_of(const ir::Launch& launch, std::size_t number) {
  return ir::read_float(ir::Scalar::kF32, launch.arguments[0].bytes.data() + 4 * number);
}

TEST(ThresholdSearch, BracketsThresholdsOfConversionsToIntegers) {
  const std::vector<Crossing> found = crossings_of(R"(
# domain: 0 <= x <= 1
@wp.kernel
def f(x: wp.array(dtype=float), out: wp.array(dtype=int)):
    i = wp.tid()
    out[i] = int(3.0 * x[i])
)");
  ASSERT_FALSE(found.empty());
  for (const Crossing& crossing : found) {
    const double before = float_of(crossing[0].before, 0), after = float_of(crossing[0].after, 0);
    EXPECT_NE(std::trunc(3 * before), std::trunc(3 * after));
    EXPECT_LE(std::abs(before - after), std::ldexp(1, -kThresholdExponents[0]));
  }
}

TEST(ThresholdSearch, BracketsThresholdsOfLengthsWithParallelVectors) {
  const std::vector<Crossing> found = crossings_of(R"(
@wp.kernel
def f(x: wp.array(dtype=wp.vec2), out: wp.array(dtype=float)):
    i = wp.tid()
    out[i] = 1.0
    if wp.length(x[i]) > 1.0:
        out[i] = x[i][0]
)");
  EXPECT_TRUE(std::ranges::any_of(found, [](const Crossing& crossing) {
    const ThresholdPair& widest = crossing.back();
    const double ax = float_of(widest.before, 0), ay = float_of(widest.before, 1);
    const double bx = float_of(widest.after, 0), by = float_of(widest.after, 1);
    return std::abs(ax * by - ay * bx) < 1e-6 && std::hypot(bx - ax, by - ay) > 1e-6;
  }));
}

TEST(ThresholdSearch, KeepsFloatsInTheirDomain) {
  const std::vector<Crossing> found = crossings_of(R"(
# domain: 1 <= x <= 2
@wp.kernel
def f(x: wp.array(dtype=float), out: wp.array(dtype=float)):
    i = wp.tid()
    out[i] = 1.0
    if x[i] > 1.5 or x[i] < 0.5:
        out[i] = x[i]
)");
  ASSERT_FALSE(found.empty());
  for (const Crossing& crossing : found) {
    for (const ThresholdPair& pair : crossing) {
      EXPECT_GE(float_of(pair.before, 0), 1);
      EXPECT_GE(float_of(pair.after, 0), 1);
    }
  }
}

}  // namespace
}  // namespace assay::harness
