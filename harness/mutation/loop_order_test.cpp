#include "harness/mutation/loop_order.hpp"

#include <gtest/gtest.h>

#include "harness/testing/kernel_text.hpp"

namespace assay::mutation {
namespace {

/// By loop of the adjoint of the kernel with this body: whether its iterations may come in any order. The kernel has
/// arrays x, y of two dimensions and out of one, and an integer n from 0 to 9.
std::vector<bool> in_any_order(const std::string& body) {
  const ir::Module module = *harness::testing::kernel_of(
                                 "# domain: 0 <= n <= 9\n@wp.kernel\ndef k(x: wp.array2d(dtype=float), y: "
                                 "wp.array2d(dtype=float), n: int, out: wp.array(dtype=float)):\n    i = wp.tid()\n" +
                                 body)
                                 .module;
  const transforms::Adjoint adjoint = transforms::make_adjoint(module, module.kernels[0]).take();
  const Setting setting(adjoint, module.kernels[0]);
  std::vector<bool> found;
  for (const Listed& listed : setting.statements) {
    const auto* loop = std::get_if<ir::For>(&listed.statement->node);
    const bool reversed = loop != nullptr && setting.function.expr(loop->step).bits >> 63 != 0;
    if (reversed) found.push_back(may_run_in_any_order(setting, *loop));
  }
  return found;
}

TEST(LoopOrder, IsFreeWhereAllIterationsAreAlike) {
  EXPECT_EQ(in_any_order("    s = x[i, 0]\n    for j in range(n):\n        s = s * 0.5 + y[i, 0]\n    out[i] = s\n"),
            std::vector<bool>{true});
  EXPECT_EQ(in_any_order("    s = x[i, 0]\n    for j in range(n):\n        s = s * 0.5 + y[i, j]\n    out[i] = s\n"),
            std::vector<bool>{false})
      << "each contribution goes to another cell, and halves with each trip";
}

TEST(LoopOrder, IsFreeWhereEachIterationKeepsToItsSlice) {
  EXPECT_EQ(in_any_order("    for j in range(n):\n        x[i, j] = x[i, j] * 0.5 + y[i, j]\n    out[i] = 1.0\n"),
            std::vector<bool>{true});
  EXPECT_EQ(in_any_order("    for j in range(n):\n        x[i, j + 1] = x[i, j] * 0.5 + y[i, j]\n    out[i] = 1.0\n"),
            std::vector<bool>{false});
  EXPECT_EQ(in_any_order("    for j in range(n):\n        x[j, i] = x[i, j] * 0.5 + y[i, j]\n    out[i] = 1.0\n"),
            std::vector<bool>{false})
      << "the loop's variable stands in two dimensions";
}

TEST(LoopOrder, IsFreeWhereEachIterationKeepsToItsComponent) {
  const auto filled = [](const std::string& at) {
    return in_any_order("    v = wp.zeros(shape=(5,), dtype=float)\n    for j in range(4):\n        v[" + at +
                        "] = x[i, j]\n    out[i] = v[0] * v[1] + v[2] * v[3]\n");
  };
  EXPECT_EQ(filled("j"), std::vector<bool>{true});
  EXPECT_EQ(filled("j / 2"), std::vector<bool>{false}) << "the later of two writes to a component counts";
  EXPECT_EQ(in_any_order("    v = wp.zeros(shape=(5,), dtype=float)\n    for j in range(4):\n        v[j] = x[i, j] + "
                         "v[4]\n        v[4] = v[j]\n    out[i] = v[4]\n"),
            std::vector<bool>{false});
}

TEST(LoopOrder, IsFreeForSums) {
  EXPECT_EQ(in_any_order("    a = x[i, 0]\n    for j in range(n):\n        wp.atomic_add(out, 0, a * y[i, j])\n"),
            std::vector<bool>{true});
}

}  // namespace
}  // namespace assay::mutation
