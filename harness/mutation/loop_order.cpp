#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "harness/mutation/analyses.hpp"
#include "harness/mutation/finders.hpp"
#include "ir/analysis.hpp"
#include "ir/visit.hpp"

namespace assay::mutation {

using namespace ir;

namespace {

class Iterations {
 public:
  Iterations(const MutationContext& context, const For& loop) : context_(context), loop_(loop) {
    for_each_statement(loop.body, [&](const Stmt& statement) { statements_.push_back(&statement); });
  }

  bool are_alike() const { return reads(loop_.variable) == 0; }

  bool hand_on() const {
    const std::vector<VarId> inside = declared_variables(loop_.body);
    const bool by_variable = std::ranges::any_of(statements_, [&](const Stmt* statement) {
      const auto* assign = std::get_if<Assign>(&statement->node);
      if (assign == nullptr || !context_.carries_gradient[static_cast<std::size_t>(assign->variable)]) return false;
      return !std::ranges::binary_search(inside, assign->variable) && !copies(assign->value, assign->variable) &&
             !only_adds(*assign) && !keeps_to_its_component(assign->variable);
    });
    if (by_variable) return true;
    for (VarId array = 0; array < context_.function.parameter_count; ++array) {
      if (context_.is_gradient(array) && hands_on_in(array)) return true;
    }
    return false;
  }

 private:
  const Expr& expr(ExprId id) const { return context_.function.expr(id); }
  bool is(ExprId id, VarId variable) const {
    return expr(id).kind == ExprKind::kVariable && expr(id).variable == variable;
  }

  /// The number of expressions of the body that use the variable.
  std::size_t reads(VarId variable) const {
    std::size_t count = 0;
    for (const Stmt* statement : statements_) {
      for (const ExprId root : roots_of(*statement))
        count += std::ranges::binary_search(variables_read(context_.function, root), variable);
    }
    return count;
  }

  /// Whether the expression is the variable or a variable declared as its copy.
  bool copies(ExprId value, VarId of) const {
    while (value != kNone && expr(value).kind == ExprKind::kVariable) {
      const VarId variable = expr(value).variable;
      if (variable == of) return true;
      value = value_of(context_, variable);
    }
    return false;
  }

  /// Whether the assignment adds to a variable that nothing else in the loop reads: a sum, independent of order.
  bool only_adds(const Assign& sum) const {
    const Expr& value = expr(sum.value);
    if (value.kind != ExprKind::kOperation || value.op != Op::kAdd || !is(value.args[0], sum.variable)) return false;
    return reads(sum.variable) == 1;
  }

  /// Whether the node is the given component operation on one of these variables, indexed by the loop variable.
  bool at_own_component(const Expr& node, Op op, const std::vector<VarId>& versions) const {
    return node.kind == ExprKind::kOperation && node.op == op && expr(node.args[0]).kind == ExprKind::kVariable &&
           std::ranges::count(versions, expr(node.args[0]).variable) > 0 && is(node.args[1], loop_.variable);
  }

  /// Whether the body uses the variable, and its versions with an updated component, only in the component indexed by
  /// the loop variable.
  bool keeps_to_its_component(VarId variable) const {
    std::vector<VarId> versions{variable};
    const auto is_version = [&](ExprId id) {
      return expr(id).kind == ExprKind::kVariable && std::ranges::count(versions, expr(id).variable) > 0;
    };
    const auto makes_version = [&](ExprId value) {
      return is_version(value) || at_own_component(expr(value), Op::kInsert, versions);
    };
    for (const Stmt* statement : statements_) {
      const auto* let = std::get_if<Let>(&statement->node);
      if (let != nullptr && let->value != kNone && makes_version(let->value)) versions.push_back(let->variable);
    }
    return std::ranges::all_of(statements_, [&](const Stmt* statement) {
      const AssignedValue definition = assigned_value_of(*statement);
      const bool to_version = std::ranges::count(versions, definition.variable) > 0;
      if (to_version && (definition.value == kNone || !makes_version(definition.value))) return false;
      return std::ranges::all_of(roots_of(*statement), [&](ExprId root) {
        if (to_version && is_version(root)) return true;
        return reads_own_component(root, versions, to_version);
      });
    });
  }

  /// Whether each use of a version below the root is extract(version, j), or the operand of an insert at the root.
  bool reads_own_component(ExprId root, const std::vector<VarId>& versions, bool may_insert) const {
    const Expr& node = expr(root);
    if (node.kind == ExprKind::kVariable) return std::ranges::count(versions, node.variable) == 0;
    const bool skips =
        at_own_component(node, Op::kExtract, versions) || (may_insert && at_own_component(node, Op::kInsert, versions));
    for (std::size_t k = skips ? 1 : 0; k < node.args.size(); ++k) {
      if (!reads_own_component(node.args[k], versions, false)) return false;
    }
    return true;
  }

  struct Access {
    enum class Kind : std::uint8_t { kLoad, kAdd, kStore } kind;
    std::vector<ExprId> indices;
  };
  std::vector<Access> accesses_of(VarId gradient) const {
    std::vector<Access> found;
    const auto note = [&](Access::Kind kind, ExprId array, std::span<const ExprId> indices) {
      if (is(array, gradient)) found.push_back({kind, {indices.begin(), indices.end()}});
    };
    for (const Stmt* statement : statements_) {
      if (const auto* atomic = std::get_if<Atomic>(&statement->node))
        note(Access::Kind::kAdd, atomic->array, atomic->indices);
      if (const auto* store = std::get_if<Store>(&statement->node))
        note(Access::Kind::kStore, store->array, store->indices);
      for (const ExprId root : roots_of(*statement)) {
        for_each_expression(context_.function, root, [&](ExprId, const Expr& node) {
          if (node.kind == ExprKind::kLoad) note(Access::Kind::kLoad, node.args[0], std::span(node.args).subspan(1));
        });
      }
    }
    return found;
  }

  bool hands_on_in(VarId gradient) const {
    const std::vector<Access> accesses = accesses_of(gradient);
    const auto has = [&](Access::Kind kind) { return std::ranges::count(accesses, kind, &Access::kind) > 0; };
    if (!has(Access::Kind::kStore) && !(has(Access::Kind::kLoad) && has(Access::Kind::kAdd))) return false;
    for (std::size_t d = 0; d < context_.function.var(gradient).type.rank; ++d) {
      const auto in_own_slice = [&](const Access& access) {
        return d < access.indices.size() && is(access.indices[d], loop_.variable);
      };
      if (std::ranges::all_of(accesses, in_own_slice)) return false;
    }
    return true;
  }

  const MutationContext& context_;
  const For& loop_;
  std::vector<const Stmt*> statements_;  ///< of the body
};

}  // namespace

bool is_order_independent(const MutationContext& context, const For& loop) {
  const Iterations iterations(context, loop);
  return iterations.are_alike() || !iterations.hand_on();
}

}  // namespace assay::mutation
