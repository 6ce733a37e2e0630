#include "harness/judge/thresholds.hpp"

#include <cmath>

#include <gtest/gtest.h>

#include "harness/testing/kernel_text.hpp"

namespace assay::harness {
namespace {

/// A kernel of x, a number n and out, its crossings, and what a launch gives x[0] and n.
class Crossed {
 public:
  explicit Crossed(const std::string& body)
      : source_(
            testing::kernel_of("# domain: -2 <= x <= 2\n# domain: 0 <= n <= 12\n@wp.kernel\ndef k(x: wp.array(dtype="
                               "float), n: int, out: wp.array(dtype=float)):\n    i = wp.tid()\n" +
                               body)),
        oracle_(reference::Oracle::make(*source_.module, source_.module->kernels[0]).take()) {
    InputSpace space = InputSpace::make(*source_.module, source_.module->kernels[0], oracle_).take();
    found = find_crossings(*source_.module, oracle_, space, 1, 8);
  }

  static double x(const ir::Launch& launch) {
    return ir::read_float(ir::Scalar::kF32, launch.arguments[0].bytes.data());
  }
  static std::int64_t n(const ir::Launch& launch) {
    return ir::read_integer(ir::Scalar::kI32, launch.arguments[1].bytes.data());
  }

  std::vector<Crossing> found;

 private:
  KernelSource source_;
  reference::Oracle oracle_;
};

TEST(Thresholds, OfFloatsAreStraddledClosely) {
  const Crossed crossed("    out[i] = 1.0\n    if x[i] * x[i] > 0.25:\n        out[i] = x[i]\n");
  ASSERT_EQ(crossed.found.size(), 2U);
  ASSERT_EQ(crossed.found[0].size(), std::size(kCloseness));
  for (std::size_t k = 0; k < std::size(kCloseness); ++k) {
    const double before = Crossed::x(crossed.found[0][k].before), behind = Crossed::x(crossed.found[0][k].behind);
    EXPECT_NE(before * before > 0.25, behind * behind > 0.25) << before << " " << behind;
    EXPECT_LE(std::abs(before - behind), std::ldexp(4, -kCloseness[k]));
  }
}

TEST(Thresholds, OfIntegersAreStraddledByNeighbours) {
  const Crossed crossed("    out[i] = 1.0\n    if n * 2 > 7:\n        out[i] = x[i]\n");
  ASSERT_EQ(crossed.found.size(), 2U);
  ASSERT_EQ(crossed.found[0].size(), 1U);
  const Straddle& straddle = crossed.found[0][0];
  EXPECT_EQ(Crossed::n(straddle.before) + Crossed::n(straddle.behind), 3 + 4);
  EXPECT_EQ(Crossed::x(straddle.before), Crossed::x(straddle.behind));
}

TEST(Thresholds, ThatNoInputCrossesAreLeftOut) {
  EXPECT_TRUE(Crossed("    out[i] = 1.0\n    if x[i] > 3.0:\n        out[i] = x[i]\n").found.empty());
  EXPECT_TRUE(Crossed("    out[i] = x[i]\n").found.empty());
}

}  // namespace
}  // namespace assay::harness
