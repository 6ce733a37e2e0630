// Mistakes in loops and branches of the backward kernel.
#include <algorithm>

#include <fmt/format.h>

#include "harness/mutation/finders.hpp"
#include "harness/mutation/loop_order.hpp"
#include "ir/analysis.hpp"
#include "ir/visit.hpp"

namespace assay::mutation {

using namespace ir;

namespace {

bool works_on_gradients_inside(const Setting& setting, const Stmt& statement) {
  bool works = false;
  for_each_block(statement, [&](const Block& block) {
    for_each_statement(block, [&](const Stmt& inner) { works = works || setting.works_on_gradients(inner); });
  });
  return works;
}

void find_loops(Operator op, const Setting& setting, std::vector<Mutation>& found) {
  for (std::size_t s = 0; s < setting.statements.size(); ++s) {
    const Stmt& statement = *setting.statements[s].statement;
    const auto* loop = std::get_if<For>(&statement.node);
    if (loop == nullptr || !works_on_gradients_inside(setting, statement)) continue;
    const Expr& step = setting.function.expr(loop->step);
    const bool reversed = step.kind == ExprKind::kLiteral && static_cast<std::int64_t>(step.bits) < 0;
    // Iterations that hand nothing on may come in any order.
    if (op == Operator::kLoopRunsForward && (!reversed || may_run_in_any_order(setting, *loop))) continue;
    const ExprId start = loop->start, stop = loop->stop, stride = loop->step;
    const Type type = setting.function.expr(start).type;
    found.push_back({op, s, statement.loc,
                     fmt::format("{}: over '{}'", row(op).change, name_of(setting, loop->variable)), [=](Editor& edit) {
                       Builder& make = edit.make();
                       auto& changed = std::get<For>(edit.at(s).node);
                       if (op == Operator::kLoopRunsForward) {
                         const ExprId unit = make.literal(type, std::int64_t{1});
                         changed.start = make.op(Op::kAdd, {stop, unit});
                         changed.stop = make.op(Op::kAdd, {start, unit});
                         changed.step = unit;
                       } else {
                         const Op away = op == Operator::kOneTripMore ? Op::kSub : Op::kAdd;
                         changed.start = make.op(away, {start, stride});
                       }
                     }});
  }
}

bool is_comparison(const Setting& setting, ExprId root) {
  const Expr& expr = setting.function.expr(root);
  return expr.kind == ExprKind::kOperation &&
         (ir::row(expr.op).rule == TypeRule::kOrder || ir::row(expr.op).rule == TypeRule::kEquality);
}

/// The expression of the statement that the place lies in.
ExprId node_root(const Setting& setting, std::size_t s, const Place& place) {
  return roots_of(*setting.statements[s].statement)[place.root];
}

void find_changed_decisions(const Setting& setting, std::vector<Mutation>& found) {
  for (std::size_t s = 0; s < setting.statements.size(); ++s) {
    const Stmt& statement = *setting.statements[s].statement;
    const auto* branch = std::get_if<If>(&statement.node);
    const auto* let = std::get_if<Let>(&statement.node);
    const bool decides =
        branch != nullptr || (let != nullptr && let->value != kNone && is_comparison(setting, let->value));
    if (!decides) continue;
    for_each_node(setting, s, [&](const Node& node, const Expr& expr) {
      if (expr.kind != ExprKind::kVariable || !expr.type.is_value()) return;
      const Variable& own = setting.function.var(expr.variable);
      if (!setting.is_from_source(expr.variable)) return;
      for (const VarId v : setting.visible(s)) {
        const Variable& other = setting.function.var(v);
        if (v == expr.variable || other.type != own.type || other.name != own.name) continue;
        if (origin_of(setting, v) == origin_of(setting, expr.variable) || is_loaded_alike(setting, v, expr.variable))
          continue;
        if (setting.ranges.truth(node_root(setting, s, node.place))) continue;
        const Place place = node.place;
        found.push_back({Operator::kBranchOnChanged, s, statement.loc,
                         fmt::format("a branch is decided on another '{}'", own.name),
                         [=](Editor& edit) { edit.replace(place, edit.make().var(v)); }});
      }
    });
  }
}

void find_branches(Operator op, const Setting& setting, std::vector<Mutation>& found) {
  for (std::size_t s = 0; s < setting.statements.size(); ++s) {
    const Stmt& statement = *setting.statements[s].statement;
    const auto* branch = std::get_if<If>(&statement.node);
    if (branch == nullptr || !works_on_gradients_inside(setting, statement)) continue;
    if (op == Operator::kBranchNegated) {
      const ExprId condition = branch->condition;
      found.push_back({op, s, statement.loc, "a branch is negated", [=](Editor& edit) {
                         std::get<If>(edit.at(s).node).condition = edit.make().op(Op::kNot, {condition});
                       }});
      continue;
    }
    const auto skip = [&](bool then, const Block& arm) {
      const bool works = std::ranges::any_of(arm.statements, [&](const Stmt& inner) {
        return setting.works_on_gradients(inner) || works_on_gradients_inside(setting, inner);
      });
      if (!works) return;
      found.push_back({op, s, statement.loc,
                       fmt::format("the {} of a branch is skipped", then ? "first arm" : "other arm"),
                       [=](Editor& edit) {
                         auto& changed = std::get<If>(edit.at(s).node);
                         (then ? changed.then_block : changed.else_block).statements.clear();
                       }});
    };
    skip(true, branch->then_block);
    skip(false, branch->else_block);
  }
}

/// Whether what follows the declaration reads the variable before it assigns it.
bool read_first(const Setting& setting, std::size_t declaration, VarId variable) {
  for (std::size_t s = declaration + 1; s < setting.statements.size(); ++s) {
    const Stmt& statement = *setting.statements[s].statement;
    for (const ExprId root : roots_of(statement)) {
      if (std::ranges::binary_search(variables_read(setting.function, root), variable)) return true;
    }
    const auto* assign = std::get_if<Assign>(&statement.node);
    if (assign != nullptr && assign->variable == variable) return false;
  }
  return false;
}

void find_counters(const Setting& setting, std::vector<Mutation>& found) {
  const std::vector<VarId> assigned = assigned_variables(setting.function.body);
  for (std::size_t s = 0; s < setting.statements.size(); ++s) {
    const auto* let = std::get_if<Let>(&setting.statements[s].statement->node);
    if (let == nullptr || !setting.in_loop(s)) continue;
    const bool constant = let->value == kNone || setting.function.expr(let->value).kind == ExprKind::kLiteral;
    if (!constant || !setting.function.var(let->variable).type.is_integer_scalar()) continue;
    // What counts checkpoints down comes back to the first by itself.
    if (setting.function.var(let->variable).name == "checkpoint") continue;
    if (!std::ranges::binary_search(assigned, let->variable) || !read_first(setting, s, let->variable)) continue;
    found.push_back({Operator::kCounterNotReset, s, setting.statements[s].statement->loc,
                     fmt::format("'{}' is not reset", name_of(setting, let->variable)),
                     [s](Editor& edit) { edit.hoist_out_of_loop(s); }});
  }
}

}  // namespace

void find_control(Operator op, const Setting& setting, std::vector<Mutation>& found) {
  switch (op) {
    case Operator::kBranchOnChanged: return find_changed_decisions(setting, found);
    case Operator::kBranchNegated:
    case Operator::kPathSkipped: return find_branches(op, setting, found);
    case Operator::kCounterNotReset: return find_counters(setting, found);
    default: return find_loops(op, setting, found);
  }
}

}  // namespace assay::mutation
