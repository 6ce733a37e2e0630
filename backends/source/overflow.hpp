// Determines which signed integer arithmetic can be printed with plain operators because it does not overflow.
//
// Signed overflow is undefined in C++, and compilers exploit that, but the kernel language wraps. Printing every sum as
// a call would obscure the common case, index arithmetic, so that is recognized by its form. A "small" expression
// consists of thread indices, loop variables, extents, integer kernel parameters, small constants and small variables,
// combined by sums, differences, quotients, remainders and choices, and by products in which one factor is a constant,
// an extent or a parameter. A variable or local array is small if all its assigned values are small; values derived
// from its own value may only be choices and steps by small constants, as for counters. Everything else, such as loaded
// or accumulated values, may overflow.
#pragma once

#include <algorithm>
#include <ranges>
#include <set>
#include <utility>
#include <vector>

#include "ir/module.hpp"

namespace assay::source {

/// Determines which arithmetic of a function cannot overflow.
class OverflowAnalysis {
 public:
  explicit OverflowAnalysis(const ir::Function& function);

  /// Whether the expression, arithmetic on signed 32- or 64-bit integers, can be printed with plain operators.
  bool is_plain(const ir::Expr& expr) const { return is_small(expr) || index_expressions_.contains(&expr); }

 private:
  bool is_small(const ir::Expr& expr) const;
  bool is_small(ir::ExprId expr) const { return is_small(function_.expr(expr)); }
  /// Returns whether all values assigned to the variable are small.
  bool is_small_variable(ir::VarId variable) const {
    return has_only_small_values_[static_cast<std::size_t>(variable)];
  }
  bool is_small_operation(const ir::Expr& expr) const;
  bool is_scale(ir::ExprId expr) const;

  void collect();
  void collect_indices();
  void mark_as_index(ir::ExprId expr);
  void add_assignment(ir::VarId variable, ir::ExprId value);
  /// Returns the values that the function assigns to a variable.
  auto assigned_values(ir::VarId variable) const {
    using Assignment = std::pair<ir::VarId, ir::ExprId>;
    return std::ranges::equal_range(assignments_, variable, {}, &Assignment::first) | std::views::values;
  }
  bool is_assigned_small_values(ir::VarId variable) const;
  bool grows(ir::VarId variable, ir::ExprId value) const;
  bool depends_on(ir::ExprId value, ir::VarId variable, std::vector<bool>& seen) const;
  bool depends_on(ir::ExprId value, ir::VarId variable) const;

  const ir::Function& function_;                 ///< analyzed function
  std::vector<bool> has_only_small_values_;      ///< for each variable: whether all values assigned to it are small
  std::set<const ir::Expr*> index_expressions_;  ///< expressions that are part of an index
  /// Pairs of a variable and a value assigned to it or its elements, ordered by variable.
  std::vector<std::pair<ir::VarId, ir::ExprId>> assignments_;
};

}  // namespace assay::source
