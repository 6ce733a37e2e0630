// The part of Lowering for the algebra of vectors, matrices, quaternions and transforms.
#include <algorithm>

#include "reference/cpu/choices.hpp"
#include "reference/cpu/lowering.hpp"

namespace assay::reference {

using ir::Op;
using ir::Scalar;
using ir::Type;

namespace {

Registers slice(const Registers& components, int first, int count) {
  return {components.begin() + first, components.begin() + first + count};
}
Registers row_of(Type matrix, const Registers& components, int row) {
  return slice(components, row * matrix.cols, matrix.cols);
}
Registers column_of(Type matrix, const Registers& components, int column) {
  Registers found;
  for (int row = 0; row < matrix.rows; ++row)
    found.push_back(components[static_cast<std::size_t>(row * matrix.cols + column)]);
  return found;
}

void append(Registers& components, const Registers& more) {
  components.insert(components.end(), more.begin(), more.end());
}

Registers joined(const std::vector<Registers>& parts) {
  Registers all;
  for (const Registers& part : parts)
    append(all, part);
  return all;
}

Registers transposed(Type matrix, const Registers& components) {
  Registers result;
  for (int column = 0; column < matrix.cols; ++column)
    append(result, column_of(matrix, components, column));
  return result;
}

/// Maximum number of components of a sum of products in one instruction.
constexpr std::size_t kLongestSum = 16;

}  // namespace

Registers KernelLowering::algebra(const ir::Expr& e, const std::vector<Registers>& operands) {
  const Type first = type_of(e.args[0]);
  const Scalar type = first.scalar;
  if (!ir::is_elementwise(e.op) && (first.is_tile() || e.type.is_tile())) return tile_algebra(e, operands);
  switch (e.op) {
    case Op::kMake: return joined(operands);
    case Op::kSplat: return Registers(component_count(e.type), operands[0][0]);
    case Op::kDot: return dot(type, operands[0], operands[1]);
    case Op::kDoubleDot: return double_dot(first, operands[0], operands[1]);
    case Op::kLengthSquared: return dot(type, operands[0], operands[0]);
    case Op::kLength: return reduce(Op::kLength, type, operands[0]);
    case Op::kCross: return cross(type, operands[0], operands[1]);
    case Op::kNormalize: return normalize(type, operands[0]);
    case Op::kCwMul: return lower_elementwise(Op::kMul, type, operands);
    case Op::kCwDiv: return lower_elementwise(Op::kDiv, type, operands);
    case Op::kMul: return product(e, operands);
    case Op::kNeg:
      // A scalar is subtracted from zero, so that the negative of a zero is a positive zero; a vector's components
      // change their signs.
      if (e.type.is_float_scalar()) return lower_elementwise(Op::kSub, type, {{number(type, 0)}, operands[0]});
      return lower_elementwise(Op::kNeg, type, operands);
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
      return lower_elementwise(e.op, type, operands,
                               kind && ir::is_float(type) ? branch_point_index(&e, *kind) : ir::kNone);
    }
  }
}

/// The instruction code for an operation on floats.
InstructionCode code_of(const Evaluator& row) {
  if (row.role == EvaluatorRole::kPredicate) return InstructionCode::kFloatPredicate;
  // An operation with an injected fault has a separate row.
  if (&row != &original_evaluator(row.op)) return InstructionCode::kFloatOperation;
  switch (row.op) {
    case Op::kAdd: return InstructionCode::kAdd;
    case Op::kSub: return InstructionCode::kSub;
    case Op::kMul: return InstructionCode::kMul;
    default: return InstructionCode::kFloatOperation;
  }
}

/// Component by component, with scalars broadcast.
Registers KernelLowering::lower_elementwise(Op op, Scalar type, const std::vector<Registers>& operands,
                                            std::int32_t branch_point_index) {
  std::size_t count = 1;
  for (const Registers& operand : operands)
    count = std::max(count, operand.size());
  const bool floats = ir::is_float(type);
  const Evaluator& row = evaluator(op);
  const Registers destination = temporaries(count);
  for (std::size_t i = 0; i < count; ++i) {
    Registers sources;
    for (const Registers& operand : operands)
      sources.push_back(operand.size() == 1 ? operand[0] : operand[i]);
    emit({.code = floats ? code_of(row) : InstructionCode::kIntegerOperation,
          .op = op,
          .scalar = type,
          .destination = destination[i],
          .evaluator = &row,
          .branch_point = branch_point_index},
         sources);
  }
  return destination;
}

Registers KernelLowering::reduce(Op op, Scalar type, Registers operands) {
  const RegisterId destination = temporary();
  emit({.code = InstructionCode::kFloatOperation,
        .op = op,
        .scalar = type,
        .destination = destination,
        .evaluator = &evaluator(op)},
       operands);
  return {destination};
}

Registers KernelLowering::dot(Scalar type, const Registers& a, const Registers& b) {
  if (ir::is_float(type)) return reduce(Op::kDot, type, joined({a, b}));
  const Registers products = lower_elementwise(Op::kMul, type, {a, b});
  Registers sum{products[0]};
  for (std::size_t i = 1; i < products.size(); ++i)
    sum = lower_elementwise(Op::kAdd, type, {sum, {products[i]}});
  return sum;
}

/// Large matrices are reduced row by row.
Registers KernelLowering::double_dot(Type matrix, const Registers& a, const Registers& b) {
  if (a.size() <= kLongestSum) return dot(matrix.scalar, a, b);
  Registers sum;
  for (int row = 0; row < matrix.rows; ++row) {
    const Registers term = dot(matrix.scalar, row_of(matrix, a, row), row_of(matrix, b, row));
    sum = row == 0 ? term : lower_elementwise(Op::kAdd, matrix.scalar, {sum, term});
  }
  return sum;
}

Registers KernelLowering::cross(Scalar type, const Registers& a, const Registers& b) {
  const Registers ahead = lower_elementwise(Op::kMul, type, {{a[1], a[2], a[0]}, {b[2], b[0], b[1]}});
  const Registers behind = lower_elementwise(Op::kMul, type, {{a[2], a[0], a[1]}, {b[1], b[2], b[0]}});
  return lower_elementwise(Op::kSub, type, {ahead, behind});
}

Registers KernelLowering::normalize(Scalar type, const Registers& v) {
  const RegisterId length = reduce(Op::kLength, type, v)[0];
  const Registers destination = temporaries(v.size());
  for (std::size_t i = 0; i < v.size(); ++i)
    emit({.code = InstructionCode::kUnitComponent, .scalar = type, .destination = destination[i]}, {v[i], length});
  return destination;
}

/// Products of matrices are dot products of rows and columns; other products are component-wise.
Registers KernelLowering::product(const ir::Expr& e, const std::vector<Registers>& operands) {
  const Type a = type_of(e.args[0]);
  const Type b = type_of(e.args[1]);
  if (a.tile_element_type().is_scalar() || b.tile_element_type().is_scalar())
    return lower_elementwise(Op::kMul, a.scalar, operands);
  if (a.is_quaternion()) return quaternion_product(a.scalar, operands[0], operands[1]);
  const int rows = a.is_matrix() ? a.rows : 1;
  const int columns = b.is_matrix() ? b.cols : 1;
  Registers result;
  for (int row = 0; row < rows; ++row) {
    for (int column = 0; column < columns; ++column) {
      const Registers left = a.is_matrix() ? row_of(a, operands[0], row) : operands[0];
      const Registers right = b.is_matrix() ? column_of(b, operands[1], column) : operands[1];
      append(result, dot(a.scalar, left, right));
    }
  }
  return result;
}

/// i j = k = -j i and so on: each component is a dot product of a with a signed permutation of b.
Registers KernelLowering::quaternion_product(Scalar type, const Registers& a, const Registers& b) {
  const Registers minus = negated(type, slice(b, 0, 3));
  const RegisterId x = b[0], y = b[1], z = b[2], w = b[3];
  return joined({dot(type, a, {w, z, minus[1], x}), dot(type, a, {minus[2], w, x, y}),
                 dot(type, a, {y, minus[0], w, z}), dot(type, a, {minus[0], minus[1], minus[2], w})});
}

Registers KernelLowering::outer(Scalar type, const Registers& a, const Registers& b) {
  Registers result;
  for (const RegisterId row : a)
    append(result, lower_elementwise(Op::kMul, type, {{row}, b}));
  return result;
}

/// Component (i, j) of the inverse is component (0, 0) of the inverse after moving row j and column i to the front,
/// which the evaluator computes.
Registers KernelLowering::inverse(Type matrix, const Registers& a) {
  const int n = matrix.rows;
  const auto at = [n](int position, int first) { return (position + first) % n; };
  Registers result;
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j) {
      Registers turned;
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
