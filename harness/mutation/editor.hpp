// Changes one place of a finished function.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "ir/builder.hpp"
#include "ir/module.hpp"

namespace assay::mutation {

/// An expression of a body: the statement, by its number in the order of the text; which of the expressions that it
/// evaluates; which node of that tree, an expression before its operands.
struct Place {
  std::size_t statement = 0;
  std::size_t root = 0;
  std::size_t node = 0;
};

class Editor {
 public:
  /// Changes `function`, which is or will be one of the module's.
  Editor(const ir::Module& module, ir::Function& function);

  /// Makes expressions for the function.
  ir::Builder& make() { return builder_; }
  ir::Stmt& at(std::size_t statement);
  /// Puts another expression in the place; trees that other places share with it stay as they are.
  void replace(const Place& place, ir::ExprId expression);
  /// The node in the place.
  ir::ExprId get(const Place& place);
  void erase(std::size_t statement);
  void insert_before(std::size_t statement, ir::Stmt added);
  void insert_after(std::size_t statement, ir::Stmt added);
  /// Moves the statement in front of the loop that it stands in. False if it stands in none.
  bool hoist_out_of_loop(std::size_t statement);

 private:
  struct Position {
    ir::Block* block = nullptr;
    std::size_t index = 0;
  };
  /// Where the statement stands.
  Position position(std::size_t statement);
  ir::ExprId rebuilt(ir::ExprId root, std::size_t& nodes_left, ir::ExprId expression);

  ir::Function& function_;
  ir::Builder builder_;
};

/// The expressions that a statement evaluates itself, in order.
std::vector<ir::ExprId> roots_of(const ir::Stmt& statement);

/// One node below a root, with its place.
struct Node {
  Place place;
  ir::ExprId id = ir::kNone;
  std::size_t parent = 0;  ///< the number in the list of the node above it; its own for a root
};
/// All nodes of the expressions that the statement with this number evaluates itself, in order.
std::vector<Node> nodes_of(const ir::Function& function, const ir::Stmt& statement, std::size_t number);

/// The statements of the body, in the order of the text, each with the number of the one that it stands in
/// (`npos`: in none).
struct Listed {
  const ir::Stmt* statement = nullptr;
  std::size_t parent = std::string::npos;
};
std::vector<Listed> statements_of(const ir::Function& function);

}  // namespace assay::mutation
