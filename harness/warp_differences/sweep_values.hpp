// The edge values of the sweep, and the tuples of operands made from them.
#pragma once

#include <cstddef>
#include <vector>

#include "harness/warp_differences/sweep_kernels.hpp"
#include "ir/types/type.hpp"

namespace assay::warp {

/// A value of a scalar type, as its bytes in memory.
using ScalarBytes = std::vector<std::byte>;
/// The components of a value, in memory order.
using ValueBytes = std::vector<std::byte>;

/// Zeros of both signs, ones, halves, ties of rounding, subnormals, limits of the type, infinities and NaN; for
/// integers small values of both signs, limits, and the bit width. Without duplicates; the most extreme values first.
std::vector<ScalarBytes> edge_values(ir::Scalar scalar);

/// At most `count` values of the type. An aggregate has an edge value in every component, in one component, or in two
/// components of opposite sign, and well-conditioned numbers in the others.
std::vector<ValueBytes> edge_values(ir::Type type, std::size_t count);

/// All combinations of the edge values of the operands, as one array for each operand. The arrays have the same length.
struct EdgeValueTuples {
  std::size_t tuple_count = 0;                                 ///< number of tuples
  std::vector<std::vector<std::byte>> operand_array_contents;  ///< content of each operand's array
};
EdgeValueTuples edge_tuples(const SweptCall& call);

}  // namespace assay::warp
