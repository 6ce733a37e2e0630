// Checks the table of adjoint rules against the operation table.
#include "ir/transforms/rules.hpp"

#include <set>
#include <string>

#include <gtest/gtest.h>

#include "reference/cpu/testing/operation_samples.hpp"

namespace assay::transforms {
namespace {

using namespace ir;
using reference::testing::OracleFixture;
using reference::testing::Usage;

TEST(AdjointRules, ExistExactlyForDifferentiableOperations) {
  for (const OperationEntry& operation : kOperations) {
    if (is_lazy(operation.op)) continue;  // lowered to a branch before rules are applied
    const bool has_rule = rule_of(operation.op).term != nullptr;
    EXPECT_EQ(has_rule, operation.adjoint_kind == ir::AdjointKind::kHasRule) << operation.mnemonic;
  }
}

/// Calls every term of the rule with only the values that the rule declares to read. Using other values is a misuse of
/// the builder, which aborts. Returns the operation.
Op call_terms(const Usage& usage) {
  OracleFixture fixture;
  std::vector<ExprId> operands;
  for (std::size_t k = 0; k < usage.operands.size(); ++k)
    operands.push_back(fixture.var(fixture.b().let_zero("x", usage.operands[k])));
  Expr built = fixture.kernel().expr(usage.build(fixture, operands));
  // Usages on tiles end with another operation, which extracts a scalar.
  for (const Expr& made : fixture.kernel().expressions) {
    if (made.kind == ir::ExprKind::kOperation && made.op == usage.op) built = made;
  }
  const AdjointRule& rule = rule_of(built.op);
  if (rule.term == nullptr) return built.op;
  for (std::size_t k = 0; k < built.args.size(); ++k) {
    const Type type = fixture.b().type_of(built.args[k]);
    if (!type.has_float_components()) continue;
    const std::uint8_t mask = reads_of(rule, k);
    std::vector<ExprId> args;
    std::vector<Type> types;
    for (std::size_t other = 0; other < built.args.size(); ++other) {
      args.push_back(other < 3 && (mask >> other & 1U) != 0 ? built.args[other] : kNone);
      types.push_back(fixture.b().type_of(built.args[other]));
    }
    AdjointRuleContext context{.builder = fixture.b(),
                               .w = fixture.var(fixture.b().let_zero("w", built.type)),
                               .args = args,
                               .result = kNone,
                               .operand_types = types,
                               .index = built.index};
    if ((mask & kReadsResult) != 0) context.result = fixture.var(fixture.b().let_zero("y", built.type));
    const ExprId term = rule.term(context, static_cast<int>(k));
    EXPECT_EQ(fixture.b().type_of(term), type) << usage.name() << ", operand " << k;
  }
  return built.op;
}

TEST(AdjointRules, UseOnlyDeclaredValuesAndReturnOperandType) {
  for (const Scalar scalar : {Scalar::kF32, Scalar::kF64}) {
    std::set<Op> called;
    for (const Usage& usage : reference::testing::usages(scalar))
      called.insert(call_terms(usage));
    for (const OperationEntry& operation : kOperations) {
      if (operation.adjoint_kind != ir::AdjointKind::kHasRule || operation.op == Op::kWithField ||
          is_lazy(operation.op))
        continue;
      EXPECT_TRUE(called.contains(operation.op)) << operation.mnemonic;
    }
  }
}

}  // namespace
}  // namespace assay::transforms
