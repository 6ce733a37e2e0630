// Grows random expressions of one float type from the leaves of a sketch, with every operand where its
// operation is well conditioned.
#pragma once

#include <initializer_list>
#include <optional>
#include <vector>

#include "generators/sketch.hpp"

namespace assay::generators {

class Grower {
 public:
  /// Expressions of type `real` out of the operations of `menu`; one that is named twice comes twice as often.
  Grower(Sketch& sketch, ir::Type real, std::vector<ir::Op> menu)
      : sketch_(sketch), real_(real), menu_(std::move(menu)) {}

  /// A tree of at most `depth` operations above its leaves, in kTame.
  Term grow(int depth);
  /// A tree that lies in `target`.
  Term grow_in(Interval target, int depth) { return fit(grow(depth), target); }
  /// A bool: comparisons of trees, with and, or and not when depth > 0.
  Term condition(int depth);
  /// Another one, unless it compares what `other` compares too: x > 0.28 and x <= -0.63 is never true.
  std::optional<Term> condition_beside(Term other, int depth);
  /// One operation, its operands moved to where it is comfortable.
  Term apply(ir::Op op, std::vector<Term> operands);
  /// The term scaled and shifted into `target`, unless it lies there already.
  Term fit(Term term, Interval target);
  /// The term kept in kTame.
  Term tame(Term term);
  /// The term plus a multiple of every leaf of the type that nothing used yet. Declares temporaries where the
  /// expression would get long, so no statement may come between it and the one that uses the result.
  Term with_unused(Term term);

  /// A constant of two decimals in the interval, not 0.
  Term literal(Interval interval);
  Term leaf();
  bool same_tree(ir::ExprId a, ir::ExprId b) const;
  /// Whether the tree is no constant.
  bool depends_on_leaves(ir::ExprId id) const;
  /// Whether the two are equal for many inputs: one tree, or one of them chooses between values of which one is the
  /// other, also where a variable's first value did.
  bool may_equal(ir::ExprId a, ir::ExprId b) const;
  ir::Type real() const { return real_; }
  Sketch& sketch() { return sketch_; }

  Term add(Term a, Term b) { return apply(ir::Op::kAdd, {a, b}); }
  Term mul(Term a, Term b) { return apply(ir::Op::kMul, {a, b}); }

 private:
  Term scale_and_shift(Term term, Interval target);
  Term scaled(Term term, double factor);
  Term shifted(Term term, double shift);
  Term comparison(int depth);
  Term joined_leaves();
  /// An input, perhaps scaled, shifted or times another: it meets any one value with probability 0.
  Term continuous();
  std::vector<Term> operands_of(ir::Op op, int depth);
  Term constant_power(Term base);
  /// Whether the condition compares something that is somewhere in the other tree.
  bool compares_what_is_in(ir::ExprId condition, ir::ExprId other) const;
  /// What a variable was declared with; any other expression itself.
  ir::ExprId value_of(ir::ExprId id) const;
  /// Whether a tree is somewhere in the other.
  bool mentions(ir::ExprId id, ir::ExprId part) const;
  bool is_literal(ir::ExprId id) const;
  int size(ir::ExprId id) const;

  Sketch& sketch_;
  ir::Type real_;
  std::vector<ir::Op> menu_;
};

}  // namespace assay::generators
