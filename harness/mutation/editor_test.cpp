#include "harness/mutation/editor.hpp"

#include <gtest/gtest.h>

#include "ir/text.hpp"
#include "ir/verifier.hpp"

namespace assay::mutation {
namespace {

using namespace ir;

/// kernel k(x: array<f32,1>, n: i32; i): a loop that adds up, and a store.
struct Example {
  Module module;
  Example() {
    module.kernels.emplace_back();
    Function& kernel = module.kernels[0];
    kernel.name = "k";
    kernel.is_kernel = true;
    Builder b(module, kernel);
    const VarId x = b.parameter("x", kF32.array_of(1));
    const VarId n = b.parameter("n", kI32);
    const VarId i = b.thread_index("i");
    const VarId sum = b.let("sum", b.f32(0));
    b.for_("j", b.i32(0), b.var(n), b.i32(1), [&](VarId j) {
      const VarId t = b.let("t", b.load(x, {b.var(j)}));
      b.assign(sum, b.op(Op::kAdd, {b.var(sum), b.op(Op::kMul, {b.var(t), b.var(t)})}));
    });
    b.store(x, {b.var(i)}, b.var(sum));
  }
  Function& kernel() { return module.kernels[0]; }
  std::string text() const { return to_text(module); }
  bool is_valid() const { return verify(module).empty(); }
};

TEST(ProgramEditor, StatementsAndNodesAreNumberedInProgramOrder) {
  Example example;
  const std::vector<ListedStatement> statements = statements_of(example.kernel());
  ASSERT_EQ(statements.size(), 5U);
  EXPECT_TRUE(std::holds_alternative<For>(statements[1].statement->node));
  EXPECT_EQ(statements[3].parent, 1U);
  EXPECT_EQ(statements[4].parent, std::string::npos);
  const std::vector<ExpressionNode> nodes = nodes_of(example.kernel(), *statements[3].statement, 3);
  ASSERT_EQ(nodes.size(), 5U) << "add, sum, mul, t, t";
  EXPECT_EQ(nodes[3].parent, 2U);
  EXPECT_EQ(nodes[4].position.node, 4U);
}

TEST(ProgramEditor, ReplacesOnlyOneUseOfExpressionUsedTwice) {
  Example example;
  FunctionEditor edit(example.module, example.kernel());
  const ExpressionPosition factor{.statement = 3, .root = 0, .node = 4};
  edit.replace(factor, edit.make().f32(3));
  EXPECT_TRUE(example.is_valid());
  EXPECT_NE(example.text().find("sum = add(sum, mul(t, 3.0))"), std::string::npos) << example.text();
}

TEST(ProgramEditor, ErasesAndInsertsStatementsInABlock) {
  Example example;
  FunctionEditor edit(example.module, example.kernel());
  const Stmt addition = edit.at(3);
  edit.insert_after(3, addition);
  EXPECT_EQ(statements_of(example.kernel()).size(), 6U);
  edit.erase(3);
  edit.erase(3);
  EXPECT_TRUE(example.is_valid());
  EXPECT_EQ(example.text().find("sum = add"), std::string::npos);
}

TEST(ProgramEditor, MovesDeclarationOutOfLoop) {
  Example example;
  FunctionEditor edit(example.module, example.kernel());
  std::get<Let>(edit.at(2).node).value = kNone;
  ASSERT_TRUE(edit.hoist_out_of_loop(2));
  EXPECT_TRUE(example.is_valid());
  EXPECT_TRUE(std::holds_alternative<For>(edit.at(2).node));
  EXPECT_FALSE(edit.hoist_out_of_loop(0)) << "the statement is not in a loop";
}

}  // namespace
}  // namespace assay::mutation
