#include "harness/mutation/editor.hpp"

#include <utility>

#include "ir/visit.hpp"

namespace assay::mutation {

using namespace ir;

namespace {

/// Calls visit(block, index) for each statement in program order until it returns true. Returns whether it did.
template <class Visit>
bool visit_positions(Block& block, Visit&& visit) {
  for (std::size_t i = 0; i < block.statements.size(); ++i) {
    if (visit(block, i)) return true;
    bool found = false;
    for_each_child_block(block.statements[i], [&](Block& inner) { found = found || visit_positions(inner, visit); });
    if (found) return true;
  }
  return false;
}

bool is_loop(const Stmt& statement) {
  return std::holds_alternative<For>(statement.node) || std::holds_alternative<While>(statement.node);
}

}  // namespace

FunctionEditor::FunctionEditor(const Module& module, Function& function)
    : function_(function), builder_(module, function) {}

FunctionEditor::Position FunctionEditor::position(std::size_t statement) {
  Position found;
  visit_positions(function_.body, [&](Block& block, std::size_t index) {
    if (statement-- > 0) return false;
    found = {&block, index};
    return true;
  });
  return found;
}

Stmt& FunctionEditor::at(std::size_t statement) {
  const Position place = position(statement);
  return place.block->statements[place.index];
}

ExprId FunctionEditor::rebuilt(ExprId root, std::size_t& nodes_left, ExprId expression) {
  if (nodes_left-- == 0) return expression;
  Expr copy = function_.expr(root);
  for (ExprId& arg : copy.args) {
    const bool passed = nodes_left == static_cast<std::size_t>(-1);
    if (!passed) arg = rebuilt(arg, nodes_left, expression);
  }
  function_.expressions.push_back(std::move(copy));
  return static_cast<ExprId>(function_.expressions.size() - 1);
}

void FunctionEditor::replace(const ExpressionPosition& place, ExprId expression) {
  std::size_t root = 0;
  for_each_root_expression(at(place.statement), [&](ExprId& id) {
    if (root++ != place.root) return;
    std::size_t nodes_left = place.node;
    id = rebuilt(id, nodes_left, expression);
  });
}

ExprId FunctionEditor::get(const ExpressionPosition& place) {
  ExprId found = kNone;
  for (const ExpressionNode& node : nodes_of(function_, at(place.statement), place.statement)) {
    if (node.position.root == place.root && node.position.node == place.node) found = node.id;
  }
  return found;
}

void FunctionEditor::erase(std::size_t statement) {
  const Position place = position(statement);
  place.block->statements.erase(place.block->statements.begin() + static_cast<std::ptrdiff_t>(place.index));
}

void FunctionEditor::insert_before(std::size_t statement, Stmt added) {
  const Position place = position(statement);
  place.block->statements.insert(place.block->statements.begin() + static_cast<std::ptrdiff_t>(place.index),
                                 std::move(added));
}

void FunctionEditor::insert_after(std::size_t statement, Stmt added) {
  const Position place = position(statement);
  place.block->statements.insert(place.block->statements.begin() + static_cast<std::ptrdiff_t>(place.index) + 1,
                                 std::move(added));
}

bool FunctionEditor::hoist_out_of_loop(std::size_t statement) {
  const std::vector<ListedStatement> listed = statements_of(function_);
  std::size_t loop = listed[statement].parent;
  while (loop != std::string::npos && !is_loop(*listed[loop].statement))
    loop = listed[loop].parent;
  if (loop == std::string::npos) return false;
  Stmt moved = at(statement);
  erase(statement);
  insert_before(loop, std::move(moved));
  return true;
}

std::vector<ExprId> roots_of(const Stmt& statement) {
  std::vector<ExprId> roots;
  for_each_root_expression(statement, [&](const ExprId& id) { roots.push_back(id); });
  return roots;
}

namespace {

void list_nodes(const Function& function, ExprId id, ExpressionPosition& next, std::size_t parent,
                std::vector<ExpressionNode>& nodes) {
  const std::size_t self = nodes.size();
  nodes.push_back({next, id, parent == std::string::npos ? self : parent});
  ++next.node;
  for (const ExprId arg : function.expr(id).args)
    list_nodes(function, arg, next, self, nodes);
}

void list_statements(const Block& block, std::size_t parent, std::vector<ListedStatement>& listed) {
  for (const Stmt& statement : block.statements) {
    const std::size_t self = listed.size();
    listed.push_back({&statement, parent});
    for_each_child_block(statement, [&](const Block& inner) { list_statements(inner, self, listed); });
  }
}

}  // namespace

std::vector<ExpressionNode> nodes_of(const Function& function, const Stmt& statement, std::size_t number) {
  std::vector<ExpressionNode> nodes;
  std::size_t root = 0;
  for (const ExprId id : roots_of(statement)) {
    ExpressionPosition next{.statement = number, .root = root++, .node = 0};
    list_nodes(function, id, next, std::string::npos, nodes);
  }
  return nodes;
}

std::vector<ListedStatement> statements_of(const Function& function) {
  std::vector<ListedStatement> listed;
  list_statements(function.body, std::string::npos, listed);
  return listed;
}

}  // namespace assay::mutation
