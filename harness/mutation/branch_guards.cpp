#include "harness/mutation/branch_guards.hpp"

#include "ir/visit.hpp"

namespace assay::mutation {

using namespace ir;

namespace {

void list_guards(const Function& function, const Block& block, const BranchGuards& guards,
                 std::vector<BranchGuards>& found) {
  for (const Stmt& statement : block.statements) {
    found.push_back(guards);
    const VarId own_guard = kNone - static_cast<VarId>(found.size());
    const auto list_inner = [&](VarId decided_by, bool value, const Block& inner) {
      BranchGuards inner_guards = guards;
      inner_guards.emplace(decided_by, value);
      list_guards(function, inner, inner_guards, found);
    };
    if (const auto* branch = std::get_if<If>(&statement.node)) {
      const Expr& condition = function.expr(branch->condition);
      const VarId decided_by = condition.kind == ExprKind::kVariable ? condition.variable : own_guard;
      list_inner(decided_by, true, branch->then_block);
      list_inner(decided_by, false, branch->else_block);
    } else {
      for_each_child_block(statement, [&](const Block& inner) { list_inner(own_guard, true, inner); });
    }
  }
}

}  // namespace

std::vector<BranchGuards> guards_of(const Function& function, const Block& block) {
  std::vector<BranchGuards> found;
  list_guards(function, block, {}, found);
  return found;
}

}  // namespace assay::mutation
