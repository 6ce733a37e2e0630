// Steps that remove statements. A step visits nested blocks first, so that its places do not depend on the choices.
#include <map>
#include <utility>
#include <variant>
#include <vector>

#include "harness/reduce/rewrite.hpp"
#include "harness/reduce/step.hpp"
#include "ir/analysis.hpp"
#include "ir/builder.hpp"
#include "ir/visit.hpp"

namespace assay::reduce {
namespace {

using namespace ir;

/// Replaces each statement by the result of `change`, inner blocks first.
void rebuild(Block& block, const std::function<std::vector<Stmt>(Stmt)>& change) {
  std::vector<Stmt> changed;
  for (Stmt& statement : block.statements) {
    for_each_child_block(statement, [&](Block& inner) { rebuild(inner, change); });
    for (Stmt& made : change(std::move(statement)))
      changed.push_back(std::move(made));
  }
  block.statements = std::move(changed);
}

std::vector<Stmt> only(Stmt statement) {
  std::vector<Stmt> statements;
  statements.push_back(std::move(statement));
  return statements;
}

void rebuild_all(Module& module, const std::function<std::vector<Stmt>(Function&, Stmt)>& change) {
  for (Function* function : written_functions(module))
    rebuild(function->body, [&](Stmt statement) { return change(*function, std::move(statement)); });
}

bool returns_values(const Stmt& statement) {
  const auto* node = std::get_if<Return>(&statement.node);
  return node != nullptr && !node->values.empty();
}

/// How often each variable is read, and whether it is assigned.
struct Uses {
  std::vector<int> reads;
  std::vector<bool> assigned;
};

Uses uses_in(const Function& function) {
  Uses uses{.reads = std::vector<int>(function.variables.size()),
            .assigned = std::vector<bool>(function.variables.size())};
  for (const Expr& expr : function.expressions)
    if (expr.kind == ExprKind::kVariable) ++uses.reads[static_cast<std::size_t>(expr.variable)];
  for (const VarId variable : assigned_variables(function.body))
    uses.assigned[static_cast<std::size_t>(variable)] = true;
  return uses;
}

/// Larger expressions are not duplicated.
constexpr int kShort = 4;

int nodes_of(const Function& function, ExprId root) {
  int nodes = 0;
  for_each_expression(function, root, [&](ExprId, const Expr&) { ++nodes; });
  return nodes;
}

bool calls(const Function& function, ExprId root) {
  bool found = false;
  for_each_expression(function, root, [&](ExprId, const Expr& expr) { found |= expr.kind == ExprKind::kCall; });
  return found;
}

void put_in_place_of(Function& function, VarId variable, ExprId value) {
  for (ExprId id = 0; id < static_cast<ExprId>(function.expressions.size()); ++id) {
    if (function.expr(id).kind == ExprKind::kVariable && function.expr(id).variable == variable)
      replace(function, id, value);
  }
}

/// The return statement of a function that has no other statement.
const Return* only_return(const Function& callee) {
  if (!is_written(callee) || callee.body.statements.size() != 1) return nullptr;
  return std::get_if<Return>(&callee.body.statements.front().node);
}

/// Copies the callee's expression to the caller, replacing parameters by arguments.
ExprId copied(const Function& callee, ExprId root, Function& caller, const std::vector<ExprId>& args) {
  Expr expr = callee.expr(root);
  if (expr.kind == ExprKind::kVariable) return args[static_cast<std::size_t>(expr.variable)];
  for (ExprId& arg : expr.args)
    arg = copied(callee, arg, caller, args);
  caller.expressions.push_back(std::move(expr));
  return static_cast<ExprId>(caller.expressions.size()) - 1;
}

/// Whether inlining stays short: an argument is duplicated for each use of the parameter in the callee.
bool stays_short(const Function& callee, const Function& caller, const std::vector<ExprId>& args) {
  const Uses uses = uses_in(callee);
  for (std::size_t p = 0; p < args.size(); ++p)
    if (uses.reads[p] > 1 && nodes_of(caller, args[p]) > kShort) return false;
  return true;
}

void inline_call_statements(Module& module, const Choose& choose) {
  rebuild_all(module, [&](Function& function, Stmt statement) {
    const auto* call = std::get_if<Call>(&statement.node);
    const Function* callee = call == nullptr ? nullptr : &module.functions[static_cast<std::size_t>(call->function)];
    const Return* result = callee == nullptr ? nullptr : only_return(*callee);
    if (result == nullptr || !stays_short(*callee, function, call->args) || !choose())
      return only(std::move(statement));
    std::vector<Stmt> lets;
    for (std::size_t r = 0; r < call->results.size(); ++r) {
      const ExprId value = copied(*callee, result->values[r], function, call->args);
      lets.push_back({.node = Let{.variable = call->results[r], .value = value}, .loc = statement.loc});
    }
    return lets;
  });
}

}  // namespace

void drop_stores_and_atomics(Module& module, const Choose& choose) {
  rebuild_all(module, [&](Function&, Stmt statement) {
    const bool has_effect =
        std::holds_alternative<Store>(statement.node) || std::holds_alternative<Atomic>(statement.node);
    return has_effect && choose() ? std::vector<Stmt>{} : only(std::move(statement));
  });
}

void drop_statements(Module& module, const Choose& choose) {
  rebuild_all(module, [&](Function&, Stmt statement) {
    const bool dropped = !returns_values(statement) && choose();
    return dropped ? std::vector<Stmt>{} : only(std::move(statement));
  });
}

void take_branches(Module& module, const Choose& choose) {
  rebuild_all(module, [&](Function&, Stmt statement) {
    auto* choice = std::get_if<If>(&statement.node);
    if (choice == nullptr) return only(std::move(statement));
    const bool takes_then = choose();
    const bool takes_else = choose();
    if (takes_then) return std::move(choice->then_block.statements);
    if (takes_else) return std::move(choice->else_block.statements);
    return only(std::move(statement));
  });
}

void unwrap_loops(Module& module, const Choose& choose) {
  rebuild_all(module, [&](Function&, Stmt statement) {
    if (auto* loop = std::get_if<For>(&statement.node); loop != nullptr && choose()) {
      std::vector<Stmt> body =
          only({.node = Let{.variable = loop->variable, .value = loop->start}, .loc = statement.loc});
      for (Stmt& inner : loop->body.statements)
        body.push_back(std::move(inner));
      return body;
    }
    if (auto* loop = std::get_if<While>(&statement.node); loop != nullptr && choose())
      return std::move(loop->body.statements);
    return only(std::move(statement));
  });
}

void shorten_loops(Module& module, const Choose& choose) {
  rebuild_all(module, [&](Function& function, Stmt statement) {
    auto* loop = std::get_if<For>(&statement.node);
    if (loop == nullptr) return only(std::move(statement));
    const bool once = choose();
    const bool twice = choose();
    if (!once && !twice) return only(std::move(statement));
    Builder b(module, function);
    const Type type = function.var(loop->variable).type;
    loop->start = b.literal(type, std::int64_t{0});
    loop->stop = b.literal(type, std::int64_t{once ? 1 : 2});
    loop->step = b.literal(type, std::int64_t{1});
    return only(std::move(statement));
  });
}

void inline_lets(Module& module, const Choose& choose) {
  rebuild_all(module, [&](Function& function, Stmt statement) {
    const auto* let = std::get_if<Let>(&statement.node);
    if (let == nullptr || let->value == kNone) return only(std::move(statement));
    const Uses uses = uses_in(function);
    const auto variable = static_cast<std::size_t>(let->variable);
    const bool is_short = uses.reads[variable] == 1 || nodes_of(function, let->value) <= kShort;
    if (uses.assigned[variable] || !is_short || calls(function, let->value)) return only(std::move(statement));
    if (!choose()) return only(std::move(statement));
    put_in_place_of(function, let->variable, let->value);
    return std::vector<Stmt>{};
  });
}

void inline_calls(Module& module, const Choose& choose) {
  inline_call_statements(module, choose);
  for (Function* function : written_functions(module)) {
    const auto count = static_cast<ExprId>(function->expressions.size());
    for (ExprId id = 0; id < count; ++id) {
      if (function->expr(id).kind != ExprKind::kCall) continue;
      const Function& callee = module.functions[static_cast<std::size_t>(function->expr(id).index)];
      const Return* result = only_return(callee);
      const std::vector<ExprId> args = function->expr(id).args;
      if (result == nullptr || !stays_short(callee, *function, args) || !choose()) continue;
      replace(*function, id, copied(callee, result->values.front(), *function, args));
    }
  }
}

}  // namespace assay::reduce
