// The finders of the mutation operators, by group. Private to this folder.
#pragma once

#include <vector>

#include "harness/mutation/mutation.hpp"

namespace assay::mutation {

void find_accumulation(MutationOperator op, const MutationContext& context, std::vector<Mutation>& found);
void find_stores(MutationOperator op, const MutationContext& context, std::vector<Mutation>& found);
void find_values(MutationOperator op, const MutationContext& context, std::vector<Mutation>& found);
void find_rules(MutationOperator op, const MutationContext& context, std::vector<Mutation>& found);
void find_control(MutationOperator op, const MutationContext& context, std::vector<Mutation>& found);
void find_memory(MutationOperator op, const MutationContext& context, std::vector<Mutation>& found);
void find_replay(MutationOperator op, const MutationContext& context, std::vector<Mutation>& found);
void find_forward(MutationOperator op, const MutationContext& context, std::vector<Mutation>& found);
void find_primal(MutationOperator op, const MutationContext& context, std::vector<Mutation>& found);

// ---- shared by several groups

/// Calls visit(const ExpressionNode&, const ir::Expr&) for each node of the statement's root expressions.
template <class Visit>
void for_each_expression_node(const MutationContext& context, std::size_t statement, Visit&& visit) {
  for (const ExpressionNode& node : nodes_of(context.function, *context.statements[statement].statement, statement))
    visit(node, context.function.expr(node.id));
}

/// The variable and the value of a Let or an Assign.
struct AssignedValue {
  ir::VarId variable = ir::kNone;  ///< the assigned variable; kNone for other statements
  ir::ExprId value = ir::kNone;    ///< the assigned value; kNone for other statements
};
AssignedValue assigned_value_of(const ir::Stmt& statement);

/// A load of an incoming gradient (cotangent) that defines a variable.
struct CotangentLoad {
  std::size_t statement = 0;       ///< number of the statement that contains the load
  ExpressionPosition position;     ///< position of the load
  const ir::Expr* load = nullptr;  ///< the load expression
  ir::VarId gradient = ir::kNone;  ///< the gradient array that is loaded
};
std::vector<CotangentLoad> cotangent_loads(const MutationContext& context);
/// Whether the statement stores to the array.
bool stores_to(const MutationContext& context, std::size_t statement, ir::VarId array);
/// The literal 1, or 0, of a scalar or aggregate type; kNone for other types.
ir::ExprId one(ir::Builder& make, ir::Type type);

/// Whether the statement defines part of a gradient computed from another one, and is neither a cotangent load nor a
/// copy.
bool is_contribution(const MutationContext& context, std::size_t statement);
/// Whether two expressions of the function are structurally equal.
bool same_tree(const ir::Function& function, ir::ExprId a, ir::ExprId b);
/// The initial value of the variable; kNone for a parameter and for a declaration without a value.
ir::ExprId value_of(const MutationContext& context, ir::VarId variable);
/// Whether the value is statically zero: the literal, or a variable or field that is never assigned.
bool is_zero(const MutationContext& context, ir::ExprId value);
/// The variable that this variable always copies wherever it has an effect; itself if it is not a copy.
ir::VarId origin_of(const MutationContext& context, ir::VarId variable);
/// Whether both variables are declared with the same load: a value loaded twice is seldom changed in between.
bool is_loaded_with_same_indices(const MutationContext& context, ir::VarId a, ir::VarId b);
std::string name_of(const MutationContext& context, ir::VarId variable);

}  // namespace assay::mutation
