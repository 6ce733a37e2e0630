// The part of Lowering that spreads the algebra of vectors, matrices, quaternions and transforms over their leaves.
#include <algorithm>

#include "reference/cpu/choices.hpp"
#include "reference/cpu/lowering.hpp"

namespace assay::reference {

using ir::Op;
using ir::Scalar;
using ir::Type;

namespace {

Leaves slice(const Leaves& leaves, int first, int count) {
  return {leaves.begin() + first, leaves.begin() + first + count};
}
Leaves row_of(Type matrix, const Leaves& leaves, int row) { return slice(leaves, row * matrix.cols, matrix.cols); }
Leaves column_of(Type matrix, const Leaves& leaves, int column) {
  Leaves found;
  for (int row = 0; row < matrix.rows; ++row)
    found.push_back(leaves[static_cast<std::size_t>(row * matrix.cols + column)]);
  return found;
}

void append(Leaves& leaves, const Leaves& more) { leaves.insert(leaves.end(), more.begin(), more.end()); }

Leaves joined(const std::vector<Leaves>& parts) {
  Leaves all;
  for (const Leaves& part : parts)
    append(all, part);
  return all;
}

Leaves transposed(Type matrix, const Leaves& leaves) {
  Leaves result;
  for (int column = 0; column < matrix.cols; ++column)
    append(result, column_of(matrix, leaves, column));
  return result;
}

/// Number of components up to which a sum of products is one instruction.
constexpr std::size_t kLongestSum = 16;

}  // namespace

Leaves Lowering::algebra(const ir::Expr& e, const std::vector<Leaves>& operands) {
  const Type first = type_of(e.args[0]);
  const Scalar type = first.scalar;
  if (!ir::is_elementwise(e.op) && (first.is_tile() || e.type.is_tile())) return tile_algebra(e, operands);
  switch (e.op) {
    case Op::kMake: return joined(operands);
    case Op::kSplat: return Leaves(component_count(e.type), operands[0][0]);
    case Op::kDot: return dot(type, operands[0], operands[1]);
    case Op::kDoubleDot: return double_dot(first, operands[0], operands[1]);
    case Op::kLengthSq: return dot(type, operands[0], operands[0]);
    case Op::kLength: return reduce(Op::kLength, type, operands[0]);
    case Op::kCross: return cross(type, operands[0], operands[1]);
    case Op::kNormalize: return normalize(type, operands[0]);
    case Op::kCwMul: return elementwise(Op::kMul, type, operands);
    case Op::kCwDiv: return elementwise(Op::kDiv, type, operands);
    case Op::kMul: return product(e, operands);
    case Op::kTranspose: return transposed(first, operands[0]);
    case Op::kOuter: return outer(type, operands[0], operands[1]);
    case Op::kInverse: return inverse(first, operands[0]);
    case Op::kQuatInverse: return joined({negated(type, slice(operands[0], 0, 3)), slice(operands[0], 3, 1)});
    case Op::kTranslation:
    case Op::kSpatialTop: return slice(operands[0], 0, 3);
    case Op::kRotation: return slice(operands[0], 3, 4);
    case Op::kSpatialBottom: return slice(operands[0], 3, 3);
    default: {
      const auto kind = choice_of(e.op);
      return elementwise(e.op, type, operands, kind && ir::is_float(type) ? choice(&e, *kind) : ir::kNone);
    }
  }
}

/// How an operation on floats is run.
Code code_of(const Evaluator& row) {
  if (row.role == Role::kTest) return Code::kTest;
  // What a fault is planted in has a row of its own.
  if (&row != &original_evaluator(row.op)) return Code::kFloat;
  switch (row.op) {
    case Op::kAdd: return Code::kAdd;
    case Op::kSub: return Code::kSub;
    case Op::kMul: return Code::kMul;
    default: return Code::kFloat;
  }
}

/// Component by component, scalars repeated.
Leaves Lowering::elementwise(Op op, Scalar type, const std::vector<Leaves>& operands, std::int32_t choice) {
  std::size_t count = 1;
  for (const Leaves& operand : operands)
    count = std::max(count, operand.size());
  const bool floats = ir::is_float(type);
  const Evaluator& row = evaluator(op);
  const Leaves dst = temporaries(count);
  for (std::size_t i = 0; i < count; ++i) {
    Leaves sources;
    for (const Leaves& operand : operands)
      sources.push_back(operand.size() == 1 ? operand[0] : operand[i]);
    emit({.code = floats ? code_of(row) : Code::kInteger,
          .op = op,
          .scalar = type,
          .dst = dst[i],
          .evaluator = &row,
          .choice = choice},
         sources);
  }
  return dst;
}

Leaves Lowering::reduce(Op op, Scalar type, Leaves operands) {
  const RegisterId dst = temporary();
  emit({.code = Code::kFloat, .op = op, .scalar = type, .dst = dst, .evaluator = &evaluator(op)}, operands);
  return {dst};
}

Leaves Lowering::dot(Scalar type, const Leaves& a, const Leaves& b) {
  if (ir::is_float(type)) return reduce(Op::kDot, type, joined({a, b}));
  const Leaves products = elementwise(Op::kMul, type, {a, b});
  Leaves sum{products[0]};
  for (std::size_t i = 1; i < products.size(); ++i)
    sum = elementwise(Op::kAdd, type, {sum, {products[i]}});
  return sum;
}

/// Of large matrices row by row.
Leaves Lowering::double_dot(Type matrix, const Leaves& a, const Leaves& b) {
  if (a.size() <= kLongestSum) return dot(matrix.scalar, a, b);
  Leaves sum;
  for (int row = 0; row < matrix.rows; ++row) {
    const Leaves term = dot(matrix.scalar, row_of(matrix, a, row), row_of(matrix, b, row));
    sum = row == 0 ? term : elementwise(Op::kAdd, matrix.scalar, {sum, term});
  }
  return sum;
}

Leaves Lowering::cross(Scalar type, const Leaves& a, const Leaves& b) {
  const Leaves ahead = elementwise(Op::kMul, type, {{a[1], a[2], a[0]}, {b[2], b[0], b[1]}});
  const Leaves behind = elementwise(Op::kMul, type, {{a[2], a[0], a[1]}, {b[1], b[2], b[0]}});
  return elementwise(Op::kSub, type, {ahead, behind});
}

Leaves Lowering::normalize(Scalar type, const Leaves& v) {
  const RegisterId length = reduce(Op::kLength, type, v)[0];
  const Leaves dst = temporaries(v.size());
  for (std::size_t i = 0; i < v.size(); ++i)
    emit({.code = Code::kUnit, .scalar = type, .dst = dst[i]}, {v[i], length});
  return dst;
}

/// Products of matrices are dot products of rows and columns; every other product is by components.
Leaves Lowering::product(const ir::Expr& e, const std::vector<Leaves>& operands) {
  const Type a = type_of(e.args[0]);
  const Type b = type_of(e.args[1]);
  if (a.tile_element().is_scalar() || b.tile_element().is_scalar()) return elementwise(Op::kMul, a.scalar, operands);
  if (a.is_quaternion()) return quaternion_product(a.scalar, operands[0], operands[1]);
  const int rows = a.is_matrix() ? a.rows : 1;
  const int columns = b.is_matrix() ? b.cols : 1;
  Leaves result;
  for (int row = 0; row < rows; ++row) {
    for (int column = 0; column < columns; ++column) {
      const Leaves left = a.is_matrix() ? row_of(a, operands[0], row) : operands[0];
      const Leaves right = b.is_matrix() ? column_of(b, operands[1], column) : operands[1];
      append(result, dot(a.scalar, left, right));
    }
  }
  return result;
}

/// i j = k = -j i and so on: each component is a dot product of a with b in another order and with other signs.
Leaves Lowering::quaternion_product(Scalar type, const Leaves& a, const Leaves& b) {
  const Leaves minus = negated(type, slice(b, 0, 3));
  const RegisterId x = b[0], y = b[1], z = b[2], w = b[3];
  return joined({dot(type, a, {w, z, minus[1], x}), dot(type, a, {minus[2], w, x, y}),
                 dot(type, a, {y, minus[0], w, z}), dot(type, a, {minus[0], minus[1], minus[2], w})});
}

Leaves Lowering::outer(Scalar type, const Leaves& a, const Leaves& b) {
  Leaves result;
  for (const RegisterId row : a)
    append(result, elementwise(Op::kMul, type, {{row}, b}));
  return result;
}

/// Component (i, j) of the inverse is component (0, 0) of the inverse of the matrix whose row j and column i have come
/// first, which is what the evaluator gives.
Leaves Lowering::inverse(Type matrix, const Leaves& a) {
  const int n = matrix.rows;
  const auto at = [n](int position, int first) { return (position + first) % n; };
  Leaves result;
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j) {
      Leaves turned;
      for (int row = 0; row < n; ++row) {
        for (int column = 0; column < n; ++column)
          turned.push_back(a[static_cast<std::size_t>(at(row, j) * n + at(column, i))]);
      }
      append(result, reduce(Op::kInverse, matrix.scalar, turned));
    }
  }
  return result;
}

}  // namespace assay::reference
