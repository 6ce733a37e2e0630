// Products of matrices whose elements are distributed over the registers of a warp. Private to the machine.
#pragma once

#include "backends/ptx/instructions/program.hpp"

namespace assay::ptx {

/// The row and column of an element in a matrix, counted from 0.
struct ElementPosition {
  unsigned row = 0;     ///< number of the row
  unsigned column = 0;  ///< number of the column
};

/// The numbers of rows and columns of a matrix.
struct MatrixExtents {
  unsigned rows = 0;     ///< number of rows
  unsigned columns = 0;  ///< number of columns
};
MatrixExtents extents_of(const Fragment& fragment);

/// The position in the matrix of an element that a lane holds. `element` counts the elements of the lane's registers,
/// from the lowest bits of the first register.
ElementPosition position_of(const Fragment& fragment, unsigned lane, unsigned element);

/// The type in which an element of a factor counts without rounding. A product ignores the low bits of elements in
/// tf32, which rounds them.
constexpr Type unrounded_type(Type type) { return type == Type::kTf32 ? Type::kF32 : type; }

/// The number that an element of a matrix represents.
double number_of_element(Type type, std::uint64_t bits);
/// The bits of a sum of products, rounded to its type. Integers wrap or are clamped.
std::uint64_t bits_of_sum(Type type, double number, bool saturates);

/// d = a * b + c for the registers of the lanes in `mask`. Each element is summed in double precision and rounded once.
void multiply_matrices(WarpState& warp, const MatrixOp& matrix, std::uint32_t mask);

}  // namespace assay::ptx
