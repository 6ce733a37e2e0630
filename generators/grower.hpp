// Grows random expressions of one float type from the leaves of a sketch, with every operand where its
// operation is well conditioned.
#pragma once

#include <initializer_list>
#include <optional>
#include <vector>

#include "generators/sketch.hpp"

namespace assay::generators {

/// Builds random expressions of one float type.
class ExpressionGenerator {
 public:
  /// Expressions of type `real` from the operations in `menu`; one that is listed twice is twice as likely.
  ExpressionGenerator(KernelSketch& sketch, ir::Type real, std::vector<ir::Op> menu)
      : sketch_(sketch), float_type_(real), allowed_operations_(std::move(menu)) {}

  /// A tree of depth at most `depth`, with values in kModerateRange.
  RangedExpression grow(int depth);
  /// A tree with values in `target`.
  RangedExpression grow_in(Interval target, int depth) { return fit(grow(depth), target); }
  /// A bool: comparisons of trees, with and, or and not when depth > 0.
  RangedExpression condition(int depth);
  /// A further condition; empty if it would compare the same value as `other`: x > 0.28 and x <= -0.63 is never true.
  std::optional<RangedExpression> further_condition(RangedExpression other, int depth);
  /// One operation, with operands mapped to the interval where it is well conditioned.
  RangedExpression apply(ir::Op op, std::vector<RangedExpression> operands);
  /// The term, scaled and shifted into `target` if necessary.
  RangedExpression fit(RangedExpression term, Interval target);
  /// The term, mapped into kModerateRange if necessary.
  RangedExpression limit_range(RangedExpression term);
  /// The term plus a multiple of every unused leaf of the type. Declares temporaries if the expression gets long, so
  /// the next statement must use the result.
  RangedExpression add_unused_leaves(RangedExpression term);

  /// A nonzero constant with two decimals in the interval.
  RangedExpression literal(Interval interval);
  RangedExpression leaf();  ///< a leaf of the sketch, or sometimes a constant
  /// Whether the trees are equal. In contrast to ir::same_expression, equal calls count as equal: the functions that
  /// generators call have no effects.
  bool same_tree(ir::ExprId a, ir::ExprId b) const;
  /// Whether the tree depends on a leaf, and so is not constant.
  bool depends_on_leaves(ir::ExprId id) const;
  /// Whether the two are equal for many inputs: the same tree, or one selects between values that include the other,
  /// possibly through the initial value of a variable.
  bool may_equal(ir::ExprId a, ir::ExprId b) const;
  ir::Type real() const { return float_type_; }
  KernelSketch& sketch() { return sketch_; }

  RangedExpression add(RangedExpression a, RangedExpression b) { return apply(ir::Op::kAdd, {a, b}); }
  RangedExpression mul(RangedExpression a, RangedExpression b) { return apply(ir::Op::kMul, {a, b}); }

 private:
  RangedExpression scale_and_shift(RangedExpression term, Interval target);  ///< as fit()
  RangedExpression scaled(RangedExpression term, double factor);             ///< factor * term
  RangedExpression shifted(RangedExpression term, double shift);             ///< term + shift
  RangedExpression comparison(int depth);
  RangedExpression joined_leaves();  ///< sum, difference or product of two leaves
  /// An input, optionally scaled, shifted or multiplied by another: it takes any given value with probability 0.
  RangedExpression continuous();
  std::vector<RangedExpression> operands_of(ir::Op op, int depth);
  RangedExpression constant_power(RangedExpression base);  ///< power with a constant exponent
  /// Whether the condition compares a subtree of the other tree.
  bool compares_subtree_of(ir::ExprId condition, ir::ExprId other) const;
  /// The initial value of a variable; any other expression itself.
  ir::ExprId value_of(ir::ExprId id) const;
  /// Whether a tree contains another.
  bool mentions(ir::ExprId id, ir::ExprId part) const;
  bool is_literal(ir::ExprId id) const;
  int size(ir::ExprId id) const;  ///< number of nodes of the tree

  KernelSketch& sketch_;
  ir::Type float_type_;  ///< float type of the expressions
  /// Operations from which one is drawn for each node; an operation that is listed twice is drawn twice as often.
  std::vector<ir::Op> allowed_operations_;
};

}  // namespace assay::generators
