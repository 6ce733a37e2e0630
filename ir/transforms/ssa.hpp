// Structured SSA form, the input of the adjoint pass.
//
// Most calls are inlined, jumps are removed (see structure.hpp), lazy operators are branches, and every value is
// defined once in each execution of its region. A branch merges values at its end; a loop carries values from one
// iteration to the next. Accesses to array elements remain loads and stores in program order.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <variant>
#include <vector>

#include "ir/module.hpp"
#include "support/result.hpp"

namespace assay::transforms {

using ValueId = std::int32_t;

/// A value of a kernel in SSA form.
struct SsaValue {
  std::string name;  ///< name of the source variable that it was assigned to; otherwise derived from its operation
  ir::Type type;     ///< type of the value
  ir::Loc loc;       ///< location in the source
};

/// An operand of a node: a value or a constant.
struct Operand {
  ValueId value = ir::kNone;  ///< the value; kNone: the operand is a constant
  ir::Type type;              ///< type of the value or constant
  std::uint64_t bits = 0;     ///< bits of a constant, as in ir::Expr::bits; all zero for structs and vectors

  bool is_constant() const { return value == ir::kNone; }
};

struct Region;

/// Computes `result` by an operation, a field access or an array extent, without memory access or side effect.
struct ComputeNode {
  ValueId result = ir::kNone;                    ///< value that is defined
  ir::ExprKind kind = ir::ExprKind::kOperation;  ///< kOperation, kField or kShapeOf
  ir::Op op = ir::Op::kAdd;                      ///< for kOperation: the operation
  std::int32_t index = 0;                        ///< number of the field or dimension, as in ir::Expr::index
  ir::VarId array = ir::kNone;                   ///< for kShapeOf: the array, a parameter of the kernel
  std::vector<Operand> args;                     ///< operands in order
};
/// One step from an element to a part of it, like ir::ElementPartStep.
struct ElementPathStep {
  ir::Type whole_type;                   ///< type of the value that has the part
  std::int32_t field_index = ir::kNone;  ///< index of the field; kNone: the part is selected by `index`
  Operand index = {};                    ///< index of the row or component
};
using Path = std::vector<ElementPathStep>;  ///< from the element; empty for the whole element

/// For each field of a struct that a function returns, whether it has a derivative; one element for any other type.
using VariedParts = std::vector<bool>;

/// Loads array[indices], or a part of this element.
struct LoadNode {
  ValueId result = ir::kNone;    ///< loaded value
  ir::VarId array = ir::kNone;   ///< array to load from: parameter of the kernel
  std::vector<Operand> indices;  ///< indices, one for each dimension
  Path path = {};                ///< steps from the element to the part that is loaded
};
/// Stores a value to array[indices], or to a part of this element.
struct StoreNode {
  ir::VarId array = ir::kNone;   ///< array to store to: parameter of the kernel
  std::vector<Operand> indices;  ///< one for each dimension
  Operand value;                 ///< value to store
  Path path = {};                ///< part to change
};
/// An atomic update of array[indices], or of a part of this element.
struct AtomicNode {
  ir::AtomicOp op = ir::AtomicOp::kAdd;  ///< operation of the update
  ir::VarId array = ir::kNone;           ///< array to update: parameter of the kernel
  std::vector<Operand> indices;          ///< one for each dimension
  Operand value;                         ///< operand of the update
  ValueId result = ir::kNone;            ///< previous value of the element; kNone: not used
  Path path = {};                        ///< part to update
};
/// A call of a function with a gradient function, which is either custom or the function's adjoint: results =
/// primal_values, with the derivatives by `args` that `gradient_function` defines. No derivative is propagated through
/// the computation of `primal_values`.
struct CustomDerivativeNode {
  std::int32_t called_function = ir::kNone;  ///< index in Module::functions of the called function
  std::int32_t gradient_function =
      ir::kNone;  ///< gradient function, also an index; kNone: the function has only a replay, or no derivative
  std::vector<Operand> args;           ///< arguments; arrays are parameters of the kernel
  std::vector<Operand> primal_values;  ///< values that the function returns; none if the function itself is called
  std::vector<ValueId> results;        ///< the same values, but with the derivatives that the gradient defines
  /// Value parameters of the called function whose adjoints the gradient returns; ascending.
  std::vector<ir::VarId> targets;
  /// Parameters of the called function whose adjoint arrays the gradient takes.
  std::vector<ir::VarId> adjoint_arrays;
  /// For each result, its parts with a derivative; empty: all parts of all results may have one.
  std::vector<VariedParts> varied_parts;

  /// Whether the forward sweep calls `called_function` itself; otherwise its body is inlined.
  bool calls_function() const { return !results.empty() && primal_values.empty(); }
};
/// A sequence of nodes that is executed as a whole.
struct Region {
  std::vector<struct SsaNode> nodes;  ///< nodes, in program order
};
/// A value that depends on the region of a branch that was executed.
struct MergedValue {
  ValueId result = ir::kNone;  ///< value after the branch
  Operand then_value;          ///< its value if the condition is true
  Operand else_value;          ///< its value if the condition is false
};
/// A branch with two regions, of which one is executed.
struct Branch {
  Operand condition;                ///< bool that selects the region
  Region then_region;               ///< executed if the condition is true
  Region else_region;               ///< executed if the condition is false
  std::vector<MergedValue> merges;  ///< values after the branch that the regions define differently
};
/// A value that a loop passes from one iteration to the next.
struct CarriedValue {
  ValueId argument = ir::kNone;  ///< value at the start of an iteration
  Operand initial_value;         ///< value before the first iteration
  Operand next_value;            ///< value for the next iteration
  ValueId result = ir::kNone;    ///< value after the loop
};
/// A range loop or a while loop. In a range loop, `index` runs from start in steps of `step` until before stop, and
/// these bounds are evaluated before the loop. A while loop is repeated while the carried value number `condition`, a
/// bool, is true; it is tested before each iteration.
struct Loop {
  bool is_range_loop = false;                     ///< whether it is a range loop; otherwise a while loop
  ValueId index = ir::kNone;                      ///< for a range loop: the loop variable
  Operand start, stop, step;                      ///< for a range loop: arguments of range()
  std::size_t condition = 0;                      ///< for a while loop: index of the condition in `carried_values`
  std::vector<CarriedValue> carried_values = {};  ///< values that are passed from one iteration to the next
  Region body = {};                               ///< executed in each iteration
};
/// One node of a region and its location.
struct SsaNode {
  std::variant<ComputeNode, LoadNode, StoreNode, AtomicNode, CustomDerivativeNode, Branch, Loop> node;  ///< the node
  ir::Loc loc;  ///< location in the source
};

/// The adjoint of a function.
struct FunctionAdjoint {
  std::int32_t function = ir::kNone;      ///< its index in the backward module; kNone: the function has no derivative
  std::vector<VariedParts> varied_parts;  ///< for each result, its parts with a derivative
  std::vector<ir::VarId> targets;         ///< value parameters whose adjoints it returns; ascending
};
/// By index of the function in Module::functions.
using FunctionAdjoints = std::map<std::int32_t, FunctionAdjoint>;

/// A kernel or function in SSA form. Values 0 to parameter_count + launch_rank - 1 are the value parameters and thread
/// indices, with the numbers of their variables. Array parameters have numbers too, but no operand uses these.
struct SsaKernel {
  std::vector<SsaValue> values;  ///< all values, by ValueId
  Region body;
  std::vector<Operand> results;  ///< values that the function returns; none for a kernel
};

/// Converts a kernel or function. Calls of the functions in `adjoints` are not inlined. Fails for what the adjoint does
/// not support: local arrays, code too large after inlining. The error has the source line.
Result<SsaKernel> to_ssa(const ir::Module& module, const ir::Function& kernel, const FunctionAdjoints& adjoints = {});

}  // namespace assay::transforms
