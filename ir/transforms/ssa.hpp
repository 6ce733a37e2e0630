// Structured single assignment: the form in which the adjoint pass reads a kernel.
//
// Calls are inlined, jumps are gone (see structure.hpp), lazy operators are branches, and every value is defined once
// in each execution of its region. A branch merges values at its end; a loop carries values from one iteration to the
// next. Array elements are memory and stay loads and stores, in program order.
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
  std::string name;  ///< of the source variable that it was assigned to, or made up from its operation
  ir::Type type;
  ir::Loc loc;
};

/// A value or a constant.
struct Operand {
  ValueId value = ir::kNone;  ///< kNone: a constant
  ir::Type type;
  std::uint64_t bits = 0;  ///< of the constant, as in ir::Expr::bits; a struct or vector constant is all zero

  bool is_constant() const { return value == ir::kNone; }
};

struct Region;

/// result = operation, field access or array extent; no memory, no effect.
struct Compute {
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
  ValueId result = ir::kNone;  ///< previous content, or kNone
};
/// results = primal, whose derivative by `args` is what the function `gradient` gives. What `primal` was computed from
/// contributes nothing by itself.
struct CustomNode {
  std::int32_t function = ir::kNone;  ///< that was called; number in the module, as the two below
  std::int32_t gradient = ir::kNone;  ///< kNone: it has a replay only
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
struct Carried {
  ValueId argument = ir::kNone;  ///< its value at the start of an iteration
  Operand initial;
  Operand next;                ///< its value for the following iteration
  ValueId result = ir::kNone;  ///< its value after the loop
};
/// Counted: `index` runs from start by step to before stop, bounds evaluated before the loop.
/// Otherwise: repeats while the carried bool number `condition` is true, tested before each iteration.
struct Loop {
  bool counted = false;
  ValueId index = ir::kNone;
  Operand start, stop, step;
  std::size_t condition = 0;
  std::vector<Carried> carried = {};
  Region body = {};
};
struct Node {
  std::variant<Compute, LoadNode, StoreNode, AtomicNode, CustomNode, Branch, Loop> node;
  ir::Loc loc;
};

/// A kernel in this form. Values 0 to parameter_count + launch_rank - 1 are its value parameters and thread indices,
/// numbered as its variables (array parameters have a number too, which no operand uses).
struct SsaKernel {
  std::vector<Value> values;
  Region body;
};

/// Fails for what the adjoint cannot take: local arrays, code that inlining blows up; the error names the line.
Result<SsaKernel> to_ssa(const ir::Module& module, const ir::Function& kernel);

}  // namespace assay::transforms
