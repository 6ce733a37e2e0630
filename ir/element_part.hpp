// Parts of values: which part of an array element or variable a statement changes, and which part of an element an
// expression reads. `a[i][c] = v` is a Store of the element `a[i]` with component c replaced; the other components are
// neither read nor written, as in Warp. The oracle, the adjoint pass and the printers all follow this rule.
#pragma once

#include <vector>

#include "ir/module.hpp"

namespace assay::ir {

/// One step from a value to a part of it: a field of a struct, a row of a matrix, or a component.
struct ElementPartStep {
  Type whole_type;                   ///< type of the value that has the part
  std::int32_t field_index = kNone;  ///< index of the field; kNone: the part is selected by `index`
  ExprId index = kNone;              ///< index of the row or component, an i32 expression
};

/// The part of a value that a statement changes.
struct ChangedElementPart {
  std::vector<ElementPartStep> path;  ///< steps from the whole value to the part; empty if the whole value changes
  ExprId value = kNone;               ///< new value of the part, or the operand of an atomic update of it
  bool combines_with_old_value =
      false;  ///< whether the value is an operation whose first operand is the old value of the part
};

/// The part of the element that a store changes.
ChangedElementPart stored_part(const Function& function, const Store& store);
/// The part of the variable that an assignment changes.
ChangedElementPart assigned_part(const Function& function, const Assign& assign);
/// The part of the element that an atomic changes: the field that it names or, if that is a vector or matrix, for
/// additions and subtractions also a part of it outside which all components of the operand are zero, unless the
/// previous value is used.
ChangedElementPart updated_part(const Module& module, const Function& function, const Atomic& atomic);

/// The part of an array element that an expression reads.
struct LoadedElementPart {
  ExprId load = kNone;  ///< expression that loads the element; kNone: the expression does not read a part of an element
  std::vector<ElementPartStep> path;  ///< steps from the element
};

/// The part of an element that the expression reads, and nothing else: a[i].f, a[i][c] or m[i][r, c]. An expression
/// that reads a whole element, or a tile, is not a part.
LoadedElementPart loaded_part(const Function& function, ExprId id);

/// Type of the part at the end of the path; `whole` if the path is empty.
Type part_type(const Module& module, Type whole, const std::vector<ElementPartStep>& path);

/// Whether two expressions of the function have the same operations, variables and constants, so that they have the
/// same value if they are evaluated in the same place. Calls are always different.
bool same_expression(const Function& function, ExprId a, ExprId b);

}  // namespace assay::ir
