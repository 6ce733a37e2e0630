#include "harness/causes/causes.hpp"

#include <string>

#include <gtest/gtest.h>

#include "harness/testing/kernel_text.hpp"

namespace assay::warp {
namespace {

GradientErrorCause cause_of_body(const std::string& body) {
  const harness::KernelSource source = harness::testing::kernel_of(
      "@wp.kernel\ndef kernel(x: wp.array(dtype=float), out: wp.array(dtype=float)):\n    i = wp.tid()\n" + body);
  return cause_of(*source.module, source.module->kernels[source.kernel_index]);
}

TEST(CauseOfGradientDifference, IsLoopIfKernelContainsDynamicLoop) {
  EXPECT_EQ(
      cause_of_body("    s = float(0.0)\n    for k in range(x.shape[0]):\n        s = s + x[k]\n    out[i] = s\n"),
      GradientErrorCause::kLoop);
  EXPECT_EQ(cause_of_body("    out[i] = x[i] + x[i]\n"), GradientErrorCause::kOther);
}

TEST(CauseOfGradientDifference, IgnoresLoopsInsideLibraryFunctions) {
  const std::string call =
      "    state = wp.rand_init(7, i)\n    v = wp.curlnoise(state, wp.vec2(x[i], 0.5), wp.uint32(2), "
      "2.0, x[i])\n    out[i] = v[0]\n";
  EXPECT_EQ(cause_of_body(call), GradientErrorCause::kCurlNoise);
}

TEST(CauseOfGradientDifference, IsTileFunctionOrTransposeOrScalarOfTile) {
  const std::string load = "    t = wp.tile_load(x, shape=4, offset=i * 4)\n";
  EXPECT_EQ(cause_of_body(load + "    out[i] = wp.tile_max(t)[0]\n"), GradientErrorCause::kTileFunction);
  EXPECT_EQ(cause_of_body(load + "    wp.tile_store(out, wp.tile_scan_inclusive(t), offset=i * 4)\n"),
            GradientErrorCause::kTileFunction);
  EXPECT_EQ(cause_of_body(load + "    out[i] = wp.tile_sum(t)[0]\n"), GradientErrorCause::kScalarOfTile);
  EXPECT_EQ(cause_of_body(load + "    wp.tile_store(out, t * 2.0, offset=i * 4)\n"), GradientErrorCause::kOther);
  EXPECT_EQ(cause_of_body(load + "    u = wp.tile_transpose(wp.tile_reshape(t, shape=(2, 2)))\n"
                                 "    wp.tile_store(out, wp.tile_reshape(u, shape=(4,)), offset=i * 4)\n"),
            GradientErrorCause::kTileTranspose);
  EXPECT_EQ(cause_of_body("    wp.tile_store(out, wp.tile_full(shape=4, value=x[i], dtype=float), offset=i * 4)\n"),
            GradientErrorCause::kTileFunction);
}

TEST(HasReplacedTiles, IsTrueForKindsOfTilesThatTheLanguageLacks) {
  const auto is_true_for = [](const std::string& body) {
    const harness::KernelSource source = harness::testing::kernel_of(
        "@wp.func\ndef sum_of_tile(a: float):\n    return wp.tile_reduce(wp.add, wp.tile(a, "
        "preserve_type=True))[0]\n\n\n"
        "@wp.kernel\ndef kernel(x: wp.array(dtype=float), v: wp.array(dtype=wp.vec2), m: wp.array2d(dtype=float)):\n"
        "    i = wp.tid()\n" +
        body);
    return has_replaced_tiles(*source.module, source.module->kernels[source.kernel_index]);
  };
  EXPECT_FALSE(is_true_for("    a = wp.zeros(shape=2, dtype=float)\n    a[1] = x[i]\n    x[i] = a[0] + a[1]\n"));
  EXPECT_FALSE(is_true_for("    t = wp.tile_load(x, shape=4, offset=4 * i)\n    wp.tile_store(x, t, offset=4 * i)\n"));
  EXPECT_TRUE(is_true_for("    t = wp.tile_load(v, shape=4, offset=4 * i)\n    wp.tile_store(v, t, offset=4 * i)\n"));
  EXPECT_TRUE(is_true_for("    s = wp.tile_stack(capacity=4, dtype=float)\n    wp.tile_stack_push(s, x[i], True)\n"));
  EXPECT_TRUE(is_true_for("    x[i] = sum_of_tile(x[i])\n"));
  EXPECT_TRUE(is_true_for("    t = wp.tile(x[i] * 2.0)\n    x[i] = wp.untile(t)\n"));
  EXPECT_TRUE(
      is_true_for("    a = wp.tile_load(m, shape=(2, 2))\n    y = wp.tile_load(x, shape=2, offset=2 * i)\n"
                  "    wp.tile_store(x, wp.tile_lower_solve(a, y), offset=2 * i)\n"));
}

}  // namespace
}  // namespace assay::warp
