#include "harness/mutation/mutation.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "harness/mutation/effects.hpp"
#include "harness/mutation/finders.hpp"
#include "ir/analysis.hpp"
#include "ir/visit.hpp"

namespace assay::mutation {

using namespace ir;

namespace {

std::set<std::string> names_of(const Function& kernel) {
  std::set<std::string> names;
  for (const Variable& variable : kernel.variables)
    names.insert(variable.name);
  return names;
}

/// Marks the variables that receive what carries part of a gradient, until nothing more is marked.
void spread(Setting& setting) {
  for (bool changed = true; changed;) {
    changed = false;
    const auto mark = [&](VarId variable) {
      if (variable == kNone || setting.carries[static_cast<std::size_t>(variable)]) return;
      setting.carries[static_cast<std::size_t>(variable)] = changed = true;
    };
    for (const Listed& listed : setting.statements) {
      const Stmt& statement = *listed.statement;
      const std::vector<ExprId> roots = roots_of(statement);
      if (std::ranges::none_of(roots, [&](ExprId root) { return setting.carries_any(root); })) continue;
      if (std::holds_alternative<Let>(statement.node) || std::holds_alternative<Call>(statement.node) ||
          std::holds_alternative<Atomic>(statement.node)) {
        for_each_declared(statement, mark);
      }
      if (const auto* assign = std::get_if<Assign>(&statement.node)) mark(assign->variable);
      if (const auto* store = std::get_if<Store>(&statement.node)) {
        const VarId array = setting.function.expr(store->array).variable;
        if (setting.function.var(array).type.is_local_array() && setting.carries_any(store->value)) mark(array);
      }
    }
  }
}

}  // namespace

Setting::Setting(const transforms::Adjoint& adjoint, const Function& kernel)
    : module(adjoint.module),
      function(adjoint.module.kernels[0]),
      statements(statements_of(function)),
      ranges(module, kernel, function),
      dead(dead_statements(ranges, statements)),
      effective(effective_statements(function, statements, dead)),
      primal_of(function.variables.size(), kNone),
      source_names(names_of(kernel)),
      carries(function.variables.size(), false) {
  for (const transforms::GradientParameter& gradient : adjoint.gradients) {
    primal_of[static_cast<std::size_t>(gradient.gradient)] = gradient.primal;
    carries[static_cast<std::size_t>(gradient.gradient)] = true;
  }
  spread(*this);
}

Setting::Setting(const Module& in, const Function& kernel)
    : module(in),
      function(kernel),
      statements(statements_of(kernel)),
      ranges(in, kernel, kernel),
      dead(dead_statements(ranges, statements)),
      effective(effective_statements(function, statements, dead)),
      primal_of(kernel.variables.size(), kNone),
      source_names(names_of(kernel)),
      carries(kernel.variables.size(), false) {}

bool Setting::carries_any(ExprId root) const {
  bool found = false;
  for_each_expression(function, root, [&](ExprId, const Expr& expr) {
    found = found || (expr.kind == ExprKind::kVariable && carries[static_cast<std::size_t>(expr.variable)]);
  });
  return found;
}

bool Setting::works_on_gradients(const Stmt& statement) const {
  return std::ranges::any_of(roots_of(statement), [&](ExprId root) { return carries_any(root); });
}

bool Setting::is_from_source(VarId variable) const { return source_names.contains(function.var(variable).name); }

bool Setting::is_read(VarId variable) const {
  for (std::size_t s = 0; s < statements.size(); ++s) {
    if (!effective[s]) continue;
    for (const ExprId root : roots_of(*statements[s].statement)) {
      if (std::ranges::binary_search(variables_read(function, root), variable)) return true;
    }
  }
  return false;
}

bool Setting::in_loop(std::size_t statement) const {
  for (std::size_t at = statements[statement].parent; at != std::string::npos; at = statements[at].parent) {
    const auto& node = statements[at].statement->node;
    if (std::holds_alternative<For>(node) || std::holds_alternative<While>(node)) return true;
  }
  return false;
}

std::vector<VarId> Setting::visible(std::size_t statement) const {
  std::vector<VarId> found;
  for (VarId v = 0; v < function.parameter_count + function.launch_rank; ++v)
    found.push_back(v);
  const auto encloses = [&](std::size_t outer) {
    for (std::size_t at = statement; at != std::string::npos; at = statements[at].parent) {
      if (statements[at].parent == outer) return true;
    }
    return outer == std::string::npos;
  };
  for (std::size_t at = 0; at < statement; ++at) {
    if (encloses(statements[at].parent))
      for_each_declared(*statements[at].statement, [&](VarId v) { found.push_back(v); });
  }
  return found;
}

Definition definition_of(const Stmt& statement) {
  if (const auto* let = std::get_if<Let>(&statement.node)) return {let->variable, let->value};
  if (const auto* assign = std::get_if<Assign>(&statement.node)) return {assign->variable, assign->value};
  return {};
}

std::vector<SeedLoad> seed_loads(const Setting& setting) {
  std::vector<SeedLoad> found;
  for (std::size_t s = 0; s < setting.statements.size(); ++s) {
    if (definition_of(*setting.statements[s].statement).value == kNone) continue;
    for_each_node(setting, s, [&](const Node& node, const Expr& expr) {
      if (expr.kind != ExprKind::kLoad) return;
      const VarId array = setting.function.expr(expr.args[0]).variable;
      if (setting.is_gradient(array)) found.push_back({s, node.place, &expr, array});
    });
  }
  return found;
}

bool stores_to(const Setting& setting, std::size_t statement, VarId array) {
  if (statement >= setting.statements.size()) return false;
  const auto* store = std::get_if<Store>(&setting.statements[statement].statement->node);
  return store != nullptr && setting.function.expr(store->array).variable == array;
}

ExprId one(Builder& make, Type type) {
  if (type.is_float_scalar()) return make.literal(type, 1.0);
  if (type.is_integer_scalar()) return make.literal(type, std::int64_t{1});
  if (!type.is_aggregate() || !is_float(type.scalar)) return kNone;
  return make.op(Op::kSplat, {make.literal(type.component(), 1.0)}, type);
}

bool is_contribution(const Setting& setting, std::size_t statement) {
  const Definition definition = definition_of(*setting.statements[statement].statement);
  if (definition.value == kNone || !setting.carries_any(definition.value)) return false;
  const Type type = setting.function.expr(definition.value).type;
  return type.is_float_scalar() || (type.is_aggregate() && is_float(type.scalar));
}

bool same_tree(const Function& function, ExprId a, ExprId b) {
  if (a == b) return true;
  const Expr &x = function.expr(a), &y = function.expr(b);
  if (x.kind != y.kind || x.op != y.op || x.type != y.type || x.bits != y.bits || x.variable != y.variable ||
      x.index != y.index || x.args.size() != y.args.size())
    return false;
  for (std::size_t k = 0; k < x.args.size(); ++k) {
    if (!same_tree(function, x.args[k], y.args[k])) return false;
  }
  return true;
}

ExprId value_of(const Setting& setting, VarId variable) {
  for (const Listed& listed : setting.statements) {
    const auto* let = std::get_if<Let>(&listed.statement->node);
    if (let != nullptr && let->variable == variable) return let->value;
  }
  return kNone;
}

namespace {

/// Whether a statement that is not dead assigns the variable.
bool is_assigned(const Setting& setting, VarId variable) {
  for (std::size_t s = 0; s < setting.statements.size(); ++s) {
    const auto* assign = std::get_if<Assign>(&setting.statements[s].statement->node);
    if (assign != nullptr && assign->variable == variable && !setting.dead[s]) return true;
  }
  return false;
}

bool is_declared(const Setting& setting, VarId variable) {
  return std::ranges::any_of(setting.statements, [&](const Listed& listed) {
    const auto* let = std::get_if<Let>(&listed.statement->node);
    return let != nullptr && let->variable == variable;
  });
}

/// Whether this field of the struct is zero.
bool is_zero_field(const Setting& setting, ExprId value, std::int32_t field) {
  const Expr& expr = setting.function.expr(value);
  if (expr.kind == ExprKind::kVariable) {
    if (!is_declared(setting, expr.variable) || is_assigned(setting, expr.variable)) return false;
    const ExprId declared = value_of(setting, expr.variable);
    return declared == kNone || is_zero_field(setting, declared, field);
  }
  if (expr.kind != ExprKind::kOperation || expr.op != Op::kWithField) return false;
  return expr.index == field ? is_zero(setting, expr.args[1]) : is_zero_field(setting, expr.args[0], field);
}

}  // namespace

bool is_zero(const Setting& setting, ExprId value) {
  const Expr& expr = setting.function.expr(value);
  switch (expr.kind) {
    case ExprKind::kLiteral: return expr.type.is_float_scalar() && std::bit_cast<double>(expr.bits) == 0;
    case ExprKind::kField: return is_zero_field(setting, expr.args[0], expr.index);
    case ExprKind::kOperation: return (expr.op == Op::kSplat || expr.op == Op::kNeg) && is_zero(setting, expr.args[0]);
    case ExprKind::kVariable: {
      if (!is_declared(setting, expr.variable) || is_assigned(setting, expr.variable)) return false;
      const ExprId declared = value_of(setting, expr.variable);
      return declared == kNone || is_zero(setting, declared);
    }
    default: return false;
  }
}

VarId origin_of(const Setting& setting, VarId variable) {
  for (;;) {
    const ExprId value = is_assigned(setting, variable) ? kNone : value_of(setting, variable);
    if (value == kNone || setting.function.expr(value).kind != ExprKind::kVariable) return variable;
    const VarId next = setting.function.expr(value).variable;
    // What it was copied of may have changed since.
    if (is_assigned(setting, next)) return variable;
    variable = next;
  }
}

bool is_loaded_alike(const Setting& setting, VarId a, VarId b) {
  const ExprId x = value_of(setting, a), y = value_of(setting, b);
  return x != kNone && y != kNone && setting.function.expr(x).kind == ExprKind::kLoad &&
         same_tree(setting.function, x, y);
}

std::string name_of(const Setting& setting, VarId variable) { return setting.function.var(variable).name; }

std::vector<Mutation> find_mutations(Operator op, const Setting& setting) {
  std::vector<Mutation> found;
  switch (row(op).group) {
    case Group::kAccumulation: find_accumulation(op, setting, found); break;
    case Group::kStore: find_stores(op, setting, found); break;
    case Group::kValue: find_values(op, setting, found); break;
    case Group::kLocalRule:
      row(op).part == Part::kPrimal ? find_primal(op, setting, found) : find_rules(op, setting, found);
      break;
    case Group::kControl:
      row(op).part == Part::kPrimal ? find_primal(op, setting, found) : find_control(op, setting, found);
      break;
    case Group::kMemory: find_memory(op, setting, found); break;
    case Group::kReplay: find_replay(op, setting, found); break;
    case Group::kForward: find_forward(op, setting, found); break;
  }
  std::erase_if(found, [&](const Mutation& mutation) {
    if (op == Operator::kClearGradient || op == Operator::kInactiveGradient) return false;  // at the kernel's start
    const bool adds_an_effect = row(op).group == Group::kReplay;
    return setting.dead[mutation.statement] || !(adds_an_effect || setting.effective[mutation.statement]);
  });
  return found;
}

}  // namespace assay::mutation
