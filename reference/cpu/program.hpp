// A kernel lowered for interpretation: a list of instructions on scalar registers, with jumps.
//
// Vectors, matrices, quaternions, transforms and structs use one register per scalar component. Functions are inlined;
// lazy operations and loops become jumps. Registers of literals are written once, before the first thread.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "ir/module.hpp"
#include "reference/cpu/evaluators.hpp"
#include "reference/cpu/reference.hpp"
#include "support/result.hpp"

namespace assay::reference {

using RegisterId = std::int32_t;

enum class InstructionCode : std::uint8_t {
  kFloat,          ///< dst = evaluator(operands), floats of type `scalar`
  kAdd,            ///< as kFloat, for the most common operations, which have no decisions
  kSub,            ///< the same
  kMul,            ///< the same
  kTest,           ///< dst = test(operands)
  kUnitComponent,  ///< dst = component / length: unit_component
  kSum,            ///< dst = sum of any number of floats of type `scalar`, in any order
  kSumOfProducts,  ///< dst = operand 0 * operand n + operand 1 * operand n + 1 ...: 2 n floats, in any order
  kInteger,        ///< dst = op(operands), integers of type `scalar`
  kSelect,         ///< dst = operand 0 ? operand 1 : operand 2
  kMove,           ///< dst = operand 0
  kClear,          ///< dst .. dst + extent = 0
  kFloatToFloat,   ///< conversions `from` -> `scalar`
  kFloatToInteger,
  kFloatToBool,
  kIntegerToFloat,
  kIntegerToInteger,
  kExtract,     ///< dst = operands[1 + index in operand 0]
  kInsert,      ///< dst .. = operands[2 ..] with operand 1 at the index in operand 0
  kShape,       ///< dst = extent of dimension `extent` of parameter `target`
  kLoad,        ///< dst .. = element of parameter `target`, operands its indices
  kStore,       ///< element of parameter `target` = operands after the `rank` indices
  kAtomic,      ///< as kStore with `atomic`; kCompareAndSwap has the expected value after the new value; the
                ///< previous value goes to dst .. unless kNone
  kLocalLoad,   ///< dst .. = element [operand 0] of the local array of `extent` elements at register `target`
  kLocalStore,  ///< that element = operands 1 ..
  kJump,        ///< to instruction `target`
  kJumpIf,      ///< to `target` if operand 0 == `extent`
  kForTest,     ///< to `target` unless counter (operand 0) is before stop (operand 1) by step (operand 2)
  kForNext,     ///< counter dst += operand 0; to `target`
  kCustom,      ///< dst = operand 0; its derivatives by operands 1 .. n are the following n operands; its derivative
                ///< by operand 0 is propagated only if `extent` is 1
  kEnd,
};

struct Instruction {
  InstructionCode code = InstructionCode::kEnd;
  ir::Op op = ir::Op::kAdd;
  ir::AtomicOp atomic = ir::AtomicOp::kAdd;
  ir::Scalar scalar = ir::Scalar::kF32;
  ir::Scalar from = ir::Scalar::kF32;
  std::uint8_t rank = 0;
  bool is_padded = false;    ///< access of a tile: outside the array a load gives zero, other accesses do nothing
  std::uint16_t leaves = 1;  ///< number of registers of one element
  RegisterId dst = ir::kNone;
  std::uint32_t operands = 0;  ///< first in Program::operands
  std::uint32_t count = 0;     ///< number of them
  std::int32_t target = 0;
  std::int32_t extent = 0;
  const Evaluator* evaluator = nullptr;
  std::int32_t choice = ir::kNone;  ///< in Program::choices
  ir::Loc loc = {};
};

struct RegisterConstant {
  RegisterId dst;
  ir::Scalar scalar;
  std::uint64_t bits;       ///< as Expr::bits
  bool is_rounded = false;  ///< stands for an arbitrary number, so that products with it are not exact
};

struct ParameterInfo {
  bool is_array = false;
  bool is_written = false;         ///< arrays: a statement stores to it
  RegisterId base = ir::kNone;     ///< values: first register
  std::vector<ir::Scalar> leaves;  ///< of one element
};

class Program {
 public:
  const ir::Module* module = nullptr;
  const ir::Function* kernel = nullptr;
  std::vector<Instruction> code;
  std::vector<RegisterId> operands;
  std::vector<RegisterConstant> constants;
  std::vector<ParameterInfo> parameters;
  std::vector<RegisterId> thread_indices;
  std::vector<Choice> choices;  ///< with zero counts
  RegisterId register_count = 0;

  std::span<const RegisterId> operands_of(const Instruction& instruction) const {
    return std::span(operands).subspan(instruction.operands, instruction.count);
  }
};

/// Lowers a valid kernel. Fails for arrays inside structs and other constructs that the oracle does not support.
Result<Program> lower(const ir::Module& module, const ir::Function& kernel);

}  // namespace assay::reference
