#include <gtest/gtest.h>

#include "harness/mutation/analyses.hpp"
#include "harness/testing/kernel_text.hpp"

namespace assay::mutation {
namespace {

/// By loop of the adjoint of the kernel with this body: whether its iterations may run in any order. The kernel has
/// two-dimensional arrays x and y, a one-dimensional array out, and an integer n from 0 to 9.
std::vector<bool> order_independent(const std::string& body) {
  const ir::Module module = *harness::testing::kernel_of(
                                 "# domain: 0 <= n <= 9\n@wp.kernel\ndef k(x: wp.array2d(dtype=float), y: "
                                 "wp.array2d(dtype=float), n: int, out: wp.array(dtype=float)):\n    i = wp.tid()\n" +
                                 body)
                                 .module;
  const transforms::AdjointModule adjoint = transforms::make_adjoint(module, module.kernels[0]).take();
  const MutationContext context(adjoint, module.kernels[0]);
  std::vector<bool> found;
  for (const ListedStatement& listed : context.statements) {
    const auto* loop = std::get_if<ir::For>(&listed.statement->node);
    const bool reversed = loop != nullptr && context.function.expr(loop->step).bits >> 63 != 0;
    if (reversed) found.push_back(is_order_independent(context, *loop));
  }
  return found;
}

TEST(LoopOrder, DoesNotMatterIfIterationsAreIdentical) {
  EXPECT_EQ(
      order_independent("    s = x[i, 0]\n    for j in range(n):\n        s = s * 0.5 + y[i, 0]\n    out[i] = s\n"),
      std::vector<bool>{true});
  EXPECT_EQ(
      order_independent("    s = x[i, 0]\n    for j in range(n):\n        s = s * 0.5 + y[i, j]\n    out[i] = s\n"),
      std::vector<bool>{false})
      << "each contribution goes to another element, and halves with each trip";
}

TEST(LoopOrder, DoesNotMatterIfIterationsAccessDifferentSlices) {
  EXPECT_EQ(order_independent("    for j in range(n):\n        x[i, j] = x[i, j] * 0.5 + y[i, j]\n    out[i] = 1.0\n"),
            std::vector<bool>{true});
  EXPECT_EQ(
      order_independent("    for j in range(n):\n        x[i, j + 1] = x[i, j] * 0.5 + y[i, j]\n    out[i] = 1.0\n"),
      std::vector<bool>{false});
  EXPECT_EQ(order_independent("    for j in range(n):\n        x[j, i] = x[i, j] * 0.5 + y[i, j]\n    out[i] = 1.0\n"),
            std::vector<bool>{false})
      << "the loop variable indexes two dimensions";
}

TEST(LoopOrder, DoesNotMatterIfIterationsAccessDifferentComponents) {
  const auto filled = [](const std::string& at) {
    return order_independent("    v = wp.zeros(shape=(5,), dtype=float)\n    for j in range(4):\n        v[" + at +
                             "] = x[i, j]\n    out[i] = v[0] * v[1] + v[2] * v[3]\n");
  };
  EXPECT_EQ(filled("j"), std::vector<bool>{true});
  EXPECT_EQ(filled("j / 2"), std::vector<bool>{false}) << "the last of two writes to a component determines its value";
  EXPECT_EQ(
      order_independent("    v = wp.zeros(shape=(5,), dtype=float)\n    for j in range(4):\n        v[j] = x[i, j] + "
                        "v[4]\n        v[4] = v[j]\n    out[i] = v[4]\n"),
      std::vector<bool>{false});
}

TEST(LoopOrder, DoesNotMatterIfIndicesAreLinearInTheLoopVariable) {
  const auto stored = [](const std::string& to, const std::string& from) {
    return order_independent("    k = n - 1\n    for j in range(n):\n        x[i, " + to + "] = x[i, " + from +
                             "] * 0.5 + y[i, j]\n    out[i] = 1.0\n");
  };
  EXPECT_EQ(stored("2 * j + k", "k + j * 2"), std::vector<bool>{true});
  EXPECT_EQ(stored("2 * j + k", "2 * j + n"), std::vector<bool>{true}) << "each iteration has two elements of its own";
  EXPECT_EQ(stored("2 * j + k", "2 * j + k + 2"), std::vector<bool>{false})
      << "the next iteration writes what one reads";
  EXPECT_EQ(stored("2 * j + k", "j + k"), std::vector<bool>{false});
  EXPECT_EQ(stored("j * k", "j * k"), std::vector<bool>{false}) << "k may be zero";
  EXPECT_EQ(stored("0 * j", "0 * j"), std::vector<bool>{false});
}

TEST(LoopOrder, DoesNotMatterIfIterationsUseDifferentPartsInInnerLoops) {
  const auto filled = [](const std::string& at) {
    return order_independent(
        "    v = wp.zeros(shape=(16,), dtype=float)\n    for j in range(4):\n        for k in range(3):\n"
        "            v[" +
        at + "] = x[j, k]\n    out[i] = v[0] * v[1] + v[2] * v[3]\n");
  };
  EXPECT_EQ(filled("j * 3 + k"), (std::vector<bool>{true, true}));
  EXPECT_EQ(filled("j + 4 * k"), (std::vector<bool>{true, true})) << "each iteration has another remainder";
  EXPECT_EQ(filled("j + 3 * k"), (std::vector<bool>{false, true})) << "3 + 3 * 0 is 0 + 3 * 1";
  EXPECT_EQ(filled("j * 2 + k"), (std::vector<bool>{false, true}));
  EXPECT_EQ(filled("j"), (std::vector<bool>{true, false}));
}

TEST(LoopOrder, DoesNotMatterIfAnIndexIsAssignedInTheBranchThatUsesIt) {
  const auto stored = [](const std::string& use) {
    return order_independent(
        "    for j in range(n):\n        place = int(0)\n        if y[i, j] > 0.0:\n            place = j + 1\n" + use +
        "    out[i] = 1.0\n");
  };
  EXPECT_EQ(stored("            x[i, place] = x[i, place] * 0.5\n"), std::vector<bool>{true});
  EXPECT_EQ(stored("        x[i, place] = x[i, place] * 0.5\n"), std::vector<bool>{false})
      << "several iterations may use place 0";
}

TEST(LoopOrder, DoesNotMatterIfTheNumberOfInnerIterationsIsLimitedByTheLoopVariable) {
  const auto filled = [](const std::string& stop) {
    return order_independent(
        "    v = wp.zeros(shape=(16,), dtype=float)\n    for j in range(4):\n        for k in range(" + stop +
        "):\n            v[j * 4 + k] = x[j, k]\n    out[i] = v[0] * v[1] + v[2] * v[3]\n");
  };
  EXPECT_EQ(filled("j + 1"), (std::vector<bool>{true, true}));
  EXPECT_EQ(filled("j + 2"), (std::vector<bool>{false, true})) << "five numbers in the last iteration";
  EXPECT_EQ(filled("n"), (std::vector<bool>{false, true}));
}

TEST(LoopOrder, DoesNotMatterIfNestedLoopsOnlyPassOnAnAdjoint) {
  EXPECT_EQ(order_independent("    s = float(0.0)\n    for j in range(n):\n        for k in range(n):\n"
                              "            s += y[i, k] * y[i, j]\n            x[j, k] = 0.5 * x[j, k]\n"
                              "    out[i] = s * s\n"),
            (std::vector<bool>{true, true}));
}

TEST(LoopOrder, MattersIfALoopThatAssignsTheIndexMayBeSkipped) {
  EXPECT_EQ(order_independent(
                "    for j in range(n):\n        place = int(0)\n        for k in range(n - 3):\n            place = "
                "j + 1\n        x[i, place] = x[i, place] * 0.5\n    out[i] = 1.0\n"),
            std::vector<bool>{false});
}

// The adjoints of loops that only add run forward. Here, a store prevents this.
TEST(LoopOrder, DoesNotMatterForSumsInComponents) {
  EXPECT_EQ(
      order_independent("    v = wp.vec2(x[i, 0], x[i, 1])\n    s = float(0.0)\n    for j in range(n):\n        s += "
                        "v[1] * v[1] * y[i, j]\n        x[i, j + 2] = 0.5\n    out[i] = s\n"),
      std::vector<bool>{true});
}

TEST(LoopOrder, DoesNotMatterForAtomicSums) {
  EXPECT_EQ(order_independent("    a = x[i, 0]\n    for j in range(n):\n        wp.atomic_add(out, 0, a * y[i, j])\n"
                              "        x[i, j + 2] = 0.5\n"),
            std::vector<bool>{true});
}

}  // namespace
}  // namespace assay::mutation
