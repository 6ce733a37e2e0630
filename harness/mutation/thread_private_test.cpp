#include <gtest/gtest.h>

#include "harness/mutation/analyses.hpp"
#include "harness/testing/kernel_text.hpp"

namespace assay::mutation {
namespace {

/// By addition to grad_x or grad_z in the adjoint of the kernel with this body: whether its elements are
/// thread-private. The kernel has one-dimensional arrays x and out, a two-dimensional array z, and an integer n.
std::vector<bool> private_elements(const std::string& body, const std::string& precondition = "") {
  const ir::Module module = *harness::testing::kernel_of(
                                 precondition +
                                 "@wp.kernel\ndef k(x: wp.array(dtype=float), z: wp.array2d(dtype=float), n: int, out: "
                                 "wp.array(dtype=float)):\n" +
                                 body)
                                 .module;
  const transforms::AdjointModule adjoint = transforms::make_adjoint(module, module.kernels[0]).take();
  const MutationContext context(adjoint, module.kernels[0]);
  std::vector<bool> found;
  for (std::size_t s = 0; s < context.statements.size(); ++s) {
    const auto* atomic = std::get_if<ir::Atomic>(&context.statements[s].statement->node);
    if (atomic == nullptr) continue;
    const ir::VarId array = context.function.expr(atomic->array).variable;
    if (context.function.var(array).name == "grad_x" || context.function.var(array).name == "grad_z")
      found.push_back(adds_to_private_element(context, s));
  }
  return found;
}

using Found = std::vector<bool>;

TEST(ThreadPrivateAccess, RequiresDistinctIndexPerThread) {
  EXPECT_EQ(private_elements("    i = wp.tid()\n    out[i] = x[i]\n"), Found{true});
  EXPECT_EQ(private_elements("    i = wp.tid()\n    out[i] = x[3 + i * 2]\n"), Found{true});
  EXPECT_EQ(private_elements("    i = wp.tid()\n    out[i] = x[3 - i * 2]\n"), Found{false})
      << "an index below zero counts from the end";
  EXPECT_EQ(private_elements("    i = wp.tid()\n    out[i] = x[n]\n"), Found{false});
  EXPECT_EQ(private_elements("    i = wp.tid()\n    out[i] = x[i + 2 * n]\n"), Found{false})
      << "n may be negative, so that indices wrap";
  EXPECT_EQ(private_elements("    i = wp.tid()\n    m = n\n    if i > 3:\n        m = 0\n    out[i] = x[i + m]\n"),
            Found{false});
  EXPECT_EQ(private_elements("    i = wp.tid()\n    out[i] = x[i / 2]\n"), Found{false});
}

TEST(ThreadPrivateAccess, IsExcludedIfAnotherThreadMayAccessSameElement) {
  EXPECT_EQ(private_elements("    i = wp.tid()\n    out[i] = x[2 * i] * x[2 * i + 1]\n"), (Found{true, true}));
  EXPECT_EQ(private_elements("    i = wp.tid()\n    out[i] = x[i] * x[i + 1]\n"), (Found{false, false}));
  EXPECT_EQ(private_elements("    i = wp.tid()\n    out[i] = x[2 * i] * x[2 * i + 4]\n"), (Found{false, false}));
  EXPECT_EQ(private_elements("    i = wp.tid()\n    out[i] = x[i] * x[i + 4]\n", "# launch: (4)\n"),
            (Found{true, true}));
  EXPECT_EQ(private_elements("    i = wp.tid()\n    out[i] = x[i] * x[i + 4]\n", "# launch: (5)\n"),
            (Found{false, false}));
}

TEST(ThreadPrivateAccess, FollowsLoopsThatStartAtTheThreadIndex) {
  const auto strided = [](const std::string& range) {
    return private_elements(
        "    i = wp.tid()\n    s = float(0.0)\n    for k in range(" + range + "):\n        s += x[k]\n    out[i] = s\n",
        "# launch: (5)\n");
  };
  EXPECT_EQ(strided("i, n, 5"), Found{true});
  EXPECT_EQ(strided("i + 3, n, 6"), Found{true});
  EXPECT_EQ(strided("i, n, 4"), Found{false});
  EXPECT_EQ(strided("i, n"), Found{false});
  EXPECT_EQ(strided("n, 100, 5"), Found{false});
}

TEST(ThreadPrivateAccess, RequiresStrideOfAtLeastTheThreadCount) {
  const auto strided = [](const std::string& step) {
    return private_elements("    i = wp.tid()\n    s = float(0.0)\n    for j in range(n):\n        s += x[i + j * " +
                                step + "]\n    out[i] = s\n",
                            "# launch: (5)\n");
  };
  EXPECT_EQ(strided("5"), Found{true});
  EXPECT_EQ(strided("4"), Found{false}) << "the fifth thread accesses elements of the first";
}

TEST(ThreadPrivateAccess, RequiresIndexFromEveryThreadDimension) {
  EXPECT_EQ(private_elements("    i, j = wp.tid()\n    wp.atomic_add(out, 0, z[i, j])\n"), Found{true});
  EXPECT_EQ(private_elements("    i, j = wp.tid()\n    wp.atomic_add(out, 0, z[i, i])\n"), Found{false});
  EXPECT_EQ(private_elements("    i, j = wp.tid()\n    wp.atomic_add(out, 0, x[i + j])\n"), Found{false});
}

TEST(ThreadPrivateAccess, BoundsUnknownPartsByRangesOfLoops) {
  const auto looped = [](const std::string& step) {
    return private_elements("    i = wp.tid()\n    s = float(0.0)\n    for j in range(3):\n        s += x[i * " + step +
                            " + j]\n    out[i] = s\n");
  };
  EXPECT_EQ(looped("3"), Found{true});
  EXPECT_EQ(looped("2"), Found{false}) << "the last iteration accesses the first element of the next thread";
}

TEST(ThreadPrivateAccess, RequiresIndexThatIsNotNegativeIfItMayWrap) {
  EXPECT_EQ(private_elements("    i = wp.tid()\n    out[i] = x[i + 1 - 1]\n"), Found{true});
  EXPECT_EQ(private_elements("    i = wp.tid()\n    out[i] = x[i - 1]\n"), Found{false});
}

TEST(ThreadPrivateAccess, UsesIndexThatIsAssignedInSameBranch) {
  const std::string head = "    i = wp.tid()\n    j = int(0)\n    if n > 1:\n        j = i * 2\n";
  EXPECT_EQ(private_elements(head + "        out[i] = x[j]\n"), Found{true});
  EXPECT_EQ(private_elements(head + "    out[i] = x[j]\n"), Found{false}) << "all threads may access x[0]";
}

TEST(ThreadPrivateAccess, RequiresNonOverlappingTiles) {
  const auto tiled = [](const std::string& step) {
    return private_elements("    i = wp.tid()\n    t = wp.tile_load(x, shape=5, offset=i * " + step +
                            ")\n    wp.tile_store(out, t * t, offset=i * 5)\n");
  };
  EXPECT_EQ(tiled("5"), Found{true});
  EXPECT_EQ(tiled("4"), Found{false});
  EXPECT_EQ(
      private_elements("    i = wp.tid()\n    t = wp.tile_load(x, shape=5, offset=i * 9)\n    s = wp.tile_load(x, "
                       "shape=5, offset=i * 9 + 1)\n    wp.tile_store(out, t * s, offset=i * 5)\n"),
      (Found{false, false}))
      << "an element belongs to another thread in the other tile";
}

TEST(ThreadPrivateAccess, OneThreadOfBlockAccessesSingleElements) {
  const std::string head = "    i = wp.tid()\n    t = wp.tile_ones(shape=4, dtype=float) * ";
  EXPECT_EQ(private_elements(head + "x[i]\n    wp.tile_store(out, t, offset=i * 4)\n"), Found{true});
  EXPECT_EQ(private_elements(head + "x[n]\n    wp.tile_store(out, t, offset=i * 4)\n"), Found{false});
}

}  // namespace
}  // namespace assay::mutation
