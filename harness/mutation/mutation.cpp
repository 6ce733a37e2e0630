#include "harness/mutation/mutation.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "harness/mutation/analyses.hpp"
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

std::vector<VariableDefinition> definitions_of(const Function& function, const std::vector<ListedStatement>& statements,
                                               const std::vector<bool>& is_dead_statement) {
  std::vector<VariableDefinition> definitions(function.variables.size());
  for (std::size_t s = 0; s < statements.size(); ++s) {
    const Stmt& statement = *statements[s].statement;
    if (const auto* let = std::get_if<Let>(&statement.node)) {
      VariableDefinition& definition = definitions[static_cast<std::size_t>(let->variable)];
      if (!definition.is_declared) definition.initial_value = let->value;
      definition.is_declared = true;
    }
    const auto* assign = std::get_if<Assign>(&statement.node);
    if (assign != nullptr && !is_dead_statement[s])
      definitions[static_cast<std::size_t>(assign->variable)].is_assigned = true;
  }
  return definitions;
}

/// Propagates the mark "carries part of a gradient" from values to variables until a fixed point.
void spread(MutationContext& context) {
  for (bool changed = true; changed;) {
    changed = false;
    const auto mark = [&](VarId variable) {
      if (variable == kNone || context.carries_gradient[static_cast<std::size_t>(variable)]) return;
      context.carries_gradient[static_cast<std::size_t>(variable)] = changed = true;
    };
    for (const ListedStatement& listed : context.statements) {
      const Stmt& statement = *listed.statement;
      const std::vector<ExprId> roots = roots_of(statement);
      if (std::ranges::none_of(roots, [&](ExprId root) { return context.carries_any(root); })) continue;
      if (std::holds_alternative<Let>(statement.node) || std::holds_alternative<Call>(statement.node) ||
          std::holds_alternative<Atomic>(statement.node)) {
        for_each_declared_variable(statement, mark);
      }
      if (const auto* assign = std::get_if<Assign>(&statement.node)) mark(assign->variable);
      if (const auto* store = std::get_if<Store>(&statement.node)) {
        const VarId array = context.function.expr(store->array).variable;
        if (context.function.var(array).type.is_local_array() && context.carries_any(store->value)) mark(array);
      }
    }
  }
}

}  // namespace

MutationContext::MutationContext(const transforms::AdjointModule& adjoint, const Function& kernel)
    : module(adjoint.module),
      function(adjoint.module.kernels[0]),
      statements(statements_of(function)),
      known_ranges(module, kernel, function),
      is_dead_statement(dead_statements(known_ranges, statements)),
      definitions(definitions_of(function, statements, is_dead_statement)),
      affects_launch_result(find_effective_statements(function, statements, is_dead_statement)),
      primal_parameter_by_variable(function.variables.size(), kNone),
      source_names(names_of(kernel)),
      carries_gradient(function.variables.size(), false) {
  for (const transforms::GradientParameter& gradient : adjoint.gradient_parameters) {
    primal_parameter_by_variable[static_cast<std::size_t>(gradient.gradient_parameter)] = gradient.primal_parameter;
    carries_gradient[static_cast<std::size_t>(gradient.gradient_parameter)] = true;
  }
  spread(*this);
}

MutationContext::MutationContext(const Module& in, const Function& kernel)
    : module(in),
      function(kernel),
      statements(statements_of(kernel)),
      known_ranges(in, kernel, kernel),
      is_dead_statement(dead_statements(known_ranges, statements)),
      definitions(definitions_of(function, statements, is_dead_statement)),
      affects_launch_result(find_effective_statements(function, statements, is_dead_statement)),
      primal_parameter_by_variable(kernel.variables.size(), kNone),
      source_names(names_of(kernel)),
      carries_gradient(kernel.variables.size(), false) {}

bool MutationContext::carries_any(ExprId root) const {
  bool found = false;
  for_each_expression(function, root, [&](ExprId, const Expr& expr) {
    found = found || (expr.kind == ExprKind::kVariable && carries_gradient[static_cast<std::size_t>(expr.variable)]);
  });
  return found;
}

bool MutationContext::works_on_gradients(const Stmt& statement) const {
  return std::ranges::any_of(roots_of(statement), [&](ExprId root) { return carries_any(root); });
}

bool MutationContext::is_from_source(VarId variable) const {
  return source_names.contains(function.var(variable).name);
}

bool MutationContext::is_read(VarId variable) const {
  for (std::size_t s = 0; s < statements.size(); ++s) {
    if (!affects_launch_result[s]) continue;
    for (const ExprId root : roots_of(*statements[s].statement)) {
      if (std::ranges::binary_search(variables_read(function, root), variable)) return true;
    }
  }
  return false;
}

bool MutationContext::in_loop(std::size_t statement) const {
  for (std::size_t at = statements[statement].parent; at != std::string::npos; at = statements[at].parent) {
    const auto& node = statements[at].statement->node;
    if (std::holds_alternative<For>(node) || std::holds_alternative<While>(node)) return true;
  }
  return false;
}

std::vector<VarId> MutationContext::visible(std::size_t statement) const {
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
      for_each_declared_variable(*statements[at].statement, [&](VarId v) { found.push_back(v); });
  }
  return found;
}

AssignedValue assigned_value_of(const Stmt& statement) {
  if (const auto* let = std::get_if<Let>(&statement.node)) return {let->variable, let->value};
  if (const auto* assign = std::get_if<Assign>(&statement.node)) return {assign->variable, assign->value};
  return {};
}

std::vector<CotangentLoad> cotangent_loads(const MutationContext& context) {
  std::vector<CotangentLoad> found;
  for (std::size_t s = 0; s < context.statements.size(); ++s) {
    if (assigned_value_of(*context.statements[s].statement).value == kNone) continue;
    for_each_expression_node(context, s, [&](const ExpressionNode& node, const Expr& expr) {
      if (expr.kind != ExprKind::kLoad) return;
      const VarId array = context.function.expr(expr.args[0]).variable;
      if (context.is_gradient(array)) found.push_back({s, node.position, &expr, array});
    });
  }
  return found;
}

bool stores_to(const MutationContext& context, std::size_t statement, VarId array) {
  if (statement >= context.statements.size()) return false;
  const auto* store = std::get_if<Store>(&context.statements[statement].statement->node);
  return store != nullptr && context.function.expr(store->array).variable == array;
}

ExprId one(Builder& make, Type type) {
  if (type.is_float_scalar()) return make.literal(type, 1.0);
  if (type.is_integer_scalar()) return make.literal(type, std::int64_t{1});
  if (!type.is_aggregate() || !is_float(type.scalar)) return kNone;
  return make.op(Op::kSplat, {make.literal(type.component(), 1.0)}, type);
}

bool is_contribution(const MutationContext& context, std::size_t statement) {
  const AssignedValue definition = assigned_value_of(*context.statements[statement].statement);
  if (definition.value == kNone || !context.carries_any(definition.value)) return false;
  const Type type = context.function.expr(definition.value).type;
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

ExprId value_of(const MutationContext& context, VarId variable) {
  return context.definitions[static_cast<std::size_t>(variable)].initial_value;
}

namespace {

bool is_assigned(const MutationContext& context, VarId variable) {
  return context.definitions[static_cast<std::size_t>(variable)].is_assigned;
}

bool is_declared(const MutationContext& context, VarId variable) {
  return context.definitions[static_cast<std::size_t>(variable)].is_declared;
}

/// Whether this field of the struct is zero.
bool is_zero_field(const MutationContext& context, ExprId value, std::int32_t field) {
  const Expr& expr = context.function.expr(value);
  if (expr.kind == ExprKind::kVariable) {
    if (!is_declared(context, expr.variable) || is_assigned(context, expr.variable)) return false;
    const ExprId declared = value_of(context, expr.variable);
    return declared == kNone || is_zero_field(context, declared, field);
  }
  if (expr.kind != ExprKind::kOperation || expr.op != Op::kWithField) return false;
  return expr.index == field ? is_zero(context, expr.args[1]) : is_zero_field(context, expr.args[0], field);
}

}  // namespace

bool is_zero(const MutationContext& context, ExprId value) {
  const Expr& expr = context.function.expr(value);
  switch (expr.kind) {
    case ExprKind::kLiteral: return expr.type.is_float_scalar() && std::bit_cast<double>(expr.bits) == 0;
    case ExprKind::kField: return is_zero_field(context, expr.args[0], expr.index);
    case ExprKind::kOperation: return (expr.op == Op::kSplat || expr.op == Op::kNeg) && is_zero(context, expr.args[0]);
    case ExprKind::kVariable: {
      if (!is_declared(context, expr.variable) || is_assigned(context, expr.variable)) return false;
      const ExprId declared = value_of(context, expr.variable);
      return declared == kNone || is_zero(context, declared);
    }
    default: return false;
  }
}

VarId origin_of(const MutationContext& context, VarId variable) {
  for (;;) {
    const ExprId value = is_assigned(context, variable) ? kNone : value_of(context, variable);
    if (value == kNone || context.function.expr(value).kind != ExprKind::kVariable) return variable;
    const VarId next = context.function.expr(value).variable;
    // The original may have changed since.
    if (is_assigned(context, next)) return variable;
    variable = next;
  }
}

bool is_loaded_with_same_indices(const MutationContext& context, VarId a, VarId b) {
  const ExprId x = value_of(context, a), y = value_of(context, b);
  return x != kNone && y != kNone && context.function.expr(x).kind == ExprKind::kLoad &&
         same_tree(context.function, x, y);
}

std::string name_of(const MutationContext& context, VarId variable) { return context.function.var(variable).name; }

std::vector<Mutation> find_mutations(MutationOperator op, const MutationContext& context) {
  std::vector<Mutation> found;
  switch (row(op).group) {
    case MutationOperatorGroup::kAccumulation: find_accumulation(op, context, found); break;
    case MutationOperatorGroup::kReversedStore: find_stores(op, context, found); break;
    case MutationOperatorGroup::kForwardValue: find_values(op, context, found); break;
    case MutationOperatorGroup::kDerivativeRule:
      row(op).changed_part == MutatedKernelPart::kPrimal ? find_primal(op, context, found)
                                                         : find_rules(op, context, found);
      break;
    case MutationOperatorGroup::kControlFlow:
      row(op).changed_part == MutatedKernelPart::kPrimal ? find_primal(op, context, found)
                                                         : find_control(op, context, found);
      break;
    case MutationOperatorGroup::kMemory: find_memory(op, context, found); break;
    case MutationOperatorGroup::kReplayAndBarriers: find_replay(op, context, found); break;
    case MutationOperatorGroup::kForwardKernel: find_forward(op, context, found); break;
  }
  std::erase_if(found, [&](const Mutation& mutation) {
    if (op == MutationOperator::kClearGradientAtStart || op == MutationOperator::kWriteToInactiveGradient)
      return false;  // applied at the start of the kernel
    const bool adds_an_effect = row(op).group == MutationOperatorGroup::kReplayAndBarriers;
    return context.is_dead_statement[mutation.statement] ||
           !(adds_an_effect || context.affects_launch_result[mutation.statement]);
  });
  return found;
}

}  // namespace assay::mutation
