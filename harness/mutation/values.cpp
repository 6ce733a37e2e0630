// Mistakes in which value a local derivative takes.
#include <algorithm>

#include <fmt/format.h>

#include "harness/mutation/finders.hpp"
#include "ir/visit.hpp"

namespace assay::mutation {

using namespace ir;

namespace {

bool is_primal_value(const Setting& setting, const Expr& expr) {
  return expr.kind == ExprKind::kVariable && !setting.carries[static_cast<std::size_t>(expr.variable)] &&
         expr.type.has_float_components() && expr.type.is_value();
}

/// A checkpoint: a local array that saves the states of a loop.
bool is_checkpoint(const Setting& setting, VarId variable) {
  const Variable& array = setting.function.var(variable);
  return array.type.is_local_array() && array.name.starts_with("checkpoint_") && array.name != "checkpoint_at" &&
         !setting.carries[static_cast<std::size_t>(variable)];
}

/// Whether the node is only compared with something: a close value is then as good.
bool decides(const Setting& setting, const std::vector<Node>& nodes, const Node& node) {
  for (const Node* at = &node;; at = &nodes[at->parent]) {
    if (setting.function.expr(at->id).type.is_bool()) return true;
    if (&nodes[at->parent] == at || at->place.node == 0) return false;
  }
}

void replace_by(Operator op, const Setting& setting, const Node& node, VarId from, VarId to,
                std::vector<Mutation>& found) {
  const Place place = node.place;
  found.push_back({op, place.statement, setting.statements[place.statement].statement->loc,
                   fmt::format("'{}' is taken for '{}'", name_of(setting, to), name_of(setting, from)),
                   [=](Editor& edit) { edit.replace(place, edit.make().var(to)); }});
}

bool defines_from(const Setting& setting, VarId result, VarId operand) {
  return std::ranges::any_of(setting.statements, [&](const Listed& listed) {
    const auto* let = std::get_if<Let>(&listed.statement->node);
    if (let == nullptr || let->variable != result || let->value == kNone) return false;
    const Expr& value = setting.function.expr(let->value);
    return value.kind == ExprKind::kOperation &&
           std::ranges::any_of(value.args, [&](ExprId arg) { return setting.function.expr(arg).variable == operand; });
  });
}

/// Whether the value is a whole number: an integer made a float, or what is rounded to one.
bool is_whole(const Setting& setting, ExprId value) {
  if (value == kNone) return false;
  const Expr& expr = setting.function.expr(value);
  if (expr.kind == ExprKind::kLiteral) return true;
  if (expr.kind == ExprKind::kVariable) return is_whole(setting, value_of(setting, expr.variable));
  if (expr.kind != ExprKind::kOperation) return false;
  switch (expr.op) {
    case Op::kCast: return !setting.function.expr(expr.args[0]).type.has_float_components();
    case Op::kFloor:
    case Op::kCeil:
    case Op::kRound:
    case Op::kRint:
    case Op::kTrunc:
    case Op::kSign:
    case Op::kStep: return true;
    case Op::kAdd:
    case Op::kSub:
    case Op::kMul: return is_whole(setting, expr.args[0]) && is_whole(setting, expr.args[1]);
    default: return false;
  }
}

/// Whether lower precision holds each value that the variable ever has: it is whole, or was of that precision. What is
/// declared without a value is zero until it is assigned one, as in the arms of a branch. Copies are followed so far.
bool fits(const Setting& setting, VarId variable, Type low, int copies = 4) {
  std::vector<ExprId> values{value_of(setting, variable)};
  for (const Listed& listed : setting.statements) {
    const auto* assign = std::get_if<Assign>(&listed.statement->node);
    if (assign != nullptr && assign->variable == variable) values.push_back(assign->value);
  }
  if (values[0] == kNone) values.erase(values.begin());
  return !values.empty() && std::ranges::all_of(values, [&](ExprId value) {
    const Expr& expr = setting.function.expr(value);
    if (expr.kind == ExprKind::kVariable) return copies > 0 && fits(setting, expr.variable, low, copies - 1);
    if (is_whole(setting, value)) return true;
    return expr.kind == ExprKind::kOperation && expr.op == Op::kCast && setting.function.expr(expr.args[0]).type == low;
  });
}

/// The other values that an operator takes for a variable in a statement.
std::vector<VarId> others(Operator op, const Setting& setting, std::size_t s, VarId variable) {
  std::vector<VarId> found;
  const Variable& own = setting.function.var(variable);
  for (const VarId v : setting.visible(s)) {
    const Variable& other = setting.function.var(v);
    if (v == variable || other.type != own.type || setting.carries[static_cast<std::size_t>(v)]) continue;
    const bool same_name = other.name == own.name && setting.is_from_source(variable);
    const bool fits = op == Operator::kOtherVersion       ? same_name
                      : op == Operator::kResultForOperand ? defines_from(setting, v, variable)
                                                          : other.name != own.name && !setting.function.is_parameter(v);
    const bool differs =
        origin_of(setting, v) != origin_of(setting, variable) && !is_loaded_alike(setting, v, variable);
    if (fits && differs) found.push_back(v);
  }
  // Of all operands in sight the one that was computed last is the likeliest mistake.
  if (op == Operator::kWrongOperand && found.size() > 1) found.erase(found.begin(), found.end() - 1);
  return found;
}

void find_swaps(const Setting& setting, std::size_t s, std::vector<Mutation>& found) {
  for_each_node(setting, s, [&](const Node& node, const Expr& expr) {
    const bool ordered = expr.kind == ExprKind::kOperation &&
                         (expr.op == Op::kSub || expr.op == Op::kDiv || expr.op == Op::kPow || expr.op == Op::kAtan2);
    if (!ordered || !expr.type.has_float_components()) return;
    const Expr swapped = expr;
    if (setting.function.expr(expr.args[0]).type != setting.function.expr(expr.args[1]).type) return;
    const Place place = node.place;
    found.push_back({Operator::kWrongOperand, s, setting.statements[s].statement->loc,
                     fmt::format("the operands of {} are swapped", ir::row(expr.op).mnemonic), [=](Editor& edit) {
                       edit.replace(place, edit.make().op(swapped.op, {swapped.args[1], swapped.args[0]}));
                     }});
  });
}

void find_precision(const Setting& setting, const Node& node, const Expr& expr, std::vector<Mutation>& found) {
  if (!expr.type.is_float_scalar() || (expr.type != kF32 && expr.type != kF64)) return;
  const Type low = expr.type == kF64 ? kF32 : scalar_type(Scalar::kF16);
  if (fits(setting, expr.variable, low)) return;
  const Place place = node.place;
  const VarId variable = expr.variable;
  const Type type = expr.type;
  found.push_back({Operator::kLowerPrecision, place.statement, setting.statements[place.statement].statement->loc,
                   fmt::format("'{}' is rounded to {}", name_of(setting, variable), ir::row(low.scalar).name),
                   [=](Editor& edit) {
                     Builder& make = edit.make();
                     edit.replace(place, make.cast(type, make.cast(low, make.var(variable))));
                   }});
}

/// Loads of a saved state: its first one, or the loop's last, is taken.
void find_states(Operator op, const Setting& setting, std::vector<Mutation>& found) {
  for (std::size_t s = 0; s < setting.statements.size(); ++s) {
    const auto* assign = std::get_if<Assign>(&setting.statements[s].statement->node);
    if (assign == nullptr) continue;
    const Expr& load = setting.function.expr(assign->value);
    if (load.kind != ExprKind::kLoad) continue;
    const VarId array = setting.function.expr(load.args[0]).variable;
    if (!is_checkpoint(setting, array) || !setting.is_read(assign->variable)) continue;
    const Loc loc = setting.statements[s].statement->loc;
    const std::string what = fmt::format("{}: '{}'", row(op).change, name_of(setting, assign->variable));
    if (op == Operator::kInitialState) {
      found.push_back({op, s, loc, what, [=](Editor& edit) {
                         std::get<Assign>(edit.at(s).node).value = edit.make().load(array, {edit.make().i32(0)});
                       }});
      continue;
    }
    const auto versions = others(Operator::kOtherVersion, setting, s, assign->variable);
    if (versions.empty()) continue;
    const VarId last = versions.front();
    found.push_back(
        {op, s, loc, what, [=](Editor& edit) { std::get<Assign>(edit.at(s).node).value = edit.make().var(last); }});
  }
}

void find_saves(const Setting& setting, std::vector<Mutation>& found) {
  for (std::size_t s = 0; s < setting.statements.size(); ++s) {
    const auto* store = std::get_if<Store>(&setting.statements[s].statement->node);
    if (store == nullptr) continue;
    const VarId array = setting.function.expr(store->array).variable;
    if (!is_checkpoint(setting, array)) continue;
    const Store saved = *store;
    found.push_back({Operator::kOneSaveTooFew, s, setting.statements[s].statement->loc,
                     fmt::format("'{}' is saved one place further", name_of(setting, array)), [=](Editor& edit) {
                       Builder& make = edit.make();
                       const ExprId next = make.op(Op::kAdd, {saved.indices[0], make.i32(1)});
                       std::get<Store>(edit.at(s).node).indices[0] =
                           make.op(Op::kMin, {next, make.i32(setting.function.var(array).type.extent - 1)});
                     }});
  }
}

}  // namespace

void find_values(Operator op, const Setting& setting, std::vector<Mutation>& found) {
  if (op == Operator::kInitialState || op == Operator::kFinalState) return find_states(op, setting, found);
  if (op == Operator::kOneSaveTooFew) return find_saves(setting, found);
  for (std::size_t s = 0; s < setting.statements.size(); ++s) {
    if (!is_contribution(setting, s)) continue;
    if (op == Operator::kWrongOperand) find_swaps(setting, s, found);
    const std::vector<Node> nodes = nodes_of(setting.function, *setting.statements[s].statement, s);
    for_each_node(setting, s, [&](const Node& node, const Expr& expr) {
      if (!is_primal_value(setting, expr) || decides(setting, nodes, node)) return;
      if (op == Operator::kLowerPrecision) return find_precision(setting, node, expr, found);
      for (const VarId other : others(op, setting, s, expr.variable))
        replace_by(op, setting, node, expr.variable, other, found);
    });
  }
}

}  // namespace assay::mutation
