// The finders of the operators, by group. Private to the mutations.
#pragma once

#include <vector>

#include "harness/mutation/mutation.hpp"

namespace assay::mutation {

void find_accumulation(Operator op, const Setting& setting, std::vector<Mutation>& found);
void find_stores(Operator op, const Setting& setting, std::vector<Mutation>& found);
void find_values(Operator op, const Setting& setting, std::vector<Mutation>& found);
void find_rules(Operator op, const Setting& setting, std::vector<Mutation>& found);
void find_control(Operator op, const Setting& setting, std::vector<Mutation>& found);
void find_memory(Operator op, const Setting& setting, std::vector<Mutation>& found);
void find_replay(Operator op, const Setting& setting, std::vector<Mutation>& found);
void find_forward(Operator op, const Setting& setting, std::vector<Mutation>& found);
void find_primal(Operator op, const Setting& setting, std::vector<Mutation>& found);

// ---- what several groups ask

/// Calls visit(Node, const Expr&) for each node of the statement's own expressions.
template <class Visit>
void for_each_node(const Setting& setting, std::size_t statement, Visit&& visit) {
  for (const Node& node : nodes_of(setting.function, *setting.statements[statement].statement, statement))
    visit(node, setting.function.expr(node.id));
}

/// The variable and the value of a Let or an Assign.
struct Definition {
  ir::VarId variable = ir::kNone;
  ir::ExprId value = ir::kNone;
};
Definition definition_of(const ir::Stmt& statement);

/// A load of a gradient in a definition: the place of the load.
struct SeedLoad {
  std::size_t statement = 0;
  Place place;
  const ir::Expr* load = nullptr;
  ir::VarId gradient = ir::kNone;
};
std::vector<SeedLoad> seed_loads(const Setting& setting);
/// Whether the statement stores to the array.
bool stores_to(const Setting& setting, std::size_t statement, ir::VarId array);
/// The literal 1, or 0, of a scalar or aggregate type; kNone for other types.
ir::ExprId one(ir::Builder& make, ir::Type type);

/// A definition that computes part of a gradient from another: no seed, and no copy.
bool is_contribution(const Setting& setting, std::size_t statement);
/// Whether two expressions of the function are the same text.
bool same_tree(const ir::Function& function, ir::ExprId a, ir::ExprId b);
/// What the variable is declared with; kNone for a parameter and for one without a value.
ir::ExprId value_of(const Setting& setting, ir::VarId variable);
/// Whether the value is zero by the program's text alone: the literal, a variable or a field that nothing gives a
/// value.
bool is_zero(const Setting& setting, ir::ExprId value);
/// The variable that this one is a copy of wherever it has an effect: itself, or what it is declared with.
ir::VarId origin_of(const Setting& setting, ir::VarId variable);
/// Whether both variables are declared with the same load: what the source loads twice is seldom changed in between.
bool is_loaded_alike(const Setting& setting, ir::VarId a, ir::VarId b);
std::string name_of(const Setting& setting, ir::VarId variable);

}  // namespace assay::mutation
