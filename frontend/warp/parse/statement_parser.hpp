// Parses the statements of one function into its body.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "frontend/warp/parse/expression_parser.hpp"
#include "frontend/warp/parse/function_context.hpp"

namespace assay::frontend {

/// Parses the statements of one function.
class WarpStatementParser {
 public:
  explicit WarpStatementParser(FunctionContext& context) : context_(context), expressions_(context) {}

  /// Parses the function's body. Parameters and thread indices are already bound in the outermost scope.
  void body(SyntaxNode block);

 private:
  void statements(SyntaxNode block);
  void statement(SyntaxNode node);
  void expression_statement(SyntaxNode node);
  void call_statement(SyntaxNode call);
  bool can_print(SyntaxNode call);
  void effects_of(std::span<const SyntaxNode> arguments);
  void set_part(SyntaxNode call, std::string_view name);
  static bool returns_in_arguments(SyntaxNode call, std::string_view name);
  void assign_results_in_arguments(SyntaxNode call, std::string_view name);
  // control
  void if_statement(SyntaxNode node);
  SyntaxNode static_branch(SyntaxNode node, bool& is_static) const;
  void alternative(std::span<const SyntaxNode> clauses, std::size_t first);
  void return_statement(SyntaxNode node);
  // loops (loop_parser.cpp)
  void for_statement(SyntaxNode node);
  /// The range of a loop: range(...) or reversed(range(...)).
  struct LoopRange {
    std::vector<SyntaxNode> arguments;  ///< arguments of range
    bool is_reversed = false;
  };
  LoopRange range_of(SyntaxNode node);
  bool is_static_in(SyntaxNode node, std::string_view name) const;  ///< whether wp.static(...) names it
  std::optional<std::array<std::int64_t, 3>> constant_bounds(std::span<const SyntaxNode> given) const;
  std::optional<std::vector<std::int64_t>> known_range(std::span<const SyntaxNode> given) const;
  std::optional<std::int64_t> unrolled_iterations(SyntaxNode loop, std::span<const SyntaxNode> given) const;
  struct LoopVariableUse;
  void collect_uses(SyntaxNode node, std::string_view name, bool is_conditional,
                    std::vector<LoopVariableUse>& uses) const;
  void reject_retyped_variable(SyntaxNode loop);
  void copied_loop(SyntaxNode node, std::span<const std::int64_t> values);
  void loop(SyntaxNode node, const LoopRange& range);
  void reverse_range(SyntaxNode node, const LoopRange& range, ir::For& loop);
  void loop_over_query(SyntaxNode node);
  void bind_loop_variable(SyntaxNode target, ir::ExprId counter, bool must_copy);
  bool is_declared_outside(std::string_view name) const;     ///< whether a block around the current one declares it
  std::size_t declaring_depth(std::string_view name) const;  ///< number of the innermost block that declares the name
  void while_statement(SyntaxNode node);
  /// Parses a nested block with its own scope.
  ir::Block nested(SyntaxNode block, const std::function<void()>& before = nullptr);
  /// Appends a compound statement, after the declarations that its blocks require.
  template <class Statement>
  void append(SyntaxNode node, Statement statement) {
    declare_pending(node);
    context_.builder.append({.node = std::move(statement), .loc = node.loc()});
  }
  void declare_pending(SyntaxNode node);  ///< declares variables before the statement
  // assignment
  void assignment(SyntaxNode node);
  void assign_call_results(SyntaxNode target, SyntaxNode call);
  void assign_library_results(std::span<const SyntaxNode> targets, SyntaxNode call);
  /// Calls the function and binds its results to the targets.
  void bind_results(std::span<const SyntaxNode> targets, SyntaxNode call, int function,
                    std::vector<ir::ExprId> arguments);
  void assign_tuple(SyntaxNode node, std::span<const SyntaxNode> targets, std::span<const SyntaxNode> values);
  void assign_thread_indices(SyntaxNode node, std::span<const SyntaxNode> targets);
  void assign_target(SyntaxNode target, ir::ExprId value);
  void forget_element_reads(ir::VarId tile);
  const FunctionContext::TileElementRead* earlier_read(const AssignmentTarget& place) const;
  bool is_variable(ir::ExprId value, ir::VarId variable) const;
  void assign_name(SyntaxNode name, ir::ExprId value);
  void note_literal(SyntaxNode name, SyntaxNode value);
  FunctionContext::NameAssignment shared_storage(SyntaxNode value, ir::ExprId result, bool is_multiple) const;
  bool is_constant_in_warp(SyntaxNode value, ir::ExprId result, bool is_multiple) const;
  void note_name_assignment(SyntaxNode name, ir::VarId variable);
  void set_assigned(ir::VarId variable, bool is_assigned);  ///< sets the variable's flag, if any
  void assign_alias(SyntaxNode name, SyntaxNode part);
  bool assign_zero(SyntaxNode name, SyntaxNode call);  ///< x = wp.vec3() declares a zero
  bool assign_array_field(SyntaxNode target, SyntaxNode array);
  bool assign_effect(SyntaxNode name, SyntaxNode call);  ///< x = wp.atomic_add(...), or a function with effects
  void assign_compound_tile(SyntaxNode name, ir::ExprId value);
  bool assign_local_array(SyntaxNode name, SyntaxNode call);  ///< x = wp.zeros(shape=3, dtype=float)
  bool assign_stack(SyntaxNode name, SyntaxNode call);
  void assign_popped(std::span<const SyntaxNode> targets, SyntaxNode call);
  void augmented_assignment(SyntaxNode node);
  bool atomic_update(SyntaxNode node, std::string_view symbol, const AssignmentTarget& place, ir::ExprId value);
  /// Whether the name is new and must be declared in the current block.
  bool is_new_here(std::string_view name) const;

  FunctionContext& context_;          ///< state of the function that is parsed
  WarpExpressionParser expressions_;  ///< parser of the expressions in the statements
  /// Loop targets that hide a variable of the same name; the code after the loop does not use the hidden variable.
  std::set<const void*> shadowing_loop_targets_;
  /// What the name that the current statement assigns shares in Warp; nothing for most statements.
  FunctionContext::NameAssignment name_assignment_;
};

}  // namespace assay::frontend
