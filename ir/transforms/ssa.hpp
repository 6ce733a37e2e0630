// Structured SSA form, the input of the adjoint pass.
//
// Calls are inlined, jumps are removed (see structure.hpp), lazy operators are branches, and every value is defined
// once in each execution of its region. A branch merges values at its end; a loop carries values from one iteration to
// the next. Accesses to array elements remain loads and stores in program order.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "ir/module.hpp"
#include "support/result.hpp"

namespace assay::transforms {

using ValueId = std::int32_t;

/// A value of the kernel: its name, type and location.
struct SsaValue {
  std::string name;  ///< name of the source variable that it was assigned to, or derived from its operation
  ir::Type type;     ///< type of the value
  ir::Loc loc;       ///< location in the source
};

/// A value or a constant.
struct Operand {
  ValueId value = ir::kNone;  ///< the value; kNone: a constant
  ir::Type type;              ///< type of the value or constant
  std::uint64_t bits = 0;     ///< bits of a constant, as in ir::Expr::bits; struct and vector constants are all zero

  bool is_constant() const { return value == ir::kNone; }
};

struct Region;

/// result = operation, field access or array extent; no memory access, no side effect.
struct ComputeNode {
  ValueId result = ir::kNone;                    ///< defined value
  ir::ExprKind kind = ir::ExprKind::kOperation;  ///< kOperation, kField or kShapeOf
  ir::Op op = ir::Op::kAdd;                      ///< operation of a kOperation
  std::int32_t index = 0;                        ///< number of the field or dimension, as in ir::Expr
  ir::VarId array = ir::kNone;                   ///< array of a kShapeOf: parameter of the kernel
  std::vector<Operand> args;                     ///< operands in order
};
/// One step from an element to a part of it, as ir::ElementPartStep.
struct ElementPathStep {
  ir::Type whole_type;                   ///< type of the value that has the part
  std::int32_t field_index = ir::kNone;  ///< number of the field; kNone: the part has an index
  Operand index = {};                    ///< index of the row or component
};
using Path = std::vector<ElementPathStep>;  ///< from the element; empty for the whole element

/// result = array[indices], or a part of it
struct LoadNode {
  ValueId result = ir::kNone;    ///< loaded value
  ir::VarId array = ir::kNone;   ///< array to load from: parameter of the kernel
  std::vector<Operand> indices;  ///< one for each dimension
  Path path = {};                ///< part to load
};
/// array[indices] = value, or a part of it
struct StoreNode {
  ir::VarId array = ir::kNone;   ///< array to store to: parameter of the kernel
  std::vector<Operand> indices;  ///< one for each dimension
  Operand value;                 ///< value to store
  Path path = {};                ///< part to change
};
/// An atomic update of array[indices], or a part of it.
struct AtomicNode {
  ir::AtomicOp op = ir::AtomicOp::kAdd;  ///< operation of the update
  ir::VarId array = ir::kNone;           ///< array to update: parameter of the kernel
  std::vector<Operand> indices;          ///< one for each dimension
  Operand value;                         ///< operand of the update
  ValueId result = ir::kNone;            ///< previous value of the element; kNone: not used
  Path path = {};                        ///< part to update
};
/// results = primal, whose derivative by `args` is defined by the function `gradient`. No derivative is propagated
/// through the values from which `primal_parameter` was computed.
struct CustomDerivativeNode {
  std::int32_t called_function = ir::kNone;  ///< called function, as an index into Module::functions
  std::int32_t gradient_function =
      ir::kNone;                       ///< custom gradient, also an index; kNone: the function has only a replay
  std::vector<Operand> args;           ///< arguments; arrays are parameters of the kernel
  std::vector<Operand> primal_values;  ///< values that the function returns
  std::vector<ValueId> results;        ///< the same values, with the derivatives defined by the gradient
};
struct Region {
  std::vector<struct SsaNode> nodes;  ///< operations in program order
};
/// A value that a branch defines: that of the region that was executed.
struct MergedValue {
  ValueId result = ir::kNone;  ///< value after the branch
  Operand then_value;          ///< its value if the condition is true
  Operand else_value;          ///< its value if the condition is false
};
/// A branch with two regions, one of which is executed.
struct Branch {
  Operand condition;  ///< a bool
  Region then_region;
  Region else_region;
  std::vector<MergedValue> merges;  ///< values that differ between the two regions
};
/// A value that a loop passes from one iteration to the next.
struct CarriedValue {
  ValueId argument = ir::kNone;  ///< value at the start of an iteration
  Operand initial_value;         ///< value before the first iteration
  Operand next_value;            ///< value for the following iteration
  ValueId result = ir::kNone;    ///< value after the loop
};
/// Counted: `index` runs from start by step to before stop, bounds evaluated before the loop.
/// Otherwise: repeats while the carried bool number `condition` is true, tested before each iteration.
struct Loop {
  bool is_range_loop = false;  ///< whether it is a range loop; otherwise a while loop
  ValueId index = ir::kNone;   ///< loop variable of a counted loop
  Operand start, stop, step;
  std::size_t condition = 0;                      ///< number of the condition in `carried_values`, if not counted
  std::vector<CarriedValue> carried_values = {};  ///< values that iterations pass on
  Region body = {};
};
struct SsaNode {
  std::variant<ComputeNode, LoadNode, StoreNode, AtomicNode, CustomDerivativeNode, Branch, Loop> node;
  ir::Loc loc;  ///< location in the source
};

/// A kernel in this form. Values 0 to parameter_count + launch_rank - 1 are its value parameters and thread indices,
/// numbered as its variables (array parameters have a number too, which no operand uses).
struct SsaKernel {
  std::vector<SsaValue> values;  ///< all values, by ValueId
  Region body;
};

/// Fails for kernels that the adjoint does not support: local arrays, code too large after inlining. The error has the
/// source line.
Result<SsaKernel> to_ssa(const ir::Module& module, const ir::Function& kernel);

}  // namespace assay::transforms
