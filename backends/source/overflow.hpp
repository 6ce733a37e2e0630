// Which signed integer arithmetic can be spelt plainly, because it does not overflow.
//
// C++ leaves signed overflow undefined, and compilers use that, while the kernel language wraps. Spelling every sum as
// a call would hide the common case, the arithmetic of indices. So it is told apart by form: a "small" expression is
// made of thread indices, loop variables, extents, a kernel's integer parameters and small constants; by sums,
// differences, quotients and remainders, and by products in which one factor is a constant, extent or parameter. All
// else, as what is loaded from memory or accumulated in a variable, may overflow.
#pragma once

#include <vector>

#include "ir/module.hpp"

namespace assay::source {

class Overflow {
 public:
  explicit Overflow(const ir::Function& function);

  /// Whether the expression, a signed integer, is small in the above sense, with all its parts.
  bool is_small(const ir::Expr& expr) const;
  bool is_small(ir::ExprId expr) const { return is_small(function_.expr(expr)); }

 private:
  void scan(const ir::Block& block);
  bool is_small_variable(ir::VarId variable) const { return small_[static_cast<std::size_t>(variable)]; }
  bool is_scale(ir::ExprId expr) const;
  bool is_small_operation(const ir::Expr& expr) const;
  bool counts(ir::VarId variable, ir::ExprId value) const;

  const ir::Function& function_;
  std::vector<bool> small_;                        ///< by variable
  std::vector<std::vector<ir::ExprId>> assigned_;  ///< by variable: the values that it is assigned
};

}  // namespace assay::source
