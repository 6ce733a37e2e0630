#include "ir/program_key.hpp"

#include "ir/visit.hpp"
#include "support/hash.hpp"

namespace assay::ir {

std::uint64_t program_key(const Function& function) {
  std::uint64_t key = kFnv1aBasis;
  const auto add = [&](std::uint64_t value) { key = (key ^ value) * 0x9e3779b97f4a7c15U; };
  for_each_statement(function.body, [&](const Stmt& statement) {
    add(statement.node.index());
    for_each_root_expression(statement, [&](const ExprId& root) {
      for_each_expression(function, root, [&](ExprId, const Expr& expr) {
        add(static_cast<std::uint64_t>(expr.kind));
        if (expr.kind == ExprKind::kOperation) add(static_cast<std::uint64_t>(expr.op));
        if (expr.kind == ExprKind::kLiteral) add(expr.bits);
      });
    });
  });
  return key >> 20U;  // the low bits of a product depend only on the low bits of its factors
}

}  // namespace assay::ir
