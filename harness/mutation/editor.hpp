// Edits one statement or expression of a function.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "ir/builder.hpp"
#include "ir/module.hpp"

namespace assay::mutation {

/// The position of an expression: the number of the statement in program order, the number of the root expression in
/// the statement, and the number of the node in that tree in preorder.
struct ExpressionPosition {
  std::size_t statement = 0;  ///< number of the statement in program order
  std::size_t root = 0;       ///< number of the root expression in the statement
  std::size_t node = 0;       ///< number of the node in the root's tree, in preorder
};

/// Changes statements and expressions of a function.
class FunctionEditor {
 public:
  /// Edits `function`, which is or will be part of the module.
  FunctionEditor(const ir::Module& module, ir::Function& function);

  /// The builder for new expressions of the function.
  ir::Builder& make() { return builder_; }
  ir::Stmt& at(std::size_t statement);  ///< the statement with this number
  /// Replaces the expression at this position; other uses of shared trees are unchanged.
  void replace(const ExpressionPosition& place, ir::ExprId expression);
  /// The node at this position.
  ir::ExprId get(const ExpressionPosition& place);
  void erase(std::size_t statement);  ///< removes the statement with this number
  void insert_before(std::size_t statement, ir::Stmt added);
  void insert_after(std::size_t statement, ir::Stmt added);
  /// Moves the statement before the loop that contains it. Returns false outside loops.
  bool hoist_out_of_loop(std::size_t statement);

 private:
  /// Where a statement is.
  struct Position {
    ir::Block* block = nullptr;  ///< the block that directly contains the statement
    std::size_t index = 0;       ///< index of the statement in the block
  };
  /// The position of the statement.
  Position position(std::size_t statement);
  ir::ExprId rebuilt(ir::ExprId root, std::size_t& nodes_left, ir::ExprId expression);

  ir::Function& function_;  ///< the edited function
  ir::Builder builder_;     ///< makes new expressions of the function
};

/// The root expressions of a statement, without those of nested statements, in order.
std::vector<ir::ExprId> roots_of(const ir::Stmt& statement);

/// A node of an expression tree, with its position.
struct ExpressionNode {
  ExpressionPosition position;  ///< position of the node
  ir::ExprId id = ir::kNone;    ///< the node's expression
  std::size_t parent = 0;       ///< index of the parent in the list; its own index for a root
};
/// All nodes of the root expressions of the statement with this number, in order.
std::vector<ExpressionNode> nodes_of(const ir::Function& function, const ir::Stmt& statement, std::size_t number);

/// A statement of a function, as statements_of lists it: in program order, including nested ones.
struct ListedStatement {
  const ir::Stmt* statement = nullptr;     ///< the statement; not owned
  std::size_t parent = std::string::npos;  ///< number of the enclosing statement; npos: none
};
std::vector<ListedStatement> statements_of(const ir::Function& function);

}  // namespace assay::mutation
