// Builds expressions from formulas: E is an expression of a builder; operators and functions combine expressions. Used
// by code that builds many formulas, such as the adjoint rules and Warp's library.
//
//     E x{&builder, id};
//     const E slope = 6.0 * (x * (1.0 - x));
//
// A number combined with an expression takes the component type of the expression. Misuse aborts, as in Builder.
#pragma once

#include <initializer_list>
#include <vector>

#include "ir/builder.hpp"

namespace assay::ir::algebra {

struct E {
  Builder* b;  ///< builder that the expression belongs to
  ExprId id;   ///< number of the expression in the builder's function

  Type type() const { return b->type_of(id); }
  /// Part k of an aggregate: a row of a matrix, otherwise a component.
  E operator[](int k) const { return {b, b->op(Op::kExtract, {id, b->i32(k)})}; }
};

inline E apply(E a, Op op, std::initializer_list<ExprId> args) { return {a.b, a.b->op(op, args)}; }
inline E call(Op op, E a) { return apply(a, op, {a.id}); }
inline E call(Op op, E a, E c) { return apply(a, op, {a.id, c.id}); }

inline E like(E a, double value) { return {a.b, a.b->literal(a.type().component(), value)}; }
inline E zero_like(E a) { return {a.b, a.b->zero(a.type())}; }
inline E zero(E a, Type type) { return {a.b, a.b->zero(type)}; }

inline E operator+(E a, E c) { return call(Op::kAdd, a, c); }
inline E operator-(E a, E c) { return call(Op::kSub, a, c); }
inline E operator*(E a, E c) { return call(Op::kMul, a, c); }
inline E operator/(E a, E c) { return call(Op::kDiv, a, c); }
inline E operator-(E a) { return call(Op::kNeg, a); }
inline E operator<(E a, E c) { return call(Op::kLt, a, c); }
inline E operator>(E a, E c) { return call(Op::kGt, a, c); }
inline E operator+(double c, E a) { return like(a, c) + a; }
inline E operator-(double c, E a) { return like(a, c) - a; }
inline E operator*(double c, E a) { return like(a, c) * a; }
inline E operator-(E a, double c) { return a - like(a, c); }

/// Both branches are evaluated.
inline E where(E condition, E yes, E no) { return apply(yes, Op::kWhere, {condition.id, yes.id, no.id}); }
inline E either(E a, E c) { return call(Op::kOr, a, c); }
inline E is_nan(E a) { return call(Op::kIsNan, a); }

/// Returns an aggregate whose components are those of all parts, in order.
inline E make(Type type, const std::vector<E>& parts) {
  std::vector<ExprId> ids;
  ids.reserve(parts.size());
  for (const E part : parts)
    ids.push_back(part.id);
  return {parts[0].b, parts[0].b->make(type, ids)};
}

/// Returns component k of an aggregate, in memory order. Scalars and tiles are returned unchanged.
inline E component(E a, int k) {
  const Type type = a.type();
  if (type.is_scalar() || type.is_tile()) return a;
  return type.is_matrix() ? a[k / type.cols][k % type.cols] : a[k];
}

/// Returns `count` components, from component `first` on.
inline std::vector<E> components(E a, int first, int count) {
  std::vector<E> all;
  for (int k = first; k < first + count; ++k)
    all.push_back(component(a, k));
  return all;
}
inline std::vector<E> components(E a) { return components(a, 0, a.type().components()); }

/// Returns the sum of the terms, added from left to right.
inline E sum(const std::vector<E>& terms) {
  E total = terms[0];
  for (std::size_t k = 1; k < terms.size(); ++k)
    total = total + terms[k];
  return total;
}

/// The inner product: dot for vectors, ddot for matrices.
inline E inner(E a, E c) { return call(a.type().is_matrix() ? Op::kDoubleDot : Op::kDot, a, c); }

}  // namespace assay::ir::algebra
