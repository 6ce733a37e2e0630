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

struct Value {
  std::string name;  ///< the source variable that it was assigned to, or derived from its operation
  ir::Type type;
  ir::Loc loc;
};

/// A value or a constant.
struct Operand {
  ValueId value = ir::kNone;  ///< kNone: a constant
  ir::Type type;
  std::uint64_t bits = 0;  ///< of a constant, as in ir::Expr::bits; struct and vector constants are all zero

  bool is_constant() const { return value == ir::kNone; }
};

struct Region;

/// result = operation, field access or array extent; no memory access, no side effect.
struct ComputeNode {
  ValueId result = ir::kNone;
  ir::ExprKind kind = ir::ExprKind::kOperation;  ///< kOperation, kField or kShapeOf
  ir::Op op = ir::Op::kAdd;
  std::int32_t index = 0;
  ir::VarId array = ir::kNone;  ///< kShapeOf: parameter of the kernel
  std::vector<Operand> args;
};
struct LoadNode {
  ValueId result = ir::kNone;
  ir::VarId array = ir::kNone;  ///< parameter of the kernel
  std::vector<Operand> indices;
};
struct StoreNode {
  ir::VarId array = ir::kNone;
  std::vector<Operand> indices;
  Operand value;
};
struct AtomicNode {
  ir::AtomicOp op = ir::AtomicOp::kAdd;
  ir::VarId array = ir::kNone;
  std::vector<Operand> indices;
  Operand value;
  ValueId result = ir::kNone;  ///< previous value, or kNone
};
/// results = primal, whose derivative by `args` is defined by the function `gradient`. No derivative is propagated
/// through the values from which `primal` was computed.
struct CustomNode {
  std::int32_t function = ir::kNone;  ///< the called function; index in the module, as for `gradient`
  std::int32_t gradient = ir::kNone;  ///< kNone: the function has only a replay
  std::vector<Operand> args;          ///< arrays are parameters of the kernel
  std::vector<Operand> primal;
  std::vector<ValueId> results;
};
struct Region {
  std::vector<struct Node> nodes;
};
struct Merge {
  ValueId result = ir::kNone;
  Operand then_value;
  Operand else_value;
};
struct Branch {
  Operand condition;
  Region then_region;
  Region else_region;
  std::vector<Merge> merges;
};
struct CarriedValue {
  ValueId argument = ir::kNone;  ///< its value at the start of an iteration
  Operand initial;
  Operand next;                ///< its value for the following iteration
  ValueId result = ir::kNone;  ///< its value after the loop
};
/// Counted: `index` runs from start by step to before stop, bounds evaluated before the loop.
/// Otherwise: repeats while the carried bool number `condition` is true, tested before each iteration.
struct Loop {
  bool is_counted = false;
  ValueId index = ir::kNone;
  Operand start, stop, step;
  std::size_t condition = 0;
  std::vector<CarriedValue> carried = {};
  Region body = {};
};
struct Node {
  std::variant<ComputeNode, LoadNode, StoreNode, AtomicNode, CustomNode, Branch, Loop> node;
  ir::Loc loc;
};

/// A kernel in this form. Values 0 to parameter_count + launch_rank - 1 are its value parameters and thread indices,
/// numbered as its variables (array parameters have a number too, which no operand uses).
struct SsaKernel {
  std::vector<Value> values;
  Region body;
};

/// Fails for kernels that the adjoint does not support: local arrays, code too large after inlining. The error has the
/// source line.
Result<SsaKernel> to_ssa(const ir::Module& module, const ir::Function& kernel);

}  // namespace assay::transforms
