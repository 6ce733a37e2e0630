// A kernel lowered for interpretation: straight instructions over scalar registers, with jumps.
//
// Vectors, matrices, quaternions, transforms and structs are spread over consecutive registers, one per leaf; functions
// are inlined; lazy operations and loops are jumps. Registers of literals are written once, before the first thread.
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

enum class Code : std::uint8_t {
  kFloat,          ///< dst = evaluator(operands), floats of type `scalar`
  kAdd,            ///< as kFloat, of the three commonest operations, which decide nothing
  kSub,            ///< the same
  kMul,            ///< the same
  kTest,           ///< dst = test(operands)
  kUnit,           ///< dst = component / length: unit_component
  kSum,            ///< dst = sum of any number of operands, floats of type `scalar`, in whatever order
  kSumOfProducts,  ///< dst = operand 0 * operand n + operand 1 * operand n + 1 ...: 2 n floats, in whatever order
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
  kInsert,      ///< dst .. = operands[2 ..], but operand 1 at the index in operand 0
  kShape,       ///< dst = extent of dimension `extent` of parameter `target`
  kLoad,        ///< dst .. = element of parameter `target`, operands its indices
  kStore,       ///< element of parameter `target` = operands after the `rank` indices
  kAtomic,      ///< as kStore with `atomic`; kCompareAndSwap has the expected value after the new one; previous
                ///< content to dst .. unless kNone
  kLocalLoad,   ///< dst .. = element [operand 0] of the local array of `extent` elements at register `target`
  kLocalStore,  ///< that element = operands 1 ..
  kJump,        ///< to instruction `target`
  kJumpIf,      ///< to `target` if operand 0 == `extent`
  kForTest,     ///< to `target` unless counter (operand 0) is before stop (operand 1) by step (operand 2)
  kForNext,     ///< counter dst += operand 0; to `target`
  kCustom,      ///< dst = operand 0, with derivatives by the operands 1 .. n that the n operands behind them are; by
                ///< operand 0 itself only where `extent` is 1
  kEnd,
};

struct Instruction {
  Code code = Code::kEnd;
  ir::Op op = ir::Op::kAdd;
  ir::AtomicOp atomic = ir::AtomicOp::kAdd;
  ir::Scalar scalar = ir::Scalar::kF32;
  ir::Scalar from = ir::Scalar::kF32;
  std::uint8_t rank = 0;
  bool padded = false;       ///< of a tile: behind the array's end a load gives zero and the rest does nothing
  std::uint16_t leaves = 1;  ///< registers of one element
  RegisterId dst = ir::kNone;
  std::uint32_t operands = 0;  ///< first in Program::operands
  std::uint32_t count = 0;     ///< number of them
  std::int32_t target = 0;
  std::int32_t extent = 0;
  const Evaluator* evaluator = nullptr;
  std::int32_t choice = ir::kNone;  ///< in Program::choices
  ir::Loc loc = {};
};

struct Constant {
  RegisterId dst;
  ir::Scalar scalar;
  std::uint64_t bits;    ///< as Expr::bits
  bool rounded = false;  ///< stands for a number of any size, so that no product with it is exact
};

struct ParameterInfo {
  bool is_array = false;
  bool is_written = false;         ///< arrays: some statement stores to it
  RegisterId base = ir::kNone;     ///< values: first register
  std::vector<ir::Scalar> leaves;  ///< of one element
};

class Program {
 public:
  const ir::Module* module = nullptr;
  const ir::Function* kernel = nullptr;
  std::vector<Instruction> code;
  std::vector<RegisterId> operands;
  std::vector<Constant> constants;
  std::vector<ParameterInfo> parameters;
  std::vector<RegisterId> thread_indices;
  std::vector<Choice> choices;  ///< nothing taken yet
  RegisterId registers = 0;

  std::span<const RegisterId> operands_of(const Instruction& instruction) const {
    return std::span(operands).subspan(instruction.operands, instruction.count);
  }
};

/// Lowers a verified kernel. Fails on arrays inside structs and other constructs that the oracle lacks.
Result<Program> lower(const ir::Module& module, const ir::Function& kernel);

}  // namespace assay::reference
