// Which signed integer arithmetic can be spelt plainly, because it does not overflow.
//
// C++ leaves signed overflow undefined, and compilers use that, while the kernel language wraps. Spelling every sum as
// a call would hide the common case, the arithmetic of indices. So it is told apart by form. A "small" expression is
// made of thread indices, loop variables, extents, a kernel's integer parameters, small constants and small variables;
// by sums, differences, quotients, remainders and choices, and by products in which one factor is a constant, an extent
// or a parameter. A variable or local array is small if all values that it is given are; one that is given values made
// from its own may only choose among them and step by small constants, as counters do. All else, as what is loaded from
// memory or accumulated, may overflow.
#pragma once

#include <algorithm>
#include <ranges>
#include <set>
#include <utility>
#include <vector>

#include "ir/module.hpp"

namespace assay::source {

class Overflow {
 public:
  explicit Overflow(const ir::Function& function);

  /// Whether the expression, arithmetic on signed integers of 32 or 64 bits, can be spelt plainly.
  bool is_plain(const ir::Expr& expr) const { return is_small(expr) || in_index_.contains(&expr); }

 private:
  bool is_small(const ir::Expr& expr) const;
  bool is_small(ir::ExprId expr) const { return is_small(function_.expr(expr)); }
  bool is_small_variable(ir::VarId variable) const { return small_[static_cast<std::size_t>(variable)]; }
  bool is_small_operation(const ir::Expr& expr) const;
  bool is_scale(ir::ExprId expr) const;

  void collect();
  void collect_indices();
  void take_as_index(ir::ExprId expr);
  void give(ir::VarId variable, ir::ExprId value);
  /// What a variable is given.
  auto given_to(ir::VarId variable) const {
    using Given = std::pair<ir::VarId, ir::ExprId>;
    return std::ranges::equal_range(given_, variable, {}, &Given::first) | std::views::values;
  }
  bool is_given_small_values(ir::VarId variable) const;
  bool grows(ir::VarId variable, ir::ExprId value) const;
  bool depends_on(ir::ExprId value, ir::VarId variable, std::vector<bool>& seen) const;
  bool depends_on(ir::ExprId value, ir::VarId variable) const;

  const ir::Function& function_;
  std::vector<bool> small_;  ///< by variable
  std::set<const ir::Expr*> in_index_;
  /// The values that variables or their elements are given, each behind its variable, ordered by that.
  std::vector<std::pair<ir::VarId, ir::ExprId>> given_;
};

}  // namespace assay::source
