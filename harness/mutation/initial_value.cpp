// Whether a declared variable's initial value matters. The value of an early return, for example, is declared as zero
// before the loop that may return, and used only where the flag `returned` is true.
#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <vector>

#include "harness/mutation/analyses.hpp"
#include "harness/mutation/finders.hpp"
#include "ir/analysis.hpp"
#include "ir/visit.hpp"

namespace assay::mutation {

using namespace ir;

namespace {

using Variables = std::set<VarId>;

/// What is known at one point of the block after the declaration.
struct Knowledge {
  /// Variables that may hold the initial value, each with the flags that are false if it does.
  std::map<VarId, Variables> holders;
  std::map<VarId, VarId> negations;  ///< variables that are the negation of another one

  friend bool operator==(const Knowledge&, const Knowledge&) = default;

  /// The variable gets another value.
  void forget(VarId variable) {
    holders.erase(variable);
    for (auto& [holder, flags] : holders)
      flags.erase(variable);
    std::erase_if(negations, [&](const auto& entry) { return entry.first == variable || entry.second == variable; });
  }

  /// The flag has this value.
  void learn(VarId flag, bool value) {
    if (const auto negated = negations.find(flag); negated != negations.end()) return learn(negated->second, !value);
    if (value) std::erase_if(holders, [&](const auto& holder) { return holder.second.contains(flag); });
    else
      for (auto& [holder, flags] : holders)
        flags.insert(flag);
  }

  /// What is known if either applies.
  void join(const Knowledge& other) {
    for (const auto& [holder, flags] : other.holders) {
      const auto [entry, is_new] = holders.try_emplace(holder, flags);
      if (is_new) continue;
      Variables common;
      std::ranges::set_intersection(entry->second, flags, std::inserter(common, common.end()));
      entry->second = std::move(common);
    }
    std::erase_if(negations, [&](const auto& entry) {
      const auto found = other.negations.find(entry.first);
      return found == other.negations.end() || found->second != entry.second;
    });
  }
};

class InitialValueUses {
 public:
  explicit InitialValueUses(const Function& function) : function_(function) {}

  [[nodiscard]] bool is_used() const { return is_used_; }

  void block(std::span<const Stmt> statements, Knowledge& now) {
    for (const Stmt& each : statements)
      statement(each, now);
  }

 private:
  const Expr& expr(ExprId id) const { return function_.expr(id); }

  void read(ExprId root, const Knowledge& now) {
    for (const VarId variable : variables_read(function_, root))
      is_used_ = is_used_ || now.holders.contains(variable);
  }

  void set(VarId variable, ExprId value, Knowledge& now) {
    const bool is_flag = function_.var(variable).type.is_bool();
    const bool is_literal = value == kNone || expr(value).kind == ExprKind::kLiteral;
    if (is_literal) {
      now.forget(variable);
      if (is_flag && (value == kNone || expr(value).bits == 0)) now.learn(variable, false);
    } else if (expr(value).kind == ExprKind::kVariable) {
      const VarId source = expr(value).variable;
      if (source == variable) return;
      now.forget(variable);
      for (auto& [holder, flags] : now.holders)
        if (flags.contains(source)) flags.insert(variable);
      if (const auto found = now.holders.find(source); found != now.holders.end()) {
        const Variables flags = found->second;
        now.holders[variable] = flags;
      }
      if (const auto found = now.negations.find(source); found != now.negations.end())
        now.negations[variable] = found->second;
    } else {
      read(value, now);
      now.forget(variable);
      const bool negates = expr(value).kind == ExprKind::kOperation && expr(value).op == Op::kNot &&
                           expr(expr(value).args[0]).kind == ExprKind::kVariable;
      if (negates) now.negations[variable] = expr(expr(value).args[0]).variable;
    }
  }

  Knowledge given(Knowledge now, ExprId condition, bool value) const {
    if (expr(condition).kind == ExprKind::kVariable) now.learn(expr(condition).variable, value);
    return now;
  }

  /// Reads the body until its effect on what is known before an iteration does not change any more.
  template <class Body>
  void loop(Knowledge& now, const Body& body) {
    for (bool changed = true; changed && !is_used_;) {
      Knowledge next = now;
      body(next);
      next.join(now);
      changed = next != now;
      now = std::move(next);
    }
  }

  void statement(const Stmt& statement, Knowledge& now) {
    if (const AssignedValue assigned = assigned_value_of(statement); assigned.variable != kNone)
      return set(assigned.variable, assigned.value, now);
    for (const ExprId root : roots_of(statement))
      read(root, now);
    if (const auto* branch = std::get_if<If>(&statement.node)) {
      Knowledge otherwise = given(now, branch->condition, false);
      now = given(std::move(now), branch->condition, true);
      block(branch->then_block.statements, now);
      block(branch->else_block.statements, otherwise);
      now.join(otherwise);
    } else if (const auto* range = std::get_if<For>(&statement.node)) {
      loop(now, [&](Knowledge& next) {
        next.forget(range->variable);
        block(range->body.statements, next);
      });
    } else if (const auto* repeated = std::get_if<While>(&statement.node)) {
      loop(now, [&](Knowledge& next) {
        read(repeated->condition, next);
        next = given(std::move(next), repeated->condition, true);
        block(repeated->body.statements, next);
      });
      now = given(std::move(now), repeated->condition, false);
    } else if (!std::holds_alternative<Store>(statement.node) && !std::holds_alternative<Atomic>(statement.node)) {
      is_used_ = true;  // other statements are not analyzed
    }
  }

  const Function& function_;
  bool is_used_ = false;
};

/// The statements after `declaration` in its block; empty if the block does not contain it.
std::span<const Stmt> statements_after(const Block& block, const Stmt* declaration) {
  for (std::size_t s = 0; s < block.statements.size(); ++s) {
    const Stmt& statement = block.statements[s];
    if (&statement == declaration) return std::span(block.statements).subspan(s + 1);
    std::span<const Stmt> found;
    if (const auto* branch = std::get_if<If>(&statement.node)) {
      found = statements_after(branch->then_block, declaration);
      if (found.empty()) found = statements_after(branch->else_block, declaration);
    }
    if (const auto* range = std::get_if<For>(&statement.node)) found = statements_after(range->body, declaration);
    if (const auto* repeated = std::get_if<While>(&statement.node))
      found = statements_after(repeated->body, declaration);
    if (!found.empty()) return found;
  }
  return {};
}

/// Whether the statements or those inside them declare the variable.
bool declares(std::span<const Stmt> statements, VarId variable) {
  return std::ranges::any_of(statements, [&](const Stmt& statement) {
    bool found = false;
    for_each_declared_variable(statement, [&](VarId declared) { found = found || declared == variable; });
    for_each_child_block(statement, [&](const Block& child) { found = found || declares(child.statements, variable); });
    return found;
  });
}

}  // namespace

bool may_use_initial_value(const Function& function, const Stmt& declaration) {
  const auto* let = std::get_if<Let>(&declaration.node);
  if (let == nullptr) return true;
  Knowledge now{.holders = {{let->variable, {}}}, .negations = {}};
  InitialValueUses uses(function);
  const std::span<const Stmt> statements = statements_after(function.body, &declaration);
  uses.block(statements, now);
  if (uses.is_used()) return true;
  // At the end of the body of a loop or branch, variables that are declared outside it may hold the value.
  const bool is_outermost = !statements.empty() && &statements.back() == &function.body.statements.back();
  return !is_outermost && std::ranges::any_of(now.holders, [&](const auto& holder) {
    return holder.first != let->variable && !declares(statements, holder.first);
  });
}

}  // namespace assay::mutation
