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
  kFloatOperation,    ///< destination = evaluator(operands), floats of type `scalar`
  kAdd,               ///< destination = operand 0 + operand 1, floats: a common operation without decisions
  kSub,               ///< destination = operand 0 - operand 1, likewise
  kMul,               ///< destination = operand 0 * operand 1, likewise
  kFloatPredicate,    ///< destination = predicate(operands)
  kUnitComponent,     ///< destination = component / length: unit_component
  kSum,               ///< destination = sum of any number of floats of type `scalar`, in any order
  kSumOfProducts,     ///< destination = operand 0 * operand n + operand 1 * operand n + 1 ...: 2 n floats, in any order
  kIntegerOperation,  ///< destination = op(operands), integers of type `scalar`
  kSelect,            ///< destination = operand 0 ? operand 1 : operand 2
  kMove,              ///< destination = operand 0
  kClear,             ///< destination .. destination + extent = 0
  kFloatToFloat,      ///< conversions `source_scalar` -> `scalar`
  kFloatToInteger,
  kFloatToBool,
  kIntegerToFloat,
  kIntegerToInteger,
  kExtract,      ///< destination = operands[1 + index in operand 0]
  kInsert,       ///< destination .. = operands[2 ..] with operand 1 at the index in operand 0
  kArrayExtent,  ///< destination = extent of dimension `extent` of parameter `target`
  kLoad,    ///< loads components of the element of parameter `target` at the `index_count` indices into the registers
            ///< from `destination` on. The first component is `extent`, plus the additional operand if there is one
  kStore,   ///< components of that element = operands after the indices; an additional operand as for kLoad
  kAtomic,  ///< as kStore with `atomic_op`; kCompareAndSwap has the expected value after the new value and always
            ///< changes the whole element; the previous value goes to destination .. unless kNone
  kLocalLoad,    ///< destination .. = element [operand 0] of the local array of `extent` elements at register `target`
  kLocalStore,   ///< that element = operands 1 ..
  kJump,         ///< continues at instruction `target`
  kJumpIfEqual,  ///< continues at `target` if operand 0 == `extent`
  kRangeLoopTest,  ///< continues at `target` unless counter (operand 0) is before stop (operand 1) by step (operand 2)
  kRangeLoopNext,  ///< counter destination += operand 0; to `target`
  kCustomDerivative,  ///< destination = operand 0; its derivatives by operands 1 .. n are the following n operands; its
                      ///< derivative by operand 0 is propagated only if `extent` is 1
  kEnd,
};

struct Instruction {
  InstructionCode code = InstructionCode::kEnd;  ///< what the instruction does
  ir::Op op = ir::Op::kAdd;                      ///< operation of the table
  ir::AtomicOp atomic_op = ir::AtomicOp::kAdd;   ///< operation of a kAtomic
  ir::Scalar scalar = ir::Scalar::kF32;          ///< type of the operands, or of a conversion's result
  ir::Scalar source_scalar = ir::Scalar::kF32;   ///< type of a conversion's operand
  std::uint8_t index_count = 0;                  ///< number of indices of an access
  bool ignores_out_of_bounds =
      false;  ///< whether outside the array a load gives zero and other accesses do nothing (tiles)
  std::uint16_t component_count = 1;      ///< number of registers of one element
  RegisterId destination = ir::kNone;     ///< first register of the result; kNone: no result
  std::uint32_t first_operand = 0;        ///< index of the first operand in Program::operands
  std::uint32_t operand_count = 0;        ///< number of operands
  std::int32_t target = 0;                ///< parameter, instruction or register, by InstructionCode
  std::int32_t extent = 0;                ///< dimension, extent or number of registers, by InstructionCode
  const Evaluator* evaluator = nullptr;   ///< implementation of a float operation
  std::int32_t branch_point = ir::kNone;  ///< index in Program::branch_points; kNone: not a choice
  ir::Loc loc = {};                       ///< location in the source
};

/// A register that holds a constant.
struct RegisterConstant {
  RegisterId destination;   ///< register of the constant
  ir::Scalar scalar;        ///< type of the constant
  std::uint64_t bits;       ///< value as in Expr::bits
  bool is_inexact = false;  ///< stands for an arbitrary number, so that products with it are not exact
};

/// Properties of a parameter of the kernel.
struct ParameterProperties {
  bool is_array = false;                    ///< whether the parameter is an array
  bool is_written = false;                  ///< for arrays: whether a statement stores to it
  bool has_partial_element_writes = false;  ///< for arrays: whether a statement changes a part of an element alone
  RegisterId first_register = ir::kNone;    ///< for values: first register
  std::vector<ir::Scalar> components;       ///< types of the scalar components of one element
};

class Program {
 public:
  const ir::Module* module = nullptr;                ///< module of the kernel
  const ir::Function* kernel = nullptr;              ///< the kernel that was lowered
  std::vector<Instruction> code;                     ///< instructions, in order
  std::vector<RegisterId> operands;                  ///< registers of the operands of all instructions
  std::vector<RegisterConstant> register_constants;  ///< registers to set before the first thread
  std::vector<ParameterProperties> parameters;       ///< properties of each parameter
  std::vector<RegisterId> thread_index_registers;    ///< registers of the thread indices
  std::vector<BranchPoint> branch_points;            ///< choices of the kernel, with zero counts
  RegisterId register_count = 0;                     ///< number of registers of a thread

  std::span<const RegisterId> operands_of(const Instruction& instruction) const {
    return std::span(operands).subspan(instruction.first_operand, instruction.operand_count);
  }
};

/// Lowers a valid kernel. Fails for arrays inside structs and other constructs that the oracle does not support.
Result<Program> lower(const ir::Module& module, const ir::Function& kernel);

}  // namespace assay::reference
