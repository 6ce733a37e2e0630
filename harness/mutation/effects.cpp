#include <algorithm>

#include "harness/mutation/analyses.hpp"
#include "ir/analysis.hpp"
#include "ir/visit.hpp"

namespace assay::mutation {

using namespace ir;

namespace {

/// The variable, or local array, that the statement assigns, if it does nothing else.
VarId sole_target(const Function& function, const Stmt& statement) {
  if (const auto* let = std::get_if<Let>(&statement.node)) return let->variable;
  if (const auto* assign = std::get_if<Assign>(&statement.node)) return assign->variable;
  const auto* store = std::get_if<Store>(&statement.node);
  if (store == nullptr) return kNone;
  const VarId array = function.expr(store->array).variable;
  return function.var(array).type.is_local_array() ? array : kNone;
}

bool only_holds_others(const Stmt& statement) {
  return std::holds_alternative<If>(statement.node) || std::holds_alternative<For>(statement.node) ||
         std::holds_alternative<While>(statement.node);
}

}  // namespace

std::vector<bool> find_effective_statements(const Function& function, const std::vector<ListedStatement>& statements,
                                            const std::vector<bool>& dead) {
  std::vector<bool> effective(statements.size(), false);
  std::vector<bool> wanted(function.variables.size(), false);
  const auto add = [&](std::size_t s) {
    effective[s] = true;
    const auto* store = std::get_if<Store>(&statements[s].statement->node);
    for (const ExprId root : roots_of(*statements[s].statement)) {
      // A store to an array does not read it.
      if (store != nullptr && root == store->array) continue;
      for (const VarId read : variables_read(function, root))
        wanted[static_cast<std::size_t>(read)] = true;
    }
  };
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t s = statements.size(); s-- > 0;) {
      if (dead[s] || effective[s]) continue;
      const VarId target = sole_target(function, *statements[s].statement);
      const bool holds = only_holds_others(*statements[s].statement);
      if (target != kNone ? !wanted[static_cast<std::size_t>(target)] : holds) continue;
      changed = true;
      // An if or loop that contains an effective statement is effective too.
      for (std::size_t at = s; at != std::string::npos && !effective[at]; at = statements[at].parent)
        add(at);
    }
  }
  return effective;
}

}  // namespace assay::mutation
