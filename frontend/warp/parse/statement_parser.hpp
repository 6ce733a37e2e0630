// Reads the statements of one function into its body.
#pragma once

#include <functional>
#include <map>
#include <span>
#include <string_view>
#include <vector>

#include "frontend/warp/parse/expression_parser.hpp"
#include "frontend/warp/parse/function_context.hpp"

namespace assay::frontend {

class StatementReader {
 public:
  explicit StatementReader(FunctionContext& context) : context_(context), expressions_(context) {}

  /// Reads the function's body. Parameters and thread indices are bound in the outermost scope already.
  void body(Node block);

 private:
  void statements(Node block);
  void statement(Node node);
  void expression_statement(Node node);
  void call_statement(Node call);
  void effects_of(std::span<const Node> arguments);
  bool draws(Node expression) const;
  void set_part(Node call, std::string_view name);
  // control
  void if_statement(Node node);
  Node static_branch(Node node, bool& is_static) const;
  void alternative(std::span<const Node> clauses, std::size_t first);
  void for_statement(Node node);
  bool is_unrolled(const ir::For& loop) const;
  void while_statement(Node node);
  void return_statement(Node node);
  /// Reads a nested block: its names go with it.
  ir::Block nested(Node block, const std::function<void()>& before = nullptr);
  /// Appends a compound statement, after the declarations that its blocks asked for.
  template <class Statement>
  void append(Node node, Statement statement);
  void declare_pending(Node node);
  // assignment
  void assignment(Node node);
  void chain(Node node);
  void assign_call_results(Node target, Node call);
  void assign_library_results(std::span<const Node> targets, Node call);
  void bind_results(std::span<const Node> targets, Node call, int function, std::vector<ir::ExprId> arguments);
  void assign_tuple(Node node, std::span<const Node> targets, std::span<const Node> values);
  void assign_thread_indices(Node node, std::span<const Node> targets);
  void assign_target(Node target, ir::ExprId value);
  void assign_name(Node name, ir::ExprId value);
  void assign_alias(Node name, Node part);
  bool assign_zero(Node name, Node call);
  bool assign_effect(Node name, Node call);
  bool assign_local_array(Node name, Node call);
  void augmented_assignment(Node node);
  bool atomic_update(Node node, std::string_view symbol, const Place& place, ir::ExprId value);
  /// Whether the name is new and belongs to the block that is being read.
  bool is_new_here(std::string_view name) const;

  /// Tells the user if Warp would refuse the change: it takes a variable that starts as a bare number for a constant.
  void note_changed_constant(Node name, ir::VarId variable);

  FunctionContext& context_;
  ExpressionReader expressions_;
  int dynamic_loops_ = 0;                      ///< around the statement being read
  std::map<ir::VarId, int> starts_as_number_;  ///< variables, by the number of dynamic loops around their start
};

}  // namespace assay::frontend
