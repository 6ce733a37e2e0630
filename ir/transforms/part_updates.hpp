// Assignments to a component of a vector or an element of a matrix, such as `v[c] += s`.
#pragma once

#include <map>
#include <vector>

#include "ir/transforms/ssa.hpp"
#include "ir/transforms/value_set.hpp"

namespace assay::transforms {

/// A value that differs from another value, `whole`, only in one part. The new part is `term`; if `adds_to_part`, it is
/// the sum of the old part and `term`, or their difference.
struct PartUpdate {
  Operand whole;                 ///< value before the assignment: a vector, matrix, quaternion or transform
  std::vector<Operand> indices;  ///< indices that lead from the whole to the part: of a row, of a component, or both
  Operand part;                  ///< the new part
  Operand term;                  ///< the new part, or what is added to the old part
  bool adds_to_part = false;     ///< whether the term is added to the old part
  bool subtracts_term = false;   ///< whether the term is subtracted instead
};

/// The updates of a kernel that add to a part, and those of elements of a matrix. Their adjoints are simpler than those
/// of their operations: if w is the adjoint of the result, the adjoint of `term` is the part of w, and the adjoint of
/// `whole` is w, without this part unless the update adds to it.
struct PartUpdates {
  std::map<ValueId, PartUpdate> by_result;  ///< by the value that the assignment defines
  ValueSet values_without_adjoint;          ///< values that are used only in operations of these updates
};

/// Finds the updates whose operations are all in one region.
PartUpdates find_part_updates(const SsaKernel& kernel);

}  // namespace assay::transforms
